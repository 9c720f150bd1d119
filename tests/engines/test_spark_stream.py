"""Streaming queries of Spark into a state file: exactly once, also where drivers are killed."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import streamsieve as ss
from streamsieve.engines.spark import into
from streamsieve.exceptions import CapabilityError, ParameterError, StateError
from tests.engines.laws import files, opened, rows
from tests.helpers.spark import spark_is_there

pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("ignore")]  # Spark's own warnings
SCHEMA = ", ".join([*(f"c{j} double" for j in range(6)), "y long"])


def run_query(spark, step, folder, checkpoint):
    stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder))
    writer = stream.writeStream.foreachBatch(step).option("checkpointLocation", str(checkpoint))
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()


def test_a_stream_equals_its_files_and_goes_on(classic, tmp_path):
    folder, state = tmp_path / "rows", tmp_path / "state.sieve"
    folder.mkdir()
    paths = files(folder, 4)
    step = into(state, ss.Screen("f", k=2), target="y")
    run_query(classic, step, folder, tmp_path / "checkpoint")
    one = ss.run(opened(paths), ss.Screen("f", k=2))
    found = ss.load(state)
    assert found.n_samples_seen_ == 4000
    np.testing.assert_allclose(found.scores_, one.scores_, rtol=0, atol=1e-12 * one.scores_.max())
    X, y = rows(100, seed=9)
    more = folder / "part-99.parquet"
    pq.write_table(pa.table({**{f"c{j}": X[:, j] for j in range(6)}, "y": y}), more)
    run_query(classic, step, folder, tmp_path / "checkpoint")
    assert ss.load(state).n_samples_seen_ == 4100
    # the batches of another checkpoint location have the same numbers
    with pytest.raises(Exception, match="follows another streaming query"):
        run_query(classic, step, folder, tmp_path / "another")
    assert ss.load(state).n_samples_seen_ == 4100


def test_a_batch_that_comes_again_is_skipped(classic, tmp_path):
    frame = classic.read.parquet(*map(str, files(tmp_path, 2)))
    state = tmp_path / "state.sieve"
    step = into(state, ss.Screen("f"), target="y", query="clicks")
    for batch in (0, 0, 1, 1, 0):
        step(frame, batch)
    assert ss.load(state).n_samples_seen_ == 8000
    with pytest.raises(StateError, match="follows another streaming query"):
        into(state, ss.Screen("f"), target="y", query="views")(frame, 0)
    step(frame.limit(0), 7)
    assert ss.load(state).n_samples_seen_ == 8000


def test_the_first_batch_decides_the_task(classic, tmp_path):
    rng, state = np.random.default_rng(0), tmp_path / "state.sieve"
    step = into(state, ss.Screen("mutual_info"), target="y", query="clicks")
    X = rng.normal(size=(300, 2))
    for batch, y in enumerate([X[:, 0] + rng.normal(size=300), np.round(X[:, 0] * 3)]):
        step(classic.createDataFrame(np.c_[X, y].tolist(), ["a", "b", "y"]), batch)
    assert ss.load(state).task_ == "regression"
    assert ss.load(state).n_samples_seen_ == 600


def test_connect_needs_a_name_for_the_query(connect, tmp_path):
    frame = connect.createDataFrame([(1.0, 0), (2.0, 1), (3.0, 1)], ["a", "y"])
    with pytest.raises(ParameterError, match="query='clicks'"):
        into(tmp_path / "state.sieve", ss.Screen("f"), target="y")(frame, 0)
    into(tmp_path / "state.sieve", ss.Screen("f"), target="y", query="clicks")(frame, 0)
    assert ss.load(tmp_path / "state.sieve").n_samples_seen_ == 3


def test_refusals(classic, tmp_path):
    with pytest.raises(CapabilityError, match="depends on the order of rows"):
        into(tmp_path / "state.sieve", ss.OFS(), target="y")
    frame = classic.createDataFrame([(1.0, 0), (2.0, 1)], ["a", "y"])
    with pytest.raises(CapabilityError, match="order_by"):
        into(tmp_path / "s.sieve", ss.Screen("f", half_life=10), target="y", query="q")(frame, 0)


@pytest.mark.skipif(
    os.environ.get("STREAMSIEVE_FAULTS") != "full",
    reason="killing drivers takes minutes: STREAMSIEVE_FAULTS=full, or python -m campaigns spark_stream",
)
def test_killed_drivers_lose_nothing_and_double_nothing():
    spark_is_there()
    from campaigns.spark_stream import Case, attempt

    outcome = attempt(Case(seed=5, kills=3))
    assert outcome.kind == "held", outcome
    assert outcome.amount >= 2
