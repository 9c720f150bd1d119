"""How alike rows are, for methods that look at the rows as a graph."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from streamsieve.dependence.blocks import without_offsets
from streamsieve.exceptions import InputError
from streamsieve.protocols import FloatArray, Matrix

#: All pairs of rows are compared: beyond this they would fill gigabytes.
MOST_ROWS = 20_000
#: Values of features that are made dense at a time: 32 MB.
BLOCK_VALUES = 2**22


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
        products = (X @ X.T).toarray()
    else:
        X = X - X.mean(axis=0, dtype=np.float64)
        unit = _size(X)
        X /= unit
        products = X @ X.T
    squares = products.diagonal().copy()
    apart = products  # in its place: one such matrix may be gigabytes
    apart *= -2.0
    apart += squares
    apart += squares[:, None]
    np.maximum(apart, 0.0, out=apart)
    np.fill_diagonal(apart, 0.0)
    mean = float(apart.mean())
    if gamma is None:
        gamma = 1.0 / mean if mean > 0 else 1.0
    else:
        gamma = min(gamma * unit * unit, sys.float_info.max)
    with np.errstate(over="ignore"):  # so far apart that nothing is alike
        apart *= -gamma
    return np.asarray(np.exp(apart, out=apart))


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
