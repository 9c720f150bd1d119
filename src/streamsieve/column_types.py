"""Types of columns: numeric, ordinal, nominal or binary; declared by the caller, or guessed from the values.

The guess is made in one place, `guessed_types`: a column of two distinct values is binary; whole numbers that
repeat, with at most ``few_levels(n)`` distinct values over n rows, are ordinal; everything else is numeric.
Text and categories of a dataframe are nominal, which is never guessed from numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

import numpy as np
import scipy.sparse as sp

from streamsieve._kernels import column_levels as kernel
from streamsieve.protocols import IntArray, Matrix

#: Rows per distinct value from which on whole numbers count as levels.
ROWS_PER_LEVEL = 20
#: Levels that a column can have at most, unless it is declared nominal.
MOST_LEVELS = 256
#: Number of distinct values up to which whole numbers are levels over any number of rows.
ALWAYS_FEW = 4


class ColumnType(StrEnum):
    """What the values of a column are."""

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"
    BINARY = "binary"


TYPES = tuple(str(kind) for kind in ColumnType)
NUMERIC, ORDINAL, NOMINAL, BINARY = range(len(TYPES))


def few_levels(n: int) -> int:
    """Return the number of distinct values up to which whole numbers over n rows are levels."""
    return min(MOST_LEVELS, max(ALWAYS_FEW, n // ROWS_PER_LEVEL))


def guessed_types(X: Matrix) -> IntArray:
    """Return the type of every column of a float matrix, dense or CSC, as its position in `TYPES`.

    NaN is no value.  A column without two distinct values is numeric.
    """
    n, m = X.shape
    most, out = few_levels(n), np.zeros(m, np.int64)
    if sp.issparse(X):
        X = sp.csc_array(X)
        kernel.levels_csc(X.indptr, X.data, n, most, out)
    else:
        kernel.levels_dense(np.asarray(X), most, out)
    return np.where(out == 2, BINARY, np.where(out > 2, ORDINAL, NUMERIC))


def type_names(codes: Iterable[int]) -> list[str]:
    """Return types by their positions in `TYPES`."""
    return [TYPES[code] for code in codes]
