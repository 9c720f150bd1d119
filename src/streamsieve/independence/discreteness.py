"""Which p-values are discrete: those of columns of few distinct values, against a target of few."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._kernels import confirmation as of_columns
from streamsieve._kernels import few_values as of_rows
from streamsieve._threads import over_features
from streamsieve.dependence.blocks import column_slices, row_by_row
from streamsieve.protocols import BoolArray, FloatArray, IntArray, Matrix

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


def first_values(X: Matrix) -> npt.NDArray[np.uint8] | None:
    """Return about how many distinct values columns show in their first rows; None for a sparse block.

    A column has no fewer, or one less if it holds zeros of both signs.
    """
    return None if sp.issparse(X) else _first_values(X)


def with_few_values(
    X: Matrix, two: BoolArray | None = None, first: npt.NDArray[np.uint8] | None = None
) -> BoolArray:
    """Return which columns have few distinct values, without missing ones.

    ``two``: which columns are known to have two; ``first``: the `first_values`; if either is known.
    """
    n, m = X.shape
    most = few_values(n)
    few = np.zeros(m, bool) if two is None else two.copy()
    if sp.issparse(X):
        few |= np.diff(X.indptr) < most  # whatever the values are
        open_ = ~few
    else:
        open_ = ~few
        first = first_values(X) if first is None and open_.any() else first
        open_ &= True if first is None else first <= most + 1
    chosen = np.flatnonzero(open_)
    if not len(chosen):
        return few
    # slices of a sparse block are no copy, and those of a dense one are
    pointers, _, values = column_slices(X, None if sp.issparse(X) else chosen)
    places = chosen if sp.issparse(X) else np.arange(len(chosen))
    found = np.empty(len(chosen), np.int64)
    of_columns.distinct(pointers, values.astype(np.float64, copy=False), places, n, most, found)
    few[chosen] = found <= most
    return few


def _first_values(X: FloatArray) -> npt.NDArray[np.uint8]:
    some = _row_major(X[:FIRST_ROWS])
    flat, width = row_by_row(some)
    patterns = np.empty(X.shape[1], np.uint64)
    of_rows.patterns(flat, flat.view(np.uint64), width, len(some), patterns)
    counts: npt.NDArray[np.uint8] = np.bitwise_count(patterns)
    return counts


def two_by_two(
    X: Matrix, second: BoolArray, first: npt.NDArray[np.uint8] | None = None
) -> tuple[IntArray, IntArray]:
    """Return the 2 x 2 tables of columns of two values and a target of two classes.

    Rows with one of the two values, and those of them in the ``second`` class; 0 for a column of more values.
    ``first``: the `first_values`, if they are known.
    """
    if X.strides[1] != X.itemsize:
        counts = np.empty((2, X.shape[1]), np.int64)
        of_columns.two_by_two(*column_slices(X), False, second, counts)  # noqa: FBT003
        return counts[0], counts[1]
    few = (_first_values(X) if first is None else first) <= 3
    ones, both = np.zeros((2, X.shape[1]), np.int64)
    if few.any():
        some = slice(None) if few.mean() > 0.5 else np.flatnonzero(few)
        ones[some], both[some] = _two_by_two(_row_major(X[:, some]), second.astype(np.float64))
    return ones, both


def _two_by_two(X: FloatArray, second: FloatArray) -> FloatArray:
    n, m = X.shape
    found, (flat, width) = np.empty((2, m)), row_by_row(X)

    def work(low: int, high: int) -> None:
        of_rows.two_by_two(flat, width, second, found, low, high)

    over_features(m, n * m, work)
    return found


def _row_major(X: FloatArray) -> FloatArray:
    """Return a dense block with rows of contiguous float64, the same one if it has."""
    if X.dtype == np.float64 and X.strides[1] == X.itemsize:
        return X
    return np.ascontiguousarray(X, np.float64)
