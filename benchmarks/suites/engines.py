"""Streams of record batches, parts merged into one state, and real engines against their bare scans."""

from __future__ import annotations

import atexit
import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

import streamsieve as ss
from benchmarks._cases import Race, Size, SkipCase, case
from benchmarks._data import parquet_files
from benchmarks._local_engine import Costs, costs, one_thread
from benchmarks._spark import bare, processor_seconds, started
from benchmarks._stream_peak import PRODUCERS, TABLE, peak
from streamsieve.engines import Plan, build, declared_of, local, merge_all, plan_of
from streamsieve.summaries import Quantiles

P = 40
FILES, FEATURES = 4, 100
#: Seconds that workers of Dask may take to start again, on a busy machine.
RESTARTED = 600
_made: dict[Any, Any] = {}


def _once(key: Any, make: Any) -> Any:
    if key not in _made:
        _made[key] = make()
    return _made[key]


def _files(size: Size) -> list[str]:
    n = size(100_000, 500)
    folder = _once(("files", n), lambda: parquet_files(4, n, P, n))
    return sorted(map(str, folder.glob("*.parquet")))


def _producers(_: Size) -> dict[str, str]:
    return {name: name for name in ("dataset", "DuckDB relation", "polars LazyFrame")}


@case("Screen f over a stream, ", over=_producers, bar="ours <= 1.2x", memory=True)
def stream(size: Size, kind: str) -> Race:
    files = _files(size)

    def run(data: Any) -> Callable[[], Any]:
        return lambda: ss.run(ss.open(data, target="y"), ss.Screen("f"), batch_size=16_384)

    rows = size(400_000, 2_000)
    return Race(
        run(PRODUCERS[kind](files)), run(files), "the same files", work=rows, unit="rows", rounds=size(5, 1),
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
    """Merging at once saves error: the values of all parts are put in order before they are thinned, once."""
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


def _orders(_: Size) -> dict[str, str]:
    return {f"{order} rows": order for order in ("random", "sorted", "reversed")}


def _rank_errors(size: Size, order: str) -> tuple[float, float]:
    """Merge 64 parts in the tree of an engine; return the largest rank error and the certified one."""
    rng, n = np.random.default_rng(0), size(1_000_000, 6_400)
    x, y = rng.normal(size=n), rng.integers(0, 2, n)
    if order != "random":
        x = np.sort(x)[:: 1 if order == "sorted" else -1]
    nodes = [_learned(X[:, None], part) for X, part in zip(np.split(x, 64), np.split(y, 64), strict=True)]
    for level in Plan("", [None] * 64).tree:  # type: ignore[list-item]
        for node in level:
            nodes[node[0]].merge_many([nodes[k] for k in node[1:]])
        nodes = [nodes[node[0]] for node in level]
    far = 0.0
    for place, label in enumerate(nodes[0].classes):
        values = np.sort(x[y == label])
        below = np.arange(1, len(values) + 1)
        far = max(far, float(np.abs(nodes[0].cdf(0, values)[place] - below).max()) / len(values))
    return far, float(nodes[0].rank_error().max())


@case("largest rank error of 64 merged parts, ", over=_orders, bar="ours <= 1x")
def found_errors(size: Size, order: str) -> Race:
    found = _once(("errors", size, order), lambda: _rank_errors(size, order))
    return _per_million(*found, "the certified one")


@case("certified rank error of 64 merged parts, ", over=_orders, bar="ours <= 1x")
def certified_errors(size: Size, order: str) -> Race:
    _, certified = _once(("errors", size, order), lambda: _rank_errors(size, order))
    return _per_million(certified, 1e-3, "max_rank_error")


def _per_million(ours: float, peer: float, name: str) -> Race:
    return Race(
        lambda: None, None, name, measured=lambda: (1e6 * ours, 1e6 * peer), quantity="per million"
    )  # fmt: skip


@case("learning and merging 8 parts of 62,500 rows, quantiles")
def in_parts(size: Size) -> Race:
    blocks = _blocks(size)

    def ours() -> None:
        first, *others = [_learned(X, y) for X, y in blocks]
        first.merge_many(others)

    def whole() -> None:
        quantiles = Quantiles(1e-3)
        for X, y in blocks:
            quantiles.update(X, y)

    note = "a part learns to half of the error, which costs most where parts are small"
    return Race(ours, whole, "one summary", rounds=size(5, 1), note=note)


@case(
    "peak memory of a stream, 4x the rows: ",
    over=lambda _: {name: name for name in PRODUCERS},
    bar="ours <= 1.05x",
)
def peak_memory(size: Size, producer: str) -> Race:
    """The shorter stream is long enough for all that is read ahead."""
    folder = _once(("narrow", size), lambda: _narrow(size))
    times = size(8, 1)
    table = 4 * size(50_000, 500) * 21 * 8 / 1e6

    def measured() -> tuple[float, float]:
        short, long = (peak(producer, folder, n) for n in (times, 4 * times))
        return long, short

    note = f"whole processes; the rows take {table * times:,.0f} and {4 * table * times:,.0f} MB"
    return Race(lambda: None, None, "1x the rows", note=note, measured=measured, quantity="MB")


@case("peak memory of a stream: ", over=lambda _: {name: name for name in PRODUCERS}, bar="ours <= 0.5x")
def peak_of_table(size: Size, producer: str) -> Race:
    folder, times = _once(("narrow", size), lambda: _narrow(size)), size(32, 1)
    rows = 4 * size(50_000, 500) * times

    def measured() -> tuple[float, float]:
        table = _once(("table", size), lambda: peak(TABLE, folder, times))
        return peak(producer, folder, times), table

    note = f"whole processes; the rows take {rows * 21 * 8 / 1e6:,.0f} MB"
    return Race(lambda: None, None, "an Arrow table", note=note, measured=measured, quantity="MB")


def _narrow(size: Size) -> Path:
    """Write four files of 50,000 rows of 20 columns in small row groups, the least that readers fetch."""
    return parquet_files(4, size(50_000, 500), 20, 4096)


# ------------------------------------------------------------------------------------ real engines


def _wide_written(size: Size, files: int = FILES) -> Path:
    """Write 250,000 rows of 100 columns per file."""
    return parquet_files(files, size(250_000, 500), FEATURES, 62_500)


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


@case("local engine, 2 processes, mutual_info, 5,000,000 x 100 (4 GB)", bar="speedup >= 1.7")
def processes(size: Size) -> Race:
    return _local_race(size, size(20, FILES), few=0)


@case("local engine, 2 threads, mutual_info, ", over=_lengths, bar="ours <= 1x")
def engine_threads(size: Size, files: int) -> Race:
    return _local_race(size, files, few=2**62)


def _local_race(size: Size, files: int, few: int) -> Race:
    """Run with workers that are threads if there are less than ``few`` values."""
    cores = [0.0]

    def one() -> None:
        began, computed = time.perf_counter(), time.process_time()
        ss.run(_source(size, files), ss.Screen("mutual_info", k=10), batch_size=16_384)
        cores[0] = (time.process_time() - computed) / (time.perf_counter() - began)

    def two() -> None:
        before, local.FEW_VALUES = local.FEW_VALUES, few
        try:
            screen = ss.Screen("mutual_info", k=10)
            ss.run(_source(size, files), screen, engine="local", workers=2, batch_size=16_384)
        finally:
            local.FEW_VALUES = before

    return Race(
        two, one, "one process", rounds=size(3, 1), work=files * size(250_000, 500), unit="rows",
        note=lambda: (
            f"decoding and kernels have threads: one process keeps {cores[0]:.2f} cores busy, so two cores "
            f"leave room for {2 / cores[0]:.2f}x; for 1.7x all workers together could take at most "
            f"{2 / 1.7 / cores[0]:.0%} of its processor time"
        ),
    )  # fmt: skip


@case("local engine, processor seconds, ", over=_lengths)
def costs_of_processes(size: Size, files: int) -> Race:
    """Where the time of the engine goes, and the most that processes can give on two cores."""
    found: list[Costs] = []

    def measured() -> tuple[float, float]:
        source = _source(size, files)
        ss.run(_source(size), ss.Screen("mutual_info", k=10), batch_size=16_384)  # loads kernels
        found.append(costs(source))
        return found[0].engine, found[0].one_process

    return Race(lambda: None, None, "one process", note=lambda: str(found[0]), measured=measured)


@case("mutual_info in 4 parts of 250,000 rows, with transfer", bar="ours <= 1.25x")
def parts_of_files(size: Size) -> Race:
    """Learn parts one after the other in this process, pickle them, and merge; one thread."""
    source, screen = _source(size), ss.Screen("mutual_info", k=10)
    plan = plan_of(source, size(250_000, 500))
    declared = declared_of(source, screen, plan.run, 16_384)

    def ours() -> None:
        with one_thread():
            states = [build(part, k, declared, 1) for k, part in enumerate(plan.parts)]
            states = [pickle.loads(pickle.dumps(state)) for state in states]  # noqa: S301 - our own
            for level in plan.tree:
                states = [merge_all(*(states[k] for k in node)) for node in level]

    def whole() -> None:
        with one_thread():
            ss.run(source, ss.Screen("mutual_info", k=10), batch_size=16_384)

    return Race(ours, whole, "one process, one thread", rounds=size(3, 1))


@case("moments sent per feature and class", bar="ours <= 32 bytes")
def moments_sent(size: Size) -> Race:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1_000, size(2_000, 100))), rng.integers(0, 2, 1_000)
    return _state_of_a_part(ss.open(X, target=y), "fisher", 1_000)


