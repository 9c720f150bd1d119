"""How the cost grows: with rows, features and classes for Screen, with columns and kept ones for SAOLA."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import streamsieve as ss
from benchmarks._cases import Race, Size, case
from benchmarks._data import batches, blocks, dense, zipf_csc

BATCH = 2_000
BLOCK = 65_536


def _steps(full: Sequence[int], quick: Sequence[int]) -> Callable[[Size], dict[str, int]]:
    """Cases for each of some numbers, named by them."""
    return lambda size: {f"{value:,}": value for value in (quick if size.quick else full)}


# ------------------------------------------------------------------------------------ rows


@case("Screen fisher, n = ", over=_steps((5_000, 20_000, 80_000), (500, 1_000)))
def screen_rows(size: Size, n: int) -> Race:
    return _screen(n, size(500, 50), 2)


@case("Screen fisher, p = ", over=_steps((500, 2_000, 8_000, 32_000), (50, 100)))
def screen_features(size: Size, p: int) -> Race:
    return _screen(size(5_000, 500), p, 2)


@case("Screen fisher, classes = ", over=_steps((2, 20, 200), (2, 20)))
def screen_classes(size: Size, classes: int) -> Race:
    return _screen(size(20_000, 500), size(500, 50), classes)


def _screen(n: int, p: int, classes: int) -> Race:
    X, y = dense(n, p, classes)
    stream = batches(X, y, BATCH)

    def ours() -> Any:
        screen = ss.Screen("fisher")
        for rows, labels in stream:
            screen.partial_fit(rows, labels)
        return screen.get_support()

    note = f"{n:,} x {p:,}, {classes} classes, batches of {BATCH:,}"
    return Race(ours, lambda: X.sum(axis=0), "X.sum(axis=0)", X.size, "values", note)


@case("Screen mutual_info, n = ", over=_steps((10_000, 100_000, 1_000_000), (500, 1_000)))
def quantiles_rows(size: Size, n: int) -> Race:
    return _quantiles(n, size(100, 20))


@case("Screen mutual_info, p = ", over=_steps((100, 1_000, 10_000, 100_000), (50, 100)))
def quantiles_features(size: Size, p: int) -> Race:
    return _quantiles(size(4_000, 200), p, batch=size(500, 100))


@case("Screen mutual_info, classes = ", over=_steps((2, 10, 50), (2, 10)))
def quantiles_classes(size: Size, classes: int) -> Race:
    return _quantiles(size(100_000, 500), size(100, 20), classes=classes)


@case("Screen mutual_info, 1 / epsilon = ", over=_steps((10, 100, 1_000, 10_000), (10, 100)))
def quantiles_epsilon(size: Size, parts: int) -> Race:
    return _quantiles(size(100_000, 500), size(100, 20), epsilon=1 / parts)


def _quantiles(n: int, p: int, classes: int = 2, epsilon: float = 1e-3, batch: int = BATCH) -> Race:
    """Take batches of float32 rows again and again from two million values: a stream need not be stored."""
    X, y = dense(min(n, batch * max(1, 2_000_000 // (p * batch))), p, classes, np.float32)
    low = np.arange(0, n, batch) % len(y)
    facts: dict[str, Any] = {}

    def ours() -> Any:
        screen = ss.Screen("mutual_info", epsilon=epsilon)
        for start in low.tolist():
            screen.partial_fit(X[start : start + batch], y[start : start + batch])
        facts["summary"] = screen.summary_
        return screen.get_support()

    def peer() -> None:
        for start in low.tolist():
            np.sort(X[start : start + batch], axis=0)

    def note() -> str:
        summary = facts["summary"]
        return (
            f"{n:,} x {p:,}, {classes} classes, epsilon {epsilon:g}, batches of {batch:,}; rank error "
            f"{summary.rank_error().max():.1e}, state {summary.nbytes / 1e6:,.1f} MB"
        )

    return Race(ours, peer, "np.sort of every batch, 1 thread", n * p, "values", note, rounds=3)


# ------------------------------------------------------------------------------------ columns


@case("SAOLA sparse, p = ", over=_steps((20_000, 80_000, 320_000, 1_280_000), (500, 1_000)))
def saola_columns(size: Size, p: int) -> Race:
    X, y = zipf_csc(size(10_000, 200), p, size(300, 20))
    return _saola(list(blocks(X, BLOCK)), X, y)


@case("SAOLA dense, kept = ", over=_steps((10, 100, 1_000), (2, 5)))
def saola_kept(size: Size, kept: int) -> Race:
    """Plant columns that lean on the label and are independent given it: each is worth keeping.

    They correlate by 0.3 with the label, hence by 0.09 with each other: too little to dominate.  A small
    alpha keeps the noise out, so that the number kept is the number planted.
    """
    n, p = size(4_000, 400), size(2_000, 20)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    X = rng.standard_normal((n, p))
    X[:, rng.choice(p, kept, replace=False)] += 0.63 * y[:, None]
    return _saola([X], X, y, alpha=1e-5)


def _saola(offered: Sequence[Any], X: Any, y: Any, alpha: float = 0.01) -> Race:
    last: list[Any] = []

    def ours() -> None:
        sieve = ss.SAOLA(alpha).begin(y)
        for block in offered:
            sieve.offer(block)
        last[:] = [sieve]

    def note() -> str:
        return f"{X.shape[0]:,} rows x {X.shape[1]:,} columns, {len(last[0].selected_)} kept"

    centred = y - y.mean()
    return Race(ours, lambda: X.T @ centred, "X.T @ y", X.shape[1], "columns", note)
