"""Similarity of rows, for methods that treat the rows as a graph."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from streamsieve.dependence.blocks import without_offsets
from streamsieve.exceptions import InputError
from streamsieve.protocols import FloatArray, Matrix

#: Maximum number of rows; all pairs are compared, and more would take gigabytes.
MOST_ROWS = 20_000
#: Values of features that are made dense at a time: 32 MB.
BLOCK_VALUES = 2**22
#: Multiplications per call, a fraction of a second; Ctrl-C is handled between calls.
EFFORT = 2**30
#: Cost of an elementwise operation on all pairs, in multiplications of a matrix product.
ELEMENTWISE = 16


def gaussian(X: Matrix, gamma: float | None) -> FloatArray:
    """Return ``exp(-gamma |x - y|^2)`` of all pairs of rows.

    Without gamma it is 1 over the mean of all squared distances, so that scale does not matter.
    """
    n = X.shape[0]
    if n > MOST_ROWS:
        raise InputError(
            f"all pairs of rows are compared, and X has {n:,} of them: {MOST_ROWS:,} are the most; take a "
            "sample of rows, or supervised=True, which compares none"
        )
    if sp.issparse(X):
        X = without_offsets(sp.csc_array(X)).astype(np.float64).tocsr()
        unit = _size(X.data)
        X.data /= unit
        products = _products_of_sparse_rows(X)
    else:
        X = X - X.mean(axis=0, dtype=np.float64)
        unit = _size(X)
        X /= unit
        products = products_of_rows(X)
    squares = products.diagonal().copy()
    apart = products  # in its place: one such matrix may be gigabytes
    for rows in row_pieces(n, ELEMENTWISE * n):
        part = apart[rows]
        part *= -2.0
        part += squares
        part += squares[rows, None]
        np.maximum(part, 0.0, out=part)
    np.fill_diagonal(apart, 0.0)
    mean = float(apart.mean())
    if gamma is None:
        gamma = 1.0 / mean if mean > 0 else 1.0
    else:
        gamma = min(gamma * unit * unit, sys.float_info.max)
    for rows in row_pieces(n, ELEMENTWISE * n):
        with np.errstate(over="ignore"):  # so far apart that nothing is alike
            apart[rows] *= -gamma
        np.exp(apart[rows], out=apart[rows])
    return np.asarray(apart)


def row_pieces(n: int, effort: int) -> Iterator[slice]:
    """Yield slices of n rows, each of which takes ``effort`` multiplications."""
    step = max(1, EFFORT // max(effort, 1))
    return (slice(low, min(low + step, n)) for low in range(0, n, step))


def products_of_rows(X: FloatArray) -> FloatArray:
    """Return ``X @ X.T``; a large one in pieces, the left part of each mirrored from those before."""
    n, p = X.shape
    if n * n * p <= EFFORT:
        return np.asarray(X @ X.T)
    products = np.empty((n, n))
    for rows in row_pieces(n, n * p):
        products[rows, : rows.start] = products[: rows.start, rows].T
        np.matmul(X[rows], X[rows.start :].T, out=products[rows, rows.start :])
    return products


def _products_of_sparse_rows(X: sp.csr_array) -> FloatArray:
    """Return ``X @ X.T`` in pieces of some rows."""
    n = X.shape[0]
    other = X.T.tocsr()
    effort = np.diff(other.indptr)[X.indices]  # what each entry is multiplied with
    ends = np.append(0, np.cumsum(effort, dtype=np.int64))[X.indptr]
    products = np.empty((n, n))
    low = 0
    while low < n:
        # a sparse product takes longer than a dense one of as many multiplications
        high = int(np.searchsorted(ends, ends[low] + EFFORT // ELEMENTWISE, "right"))
        high = min(max(high, low + 1), low + max(1, EFFORT // (ELEMENTWISE * n)), n)
        (X[low:high] @ other).toarray(out=products[low:high])
        low = high
    return products


def _size(values: FloatArray) -> float:
    """Return the power of two just above the largest value: in that unit, squares do not vanish."""
    return math.ldexp(1.0, int(np.frexp(np.abs(values).max(initial=0.0))[1]))


def dense_blocks(X: Matrix) -> Iterator[tuple[slice, FloatArray]]:
    """Yield all features as dense blocks of columns, some at a time."""
    n, p = X.shape
    columns = sp.csc_array(X) if sp.issparse(X) else X
    step = max(1, BLOCK_VALUES // n)
    for low in range(0, p, step):
        part = slice(low, min(low + step, p))
        block = columns[:, part]
        yield part, np.asarray(block.toarray() if sp.issparse(block) else block, np.float64)
