"""Which p-values are discrete: those of columns of few distinct values, against a target of few."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._kernels import confirmation as kernel
from streamsieve.dependence.blocks import column_slices
from streamsieve.protocols import IntArray, Matrix

#: Distinct values up to which a column or target is discrete, unless they are more than half of the rows.
#: A column that differs from its most frequent value in fewer rows than this is discrete as well.
FEW_VALUES = 32
#: Rows of a dense block that are looked at first: a continuous column shows too many values in them.
FIRST_ROWS = 64


def few_values(n: int) -> int:
    """Return the number of distinct values up to which a column of n rows is discrete."""
    return max(2, min(FEW_VALUES, n // 2))


def is_discrete(y: npt.NDArray[np.generic]) -> bool:
    """Whether a target has few distinct values."""
    return len(np.unique(y)) <= few_values(len(y))


def distinct_values(X: Matrix) -> IntArray:
    """Count the distinct values of every column, without missing ones; those beyond few count as one."""
    n, m = X.shape
    most, counts, chosen = few_values(n), np.zeros(m, np.int64), np.arange(m)
    if not sp.issparse(X) and n > FIRST_ROWS:
        pointers, _, values = column_slices(X[:FIRST_ROWS])
        kernel.distinct(pointers, values, FIRST_ROWS, most, counts)
        chosen = np.flatnonzero(counts <= most)
    pointers, _, values = column_slices(X, chosen)
    some = np.empty(len(chosen), np.int64)
    kernel.distinct(pointers, values.astype(np.float64, copy=False), n, most, some)
    counts[chosen] = some
    return counts
