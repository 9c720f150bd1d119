"""A trillion rows on paper, from rates and sizes measured here; and a tree of 100,000 parts, really merged.

``python -m studies.scale [--quick]`` writes ``docs/evidence/scale.md``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import streamsieve as ss
from streamsieve._threads import threads
from streamsieve.engines.plan import FAN, Plan
from streamsieve.protocols import FloatArray
from streamsieve.summaries import Quantiles
from studies._desk import HERE
from studies._report import table

DOCS = HERE.parent / "docs" / "evidence"
ROWS, FEATURES, CLASSES = 1e12, 1e6, 2
NON_ZEROS = 100  # of a sparse row
CORES, LINK = 1_000, 1e9
#: Features whose quantiles one task holds at a time.
BLOCK = 1_000


@dataclass(frozen=True)
class Measured:
    """What one way of learning costs: cells a second on one core, and bytes per feature and class."""

    name: str
    cells_of_row: float
    rate: float
    bytes: float
    sent: float


def main(arguments: list[str] | None = None) -> int:
    """Measure, merge, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m studies.scale", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, into a temporary folder")
    quick = parser.parse_args(arguments).quick
    folder = Path(tempfile.mkdtemp(prefix="scale-")) if quick else DOCS
    with threads(1):
        found = [sparse_moments(quick), dense_moments(quick), dense_quantiles(quick)]
        trees = [merged_tree(parts, 50 if quick else 200) for parts in ((64,) if quick else (1_000, 100_000))]
    path = folder / "scale.md"
    path.write_text(page(found, trees), "utf-8")
    sys.stdout.write(f"wrote {path}\n")
    return 0


# ------------------------------------------------------------------------------------ rates and sizes


def sparse_moments(quick: bool) -> Measured:  # noqa: FBT001 - of this file only
    """Moments of sparse rows."""
    n, p = (500, 2_000) if quick else (20_000, 1_000_000)
    rng = np.random.default_rng(0)
    columns = np.sort(rng.integers(0, p, (n, NON_ZEROS)), axis=1).ravel()
    X = sp.csr_array((rng.normal(size=n * NON_ZEROS), columns, np.arange(n + 1) * NON_ZEROS), shape=(n, p))
    X.sum_duplicates()
    y = rng.integers(0, 2, n)
    seconds, screen = _learned(lambda: ss.Screen("f", ledger="none"), X, y)
    size = len(screen.to_bytes()) / p / CLASSES
    return Measured("moments, sparse rows", NON_ZEROS, X.nnz / seconds, size, size)


def dense_moments(quick: bool) -> Measured:  # noqa: FBT001
    """Moments of dense rows."""
    X, y = _dense(2_000 if quick else 50_000)
    seconds, screen = _learned(lambda: ss.Screen("f", ledger="none"), X, y)
    size = len(screen.to_bytes()) / X.shape[1] / CLASSES
    return Measured("moments, dense rows", FEATURES, X.size / seconds, size, size)


def dense_quantiles(quick: bool) -> Measured:  # noqa: FBT001
    """Quantile sketches of dense rows; what is sent is compact."""
    X, y = _dense(2_000 if quick else 100_000)
    seconds, screen = _learned(lambda: ss.Screen("mutual_info", ledger="none"), X, y)
    full = len(screen.to_bytes()) / X.shape[1] / CLASSES
    quantiles = Quantiles()
    quantiles.begin_part()
    quantiles.update(X, y)
    quantiles.end_part()
    return Measured("quantiles, dense rows", FEATURES, X.size / seconds, full, _size(quantiles))


def _dense(n: int) -> tuple[FloatArray, Any]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 100)), rng.integers(0, 2, n)


def _learned(make: Callable[[], Any], X: Any, y: Any) -> tuple[float, Any]:
    """Return the seconds that batches of 4096 rows take, at best, and what has learned them."""
    best = float("inf")
    for _ in range(4):  # the first compiles
        screen, began = make(), time.perf_counter()
        for low in range(0, X.shape[0], 4096):
            screen.partial_fit(X[low : low + 4096], y[low : low + 4096], classes=[0, 1])
        best = min(best, time.perf_counter() - began)
    return best, screen


def _size(quantiles: Quantiles) -> float:
    """Return bytes per feature and class."""
    arrays = quantiles.state()
    return sum(array.nbytes for array in arrays.values()) / quantiles.n_features / CLASSES


# ------------------------------------------------------------------------------------ the tree


@dataclass(frozen=True)
class Tree:
    """What merging many parts gave."""

    parts: int
    rows: int
    levels: list[tuple[int, float]]  # nodes and bytes that they receive
    certified: float
    found: float
    seconds: float


