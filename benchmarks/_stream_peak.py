"""Peak memory of Arrow streams: ``python -m benchmarks._stream_peak PRODUCER FOLDER TIMES`` prints it, in MB.

A process of its own, because only a fresh one has no freed memory to hide growth in.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import streamsieve as ss
from benchmarks._measure import peak_mb, run_process

#: Rows of a batch: small ones, so that read-ahead is small beside what imports take.
BATCH = 4096


def _batches(files: list[str]) -> Iterator[Any]:
    import pyarrow.parquet as pq  # noqa: PLC0415

    for path in files:
        yield from pq.ParquetFile(path).iter_batches(BATCH)


def _dataset(files: list[str]) -> Any:
    import pyarrow.dataset as ds  # noqa: PLC0415

    return ds.dataset(files)


def _scanner(files: list[str]) -> Any:
    return _dataset(files).scanner(batch_size=BATCH)


def _reader(files: list[str]) -> Any:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    return pa.RecordBatchReader.from_batches(pq.read_schema(files[0]), _batches(files))


def _polars(files: list[str]) -> Any:
    import polars as pl  # noqa: PLC0415

    return pl.scan_parquet(files)


def _duckdb(files: list[str]) -> Any:
    import duckdb  # noqa: PLC0415

    return duckdb.read_parquet(files)


def _chunks(files: list[str]) -> Any:
    return (batch.to_pandas() for batch in _batches(files))


PRODUCERS = {
    "files": lambda files: files,
    "reader": _reader,
    "dataset": _dataset,
    "threaded scanner": _scanner,
    "DuckDB relation": _duckdb,
    "polars LazyFrame": _polars,
    "pandas chunks": _chunks,
}

#: Not a stream: what it costs to have all rows in memory.
TABLE = "table"


def _table(files: list[str]) -> Any:
    import pyarrow.parquet as pq  # noqa: PLC0415

    return pq.read_table(files)


def peak(producer: str, folder: Path, times: int) -> float:
    """Return the peak of a fresh process that learns the files of a folder some times over.

    With all that it has imported: what is wanted is by how much two of them differ.
    """
    # glibc gives each thread an arena of its own, as many as happen to compete for one
    command = [sys.executable, "-m", "benchmarks._stream_peak", producer, str(folder), str(times)]
    return float(run_process(command, MALLOC_ARENA_MAX="1"))


def main() -> None:
    producer, folder, times = sys.argv[1:]
    files = sorted(map(str, Path(folder).glob("*.parquet"))) * int(times)
    screen = ss.Screen("f", k=2)
    data = {**PRODUCERS, TABLE: _table}[producer](files)
    for batch in ss.open(data, target="y").rows(BATCH):
        screen.learn(batch)
    screen.get_support()
    print(peak_mb())


if __name__ == "__main__":
    main()
