"""What it costs that no unchecked sparse matrix reaches a kernel."""

from __future__ import annotations

from typing import Any

import streamsieve as ss
from benchmarks._cases import Race, Size, case
from benchmarks._data import uniform_csr, zipf_csc
from streamsieve._validation.sparse import clean_sparse


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
