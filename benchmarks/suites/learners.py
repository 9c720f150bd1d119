"""Row selectors that learn: rows a second whatever the width, running averages, FIRES against its package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import streamsieve as ss
from benchmarks._cases import Race, Size, SkipCase, case
from benchmarks._data import batches, dense, uniform_csr
from benchmarks._peers_float import fires_class
from benchmarks._wide_stream import WideStream

NON_ZEROS_A_ROW = 100
CSR_BATCH = 4_096
BUDGET = 100
MODELS = ("fsa", "lasso", "mcp", "omp", "mrmr", "ols_threshold", "t_test")
AVERAGED = 500
AVERAGED_BATCH = 2_000


# ------------------------------------------------------------------------------------ sparse rows


def _learners(size: Size) -> dict[str, Any]:
    kinds = {"OFS": ss.OFS, "BARDA": ss.BARDA, "MISSION": ss.MISSION}
    return {f"{name}, a million features": (make, size(1_000_000, 5_000)) for name, make in kinds.items()}


def _wider(size: Size) -> dict[str, Any]:
    kinds = {"OFS": ss.OFS, "BARDA": ss.BARDA, "MISSION": ss.MISSION}
    widths = {"ten thousand": size(10_000, 1_000), "ten million": size(10_000_000, 20_000)}
    return {
        f"{name}, {word} features": (make, p) for name, make in kinds.items() for word, p in widths.items()
    }


@case(over=_learners, bar="rate >= 100,000/s")
def sparse_rows(size: Size, learner: tuple[Callable[[int], Any], int]) -> Race:
    return _sparse(size, *learner)


@case(over=_wider)
def sparse_rows_of_other_widths(size: Size, learner: tuple[Callable[[int], Any], int]) -> Race:
    return _sparse(size, *learner)


def _sparse(size: Size, make: Callable[[int], Any], p: int) -> Race:
    X, y = uniform_csr(size(40_960, 400), p, NON_ZEROS_A_ROW)
    stream = batches(X, y, size(CSR_BATCH, 200))

    def ours() -> Any:
        selector = make(BUDGET)
        for rows, labels in stream:
            selector.partial_fit(rows, labels)
        return selector.selected_

    note = (
        f"{X.shape[0]:,} rows x {p:,}, {NON_ZEROS_A_ROW} uniform ids a row, batches of {CSR_BATCH:,}, "
        f"k = {BUDGET}, labels at random so that most rows are mistakes; incl. selected_"
    )
    return Race(ours, None, None, len(y), "rows", note)


@case("MISSION, a million rows x a billion dimensions", bar="ours <= 180 s", memory=True)
def a_billion_dimensions(size: Size) -> Race:
    """The headline of the second-order OFS paper: 1,000 non-zeros a row, on one PC, in under 3 minutes."""
    stream = WideStream(n_rows=size(1_000_000, 2_000), n_features=size(1_000_000_000, 100_000))
    found: list[float] = []

    def ours() -> None:
        selector = ss.MISSION(BUDGET)
        for batch in stream.rows(4_096):
            selector.learn(batch)
        found[:] = [float(np.isin(selector.selected_, stream.relevant).mean())]

    def note() -> str:
        return (
            f"{stream.n_rows:,} rows x {stream.n_features:,}, 1,000 non-zeros a row; making the rows is "
            f"part of the time; {found[0]:.0%} of the {BUDGET} chosen are among the planted ones"
        )

    return Race(ours, None, None, stream.n_rows, "rows", note, rounds=1, warm_up=False)


# ------------------------------------------------------------------------------------ running averages


@case("RunningAverages, update", bar="ours <= 1.5x", memory=True)
def running_averages_update(size: Size) -> Race:
    X, y, p = _averaged(size)
    selector = ss.RunningAverages(10).partial_fit(X, y)

    def ours() -> None:
        selector.partial_fit(X, y)

    note = f"one batch of {X.shape[0]:,} x {p}, two classes, through partial_fit with all its checks"
    return Race(ours, lambda: X.T @ X, "NumPy X.T @ X", X.size, "values", note, rounds=31)


@case(over=lambda _: {f"RunningAverages, query {model}": model for model in MODELS}, bar="ours <= 0.05 s")
def running_averages_query(size: Size, model: str) -> Race:
    X, y, p = _averaged(size)
    selector = ss.RunningAverages(20, model=model)
    for low in range(10):
        selector.partial_fit(np.roll(X, low, axis=0), np.roll(y, low))

    def ours() -> Any:
        selector.set_params(model=model)  # as a user does who asks another question of the same state
        selector._cache_.clear()  # or the second round is free
        return selector.selected_

    note = f"k = 20 of {p}, after {10 * len(y):,} rows: the time of selected_"
    return Race(ours, None, None, 0, "", note)


def _averaged(size: Size) -> tuple[Any, Any, int]:
    p = size(AVERAGED, 40)
    X, y = dense(size(AVERAGED_BATCH, 300), p)
    X[:, :20] += 0.3 * y[:, None]
    return X, y, p


# ------------------------------------------------------------------------------------ FIRES


@case(over=lambda _: {f"FIRES, batches of {n}": n for n in (10, 100, 1_000)}, bar="speedup >= 20")
def fires(size: Size, batch: int) -> Race:
    peer = fires_class()
    if peer is None:
        raise SkipCase("the float package is not there: pip install --no-deps float-evaluation")
    X, y = dense(size(20_000, 500), 100)
    X = np.ascontiguousarray(X)
    signs = 2 * y - 1

    def ours() -> Any:
        selector = ss.FIRES(10, batch_size=None)
        for low in range(0, len(y), batch):
            selector.partial_fit(X[low : low + batch], y[low : low + batch])
        return selector.scores_

    def theirs() -> Any:
        selector = peer(n_total_features=100, n_selected_features=10, classes=[-1, 1])
        for low in range(0, len(y), batch):
            selector.weight_features(X[low : low + batch], signs[low : low + batch].copy())
        return selector.weights

    note = f"{len(y):,} x 100, one step a batch in both"
    return Race(ours, theirs, "float 0.0.2 FIRES", len(y), "rows", note, rounds=5)