@case("quantiles sent per feature and class", bar="ours <= 17,000 bytes")
def quantiles_sent(size: Size) -> Race:
    return _state_of_a_part(_source(size), "mutual_info", size(250_000, 500))


def _state_of_a_part(source: Any, criterion: str, rows: int) -> Race:
    plan = plan_of(source, rows)
    declared = declared_of(source, ss.Screen(criterion, k=10), plan.run, 16_384)

    def measured() -> tuple[float, None]:
        state: Any = build(plan.parts[0], 0, declared)
        size = max(len(state.to_bytes()), len(pickle.dumps(state, 5)))
        return size / (2 * source.n_columns), None

    note = f"the whole state of {rows:,} rows x {source.n_columns:,} features, as bytes or pickled"
    return Race(lambda: None, note=note, measured=measured, quantity="bytes")


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
            client.restart(timeout=RESTARTED)
            client.wait_for_workers(2, timeout=RESTARTED)
            cold.append(timed())
            warm.append(min(timed() for _ in range(3)))
        return min(cold) - min(warm), min(warm)

    note = "what importing and loading compiled kernels add to a run of one small task, the peer"
    return Race(lambda: None, None, "a warm worker", note=note, measured=measured)


# ------------------------------------------------------------------------------------ Spark


def _frame(size: Size) -> Any:
    session = _once("spark", started)
    return session.read.parquet(str(_once(("files", size, FILES), lambda: _wide_written(size))))


