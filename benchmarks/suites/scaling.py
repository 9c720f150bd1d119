"""How the cost grows: with rows, features and classes for Screen; with columns, rows and kept for columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import streamsieve as ss
from benchmarks._cases import Race, Size, case
from benchmarks._data import batches, dense
from benchmarks._wide_columns import WideColumns

BATCH = 2_000


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
        screen = ss.Screen("mutual_info", max_rank_error=epsilon)
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

#: Selectors whose cost is drawn, with the parameters that make them comparable.
COLUMN_SELECTORS: dict[str, Callable[[], Any]] = {
    "SAOLA": lambda: ss.SAOLA(STRICT, ledger="kept", measure="fisher_z"),
    "FastOSFS": lambda: ss.FastOSFS(STRICT, ledger="kept", test="fisher_z"),
    "OnlineFDR": lambda: ss.OnlineFDR(ledger="kept", test="fisher_z"),
    "TopK": lambda: ss.TopK(20, ledger="kept", measure="fisher_z"),
}
#: Keeps the noise out, so that the number kept is the number planted.
STRICT = 1e-8


def _column_steps(what: str, full: Sequence[int], quick: Sequence[int]) -> Callable[[Size], dict[str, Any]]:
    return lambda size: {
        f"{name}, {what} = {value:,}": (name, value)
        for name in COLUMN_SELECTORS
        for value in (quick if size.quick else full)
    }


@case(over=_column_steps("p", (1_000, 10_000, 100_000, 1_000_000, 10_000_000), (500, 1_000)))
def wide_columns(size: Size, step: tuple[str, int]) -> Race:
    name, p = step
    stream = WideColumns(size(2_000, 200), p, max(1, p // 1_000), informative=10**9)
    offered = list(stream.blocks())
    return _columns(name, offered, stream.y, p, f"{stream.n_rows:,} rows, sparse")


@case(over=_column_steps("n", (100, 1_000, 10_000, 100_000), (100, 200)))
def long_columns(size: Size, step: tuple[str, int]) -> Race:
    name, n = step
    X, y = _planted(n, size(200, 20), size(10, 2))
    return _columns(name, [X], y, X.shape[1], f"{X.shape[1]} columns, dense")


@case(over=_column_steps("kept", (1, 10, 50, 100, 200, 500), (2, 5)))
def many_kept(size: Size, step: tuple[str, int]) -> Race:
    name, kept = step
    X, y = _planted(size(20_000, 400), size(1_000, 20), kept)
    return _columns(
        name, [X], y, X.shape[1], f"{X.shape[0]:,} rows x {X.shape[1]:,} columns, dense", kept=kept
    )


def _planted(n: int, p: int, kept: int) -> tuple[Any, Any]:
    """Return noise, and a y that is the sum of ``kept`` of its columns, which stand at right angles."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    planted = rng.choice(p, min(kept, n // 2), replace=False)
    X[:, planted] = np.linalg.qr(X[:, planted] - X[:, planted].mean(axis=0))[0] * np.sqrt(n)
    y = X[:, planted].sum(axis=1)
    return X, y + 1e-3 * rng.standard_normal(n)


def _columns(name: str, offered: Sequence[Any], y: Any, p: int, what: str, kept: int = 20) -> Race:
    last: list[Any] = []

    def ours() -> None:
        sieve = COLUMN_SELECTORS[name]()
        if name == "TopK":
            sieve.set_params(k=kept)
        sieve.begin(y)
        for block in offered:
            sieve.offer(block)
        last[:] = [sieve]

    def note() -> str:
        return f"{what}; {len(last[0].selected_)} kept"

    return Race(ours, None, None, p, "columns", note, rounds=3)
