"""The one-line doors: ``select``, and ``run`` on data that is not open yet."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.exceptions import ParameterError, SchemaError, SourceError, TargetError

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
    assert ss.select(X, FRAME["b"] * 2.0).task_ == "regression"


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
