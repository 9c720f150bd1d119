"""Mean, spread and product with a target of every column of a block, in whatever form the block comes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from streamsieve._kernels import screen as kernel
from streamsieve._kernels.threads import over_features
from streamsieve.protocols import FloatArray


def screen(X: Any, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean, centred sum of squares and product with y of every column, dense or CSC.

    ``y`` must sum to 0.
    """
    n, m = X.shape
    mean, ss, dot = (np.empty(m) for _ in range(3))  # apart, because the ledger keeps only one of them
    if hasattr(X, "indptr"):

        def work(low: int, high: int) -> None:
            kernel.screen_csc(X.indptr, X.indices, X.data, n, y, mean, ss, dot, low, high)

        over_features(m, 8 * (len(X.data) + m), work)  # a random access costs as much as eight values
        return mean, ss, dot
    if X.strides[1] == X.itemsize:
        flat, width = _row_by_row(X)

        def work(low: int, high: int) -> None:
            kernel.screen_rows(flat, width, y, mean, ss, dot, low, high)

    else:
        XT = np.ascontiguousarray(X.T)

        def work(low: int, high: int) -> None:
            kernel.screen_columns(XT, y, mean, ss, dot, low, high)

    over_features(m, n * m, work)
    return mean, ss, dot


def _row_by_row(X: Any) -> tuple[FloatArray, int]:
    """Return the memory of a row-major block as one line, and the length of a row in it.

    Some columns of a larger matrix are no contiguous array, and compiled loops over such a view would not
    vectorise; each row's part of the line is contiguous.
    """
    if X.strides[0] < 0 or X.strides[0] % X.itemsize:
        X = np.ascontiguousarray(X)
    n, m = X.shape
    width = X.strides[0] // X.itemsize if n > 1 else m
    return as_strided(X, ((n - 1) * width + m,), (X.itemsize,)), width


def without_offsets(X: Any) -> Any:
    """Return a CSC block in which every column without zeros begins with 0.

    Nothing that looks at centred columns changes, but products with vectors that sum to 0 keep their digits.
    """
    full = np.flatnonzero(np.diff(X.indptr) == X.shape[0])
    if not len(full):
        return X
    X = X.copy()
    for j in full:
        X.data[X.indptr[j] : X.indptr[j + 1]] -= X.data[X.indptr[j]]
    return X
