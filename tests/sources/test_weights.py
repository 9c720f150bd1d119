"""Weights of rows come through every door alike: the column is read, and it is not a feature."""

import json
import pickle

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from sklearn.base import clone

import streamsieve as ss
from streamsieve.cli import run as command
from streamsieve.exceptions import CapabilityError, ParameterError, SourceError
from streamsieve.sources import KafkaSource
from tests.engines.laws import assert_equal_to_one_process

N = 600


def table(text=False):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    X = rng.normal(size=(N, 3)) + np.outer(y, [0, 0.5, 1])
    w = rng.integers(0, 4, N)
    columns = {f"c{j}": X[:, j] for j in range(3)}
    labels = np.where(y == 1, "yes", "no") if text else y
    return pd.DataFrame({**columns, "w": w, "y": labels})


def parquet(frame, folder):
    paths = [folder / f"{k}.parquet" for k in range(3)]
    for path, piece in zip(paths, (frame[:100], frame[100:400], frame[400:]), strict=True):
        piece.to_parquet(path, index=False)
    return [str(path) for path in paths]


def csv(frame, folder):
    frame.to_csv(folder / "rows.csv", index=False)
    return str(folder / "rows.csv")


def query(frame, folder):
    with duckdb.connect(str(folder / "rows.duckdb")) as con:
        con.execute("CREATE TABLE t AS SELECT *, row_number() OVER () AS i FROM frame")
    sql = "SELECT * EXCLUDE (i) FROM t ORDER BY i"
    return ss.query(f"duckdb:///{folder}/rows.duckdb", sql)


def dask_frame(frame, folder):
    dd = pytest.importorskip("dask.dataframe")
    return dd.from_pandas(frame, npartitions=3, sort=False)


PRODUCERS = {
    "Parquet": parquet,
    "CSV": csv,
    "pandas": lambda frame, _: frame,
    "Arrow": lambda frame, _: pa.table(frame),
    "polars": lambda frame, _: pl.from_pandas(frame),
    "polars LazyFrame": lambda frame, _: pl.from_pandas(frame).lazy(),
    "dataset": lambda frame, folder: ds.dataset(parquet(frame, folder)),
    "reader": lambda frame, _: pa.RecordBatchReader.from_stream(pa.table(frame)),
    "chunks": lambda frame, _: lambda: iter([frame[:100], frame[100:]]),
    "dicts": lambda frame, _: frame.to_dict("records"),
    "query": query,
    "Dask": dask_frame,
}


@pytest.mark.parametrize("text", [False, True], ids=["numbers", "text"])
@pytest.mark.parametrize("name", PRODUCERS)
def test_every_source_reads_the_column(name, text, tmp_path):
    frame = table(text)
    source = ss.open(PRODUCERS[name](frame, tmp_path), target="y", weight="w")
    assert list(source.names) == ["c0", "c1", "c2"]
    batches = list(source.rows(64))
    assert all(batch.weight.dtype == np.float64 for batch in batches)
    assert np.concatenate([batch.weight for batch in batches]).tolist() == frame["w"].tolist()
    np.testing.assert_array_equal(np.vstack([batch.X for batch in batches]), frame[["c0", "c1", "c2"]])
    assert np.concatenate([batch.y for batch in batches]).tolist() == frame["y"].tolist()


def test_kafka_messages_have_a_field_for_it(mock_broker):
    frame = table(text=True)
    mock_broker.create("weighted", 2)
    records = frame.to_dict("records")
    mock_broker.send("weighted", [(k % 2, record) for k, record in enumerate(records)])
    options = {"servers": mock_broker.servers, "target": "y", "weight": "w"}
    source = KafkaSource("weighted", **options)
    assert source.names == ["c0", "c1", "c2"]
    found = ss.run(source, ss.Screen("f", k=2), batch_size=50)
    whole = ss.Screen("f", k=2).fit(
        frame[["c0", "c1", "c2"]].to_numpy(), frame["y"], sample_weight=frame["w"]
    )
    assert found.n_samples_seen_ == N
    np.testing.assert_allclose(found.scores_, whole.scores_, rtol=1e-12)
    identity = json.loads(json.dumps(source.identity()))
    with pytest.raises(SourceError, match="the weights"):
        KafkaSource("weighted", servers=mock_broker.servers, target="y").check_identity(identity)
    with pytest.raises(SourceError, match="the weight 'w' is among the names"):
        KafkaSource("weighted", **options, names=["c0", "w"])
    with pytest.raises(SourceError, match="'y' is the target"):
        KafkaSource("weighted", servers=mock_broker.servers, target="y", weight="y")


