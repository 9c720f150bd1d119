"""Reports and tables: what goes in comes out, to the last bit, and errors say what is wrong."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamsieve.evaluation import Failure, ProtocolError, Report, Table
from streamsieve.evaluation.engine.settings import described, differences, digest_of, plain, seed_of
from streamsieve.evaluation.reports.report import selection_columns
from streamsieve.exceptions import CapabilityError, ParameterError, StateError
from tests.helpers.tier import cases

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r\n"), max_size=8)


def table():
    scores = [0.5, 1.0, np.nan, 0.8]
    return Table({"selector": ["f", "t"] * 2, "learner": ["nb"] * 4, "size": [1, 1, 2, 2], "score": scores})


@settings(max_examples=cases(40))
@given(
    st.lists(
        st.tuples(TEXT, st.integers(-(2**62), 2**62), st.floats(allow_nan=True), st.booleans()), max_size=6
    )
)
def test_a_table_comes_back_from_its_file_to_the_last_bit(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("t") / "table.csv"
    kinds = {"text": "text", "whole": "int", "real": "float", "truth": "bool"}
    before = Table.of(rows, kinds)
    before.to_csv(path)
    after = Table.from_csv(path, before.kinds())
    assert after.kinds() == kinds
    for name in kinds:
        np.testing.assert_array_equal(before[name], after[name])


def test_means_leave_out_what_is_not_a_number_and_keep_the_order():
    means = table().mean("score", by=["selector"])
    assert means["selector"].tolist() == ["f", "t"]
    np.testing.assert_allclose(means["mean"], [0.5, 0.9])
    np.testing.assert_allclose(means["std"], [np.nan, np.std([1.0, 0.8], ddof=1)])
    assert means["n"].tolist() == [1, 2]


def test_rows_are_found_by_value_or_by_several():
    assert table().where(selector="t", size=2)["score"].tolist() == [0.8]
    assert table().where(size=[1, 2]).n_rows == 4
    assert table().where(size=[]).n_rows == 0
    assert table().unique("selector") == ["f", "t"]
    with pytest.raises(ParameterError, match="no column 'scor'; did you mean 'score'"):
        table()["scor"]
    with pytest.raises(ParameterError, match="one length"):
        Table({"a": [1, 2], "b": [1]})


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_dataframe_of_any_library_has_the_same_columns(backend):
    frame = table().to_frame(backend)
    names = frame.column_names if backend == "pyarrow" else list(frame.columns)
    assert names == list(table())
    assert len(frame) == 4


def test_without_a_library_for_dataframes_the_error_says_so(monkeypatch):
    def absent(columns, backend):
        raise ModuleNotFoundError(backend)

    monkeypatch.setattr("narwhals.from_dict", absent)
    with pytest.raises(CapabilityError, match="pandas or polars or pyarrow, which is not installed"):
        table().to_frame()
    with pytest.raises(ParameterError, match="backend must be one of"):
        table().to_frame("excel")


def report():
    rows = [("f", 3, True, 3, "4 1 2"), ("f", 3, True, 3, "4 2 7"), ("saola", 0, False, 2, "0 9")]
    chosen = Table.of(rows, selection_columns())
    made = {"data": {"rows": 10, "features": 12}, "selectors": {"f": 1}, "metric": "auc", "random_state": 7}
    failures = [Failure("run=0 fold=1 selector=f", "learner nb, size 2", "ValueError: no")]
    return Report("screening", table(), made, {"selections": chosen}, failures, {"slow": 3})


def test_a_report_comes_back_from_its_folder(tmp_path):
    before = report()
    before.save(tmp_path / "new" / "folder")
    after = Report.load(tmp_path / "new" / "folder")
    assert after.settings == before.settings
    assert after.failures == before.failures
    assert after.warnings == before.warnings
    for name, column in before.table.items():
        np.testing.assert_array_equal(column, after.table[name])
    assert list(after.extras) == ["selections"]
    assert str(after) == str(before)


def test_a_report_reads_as_text():
    text = str(report())
    assert text.startswith("screening: 4 rows, 10 x 12; selectors f; auc; seed 7")
    assert "1 parts failed, the first: run=0 fold=1 selector=f, learner nb, size 2: ValueError: no" in text
    assert "3 warnings, the most frequent (3): slow" in text
    assert text.index("\nt ") < text.index("\nf "), "best first"


def test_rankings_are_cut_at_any_size_below_theirs():
    assert [chosen.tolist() for chosen in report().selections("f", 2)] == [[4, 1], [4, 2]]
    assert [chosen.tolist() for chosen in report().selections("f")] == [[4, 1, 2], [4, 2, 7]]
    assert [chosen.tolist() for chosen in report().selections("saola")] == [[0, 9]]
    with pytest.raises(ParameterError, match="was not asked for that: size=4"):
        report().selections("f", 4)
    with pytest.raises(
        ParameterError, match="no selections of 'g' are stored; there are those of 'f', 'saola'"
    ):
        report().selections("g")


def test_failures_are_raised_with_the_report_when_asked_for():
    with pytest.raises(ProtocolError, match="1 parts failed: run=0 fold=1") as caught:
        report().check()
    assert caught.value.report.table.n_rows == 4
    assert caught.value.failures[0].part == "learner nb, size 2"


def test_a_picture_becomes_a_file(tmp_path):
    from streamsieve.evaluation.plots.style import new_figure

    before = report()
    before.pictures["curve"] = new_figure(2, 2)
    before.save(tmp_path)
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("damage", ["absent", "torn", "column", "cell"])
def test_a_damaged_report_is_refused(tmp_path, damage):
    report().save(tmp_path)
    path = tmp_path / "report.json"
    if damage == "absent":
        path.unlink()
    elif damage == "torn":
        path.write_text(path.read_text()[:50])
    elif damage == "column":
        about = json.loads(path.read_text())
        del about["tables"]["table"]["score"]
        path.write_text(json.dumps(about))
    else:
        csv = tmp_path / "table.csv"
        csv.write_text(csv.read_text().replace("0.8", "much"))
    with pytest.raises(StateError, match="does not hold"):
        Report.load(tmp_path)


def test_settings_are_plain_and_the_same_in_every_process():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    import streamsieve as ss

    made = described(make_pipeline(FunctionTransformer(np.log), ss.Screen("f", k=3)))
    assert json.loads(json.dumps(made)) == made
    assert "0x" not in json.dumps(made)
    assert plain(object()) == "<object object>"
    assert plain({"a": (np.int64(3), {2, 1})}) == {"a": [3, ["1", "2"]]}


def test_a_digest_does_not_depend_on_the_order_in_memory():
    X = np.random.default_rng(0).normal(size=(50, 7))
    assert digest_of(X) == digest_of(np.asfortranarray(X))
    assert digest_of(X) != digest_of(X.T.copy().T[::-1])
    assert digest_of(X.astype(np.float32)) != digest_of(X)


def test_differences_are_named():
    was = {"a": {"b": 1, "c": float("nan")}, "gone": 1, "same": [1, 2]}
    now = {"a": {"b": 2, "c": float("nan")}, "new": {"x": None}, "same": [1, 2]}
    assert differences(was, now) == [
        "a.b was 1 and is 2 now",
        "gone was 1 and is absent now",
        "new.x was absent and is None now",
    ]


def test_seeds_depend_on_every_part():
    seeds = {seed_of(a, b) for a in range(50) for b in ("x", "y")}
    assert len(seeds) == 100
    assert seed_of(1, "x") == seed_of(1, "x")
