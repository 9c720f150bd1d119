"""How strongly a column is associated with many others of mixed types, given nothing."""

from __future__ import annotations

import math

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray

Codes = npt.NDArray[np.int32]


@nb.njit(nogil=True, cache=True)
def table_statistic(a: Codes, b: Codes, many: int, known: float, log: FloatArray, cells: IntArray) -> float:
    """Return G squared of two columns of codes, of which the second has ``many`` levels.

    ``known`` is the sum of c ln c over the counts of both columns, ``log[c]`` is c ln c, and ``cells``, a
    count of 0 for every pair of levels, is left as it was.
    """
    for i in range(len(a)):
        cells[a[i] * many + b[i]] += 1
    total = 0.0
    for i in range(len(a)):
        cell = a[i] * many + b[i]
        total += log[cells[cell]]
        cells[cell] = 0
    return max(2.0 * (total - known + float(log[len(a)])), 0.0)


@nb.njit(nogil=True, cache=True)
def strengths(
    codes: Codes, many: int, entropy: float, values: FloatArray, slots: IntArray, all_codes: Codes,
    all_many: IntArray, all_entropy: FloatArray, all_values: FloatArray, single: npt.NDArray[np.bool_],
    log: FloatArray, cells: IntArray, out: FloatArray,
) -> None:  # fmt: skip
    """Compare a column with those in some slots, on the scale of a correlation; NaN where it has no way.

    Two columns of levels (``many`` > 0) by their table, others by their product if both are single numbers
    (``values`` has rows, and ``single``).
    """
    n = len(log) - 1
    for k in range(len(slots)):
        at = slots[k]
        if many > 0 and all_many[at] > 0:
            known = entropy + all_entropy[at]
            g = table_statistic(codes, all_codes[at], all_many[at], known, log, cells)
            freedom = (many - 1) * (all_many[at] - 1)
            out[k] = math.sqrt(-math.expm1(-max(g - max(freedom - 1, 0), 0.0) / n))
        elif len(values) and single[at]:
            other = all_values[at]
            s0 = s1 = 0.0  # two sums in flight
            for i in range(0, n - 1, 2):
                s0 += values[i] * other[i]
                s1 += values[i + 1] * other[i + 1]
            if n % 2:
                s0 += values[n - 1] * other[n - 1]
            out[k] = min(abs(s0 + s1), 1.0)
        else:
            out[k] = math.nan
