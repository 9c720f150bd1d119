"""The one-line doors: ``select``, and ``run`` on data that is not open yet."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.exceptions import (
    CapabilityError,
    InputError,
    ParameterError,
    SchemaError,
    SourceError,
    SuspectColumnsWarning,
    TargetError,
)

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.normal(size=(200, 6)), columns=list("abcdef"))
FRAME["sick"] = np.where(FRAME["b"] + 0.5 * RNG.normal(size=200) > 0, "yes", "no")
X, Y = FRAME.drop(columns="sick"), FRAME["sick"]


@pytest.fixture
def path(tmp_path):
    pq.write_table(pa.Table.from_pandas(FRAME, preserve_index=False), tmp_path / "patients.parquet")
    return tmp_path / "patients.parquet"


@pytest.mark.parametrize("wrap", [lambda frame: frame, pl.from_pandas, pa.Table.from_pandas])
def test_a_frame_of_any_library_is_one_call(wrap):
    sieve = ss.select(wrap(FRAME), target="sick")
    wanted = ss.TopK(X.shape[1] // 2, alpha=0.01).fit(X, Y).get_feature_names_out().tolist()
    assert sieve.get_feature_names_out().tolist() == wanted
    assert type(sieve.transform(wrap(X))) is type(wrap(X))
    assert "method top_k: " in repr(sieve)
    assert "2 classes (no " in repr(sieve)


def test_arrays_files_and_sources_give_the_same(path):
    values, y = X.to_numpy(), Y.to_numpy()
    wanted = ss.select(FRAME, "sick").selected_.tolist()
    for data, target in ((values, y), (sp.csr_array(values), y), (values.tolist(), y.tolist()), (X, y)):
        assert ss.select(data, target).selected_.tolist() == wanted
    for data in (path, str(path)):
        assert ss.select(data, target="sick").selected_.tolist() == wanted
    assert ss.select(ss.open(path, target="sick")).selected_.tolist() == wanted


@pytest.mark.parametrize("method", ["saola", "screen", "mrmr", "SAOLA", ss.TopK(k=2)])
def test_every_axis_runs_from_memory_and_from_a_file(path, method):
    from_memory = ss.select(FRAME, "sick", method).get_feature_names_out().tolist()
    assert ss.select(path, "sick", method).get_feature_names_out().tolist() == from_memory


def test_goal_task_and_parameters_are_passed_on():
    assert isinstance(ss.select(FRAME, "sick", goal="fdr"), ss.OnlineFDR)
    assert ss.select(FRAME, "sick", "screen", k=1).k == 1
    assert ss.select(X, np.arange(200) % 5, task="regression", method="saola").task_ == "regression"
    assert ss.select(X, FRAME["b"] + FRAME["c"]).task_ == "regression"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((FRAME, "sik"), SchemaError, r"no column 'sik'; did you mean 'sick'\?"),
        ((FRAME, None), TargetError, "select needs a target: give target="),
        ((X, Y[:5]), TargetError, "X has 200 rows, but y has 5"),
        ((FRAME, "sick", "soala"), ParameterError, r"no method 'soala'; did you mean 'saola'\?"),
        (("no_such.parquet", "sick"), SourceError, "no_such.parquet"),
    ],
)
def test_mistakes_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        ss.select(*arguments)
    if len(arguments) == 2:
        with pytest.raises(ParameterError, match="goal must be one of"):
            ss.select(FRAME, "sick", goal="best")


def test_files_take_the_options_that_their_errors_advise(tmp_path):
    path = tmp_path / "patients.csv"
    data = FRAME.assign(city=np.where(np.arange(200) % 3, "Rome", "Oslo"), a=FRAME["a"].where(FRAME["a"] < 1))
    data.to_csv(path, index=False, sep=";")
    with pytest.raises(SourceError, match="categories='auto'"):
        ss.select(path, "sick", categories="refuse")
    with pytest.raises(InputError, match="'a' has missing values"):
        ss.select(path, "sick")
    sieve = ss.select(path, "sick", categories="auto", missing="impute", sep=";", k=2)
    assert sieve.n_features_in_ == 7
    assert sieve.k == 2
    assert ss.select(path, "sick", "saola", skip_text=True, missing="omit").missing == "omit"


@pytest.mark.parametrize("method", ["auto", "saola", ss.SAOLA()])
def test_a_parameter_that_there_is_not_is_named(path, method):
    for data, target in ((FRAME, "sick"), (path, "sick"), (X, Y)):
        with pytest.raises(ParameterError, match=r"no parameter 'alpa'; did you mean 'alpha'\?; it has "):
            ss.select(data, target, method, alpa=0.1)


def test_run_opens_what_is_not_open(path):
    sieve = ss.run(path, ss.SAOLA(), target="sick")
    assert sieve.get_feature_names_out().tolist() == ["b"]
    assert ss.run(FRAME, ss.Screen(k=1), target="sick").get_feature_names_out().tolist() == ["b"]
    with pytest.raises(SourceError, match="is open already"):
        ss.run(ss.open(path, target="sick"), ss.SAOLA(), target="sick")


def test_sources_say_what_they_are(path):
    source = ss.open(path, target="sick")
    assert repr(source) == f"<ArrowSource: 200 rows, 6 columns, {path}>"
    assert repr(ss.open(X)) == "<ArraySource: 200 rows, 6 columns>"
    named = ss.open(X.rename(columns={"a": "<b>"}))
    assert "&lt;b&gt;" in named._repr_html_()
    assert "<b>" not in named._repr_html_()


def test_everything_public_is_listed():
    assert {"select", "datasets", "evaluation", "criteria", "exceptions", "testing", "choosing"} <= {*dir(ss)}


def test_files_are_read_as_on_the_command_line(tmp_path):
    days = pd.date_range("2024-01-01", periods=200).astype(str)
    names = [f"n{i}" for i in range(200)]
    FRAME.assign(town=["Rome", "Oslo"] * 100, day=days, who=names).to_csv(tmp_path / "t.csv", index=False)
    sieve = ss.select(tmp_path / "t.csv", target="sick")
    assert sieve.ledger_.why("town=Rome").event == "rejected"
    assert "left out: dates: day; text of more than 50 values: who" in repr(sieve)
    with pytest.raises(SourceError, match="hold text"):
        ss.select(tmp_path / "t.csv", target="sick", categories="refuse", exclude="day")


@pytest.mark.parametrize("wrap", [lambda frame: frame, pl.from_pandas, pa.Table.from_pandas])
def test_the_frame_with_its_target_is_transformed(wrap):
    sieve = ss.select(wrap(FRAME), target="sick")
    assert sieve.transform(wrap(FRAME)).shape == (200, len(sieve.selected_))
    with pytest.raises(InputError, match="unseen at fit time"):
        ss.TopK(k=2).fit(X, Y).transform(FRAME)


def test_missing_values_name_the_parameters_that_help(tmp_path):
    holes = FRAME.assign(a=FRAME["a"].where(np.arange(200) % 9 > 0))
    holes.to_csv(tmp_path / "t.csv", index=False)
    for data, way in ((holes, "omit"), (tmp_path / "t.csv", "omit"), (tmp_path / "t.csv", "impute")):
        with pytest.raises(InputError, match=f"'a' has missing values.*missing='{way}'"):
            ss.select(data, target="sick")
        assert "b" in ss.select(data, target="sick", missing=way).get_feature_names_out()


def test_missing_values_beside_text_get_advice_that_works(tmp_path):
    y = np.arange(60) % 2
    data = pd.DataFrame(
        {"a": np.where(np.arange(60) % 9 == 0, np.nan, 1.0), "b": y + np.arange(60) % 5 / 3, "sick": y}
    )
    data["city"] = np.where(
        np.arange(60) % 7 == 0, None, np.array(["Rome", "Oslo", "Lima"])[np.arange(60) % 3]
    )
    data.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(
        InputError, match=r"'city' does not hold numbers.*OneHotEncoder.*fill in what is missing"
    ):
        ss.select(data, target="sick", missing="omit")
    assert "b" in ss.select(pd.get_dummies(data), target="sick", missing="omit").get_feature_names_out()
    filled = data.fillna({"a": 0.5})
    with pytest.raises(InputError, match="'city' has missing values.*the text 'missing' in its place"):
        ss.select(filled, target="sick")
    assert "b" in ss.select(filled.fillna("missing"), target="sick").get_feature_names_out()
    with pytest.raises(ParameterError, match="missing='impute' is for files: .* SimpleImputer"):
        ss.select(data, target="sick", missing="impute")
    with pytest.raises(ParameterError, match="missing='impute' is for files: .* SimpleImputer"):
        ss.select([[1.0], [2.0]], [0, 1], missing="impute")
    path = tmp_path / "t.csv"
    for method in ("auto", "screen"):  # a screen needs no parameter for it
        assert "b" in ss.select([path, path], "sick", method, missing="omit").get_feature_names_out()
    with pytest.raises(CapabilityError, match="mrmr takes no missing values: SimpleImputer, or missing="):
        ss.select(path, "sick", "mrmr", missing="omit")
    sieve = ss.select(path, "sick", "fast_osfs", missing="impute", types={"city": "nominal"})
    assert sieve.column_types_["city"] == "nominal"


def test_lists_and_dicts_are_named():
    nested = FRAME.assign(tags=[["x"]] * 200, user=[{"age": 3}] * 200)
    with pytest.raises(InputError, match="columns 'tags', 'user' hold lists or dicts"):
        ss.select(nested, target="sick")
    with pytest.raises(InputError, match="column 'tags' holds lists or dicts"):
        ss.select(pl.from_pandas(nested.drop(columns="user")), target="sick")


def test_leaks_and_identifiers_that_were_selected_are_questioned(tmp_path):
    rng = np.random.default_rng(0)
    y = np.sort(rng.normal(size=200))
    frame = pd.DataFrame({"near": y + rng.normal(size=200), "town": ["a", "b"] * 100, "id": np.arange(200)})
    with pytest.warns(
        SuspectColumnsWarning, match=r"question: 'id' looks like an identifier \(whole"
    ) as found:
        ss.select(frame, y)
    assert found[0].filename == __file__
    leaking = frame.drop(columns="id").assign(twice=2 * y)
    leaking.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    for data, target in ((leaking, y), (pl.from_pandas(leaking), y), (tmp_path / "t.csv", "y")):
        with pytest.warns(
            SuspectColumnsWarning, match=r"'twice' alone gives the target away \(correlation 1"
        ):
            ss.select(data, target)
    with pytest.warns(SuspectColumnsWarning, match="'x1' alone gives"):
        ss.select(leaking[["near", "twice"]].set_axis([0, 1], axis=1), y, "screen", k=1)
    ss.select(frame[["near", "town"]], y)
    ss.select(sp.csr_array(leaking[["twice"]]), y)


def test_rows_of_one_subject_are_declared(tmp_path):
    rng = np.random.default_rng(0)
    subject = np.repeat(np.arange(40), 10)
    sick = rng.integers(0, 2, 40)[subject]
    frame = pd.DataFrame({f"x{j}": rng.normal(size=40)[subject] for j in range(5)})
    frame += 0.1 * rng.normal(size=frame.shape)
    frame["x3"] += 2 * sick
    X = frame.copy()
    frame = frame.assign(patient=[f"p{i}" for i in subject], sick=sick)
    frame.to_csv(tmp_path / "t.csv", index=False)
    wanted = ss.TopK(2, alpha=0.01).fit(X, sick, groups=subject).ranking()
    for data in (frame, pl.from_pandas(frame), tmp_path / "t.csv", [str(tmp_path / "t.csv")]):
        found = ss.select(data, "sick", groups="patient").ranking()
        assert list(found["feature"]) == list(wanted["feature"])
        np.testing.assert_allclose(found["p_value"], wanted["p_value"])
    assert (
        ss.select(X, sick, groups=subject)
        .ranking()
        .equals(ss.select(frame, "sick", groups="patient").ranking())
    )
    series = ss.select(X, sick, serial=True)
    assert series.ranking().equals(ss.TopK(2, alpha=0.01).fit(X, sick, serial=True).ranking())
    with pytest.raises(SchemaError, match="no column 'patent' of groups; did you mean 'patient'"):
        ss.select(frame, "sick", groups="patent")
    with pytest.raises(ParameterError, match="groups must be one label per row"):
        ss.select(X.to_numpy(), sick, groups="patient")
    with pytest.raises(
        ParameterError, match="groups is for methods that stream columns, and screen does not"
    ):
        ss.select(frame, "sick", "screen", groups="patient")


def test_a_row_of_totals_is_questioned():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"visits": rng.poisson(30, 80) + 0.5})
    frame["sales"] = 100 * frame["visits"] + rng.normal(0, 300, 80)
    frame.loc[80] = frame.sum()
    with pytest.warns(SuspectColumnsWarning, match="last row holds the sum of all others in visits"):
        ss.select(frame, "sales")
