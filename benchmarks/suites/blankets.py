"""Markov blankets of streaming columns: whole runs against the slow twins, and the cost of one test."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

import streamsieve as ss
from benchmarks._cases import Race, Size, case
from benchmarks._data import real
from streamsieve.independence import GSquared
from streamsieve.protocols import Task

#: Data sets, and how many columns the twin gets: all 57 of spambase take it more than six minutes.
TWIN_SETS = {"spambase": 20, "madelon": 500, "dexter": 20_000, "arcene": 10_000}
#: Seconds that the field's MATLAB toolbox takes for Fast-OSFS on spambase.
TOOLBOX_SECONDS = 257


# ------------------------------------------------------------------------------------ partial correlations


@case("FastOSFS(alpha=0.01), spambase", bar="ours <= 0.02 s", memory=True)
def spambase(size: Size) -> Race:
    X, y = real("spambase")
    X = X[:, : size(X.shape[1], 10)]
    last: list[Any] = []

    def ours() -> None:
        last[:] = [ss.FastOSFS(alpha=0.01, test="fisher_z").fit(X, y)]

    def note() -> str:
        n, p = X.shape
        kept = len(last[0].selected_)
        return f"{n:,} rows x {p} columns, {kept} kept; the field's MATLAB toolbox: {TOOLBOX_SECONDS} s"

    return Race(ours, note=note)


def _twins(_: Size) -> dict[str, tuple[str, str]]:
    return {f"{method}, {name}": (method, name) for method in ("FastOSFS", "OSFS") for name in TWIN_SETS}


@case(bar="speedup >= 1000", over=_twins)
def against_twins(size: Size, which: tuple[str, str]) -> Race:
    """The twin computes every partial correlation from the rows, as the papers' pseudo-code says."""
    from tests.reference.fast_osfs import fast_osfs  # noqa: PLC0415 - only in a clone
    from tests.reference.osfs import PartialCorrelations, osfs  # noqa: PLC0415

    method, name = which
    X, y = real(name)
    X = X[:, : size(TWIN_SETS[name], 12)]
    values = X if isinstance(X, np.ndarray) else X.toarray()
    twin = {"FastOSFS": fast_osfs, "OSFS": osfs}[method]
    chosen: dict[str, list[int]] = {}

    def ours() -> None:
        chosen["ours"] = getattr(ss, method)(alpha=0.01, test="fisher_z").fit(X, y).selected_.tolist()

    def peer() -> None:
        judge = PartialCorrelations(values, y, "binary", alpha=0.01)
        chosen["twin"] = list(map(int, twin(judge, values.shape[1])[0]))

    def note() -> str:
        if chosen["ours"] != chosen["twin"]:
            raise AssertionError(f"{method} and its twin chose differently on {name}: {chosen}")
        kind = "dense" if isinstance(X, np.ndarray) else "sparse"
        return f"{X.shape[0]:,} rows x {X.shape[1]:,} {kind} columns, the same {len(chosen['ours'])} kept"

    return Race(ours, peer, "its twin in tests/reference", note=note)


# ------------------------------------------------------------------------------------ tables


@case("FastOSFS(g2), dorothea, alpha = 0.01", bar="ours <= 0.05 s", memory=True)
def dorothea_strict(size: Size) -> Race:
    return _dorothea(size, 0.01, "34 to 375 s in the papers")


@case("FastOSFS(g2), dorothea, alpha = 0.05", bar="ours <= 0.25 s")
def dorothea_liberal(size: Size) -> Race:
    return _dorothea(size, 0.05, "34 to 375 s in the papers")


def _dorothea(size: Size, alpha: float, elsewhere: str) -> Race:
    X, y = real("dorothea")
    X = X[:, : size(X.shape[1], 2_000)]
    last: list[Any] = []

    def ours() -> None:
        last[:] = [ss.FastOSFS(alpha=alpha, test="g2").fit(X, y)]

    def note() -> str:
        counts = last[0].ledger_.counts()
        relevant = sum(counts.get(what, 0) for what in ("kept", "evicted", "redundant", "collinear"))
        n, p = X.shape
        kept = len(last[0].selected_)
        return f"{n} rows x {p:,} sparse columns, {relevant:,} relevant, {kept} kept; {elsewhere}"

    return Race(ours, note=note)


# ------------------------------------------------------------------------------------ one test


@case("one partial correlation, up to 40 kept", bar="rate >= 125,000,000/s")
def one_partial(size: Size) -> Race:
    """Columns at right angles, all of them part of y: no set makes any of them redundant."""
    kept, n = size(40, 8), 200
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((n, kept + 1))
    Z = np.linalg.qr(Z - Z.mean(axis=0))[0]
    y = Z[:, :kept].sum(axis=1) + 0.01 * Z[:, kept]
    return _all_sets(Z[:, :kept], y, "fisher_z", alpha=0.5)


@case("one G2 given up to 3, binary, n = 800", bar="rate >= 2,500,000/s")
def one_conditional(size: Size) -> Race:
    """Bits that vote for y: each stays relevant given any three others."""
    kept = size(21, 5)
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (800, kept)).astype(np.float64)
    y = (X.sum(axis=1) > kept / 2).astype(int)
    return _all_sets(X, y, "g2", alpha=0.9)


def _all_sets(X: Any, y: Any, test: str, alpha: float) -> Race:
    kept = X.shape[1]
    last: list[Any] = []

    def ours() -> None:
        last[:] = [ss.FastOSFS(alpha=alpha, test=test).fit(X, y)]

    def note() -> str:
        if len(last[0].selected_) != kept:
            raise AssertionError(f"{len(last[0].selected_)} of {kept} kept: the number of tests is not known")
        return (
            f"{kept} columns of {X.shape[0]:,} rows, all kept, so every set of up to 3 was tried for every "
            "column; through fit, with everything that is no test"
        )

    return Race(ours, work=_number_of_tests(kept), unit="tests", note=note, rounds=25)


def _number_of_tests(kept: int) -> int:
    """Each newcomer meets all sets of those before it, and each of these the sets with the newcomer."""
    newcomers = sum(comb(q, size) for q in range(kept) for size in (1, 2, 3))
    older = sum(q * comb(q - 1, size) for q in range(1, kept) for size in (0, 1, 2))
    return newcomers + older


@case("one G2 given nothing, binary, n = 800", bar="rate >= 20,000,000/s")
def one_unconditional(size: Size) -> Race:
    X, y = real("dorothea")
    X = X[:, : size(X.shape[1], 2_000)]
    test = GSquared(y, Task.BINARY, alpha=0.01)
    note = f"relevance of {X.shape[1]:,} sparse columns of {X.shape[0]} rows, {X.nnz:,} non-zeros"
    return Race(lambda: test.relevance(X), work=X.shape[1], unit="tests", note=note)
