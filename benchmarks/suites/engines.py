"""Streams of record batches over files, and parts of a stream merged into one state."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import streamsieve as ss
from benchmarks._cases import Race, Size, case
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


@case("Screen f over a stream, ", over=_producers, bar="ours <= 1.2x")
def stream(size: Size, kind: str) -> Race:
    files = _files(size)

    def run(data: Any) -> Callable[[], Any]:
        return lambda: ss.run(ss.open(data, target="y"), ss.Screen("f"), batch_size=16_384)

    rows = size(400_000, 2_000)
    return Race(
        run(_opened(kind, files)), run(files), "the same files", work=rows, unit="rows", rounds=size(5, 1)
    )


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
    parts = _parts(size)

    def one_by_one() -> None:
        merged = parts[0].copy()
        for other in parts[1:]:
            merged.merge(other)

    return Race(lambda: parts[0].copy().merge_many(parts[1:]), one_by_one, "one by one", rounds=size(5, 1))


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
