"""Columns of few distinct values in a block that is stored row by row, without a copy of its columns.

Row i of the block begins at ``flat[i * width]``.  Columns are taken in tiles of 256, whose
counters stay in L1; the loops over a row have no branches, so that they vectorize.
"""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray


@nb.njit(nogil=True, cache=True)
def patterns(
    flat: FloatArray, bits: npt.NDArray[np.uint64], width: int, n: int, out: npt.NDArray[np.uint64]
) -> None:
    """Set a bit out of 64 for every value of a column over n rows; equal values share one.

    ``bits`` is ``flat`` read as whole numbers.  A column has at least as many distinct values as bits are
    set, and one less if it holds zeros of both signs.  Missing values set none.
    """
    one, nothing = np.uint64(1), np.uint64(0)
    for low in range(0, len(out), 256):
        k = min(256, len(out) - low)
        found = out[low : low + k]
        found[:] = nothing
        for i in range(n):
            at = i * width + low
            row, word = flat[at : at + k], bits[at : at + k]
            for j in range(k):
                w = word[j]
                w ^= w >> np.uint64(32)
                w ^= w >> np.uint64(16)
                w ^= w >> np.uint64(7)
                found[j] |= (nothing if np.isnan(row[j]) else one) << (w & np.uint64(63))


@nb.njit(nogil=True, cache=True)
def two_by_two(
    flat: FloatArray, width: int, second: FloatArray, out: FloatArray, first: int, last: int
) -> None:
    """Fill the 2 x 2 tables of columns of two values and a target of two classes.

    ``second`` is 1 in rows of the second class and 0 in others.  ``out[0]`` is the number of rows that do not
    hold the value of the first row, and ``out[1]`` the number of these in the second class.  Both are 0
    for a column of more values, or with missing ones.
    """
    n = len(second)
    other, wrong = np.empty(256), np.empty(256)
    for low in range(first, last, 256):
        k = min(256, last - low)
        base, count, inside = flat[low : low + k], out[0, low : low + k], out[1, low : low + k]
        count[:] = 0.0
        inside[:] = 0.0
        wrong[:] = 0.0
        for j in range(k):
            other[j] = base[j]
        for i in range(1, n):
            row = flat[i * width + low : i * width + low + k]
            y = second[i]
            for j in range(k):
                v, b = row[j], base[j]
                o = other[j]
                o = v if o == b else o  # the latest value as long as it is that of the first row
                other[j] = o
                differs = 1.0 if v != b else 0.0
                count[j] += differs
                inside[j] += differs * y
                wrong[j] += differs if v != o else 0.0
        for j in range(k):
            if wrong[j] > 0.0:
                count[j] = inside[j] = 0.0