def _spark_race(size: Size, criterion: str, theirs: Callable[[Any], Any], name: str) -> Race:
    """Compare processor seconds of all processes: on few cores the wall time is that of Spark's own steps."""

    def measured() -> tuple[float, float]:
        frame = _frame(size)
        screen = ss.Screen(criterion, k=10)
        return processor_seconds(
            lambda: ss.run(frame, clone(screen), target="y", batch_size=16_384),
            lambda: theirs(frame),
            size(5, 1),
        )

    note = "processor seconds of the JVM, of Python workers and of the driver"
    return Race(lambda: None, None, name, note=note, measured=measured)


@case("Spark, f", bar="ours <= 1.3x")
def spark_f(size: Size) -> Race:
    return _spark_race(size, "f", bare, "bare mapInArrow")


@case("Spark, mutual_info", bar="ours <= 2.2x")
def spark_mutual_info(size: Size) -> Race:
    return _spark_race(size, "mutual_info", bare, "bare mapInArrow")


@case("Spark, f, against MLlib", bar="ours <= 0.6x")
def spark_mllib(size: Size) -> Race:
    return _spark_race(size, "f", _univariate, "UnivariateFeatureSelector")


def _univariate(frame: Any) -> None:
    from pyspark.ml.feature import UnivariateFeatureSelector, VectorAssembler  # noqa: PLC0415

    names = [f"c{j}" for j in range(FEATURES)]
    vectors = VectorAssembler(inputCols=names, outputCol="v").transform(frame)
    chooser = UnivariateFeatureSelector(featuresCol="v", labelCol="y", selectionMode="numTopFeatures")
    chooser.setFeatureType("continuous").setLabelType("categorical").setSelectionThreshold(10)
    chooser.fit(vectors)


# ------------------------------------------------------------------------------------ columns


def _wide_stream(size: Size) -> tuple[Any, Any, list[Any]]:
    """Return a source of columns, its target, and its blocks as SAOLA measures them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(size(20_000, 200), size(2_000, 40)))
    y = (X[:, :5].sum(axis=1) + rng.normal(size=len(X)) > 0).astype(int)
    source = ss.open(X, target=y)
    begun = ss.SAOLA(alpha=0.01).begin(y)
    return source, y, [begun.measure_block(block) for block in source.columns(500)]


@case("columns, SAOLA: what is left to the driver", bar="ours <= 0.1x")
def columns(size: Size) -> Race:
    source, y, measured = _wide_stream(size)

    def settle() -> None:
        sieve = ss.SAOLA(alpha=0.01).begin(y)
        for block in measured:
            sieve.offer(block)

    return Race(
        settle, lambda: ss.run(source, ss.SAOLA(alpha=0.01)), "measuring and settling in one process",
        rounds=size(5, 1),
    )  # fmt: skip


@case("columns, SAOLA: what is sent to the driver", bar="ours <= 1.01x")
def columns_sent(size: Size) -> Race:
    source, y, blocks = _wide_stream(size)
    values = sum(block.X.nbytes for block in blocks)
    sent = sum(len(pickle.dumps(block, 5)) for block in blocks)
    note = (
        f"{sent / (8 * len(y) * source.n_columns):.2%} of the data; {(sent - values) / source.n_columns:.0f} "
        "bytes per column apart from the values"
    )
    return Race(
        lambda: None, None, "values of relevant columns, 9 bytes per column", note=note, quantity="bytes",
        measured=lambda: (sent, values + 9 * source.n_columns),
    )  # fmt: skip
