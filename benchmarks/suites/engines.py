"""Streams of record batches, parts merged into one state, and real engines against their bare scans."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import streamsieve as ss
from benchmarks._cases import Race, Size, SkipCase, case
from streamsieve.summaries import Quantiles

P = 40


def _files(size: Size) -> list[str]:
    """Write a table to a folder that goes away with the process, once."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    n = size(100_000, 500)
    if n not in _written:
        folder = tempfile.TemporaryDirectory(prefix="streamsieve-bench-")
        rng = np.random.default_rng(0)
        for k in range(4):
            y = rng.integers(0, 2, n)
            columns = {f"c{j}": rng.normal(size=n) for j in range(P)}
            pq.write_table(pa.table({**columns, "y": y}), Path(folder.name, f"{k}.parquet"))
        _written[n] = folder
    return [str(Path(_written[n].name, f"{k}.parquet")) for k in range(4)]


_written: dict[int, tempfile.TemporaryDirectory[str]] = {}


def _producers(_: Size) -> dict[str, str]:
    return {name: name for name in ("dataset", "DuckDB relation", "polars LazyFrame")}


def _opened(kind: str, files: list[str]) -> Any:
    if kind == "dataset":
        import pyarrow.dataset as ds  # noqa: PLC0415

        return ds.dataset(files)
    if kind == "DuckDB relation":
        import duckdb  # noqa: PLC0415

        return duckdb.read_parquet(files)
    import polars as pl  # noqa: PLC0415

    return pl.scan_parquet(files)


@case("Screen f over a stream, ", over=_producers, bar="ours <= 1.2x", memory=True)
def stream(size: Size, kind: str) -> Race:
    files = _files(size)

    def run(data: Any) -> Callable[[], Any]:
        return lambda: ss.run(ss.open(data, target="y"), ss.Screen("f"), batch_size=16_384)

    rows = size(400_000, 2_000)
    return Race(
        run(_opened(kind, files)), run(files), "the same files", work=rows, unit="rows", rounds=size(5, 1),
        note=f"the whole table has {rows * (P + 1) * 8 / 1e6:.0f} MB",
    )  # fmt: skip


@case("merging 8 parts of 62,500 rows, quantiles", bar="ours <= 0.15x")
def merge_many(size: Size) -> Race:
    blocks, note = _blocks(size), {"text": ""}
    parts = _parts(size)

    def ours() -> None:
        merged = parts[0].copy()
        merged.merge_many(parts[1:])
        certified = merged.rank_error().max()
        kilobytes = sum(array.nbytes for array in parts[0].state().values()) / (2 * merged.n_features * 1000)
        note["text"] = (
            f"parts of {kilobytes:.1f} kB per feature and class; certified rank error {certified:.2g} of 1e-3"
        )

    def build() -> None:
        for X, y in blocks:
            _learned(X, y)

    return Race(ours, build, "learning the parts", note=lambda: note["text"], rounds=size(5, 1))


@case("merging 8 parts at once, quantiles", bar="ours <= 1x")
def merge_pairwise(size: Size) -> Race:
    parts, errors = _parts(size), {}

    def at_once() -> None:
        merged = parts[0].copy()
        merged.merge_many(parts[1:])
        errors["at once"] = merged.rank_error().max()

    def one_by_one() -> None:
        merged = parts[0].copy()
        for other in parts[1:]:
            merged.merge(other)
        errors["one by one"] = merged.rank_error().max()

    return Race(
        at_once, one_by_one, "one by one", rounds=size(5, 1),
        note=lambda: "certified rank error " + ", ".join(f"{v:.2g} {k}" for k, v in errors.items()),
    )  # fmt: skip


def _blocks(size: Size) -> list[tuple[Any, Any]]:
    rng, n = np.random.default_rng(0), size(62_500, 1_000)
    return [(rng.normal(size=(n, size(P, 3))), rng.integers(0, 2, n)) for _ in range(8)]


def _parts(size: Size) -> list[Quantiles]:
    return [_learned(X, y) for X, y in _blocks(size)]


def _learned(X: Any, y: Any) -> Quantiles:
    """Learn a part as an engine does."""
    part = Quantiles(1e-3)
    part.begin_part()
    part.update(X, y)
    part.end_part()
    return part


