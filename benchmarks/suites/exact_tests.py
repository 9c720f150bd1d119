"""What exact p-values cost: the default tests against the limiting distributions of the papers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

import streamsieve as ss
from benchmarks._cases import Race, Size, case
from benchmarks._data import dense, real

Make = Callable[[str], Any]


def _race(make: Make, X: Any, y: Any, ways: tuple[str, str] = ("auto", "z"), rounds: int = 25) -> Race:
    """Race one selector with its default p-values against the same one with those of the papers."""
    kept: dict[str, int] = {}

    def run(way: str) -> None:
        kept[way] = len(make(way).fit(X, y).selected_)

    def note() -> str:
        n, p = X.shape
        kind = "sparse" if sp.issparse(X) else "dense"
        return f"{n:,} rows x {p:,} {kind} columns, {kept[ways[0]]:,} kept; the peer keeps {kept[ways[1]]:,}"

    peer = f"the same with p_value={ways[1]!r}"
    return Race(lambda: run(ways[0]), lambda: run(ways[1]), peer, X.shape[1], "columns", note, rounds=rounds)


def _online(way: str) -> Any:
    return ss.OnlineFDR(test="fisher_z", p_value=way)


@case("OnlineFDR, dense", bar="ours <= 1.03x")
def online_dense(size: Size) -> Race:
    return _race(_online, *dense(500, size(20_000, 500)))


@case("OnlineFDR, dense columns of two values", bar="ours <= 1.03x")
def online_bits(size: Size) -> Race:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    X = (rng.random((500, size(20_000, 500))) < rng.uniform(0.1, 0.9, size(20_000, 500))).astype(np.float64)
    X[:, :50] = np.where(rng.random((500, 50)) < 0.7, y[:, None], X[:, :50])
    return _race(_online, X, y)


@case("OnlineFDR, dorothea (sparse columns of two values)", bar="ours <= 1.03x")
def online_dorothea(size: Size) -> Race:
    X, y = real("dorothea")
    return _race(_online, X[:, : size(X.shape[1], 2_000)], y)


@case("OnlineFDR, numeric target", bar="ours <= 1.03x")
def online_numeric(size: Size) -> Race:
    X, y = dense(500, size(20_000, 500))
    return _race(_online, X, y + np.random.default_rng(1).standard_normal(len(y)))


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
