"""Count the distinct values of columns of whole numbers."""

from __future__ import annotations

import math

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray


@nb.njit(nogil=True, cache=True)
def _place(v: float, table: FloatArray, used: npt.NDArray[np.bool_]) -> int:
    """Return where a value is, or where it should be put, in a hash table that is never full."""
    size = len(table)
    a = abs(v)
    at = int(a) if a < size else int(a % size)  # codes are small, and a remainder of floats is slow
    while used[at] and table[at] != v:
        at = (at + 1) % size
    return at


@nb.njit(nogil=True, cache=True)
def _count(
    values: npt.NDArray[np.floating], zeros: bool, most: int, table: FloatArray, used: npt.NDArray[np.bool_]
) -> int:
    """Count distinct values; -1 if they are more than ``most``, or more than two and not all whole.

    NaN is skipped.  ``zeros`` says whether there is a 0 beside the values.
    """
    found = 0
    whole = empty = True
    first = second = math.nan  # most columns of few values have two
    small = np.uint64(0)  # bits of the whole numbers below 64, which need no hash table
    if zeros:
        small = np.uint64(1)
        first = 0.0
        found = 1
    for t in range(len(values)):
        v = float(values[t])
        if v == first or v == second or math.isnan(v):  # noqa: PLR1714, SIM109 - twice as fast
            continue
        if 0.0 <= v < 64.0 and v == math.floor(v):
            bit = np.uint64(1) << np.uint64(v)
            if small & bit:
                continue
            small |= bit
        elif math.isfinite(v):
            if empty:  # most columns never come here
                used[:] = False
                empty = False
            at = _place(v, table, used)
            if used[at]:
                continue
            used[at] = True
            table[at] = v
        else:
            return -1
        found += 1
        if found == 1:
            first = v
        elif found == 2:
            second = v
        whole = whole and v == math.floor(v)
        if found > most or (found > 2 and not whole):
            return -1
    return found


@nb.njit(nogil=True, cache=True)
def levels_of_one(x: FloatArray, most: int) -> int:
    """Return the number of levels of a single column; -1 if it has none."""
    if len(x) > 2:  # three different values with a fraction are enough
        a, b, c = x[0], x[1], x[2]
        some = a + b + c
        whole = a == np.floor(a) and b == np.floor(b) and c == np.floor(c)
        different = a != b and b != c and c != a  # noqa: PLR1714 - a tuple would be slower
        if not whole and different and not math.isnan(some):
            return -1
    used = np.empty(2 * most + 2, np.bool_)
    return _count(x, False, most, np.empty(2 * most + 2), used)  # type: ignore[no-any-return]  # noqa: FBT003


@nb.njit(nogil=True, cache=True)
def levels_dense(X: npt.NDArray[np.floating], most: int, out: IntArray) -> None:
    """Write the number of levels of every column; -1 for a column without levels."""
    table = np.empty(2 * most + 2)
    used = np.empty(2 * most + 2, np.bool_)
    for j in range(X.shape[1]):
        out[j] = _count(X[:, j], False, most, table, used)  # noqa: FBT003


@nb.njit(nogil=True, cache=True)
def levels_csc(
    pointers: npt.NDArray[np.integer], values: npt.NDArray[np.floating], n: int, most: int, out: IntArray
) -> None:
    """Do what `levels_dense` does for a sparse matrix by columns."""
    table = np.empty(2 * most + 2)
    used = np.empty(2 * most + 2, np.bool_)
    for j in range(len(out)):
        low, high = pointers[j], pointers[j + 1]
        zeros = high - low < n
        if zeros:  # most sparse columns store one value, if any
            first = float(values[low]) if high > low else 0.0
            t = low
            while t < high and values[t] == first:
                t += 1
            if t == high and math.isfinite(first):
                out[j] = 1 + (first != 0.0)
                continue
        out[j] = _count(values[low:high], zeros, most, table, used)
