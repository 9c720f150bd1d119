"""The best stump of every feature: one threshold, and which side is positive.

Columns hold their stored values in rising order; rows that are not stored are 0.  With ``signed`` the weights
times the labels (-1 or +1), a stump that is positive above its threshold errs by the negative mass plus the
signed weights below it, and one of the other sign by the rest: one running sum serves all thresholds.
"""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray


@nb.njit(nogil=True, cache=True)
def best_stumps(
    pointers: IntArray, rows: npt.NDArray[np.int32], values: FloatArray, signed: FloatArray, negative: float,
    low: int, high: int, tie: float, gain: FloatArray, threshold: FloatArray, above: FloatArray,
) -> None:  # fmt: skip
    """Write by how much the best stump of features low..high errs less than one half, and which it is.

    Rows above ``threshold`` are of the sign ``above``.  Of thresholds that are equal but for ``tie`` the
    lowest is taken.  A constant feature has no stump: its gain is -1.
    """
    n = len(signed)
    whole = 0.0
    for i in range(n):
        whole += signed[i]
    for j in range(low, high):
        begin, end = pointers[j], pointers[j + 1]
        zeros = n - (end - begin)
        rest = whole
        if zeros > 0:
            for t in range(begin, end):
                rest -= signed[rows[t]]
        best = -1.0
        below = 0.0
        last = 0.0
        anything = False
        passed = zeros == 0
        t = begin
        while t < end or not passed:
            # the zeros that are not stored come before the first stored value that is not negative
            is_block = not passed and (t == end or values[t] >= 0.0)
            v = 0.0 if is_block else values[t]
            if anything and v > last:
                distance = negative + below - 0.5
                if abs(distance) > best + tie:
                    best = abs(distance)
                    threshold[j] = last
                    above[j] = 1.0 if distance <= 0.0 else -1.0
            if is_block:
                below += rest
                passed = True
            else:
                below += signed[rows[t]]
                t += 1
            last = v
            anything = True
        gain[j] = best
