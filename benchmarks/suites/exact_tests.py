"""What exact p-values cost: the default tests against the limiting distributions of the papers.

The bars are a few percent, so processor time counts, which other processes disturb less than the clock.
"Marks of columns in doubt alone" is the part of it that is left in a dense block under an online procedure,
"tables" and "p-values of short sparse columns alone" are those that are left in a sparse one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

import streamsieve as ss
from benchmarks._cases import Race, Size, case
from benchmarks._data import dense, real, zipf_csc
from benchmarks._measure import Seconds
from streamsieve.independence import FisherZ
from streamsieve.protocols import Task

Make = Callable[[str], Any]
#: What is made of each selector, by its name in a case.
CORRELATIONS: dict[str, Make] = {
    "OnlineFDR": lambda way: ss.OnlineFDR(test="fisher_z", p_value=way),
    "SAOLA": lambda way: ss.SAOLA(measure="fisher_z", p_value=way),
}


def _race(make: Make, X: Any, y: Any, ways: tuple[str, str] = ("auto", "z"), rounds: int = 41) -> Race:
    """Race one selector with its default p-values against the same one with those of the papers."""
    kept: dict[str, int] = {}
    best = dict.fromkeys(ways, float("inf"))

    def run(way: str) -> Seconds:
        start = time.process_time()
        kept[way] = len(make(way).fit(X, y).selected_)
        spent = time.process_time() - start
        best[way] = min(best[way], spent)
        return Seconds(spent)

    def note() -> str:
        n, p = X.shape
        kind = "sparse" if sp.issparse(X) else "dense"
        return (
            f"ours takes {best[ways[0]] / best[ways[1]]:.3f}x; {n:,} rows x {p:,} {kind} columns, "
            f"{kept[ways[0]]:,} kept; the peer keeps {kept[ways[1]]:,}"
        )

    peer = f"the same with p_value={ways[1]!r}"
    return Race(lambda: run(ways[0]), lambda: run(ways[1]), peer, X.shape[1], "columns", note, rounds=rounds)


def _correlations(_: Size) -> dict[str, Make]:
    return CORRELATIONS


@case("dense, ", bar="ours <= 1.03x", over=_correlations)
def on_dense(size: Size, make: Make) -> Race:
    return _race(make, *dense(500, size(20_000, 500)))


@case("dense columns of two values, ", bar="ours <= 1.03x", over=_correlations)
def on_bits(size: Size, make: Make) -> Race:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    X = (rng.random((500, size(20_000, 500))) < rng.uniform(0.1, 0.9, size(20_000, 500))).astype(np.float64)
    X[:, :50] = np.where(rng.random((500, 50)) < 0.7, y[:, None], X[:, :50])
    return _race(make, X, y)


@case("dorothea (sparse columns of two values), ", bar="ours <= 1.03x", over=_correlations)
def on_dorothea(size: Size, make: Make) -> Race:
    X, y = real("dorothea")
    return _race(make, X[:, : size(X.shape[1], 2_000)], y)


@case("numeric target, ", bar="ours <= 1.03x", over=_correlations)
def on_numbers(size: Size, make: Make) -> Race:
    X, y = dense(500, size(20_000, 500))
    return _race(make, X, y + np.random.default_rng(1).standard_normal(len(y)))


@case("news20-like sparse stream, ", bar="ours <= 1.03x", over=_correlations)
def on_words(size: Size, make: Make) -> Race:
    X, y = zipf_csc(size(9_996, 500), size(1_355_191, 5_000), size(455, 50))
    return _race(make, X, y, rounds=9)


def _parts(ours: Callable[[], Any], peer: Callable[[], Any], peer_name: str, columns: int) -> Race:
    """Race two parts of a fit, and say how much longer ours takes."""
    best = {ours: float("inf"), peer: float("inf")}

    def run(work: Callable[[], Any]) -> Seconds:
        start = time.process_time()
        work()
        spent = time.process_time() - start
        best[work] = min(best[work], spent)
        return Seconds(spent)

    def note() -> str:
        more = best[ours] - best[peer]
        return f"{1e3 * more:.2f} ms more, {1e9 * more / columns:.1f} ns per column"

    return Race(lambda: run(ours), lambda: run(peer), peer_name, columns, "columns", note, rounds=41)


@case("marks of columns in doubt alone, dense")
def marks(size: Size) -> Race:
    X, y = dense(500, size(20_000, 500))
    test, step = FisherZ(y, Task.BINARY, 0.05, online=True), 2_000

    def part(*, marked: bool) -> None:
        for low in range(0, X.shape[1], step):
            block = X[:, low : low + step]
            test.relevance(block, np.empty(block.shape[1], bool) if marked else None)

    return _parts(partial(part, marked=True), partial(part, marked=False), "without marks", X.shape[1])


@case("tables of short sparse columns alone, news20-like")
def counted(size: Size) -> Race:
    X, y = zipf_csc(size(9_996, 500), size(1_355_191, 5_000), size(455, 50))
    test = FisherZ(y, Task.BINARY, 0.05, online=True)

    def part(*, tables: bool) -> None:
        test.relevance(X, None, np.empty((2, X.shape[1]), np.int32) if tables else None)

    return _parts(partial(part, tables=True), partial(part, tables=False), "without tables", X.shape[1])


@case("p-values of short sparse columns alone, news20-like")
def confirmed(size: Size) -> Race:
    X, y = zipf_csc(size(9_996, 500), size(1_355_191, 5_000), size(455, 50))
    ours, peer = (FisherZ(y, Task.BINARY, 0.05, online=True, p_value=way) for way in ("auto", "z"))
    name = "the same with p_value='z'"
    return _parts(partial(ours.measure, X), partial(peer.measure, X), name, X.shape[1])


def _by_tables(way: str) -> Any:
    return ss.FastOSFS(test="g2", p_value=way)


@case("FastOSFS(g2), three levels, three classes", bar="ours <= 1.15x")
def levels(size: Size) -> Race:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 1_000)
    X = rng.integers(0, 3, (1_000, size(5_000, 200))).astype(np.float64)
    X[:, :20] = np.where(rng.random((1_000, 20)) < 0.3, y[:, None], X[:, :20])
    return _race(_by_tables, X, y, ("auto", "chi2"))


@case("FastOSFS(g2), numbers in five bins", bar="ours <= 1.15x")
def binned(size: Size) -> Race:
    return _race(_by_tables, *dense(1_000, size(2_000, 200)), ("auto", "chi2"), rounds=9)


@case("FastOSFS(g2), dorothea", bar="ours <= 1.15x")
def bits(size: Size) -> Race:
    X, y = real("dorothea")
    return _race(_by_tables, X[:, : size(X.shape[1], 2_000)], y, ("auto", "chi2"))
