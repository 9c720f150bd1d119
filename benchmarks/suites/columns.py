"""Column streams: against a bare product, the slow twins and scikit-learn's checks."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_array

import streamsieve as ss
from benchmarks._cases import Race, Size, SkipCase, case
from benchmarks._data import blocks, real, zipf_csc
from benchmarks._measure import Seconds
from benchmarks._wide_columns import BLOCK, WideColumns

NEWS_BLOCK = 65_536
TWIN_SETS = ("madelon", "dexter", "arcene")


# ------------------------------------------------------------------------------------ very wide


@case("SAOLA, news20-like sparse stream", bar="ours <= 4x", memory=True)
def saola_news20(size: Size) -> Race:
    n, p = size(9_996, 500), size(1_355_191, 5_000)
    X, y = zipf_csc(n, p, size(455, 50))
    offered = list(blocks(X, size(NEWS_BLOCK, 1_000)))
    last: list[Any] = []

    def ours() -> None:
        sieve = ss.SAOLA(measure="fisher_z").begin(y)
        for block in offered:
            sieve.offer(block)
        last[:] = [sieve]

    def note() -> str:
        counts = last[0].ledger_.counts()
        relevant = sum(counts.get(what, 0) for what in ("kept", "evicted", "redundant"))
        return (
            f"{n:,} rows x {p:,} columns, {X.nnz:,} non-zeros, blocks of {offered[0].shape[1]:,}: "
            f"{relevant:,} relevant, {len(last[0].selected_):,} kept; no block is made dense, which would be "
            f"{n * p * 8 / 1e9:,.1f} GB in all: see peak MB"
        )

    centred = y - y.mean()
    return Race(ours, lambda: X.T @ centred, "one X.T @ y", X.nnz, "non-zeros", note)


def _wide(_: Size) -> dict[str, tuple[int, int, int]]:
    return {
        "kdd2010-like stream of 29,890,095 columns": (20_000, 29_890_095, 36),
        "webspam-like stream of 16,609,143 columns": (20_000, 16_609_143, 3_700),
    }


@case("SAOLA, ", bar="ours <= 2 s", memory=True, over=lambda size: dict(list(_wide(size).items())[:1]))
def saola_kdd2010(size: Size, shape: tuple[int, int, int]) -> Race:
    return _saola_wide(size, shape, "1,056 s in the paper")


@case("SAOLA, ", bar="ours <= 6 s", memory=True, over=lambda size: dict(list(_wide(size).items())[1:]))
def saola_webspam(size: Size, shape: tuple[int, int, int]) -> Race:
    return _saola_wide(size, shape, "1,456 s in the paper")


def _saola_wide(size: Size, shape: tuple[int, int, int], elsewhere: str) -> Race:
    """Time what a stream costs beyond making its blocks; the peer makes them and throws them away."""
    n, p, per_row = (size(full, 1_000) for full in shape)
    stream = WideColumns(n, p, per_row)
    facts: dict[str, Any] = {}

    def ours() -> Seconds:
        sieve, spent, non_zeros = ss.SAOLA(ledger="kept", measure="fisher_z").begin(stream.y), 0.0, 0
        for block in stream.blocks():
            start = time.perf_counter()
            sieve.offer(block)
            spent += time.perf_counter() - start
            non_zeros += block.nnz
        facts.update(kept=len(sieve.selected_), non_zeros=non_zeros)
        return Seconds(spent)

    def peer() -> None:
        for _ in stream.blocks():
            pass

    def note() -> str:
        return (
            f"{n:,} rows, {facts['non_zeros']:,} non-zeros, {facts['kept']} kept, blocks of {BLOCK:,} made "
            f"one by one; ours is the time in offer alone; {elsewhere}"
        )

    return Race(ours, peer, "making the blocks", p, "columns", note, rounds=3)


@case("AlphaInvesting, dorothea train", bar="ours <= 0.6 s", memory=True)
def alpha_investing_dorothea(size: Size) -> Race:
    X, y = real("dorothea")
    X = X[:, : size(X.shape[1], 2_000)]
    last: list[Any] = []

    def ours() -> None:
        last[:] = [ss.AlphaInvesting().fit(X, y)]

    def note() -> str:
        n, p = X.shape
        return f"{n:,} rows x {p:,} sparse columns, {len(last[0].selected_)} kept"

    return Race(ours, work=X.shape[1], unit="columns", note=note)


@case("GroupSAOLA, leukemia in groups of 10", bar="ours <= 0.5 s")
def group_saola_leukemia(_: Size) -> Race:
    X, y = real("leukemia_golub_raw")
    last: list[Any] = []

    def ours() -> None:
        last[:] = [ss.GroupSAOLA(group_size=10).fit(X, y)]

    def note() -> str:
        return f"{X.shape[0]} rows x {X.shape[1]:,} columns, {len(last[0].selected_)} kept"

    return Race(ours, work=X.shape[1], unit="columns", note=note)


# ------------------------------------------------------------------------------------ slow twins


def _twin_sets(_: Size) -> dict[str, str]:
    return {name: name for name in TWIN_SETS}


@case("SAOLA, ", bar="speedup >= 200", over=_twin_sets)
def saola_twin(size: Size, name: str) -> Race:
    by_correlation = partial(ss.SAOLA, measure="fisher_z")
    return _against_twin(size, name, by_correlation, "saola", task="binary")


@case("AlphaInvesting, ", bar="speedup >= 200", over=_twin_sets)
def alpha_investing_twin(size: Size, name: str) -> Race:
    return _against_twin(size, name, ss.AlphaInvesting, "alpha_investing")


def _against_twin(size: Size, name: str, selector: Callable[[], Any], module: str, **needed: str) -> Race:
    """Race a selector against ``tests/reference/MODULE.py``; both must choose the same columns."""
    X, y = real(name)
    X = X[:, : size(X.shape[1], 200)]
    values = X if isinstance(X, np.ndarray) else X.toarray()  # the twins know only dense columns
    twin = _twin(module)
    chosen: dict[str, list[int]] = {}

    def ours() -> None:
        chosen["ours"] = selector().fit(X, y).selected_.tolist()

    def peer() -> None:
        chosen["twin"] = sorted(map(int, twin(values, y, **needed)[0]))

    def note() -> str:
        if chosen["ours"] != chosen["twin"]:
            raise AssertionError(f"{module} and its twin chose differently on {name}: {chosen}")
        kind = "dense" if isinstance(X, np.ndarray) else "sparse"
        return f"{X.shape[0]:,} rows x {X.shape[1]:,} {kind} columns, the same {len(chosen['ours'])} kept"

    return Race(ours, peer, "its twin in tests/reference", note=note)


def _twin(module: str) -> Callable[..., Any]:
    """Return the slow twin: a function that gives the selected columns and the decisions."""
    try:
        return getattr(importlib.import_module(f"tests.reference.{module}"), module)
    except ModuleNotFoundError as error:
        raise SkipCase(f"tests/reference/{module}.py cannot be imported: {error}") from error


# ------------------------------------------------------------------------------------ one at a time


@case("SAOLA, one column an offer", bar="rate >= 100,000/s")
def saola_one(size: Size) -> Race:
    return _one_by_one(size, ss.SAOLA)


@case("AlphaInvesting, one column an offer")
def alpha_investing_one(size: Size) -> Race:
    return _one_by_one(size, ss.AlphaInvesting)


def _one_by_one(size: Size, selector: type[Any]) -> Race:
    n, repeats = 1_000, size(100, 2)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    columns = _irrelevant(rng, y)

    def ours() -> None:
        sieve = selector().begin(y)
        for _ in range(repeats):
            for column in columns:
                sieve.offer(column)

    def peer() -> None:
        for _ in range(repeats):
            for column in columns:
                check_array(column.reshape(-1, 1))

    note = f"irrelevant float64 columns of {n:,} rows, validated, judged, in the ledger; the peer validates"
    return Race(ours, peer, "scikit-learn check_array", repeats * len(columns), "offers", note)


def _irrelevant(rng: np.random.Generator, y: Any) -> Sequence[Any]:
    """32 columns of noise so far from the label that no test lets one in."""
    noise = (rng.standard_normal(len(y)) for _ in range(128))
    return [x for x in noise if abs(np.corrcoef(x, y)[0, 1]) < 0.03][:32]