@pytest.mark.parametrize("bad", [None, -1.0, float("inf"), float("nan")])
def test_a_message_without_a_weight_is_a_bad_one(mock_broker, bad):
    topic = f"weighted-{bad}".replace("-1.0", "negative")
    good = {"a": 1.0, "y": 0, "w": 2.0}
    mock_broker.create(topic)
    wrong = {"a": 5.0, "y": 1, **({} if bad is None else {"w": bad})}
    mock_broker.send(topic, [(0, good), (0, wrong), (0, {**good, "y": 1})])
    options = {"servers": mock_broker.servers, "target": "y", "weight": "w"}
    with pytest.raises(SourceError, match="offset 1: its weight 'w' is .*at least 0"):
        list(KafkaSource(topic, **options).rows())
    (batch,) = KafkaSource(topic, **options, on_bad="skip").rows()
    assert (batch.X.tolist(), batch.weight.tolist(), batch.y.tolist()) == ([[1], [1]], [2, 2], [0, 1])


@pytest.mark.parametrize("criterion", ["f", "mutual_info", "chi2"])
def test_whole_weights_are_copies(criterion, tmp_path):
    frame = table()
    copies = frame.loc[np.repeat(frame.index, frame["w"])].drop(columns="w")
    weighted = ss.run(parquet(frame, tmp_path), ss.Screen(criterion, k=2), target="y", weight="w")
    repeated = ss.run(copies, ss.Screen(criterion, k=2), target="y")
    # 600 rows are within the buffer of quantiles, which are exact there
    np.testing.assert_allclose(weighted.scores_, repeated.scores_, rtol=1e-9)
    plain = ss.run(frame.drop(columns="w"), ss.Screen(criterion, k=2), target="y")
    assert not np.allclose(weighted.scores_, plain.scores_)


def test_what_a_weight_means_is_up_to_the_selector():
    frame = table()
    twice, found = frame.assign(w=2 * frame["w"]), {}
    for kind in ("frequency", "importance"):
        screen = ss.Screen("f", k=2, weight_kind=kind)
        one, two = (ss.run(each, clone(screen), target="y", weight="w").scores_ for each in (frame, twice))
        found[kind] = two / one
    assert (found["frequency"] > 1.9).all()  # twice as many rows
    np.testing.assert_allclose(found["importance"], 1)  # the same rows, in other units


@pytest.mark.parametrize("engine", [pytest.param("local", marks=pytest.mark.full), "dask"])
@pytest.mark.parametrize("criterion", ["f", "mutual_info"])
def test_an_engine_equals_one_process(engine, criterion, tmp_path):
    if engine == "dask":
        pytest.importorskip("dask")
    paths = parquet(table(), tmp_path)

    def run(**options):
        source = ss.open(paths, target="y", weight="w")
        return ss.run(source, ss.Screen(criterion, k=2), batch_size=50, **options)

    found = run(engine=engine, workers=2, rows_per_task=90)
    assert_equal_to_one_process(found, run())
    unweighted = ss.run(ss.open(paths, target="y", exclude="w"), ss.Screen(criterion, k=2))
    assert not np.allclose(found.scores_, unweighted.scores_)


