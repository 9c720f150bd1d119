"""Spark, classic and Connect: the laws of engines on real executors."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import streamsieve as ss
from streamsieve.exceptions import CapabilityError, ParameterError, SourceError, StreamSieveError
from tests.engines.laws import (
    assert_equal_to_one_process,
    assert_same_bits,
    assert_the_script_of_the_guide_moves,
    files,
    opened,
    rows,
)
from tests.engines.test_laws import SCREENS, by_hand

pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("ignore")]  # Spark's own warnings

N = 3000


def frame(kind="dense", n=N):
    X, y = rows(n, 0, kind)
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]).assign(y=y)


@pytest.mark.parametrize("name", ["f", "mutual_info"])
@pytest.mark.parametrize("kind", ["dense", "missing"])
def test_a_frame_equals_one_process(spark, name, kind):
    table, seen = frame(kind), []
    one = ss.run(table, SCREENS[name](), target="y")
    source = spark.createDataFrame(table).repartition(11)
    found = ss.run(source, SCREENS[name](), target="y", progress=seen.append)
    assert_equal_to_one_process(found, one)
    assert sum(seen) == N
    assert found.feature_names_in_.tolist() == one.feature_names_in_.tolist()


def test_the_driver_reads_the_target_and_no_features_but_one(spark):
    source = ss.open(spark.createDataFrame(frame("weights")), target="y", weight="c6")
    whole, short = (source.first_rows(100, values=values) for values in (True, False))
    assert short.X.shape == whole.X.shape
    assert not short.X.any()
    assert short.names == whole.names == [f"c{j}" for j in range(6)]
    np.testing.assert_array_equal(short.y, whole.y)
    np.testing.assert_array_equal(short.weight, whole.weight)


def test_parts_of_one_class_and_empty_partitions(spark):
    table = frame()
    source = spark.createDataFrame(table).repartition(20, "y")  # 3 labels: most partitions are empty
    found = ss.run(source, ss.Screen("f"), target="y")
    assert_equal_to_one_process(found, ss.run(table, ss.Screen("f"), target="y"))
    assert found._covered_.spans[0][1:] == (0, 20)


@pytest.mark.parametrize("name", ["f", "mutual_info", "half_life", "window"])
def test_files_on_executors_give_the_bits_of_any_engine(spark, name, tmp_path):
    source, seen = opened(files(tmp_path, 7)), []
    options = {"rows_per_task": 300, "batch_size": 256, "progress": seen.append}
    assert_same_bits(
        ss.run(source, SCREENS[name](), engine=spark, **options), by_hand(source, SCREENS[name](), 300)
    )
    assert sum(seen) == 4000


def test_the_same_frame_gives_the_same_bits_and_counts_once(classic, tmp_path):
    files(tmp_path, 5)
    read = lambda: classic.read.parquet(str(tmp_path))  # noqa: E731
    one, two = (ss.run(read(), SCREENS["mutual_info"](), target="y") for _ in range(2))
    assert_same_bits(one, two)
    with pytest.raises(StreamSieveError, match="both states hold part 1.* of the same run"):
        one.merge(two)


def test_half_life_needs_an_order(spark):
    table = frame().assign(time=np.arange(N))
    source = spark.createDataFrame(table.sample(frac=1, random_state=0)).repartition(5)
    with pytest.raises(CapabilityError, match="order of rows.*order_by='time'"):
        ss.run(source, SCREENS["half_life"](), target="y")
    found = ss.run(ss.open(source, target="y", order_by="time"), SCREENS["half_life"]())
    one = ss.run(table.drop(columns="time"), SCREENS["half_life"](), target="y")
    np.testing.assert_allclose(found.scores_, one.scores_, atol=1e-9 * np.abs(one.scores_).max())
    back = ss.run(table[::-1].drop(columns="time"), SCREENS["half_life"](), target="y")
    assert np.abs(found.scores_ - back.scores_).max() > 1e-3 * one.scores_.max()


def test_an_error_names_the_partition_and_the_column(spark):
    table = frame()
    table.loc[1234, "c2"] = np.inf
    selector = ss.Screen("f")
    with pytest.raises(
        StreamSieveError, match=r"^part \d \(partition \d of the Spark frame\): row .*'c2' holds inf"
    ):
        ss.run(spark.createDataFrame(table).repartition(3), selector, target="y")
    assert not hasattr(selector, "n_features_in_")


def test_a_file_is_named(spark, tmp_path):
    paths = files(tmp_path, 5)
    table = pq.read_table(paths[3])
    pq.write_table(table.set_column(2, "c2", pa.array(np.full(len(table), np.inf))), paths[3])
    with pytest.raises(StreamSieveError, match=r"^part \d .*part-03.parquet, row 1: .*'c2' holds inf"):
        ss.run(opened(paths), ss.Screen("f"), engine=spark, rows_per_task=400)


def test_an_error_of_spark_itself_is_one_sentence(spark):
    bad = spark.createDataFrame(frame()).selectExpr(
        "CASE WHEN c1 > 2 THEN raise_error('out of order') ELSE c0 END AS c0", "y"
    )
    with pytest.raises(SourceError, match="^Spark gave up: .*out of order"):
        ss.run(bad, ss.Screen("f"), target="y")


def test_text_and_types(spark):
    table = frame().assign(
        y=lambda t: np.array(["a", "b", "c"])[t.y], n=np.arange(N), b=np.arange(N) % 2 == 0, text="x"
    )
    source = spark.createDataFrame(table)
    with pytest.raises(SourceError, match="'text' holds text"):
        ss.run(source, ss.Screen("f"), target="y")
    found = ss.run(ss.open(source, target="y", exclude="text"), ss.Screen("f"))
    one = ss.run(table.drop(columns="text").astype({"b": float}), ss.Screen("f"), target="y")
    assert_equal_to_one_process(found, one)
    dropped = ss.run(ss.open(source, target="y", skip_text=True), ss.Screen("f"))
    np.testing.assert_array_equal(dropped.feature_names_in_, found.feature_names_in_)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "mixed"])
@pytest.mark.parametrize("name", ["f", "mutual_info"])
def test_vectors_with_attribute_names(classic, sparse, name):
    from pyspark.ml.feature import VectorAssembler

    table = frame()
    if sparse:  # VectorAssembler writes rows of many zeros as sparse vectors
        table.loc[: N // 2, ["c0", "c2", "c3", "c4"]] = 0.0
    names = [f"c{j}" for j in range(6)]
    assembled = VectorAssembler(inputCols=names, outputCol="v").transform(classic.createDataFrame(table))
    with pytest.raises(SourceError, match="'v' holds vectors.*features='v'"):
        ss.run(assembled, ss.Screen("f"), target="y")
    found = ss.run(ss.open(assembled, target="y", features="v"), SCREENS[name]())
    assert found.feature_names_in_.tolist() == names
    assert_equal_to_one_process(found, ss.run(table, SCREENS[name](), target="y"))


def test_rows_have_the_weights_of_a_column(classic):
    from pyspark.ml.feature import VectorAssembler

    table, names = frame("weights").rename(columns={"c6": "w"}), [f"c{j}" for j in range(6)]
    data = classic.createDataFrame(table).repartition(3)
    vectors = VectorAssembler(inputCols=names, outputCol="v").transform(data).select("v", "w", "y")
    for name in ("f", "mutual_info"):
        one = ss.run(table, SCREENS[name](), target="y", weight="w")
        for source in (data, ss.open(vectors, target="y", weight="w", features="v")):
            more = {"target": "y", "weight": "w"} if source is data else {}
            found = ss.run(source, SCREENS[name](), **more)
            assert found.feature_names_in_.tolist() == names
            assert_equal_to_one_process(found, one)
    with pytest.raises(SourceError, match="Spark frame: .*the weight column 'w' hold -1"):
        ss.run(data.selectExpr("* except (w)", "-1.0 AS w"), ss.Screen("f"), target="y", weight="w")


ON_CONNECT = """
import sys
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.feature import VectorAssembler
from pyspark.sql import SparkSession
import streamsieve as ss
from streamsieve.adapters.spark import SparkSelector
from tests.engines.test_spark import frame
spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
data, names = spark.createDataFrame(frame()), [f"c{j}" for j in range(6)]
assembler = VectorAssembler(inputCols=names, outputCol="v")
source = ss.open(assembler.transform(data), target="y", features="v")
one = ss.run(frame(), ss.Screen("f", k=2), target="y")
found = ss.run(source, ss.Screen("f", k=2))
assert found.get_feature_names_out().tolist() == one.get_feature_names_out().tolist()
choose = SparkSelector(ss.Screen("f", k=2), featuresCol="v", labelCol="y")
model = Pipeline(stages=[assembler, choose]).fit(data)
(row,) = model.transform(data.limit(1)).collect()
assert row["selected"].toArray().tolist() == row["v"].toArray()[one.selected_].tolist()
print("done")
"""


def test_vectors_and_pipelines_on_connect(connect_address):
    # a process of its own: pyspark.ml speaks to one kind of session per process
    command = [sys.executable, "-c", ON_CONNECT, connect_address]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    assert done.stdout.strip() == "done", done.stderr[-2000:]


def test_vectors_without_attributes_and_of_unequal_length(classic):
    from pyspark.ml.linalg import Vectors

    X, y = rows(50)
    made = [(Vectors.dense(x), float(label)) for x, label in zip(X.tolist(), y, strict=True)]
    found = ss.run(
        ss.open(classic.createDataFrame(made, ["v", "y"]), target="y", features="v"), ss.Screen("f")
    )
    assert_equal_to_one_process(found, ss.run(ss.open(X, target=y.astype(float)), ss.Screen("f")))
    uneven = classic.createDataFrame([*made, (Vectors.sparse(7, {1: 1.0}), 0.0)], ["v", "y"])
    with pytest.raises(SourceError, match="vector of 7 elements, others have 6"):
        ss.run(ss.open(uneven, target="y", features="v"), ss.Screen("f"))


def test_refusals(classic):
    source = classic.createDataFrame(frame(n=30))
    for selector, options, error, said in (
        (ss.OFS(), {}, CapabilityError, "depends on the order of rows"),
        (ss.Screen("f"), {"engine": "local"}, ParameterError, "is computed by spark"),
        (ss.Screen("f"), {"engine": "dask"}, ParameterError, "is computed by spark"),
        (ss.Screen("f"), {"rows_per_task": 10}, ParameterError, "repartition it"),
        (ss.Screen("f"), {"checkpoint": "x.sieve"}, ParameterError, "without checkpoints"),
    ):
        with pytest.raises(error, match=said):
            ss.run(source, selector, target="y", **options)
    with pytest.raises(SourceError, match="no column 'z'"):
        ss.run(source, ss.Screen("f"), target="z")
    with pytest.raises(SourceError, match="stay there: for one process, write it to Parquet"):
        ss.open(source, target="y").rows(10)
    with pytest.raises(SourceError, match="has no rows"):
        ss.run(source.limit(0), ss.Screen("f"), target="y")
    with pytest.raises(ParameterError, match="leave out workers="):
        ss.run(frame(), ss.Screen("f"), target="y", engine=classic, workers=2)


def test_executors_have_the_versions_of_the_driver(classic, monkeypatch):
    from streamsieve.engines import run

    real = run.declared_of

    def other(*arguments):
        made = real(*arguments)
        made.versions["numba"] = "0.0.1"
        return made

    monkeypatch.setattr(run, "declared_of", other)
    with pytest.raises(SourceError, match="the process that started the run has 0.0.1: install the same"):
        ss.run(classic.createDataFrame(frame(n=30)), ss.Screen("f"), target="y")


def test_the_script_of_the_guide_moves_to_spark_by_one_argument(spark, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert_the_script_of_the_guide_moves(spark)
    found = ss.run(spark.read.parquet(str(tmp_path / "clicks")), ss.Screen("f", k=3), target="bought")
    assert found.get_feature_names_out().tolist() == ["c7", "c8", "c9"]