@case("learning and merging 8 parts of 62,500 rows, quantiles", bar="ours <= 1.25x")
def in_parts(size: Size) -> Race:
    blocks = _blocks(size)

    def ours() -> None:
        first, *others = [_learned(X, y) for X, y in blocks]
        first.merge_many(others)

    def whole() -> None:
        quantiles = Quantiles(1e-3)
        for X, y in blocks:
            quantiles.update(X, y)

    return Race(ours, whole, "one summary", rounds=size(5, 1))


# ------------------------------------------------------------------------------------ real engines

FILES, FEATURES = 4, 100
_made: dict[Any, Any] = {}


def _once(key: Any, make: Any) -> Any:
    if key not in _made:
        _made[key] = make()
    return _made[key]


def _wide_written(size: Size, files: int = FILES) -> Path:
    """Write 250,000 rows of 100 columns per file to a folder that goes away with the process."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    folder = tempfile.TemporaryDirectory(prefix="streamsieve-bench-")
    atexit.register(folder.cleanup)
    n, rng = size(250_000, 500), np.random.default_rng(0)
    for k in range(files):
        y = rng.integers(0, 2, n)
        columns = {f"c{j}": rng.normal(size=n) + (j < 10) * 0.1 * y for j in range(FEATURES)}
        table = pa.table({**columns, "y": y})
        pq.write_table(
            table, Path(folder.name, f"{k:02}.parquet"), row_group_size=62_500, use_dictionary=False
        )
    return Path(folder.name)


def _source(size: Size, files: int = FILES) -> Any:
    folder = _once(("files", size, files), lambda: _wide_written(size, files))
    return ss.open(f"{folder}/*.parquet", target="y")


def _run(size: Size, criterion: str, engine: Any) -> Any:
    return ss.run(
        _source(size), ss.Screen(criterion, k=10), engine=engine, rows_per_task=size(250_000, 500),
        batch_size=16_384,
    )  # fmt: skip


def _lengths(size: Size) -> dict[str, int]:
    return {"1,000,000 x 100": FILES, "5,000,000 x 100 (4 GB)": size(20, FILES)}


@case("local engine, 2 processes, mutual_info, ", over=_lengths, bar="speedup >= 1.7")
def processes(size: Size, files: int) -> Race:
    cores = [0.0]

    def one() -> None:
        began, computed = time.perf_counter(), time.process_time()
        ss.run(_source(size, files), ss.Screen("mutual_info", k=10), batch_size=16_384)
        cores[0] = (time.process_time() - computed) / (time.perf_counter() - began)

    def two() -> None:
        screen = ss.Screen("mutual_info", k=10)
        ss.run(_source(size, files), screen, engine="local", workers=2, batch_size=16_384)

    return Race(
        two, one, "one process", rounds=size(3, 1), work=files * size(250_000, 500), unit="rows",
        note=lambda: (
            f"decoding and kernels have threads: one process keeps {cores[0]:.2f} cores busy, so two cores "
            f"leave room for {2 / cores[0]:.2f}x"
        ),
    )  # fmt: skip


# ------------------------------------------------------------------------------------ Dask


def _client() -> Any:
    try:
        from distributed import Client, LocalCluster  # noqa: PLC0415
    except ImportError as error:
        raise SkipCase("distributed is not installed") from error
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    client = Client(cluster)
    atexit.register(cluster.close)
    atexit.register(client.close)
    return client


def _scanned(part: Any) -> float:
    """Read a part and sum its columns: what having a matrix costs."""
    return float(sum(batch.X.sum(axis=0).sum() for batch in part.rows(16_384)))


@case("Dask, fisher", bar="ours <= 1.3x")
def dask_fisher(size: Size) -> Race:
    client = _once("client", _client)
    parts = _source(size).parts(size(250_000, 500))

    def scan() -> None:
        client.gather(client.map(_scanned, parts, pure=False))

    return Race(
        lambda: _run(size, "fisher", client), scan, "scan to a matrix and sum by the same workers",
        rounds=size(5, 1),
    )  # fmt: skip


def _criteria(_: Size) -> dict[str, str]:
    return {name: name for name in ("fisher", "mutual_info")}


@case("Dask, first task of a cold worker, ", over=_criteria, bar="ours <= 5 s")
def cold(size: Size, criterion: str) -> Race:
    client = _once("client", _client)
    source = _source(Size(quick=True))

    def timed() -> float:
        began = time.perf_counter()
        ss.run(source, ss.Screen(criterion, k=10), engine=client, rows_per_task=4 * 500)
        return time.perf_counter() - began

    def measured() -> tuple[float, float]:
        cold, warm = [], []
        for _ in range(size(3, 1)):
            client.restart()
            cold.append(timed())
            warm.append(min(timed() for _ in range(3)))
        return min(cold) - min(warm), min(warm)

    note = "what importing and loading compiled kernels add to a run of one small task, the peer"
    return Race(lambda: None, None, "a warm worker", note=note, measured=measured)


# ------------------------------------------------------------------------------------ Spark


def _spark() -> Any:
    if shutil.which("java") is None:
        raise SkipCase("there is no java on the PATH")
    try:
        from pyspark.sql import SparkSession  # noqa: PLC0415
    except ImportError as error:
        raise SkipCase("pyspark is not installed") from error
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "3g").config("spark.log.level", "OFF")
    builder = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", "16384")
    session = builder.getOrCreate()
    atexit.register(session.stop)
    return session


def _frame(size: Size) -> Any:
    session = _once("spark", _spark)
    return session.read.parquet(str(_once(("files", size, FILES), lambda: _wide_written(size))))


def _bare(frame: Any) -> None:
    def count(batches: Any) -> Any:
        import pyarrow as pa  # noqa: PLC0415

        yield pa.record_batch({"n": pa.array([sum(batch.num_rows for batch in batches)], pa.int64())})

    frame.mapInArrow(count, "n long").collect()


@case("Spark, f", bar="ours <= 1.3x")
def spark_f(size: Size) -> Race:
    frame = _frame(size)
    return Race(
        lambda: ss.run(frame, ss.Screen("f", k=10), target="y", batch_size=16_384), lambda: _bare(frame),
        "bare mapInArrow", rounds=size(5, 1),
    )  # fmt: skip


@case("Spark, mutual_info", bar="ours <= 2.2x")
def spark_mutual_info(size: Size) -> Race:
    frame = _frame(size)
    return Race(
        lambda: ss.run(frame, ss.Screen("mutual_info", k=10), target="y", batch_size=16_384),
        lambda: _bare(frame), "bare mapInArrow", rounds=size(5, 1),
    )  # fmt: skip


@case("Spark, f, against MLlib", bar="ours <= 0.6x")
def spark_mllib(size: Size) -> Race:
    frame = _frame(size)

    def theirs() -> None:
        from pyspark.ml.feature import UnivariateFeatureSelector, VectorAssembler  # noqa: PLC0415

        names = [f"c{j}" for j in range(FEATURES)]
        vectors = VectorAssembler(inputCols=names, outputCol="v").transform(frame)
        chooser = UnivariateFeatureSelector(featuresCol="v", labelCol="y", selectionMode="numTopFeatures")
        chooser.setFeatureType("continuous").setLabelType("categorical").setSelectionThreshold(10)
        chooser.fit(vectors)

    return Race(
        lambda: ss.run(frame, ss.Screen("f", k=10), target="y", batch_size=16_384), theirs,
        "UnivariateFeatureSelector", rounds=size(3, 1),
    )  # fmt: skip


# ------------------------------------------------------------------------------------ columns


@case("columns, SAOLA: what is left to the driver", bar="ours <= 0.1x")
def columns(size: Size) -> Race:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(size(20_000, 200), size(2_000, 40)))
    y = (X[:, :5].sum(axis=1) + rng.normal(size=len(X)) > 0).astype(int)
    source = ss.open(X, target=y)
    begun = ss.SAOLA(alpha=0.01).begin(y)
    measured = [begun.measure_block(block) for block in source.columns(500)]
    shipped = sum(block.X.nbytes for block in measured) / X.nbytes

    def settle() -> None:
        sieve = ss.SAOLA(alpha=0.01).begin(y)
        for block in measured:
            sieve.offer(block)

    return Race(
        settle, lambda: ss.run(source, ss.SAOLA(alpha=0.01)), "measuring and settling in one process",
        note=f"{shipped:.1%} of the values travel", rounds=size(5, 1),
    )  # fmt: skip