def test_parts_of_arrays_and_queries_take_their_weights_along(tmp_path):
    frame = table()
    X, y, w = frame[["c0", "c1", "c2"]].to_numpy(), frame["y"].to_numpy(), frame["w"].to_numpy()
    whole = ss.Screen("f", k=2).fit(X, y, sample_weight=w)
    with duckdb.connect(str(tmp_path / "rows.duckdb")) as con:
        con.execute("CREATE TABLE t AS SELECT *, row_number() OVER () AS i FROM frame")
    asked = ss.query(f"duckdb:///{tmp_path}/rows.duckdb", "SELECT * FROM t", partition_on="i")
    for source in (ss.open(X, target=y, weight=w), ss.open(asked, target="y", weight="w", exclude="i")):
        found = ss.run(source, ss.Screen("f", k=2), engine="dask", rows_per_task=150)
        np.testing.assert_allclose(found.scores_, whole.scores_, rtol=1e-9)
        assert found.n_samples_seen_ == N


def test_dask_arrays_have_weights_in_the_chunks_of_the_rows():
    da = pytest.importorskip("dask.array")
    frame = table()
    X, y, w = frame[["c0", "c1", "c2"]].to_numpy(), frame["y"].to_numpy(), frame["w"].to_numpy()
    whole = ss.Screen("f", k=2).fit(X, y, sample_weight=w)
    chunks = {"chunks": (250, 3)}
    for weight in (w, da.from_array(w, chunks=250)):
        source = ss.open(da.from_array(X, **chunks), target=y, weight=weight)
        found = ss.run(source, ss.Screen("f", k=2))
        np.testing.assert_allclose(found.scores_, whole.scores_, rtol=1e-9)
    with pytest.raises(SourceError, match="and the weight 2: rechunk the weight like X, weight.rechunk"):
        ss.open(da.from_array(X, **chunks), target=y, weight=da.from_array(w, chunks=300))


def test_a_run_with_weights_goes_on_from_its_checkpoint(tmp_path):
    paths = parquet(table(), tmp_path)
    kept = tmp_path / "state.sieve"
    ss.run(ss.open(paths[:2], target="y", weight="w"), ss.Screen("f", k=2), checkpoint=kept)
    source = ss.open(paths, target="y", weight="w")
    resumed = ss.run(source, ss.Screen("f", k=2), checkpoint=kept, resume=True)
    np.testing.assert_allclose(resumed.scores_, ss.run(source, ss.Screen("f", k=2)).scores_, rtol=1e-12)
    with pytest.raises(SourceError, match="way of reading"):
        ss.run(ss.open(paths, target="y", exclude="w"), ss.Screen("f", k=2), checkpoint=kept, resume=True)


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
@pytest.mark.parametrize("name", ["Parquet", "pandas", "Arrow", "chunks", "query", "Dask"])
def test_a_weight_that_is_none_is_refused_by_column(name, bad, tmp_path):
    frame = table().astype({"w": float})
    frame.loc[500, "w"] = bad
    data = PRODUCERS[name](frame, tmp_path)
    with pytest.raises(SourceError, match="weight column 'w' hold (-1|a missing value|inf): weights are"):
        ss.run(data, ss.Screen("f", k=2), target="y", weight="w")


@pytest.mark.parametrize("name", ["Parquet", "pandas", "chunks"])
def test_columns_that_cannot_be_weights_are_refused(name, tmp_path):
    frame = table().assign(text="a")
    data = PRODUCERS[name](frame, tmp_path)
    with pytest.raises(SourceError, match="no column 'v'"):
        ss.open(data, target="y", weight="v")
    with pytest.raises(SourceError, match="'?text'?"):
        ss.open(data, target="y", weight="text")
    if name == "Parquet":
        with pytest.raises(SourceError, match="'y' is the weight of rows and the target"):
            ss.open(data, target="y", weight="y")


def test_arrays_of_the_wrong_shape_are_refused():
    X, y = np.ones((4, 2)), np.arange(4) % 2
    for weight in (np.ones(3), np.ones((4, 1)), 2.0):
        with pytest.raises(SourceError, match="the data has 4 rows, but the weights have shape"):
            ss.open(X, target=y, weight=weight)
    with pytest.raises(SourceError, match="only a dataframe has a column named 'w'"):
        ss.open(X, target=y, weight="w")
    with pytest.raises(SourceError, match="the weights hold a missing value"):
        ss.open(X, target=y, weight=np.ma.masked_equal([1.0, 2, 3, 4], 2))
    with pytest.raises(SourceError, match="the weights hold a missing value"):
        ss.open(X, target=y, weight=np.ma.masked_equal([1, 2, 3, 4], 2))
    with pytest.raises(SourceError, match="the weights hold inf"):
        ss.open(X, target=y, weight=np.full(4, np.longdouble("1e4000")))