def merged_tree(parts: int, rows: int) -> Tree:
    """Learn parts of a stream that drifts, merge them as an engine does, and compare with all values."""
    began, rng = time.perf_counter(), np.random.default_rng(parts)
    drift = np.linspace(-2, 2, parts)[:, None]
    X = rng.normal(size=(parts, rows)) + drift
    X[:: max(1, parts // 97)] *= 50  # some parts are like no other
    nodes = []
    for x in X:
        quantiles = Quantiles()
        quantiles.begin_part()
        quantiles.update(x[:, None], np.zeros(rows, np.int64))
        quantiles.end_part()
        nodes.append(quantiles)
    levels = []
    for level in Plan("scale", [None] * parts).tree:  # type: ignore[list-item]
        received = sum(_size(node) * CLASSES for node in nodes)
        levels.append((len(level), received))
        for group in level:
            nodes[group[0]].merge_many([nodes[k] for k in group[1:]])
        nodes = [nodes[group[0]] for group in level]
    (root,) = nodes
    values = np.sort(X.ravel())
    at = values[:: max(1, len(values) // 20_000)]
    below = np.searchsorted(values, at, side="right")
    found = float(np.abs(root.cdf(0, at)[0] - below).max()) / len(values)
    certified = float(root.rank_error()[0])
    return Tree(parts, rows, levels, certified, found, time.perf_counter() - began)


# ------------------------------------------------------------------------------------ the page


def page(found: list[Measured], trees: list[Tree]) -> str:
    """Return the page."""
    return "\n".join([_INTRODUCTION, _table(found), _BETWEEN, _trees(trees), _END])


def _table(found: list[Measured]) -> str:
    rows = []
    for m in found:
        cells = ROWS * m.cells_of_row
        seconds = cells / m.rate
        state = m.bytes * FEATURES * CLASSES
        sent = m.sent * FEATURES * CLASSES * CORES
        rows.append([
            m.name, f"{cells:.0e}", f"{m.rate:.2g}", _time(seconds), _time(seconds / CORES),
            f"{m.bytes:,.0f}", _bytes(state), _bytes(m.sent * BLOCK * CLASSES), _bytes(sent),
            _time(sent / CORES / LINK),
        ])  # fmt: skip
    heads = [
        "", "cells", "cells/s, one core", "one core", "1,000 cores", "bytes per feature and class",
        "state of a worker", "compact, 1,000 features", "sent, 1,000 workers", "sent over 1 GB/s links",
    ]  # fmt: skip
    return table(heads, rows)


def _trees(trees: list[Tree]) -> str:
    rows = [
        [
            f"{tree.parts:,}", f"{tree.parts * tree.rows:,}",
            ", ".join(f"{nodes:,}" for nodes, _ in tree.levels),
            ", ".join(_bytes(size) for _, size in tree.levels),
            f"{tree.certified:.2g}", f"{tree.found:.2g}", f"{tree.seconds:.0f}",
        ]
        for tree in trees
    ]  # fmt: skip
    heads = [
        "parts", "rows", "merges by level", "bytes received by level, one feature", "certified rank error",
        "largest error found", "seconds",
    ]  # fmt: skip
    return table(heads, rows)


def _time(seconds: float) -> str:
    for name, unit in (("days", 86_400), ("hours", 3_600), ("min", 60)):
        if seconds >= unit:
            return f"{seconds / unit:,.3g} {name}"
    return f"{seconds:.2g} s"


def _bytes(size: float) -> str:
    for name, unit in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= unit:
            return f"{size / unit:,.3g} {name}"
    return f"{size:.0f} B"


_INTRODUCTION = f"""\
# Scale: a trillion rows on paper

Written by `python -m studies.scale`; do not edit. 10^12 rows of 10^6 features and {CLASSES} classes fit no
machine of ours. What a core does in a second, and how large states are, was measured on the machine that
wrote this page, over arrays in memory; decoding files takes time as well. The rest of the first table is
multiplication. Sparse rows have {NON_ZEROS} non-zeros.
"""
_BETWEEN = f"""
- Merging is never the bottleneck, provided that it is parallel: by a tree with {FAN} states a node, as
  `ss.run(engine=...)` does it, and by blocks of features where a state exceeds a worker's memory. One driver
  that receives all states would be.
- Dense data of this size is no use case: sample rows first. A million rows per class have a sampling error of
  1.4e-3 in every rank at 95 % (Dvoretzky, Kiefer and Wolfowitz), about that of the sketches.
- Counts are float64: whole numbers are exact up to 2^53 = 9e15 rows.

## A tree that was merged

Parts of a stream that drifts, some of them fifty times as wide as the others, each learned and compacted by
itself and merged in the tree of an engine; then the ranks of 20,000 values, compared with all values sorted.
"""
_END = f"""
The certified error may not exceed {Quantiles().max_rank_error:g}, whatever the number of parts, and the error
found may not exceed the certified one; a test of the full tier holds both on a smaller tree.
"""

if __name__ == "__main__":
    sys.exit(main())
