"""What it costs that nothing unchecked reaches a kernel: sparse matrices, and one thread an object."""

from __future__ import annotations

import time
from typing import Any

import streamsieve as ss
from benchmarks._cases import Race, Size, case
from benchmarks._data import uniform_csr, zipf_csc
from streamsieve._one_thread import changes
from streamsieve._validation.sparse import clean_sparse

_CALLS = 100_000


def _check_and_fit(X: Any, y: Any, selector: Any) -> Race:
    """Race the checks that ``fit`` makes of a sparse matrix against the whole of ``fit``."""

    def fit() -> None:
        type(selector)(**selector.get_params()).fit(X, y).get_support()

    fit()  # compiles
    note = f"{X.shape[0]:,} rows x {X.shape[1]:,} columns, {X.nnz:,} values"
    return Race(lambda: clean_sparse(X, X.format), fit, "fit with the checks", X.nnz, "values", note)


@case("checks of a CSR matrix, Screen f", bar="ours <= 0.03x")
def screen(size: Size) -> Race:
    return _check_and_fit(*uniform_csr(size(16_000, 800), size(1_000_000, 20_000), 100), ss.Screen("f"))


@case("checks of a CSC matrix, SAOLA", bar="ours <= 0.03x")
def saola(size: Size) -> Race:
    X, y = zipf_csc(size(9_996, 500), size(200_000, 2_000), size(455, 50))
    return _check_and_fit(X, y, ss.SAOLA(measure="fisher_z"))


class _Guarded:
    __slots__ = ("_users",)

    def plain(self, a: Any) -> Any:
        return a

    guarded = changes(plain)


@case("one thread an object, 100,000 calls", bar="ours <= 0.01 s")
def thread(_: Size) -> Race:
    """Take the time of a bare method from that of one that is guarded against a second thread."""
    each = _Guarded()
    times = range(_CALLS)

    def seconds(method: Any) -> float:
        start = time.perf_counter()
        for _ in times:
            method(0)
        return time.perf_counter() - start

    def measured() -> tuple[float, None]:
        pairs = [(seconds(each.guarded), seconds(each.plain)) for _ in range(25)]
        guarded, plain = map(min, zip(*pairs, strict=True))
        return guarded - plain, None

    return Race(
        lambda: None, work=_CALLS, unit="calls", note="without the calls themselves", measured=measured
    )