@pytest.mark.parametrize(
    "bad", [np.array(["a"] * 4), np.ones(4, complex), np.ones(4, "M8[s]"), np.ones(4, "m8[D]")], ids=str
)
def test_what_is_no_number_is_no_weight(bad):
    X, y = np.ones((4, 2)), np.arange(4) % 2
    frame = pd.DataFrame({"a": X[:, 0], "w": bad})
    for data, weight in ((X, bad), (frame, "w")):
        with pytest.raises(SourceError, match="not hold numbers|could not convert"):
            ss.open(data, target=y, weight=weight)


def test_columns_are_not_streamed_with_weights(tmp_path):
    frame = table()
    for data in (frame, parquet(frame, tmp_path)):
        with pytest.raises(SourceError, match="no columns while its rows have weights"):
            ss.run(ss.open(data, target="y", weight="w"), ss.SAOLA(alpha=0.01))


def test_a_selector_that_knows_no_weights_refuses_them():
    with pytest.raises(CapabilityError, match="OFS does not support sample_weight"):
        ss.run(table(), ss.OFS(k=2), target="y", weight="w")


def test_a_source_that_is_open_has_its_weights():
    with pytest.raises(SourceError, match="open already"):
        ss.run(ss.open(table(), target="y"), ss.Screen("f", k=2), weight="w")


def test_the_target_can_be_read_beside_a_weight(tmp_path):
    frame = table(text=True)
    source = ss.open(csv(frame, tmp_path), target="y", weight="w")
    assert source.y.tolist() == frame["y"].tolist()
    filtered = ss.open(csv(frame, tmp_path), target="y", weight="w", where="w>0")
    assert sum(len(batch.y) for batch in filtered.rows()) == int((frame["w"] > 0).sum())


def test_a_part_travels_with_its_weights(tmp_path):
    source = ss.open(parquet(table(), tmp_path), target="y", weight="w")
    parts = source.parts(100)
    for part, twin in zip(parts, pickle.loads(pickle.dumps(parts)), strict=True):  # noqa: S301 - ours
        here, there = (np.concatenate([b.weight for b in each.rows(64)]) for each in (part, twin))
        assert here.tolist() == there.tolist()


def test_the_command_line_takes_a_column(tmp_path, capsys):
    frame = table()
    paths = parquet(frame, tmp_path)
    whole = ss.Screen("f", k=2).fit(frame[["c0", "c1", "c2"]], frame["y"], sample_weight=frame["w"])
    asked = ["screen", *paths, "--target", "y", "--criterion", "f", "--k", "2", "--weight", "w"]
    assert command([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["feature"] for row in found["kept"]} == {"c1", "c2"}
    scores = [row["score"] for row in found["kept"]]
    np.testing.assert_allclose(scores, np.sort(whole.scores_)[::-1][:2])
    assert "weights of rows: w" in found["notes"]
    assert command([*asked, "--code"]) == 0
    assert "screen__sample_weight=data['w']" in capsys.readouterr().out
    assert command(["compare", paths[0], "--target", "y", "--weight", "w", "--out", str(tmp_path / "c")]) != 0
    assert "weighs all rows alike" in capsys.readouterr().err
    assert command([*asked, "--engine", "dask", "--rows-per-task", "100", "--json"]) == 0
    engine = json.loads(capsys.readouterr().out)
    np.testing.assert_allclose([row["score"] for row in engine["kept"]], scores, rtol=1e-9)


def test_svmlight_text_has_no_column_for_it(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:2\n0 2:3\n")
    with pytest.raises(ParameterError, match="no option 'weight'"):
        ss.open(tmp_path / "a.svm", weight="w")
