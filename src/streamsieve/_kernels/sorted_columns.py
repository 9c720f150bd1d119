"""Contingency tables over bins, and best splits, of columns whose values are in rising order.

A column is the list of its stored values; rows that are not stored hold 0, and NaN, which comes last, is
missing.  All rows of one value are one step: their mass is added class by class, and that of the zeros that
are not stored is what the others leave of each class.
"""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray


@nb.njit(nogil=True, cache=True)
def next_value(
    rows: npt.NDArray[np.int32], values: FloatArray, t: int, end: int, zeros: bool,
    codes: IntArray, weight: FloatArray, rest: FloatArray, mass: FloatArray,
) -> tuple[int, bool]:  # fmt: skip
    """Fill ``mass`` with the class masses of the next value from place t on.

    ``zeros``: the zeros that are not stored, of class masses ``rest``, are still to come.  Returns the place
    after that value, and whether they are still to come then.
    """
    mass[:] = 0.0
    v = values[t] if t < end else 0.0
    if zeros and (t == end or v >= 0.0):
        v = 0.0
        zeros = False
        for c in range(len(mass)):
            mass[c] = rest[c]
    while t < end and values[t] == v:
        mass[codes[rows[t]]] += weight[rows[t]]
        t += 1
    return t, zeros


@nb.njit(nogil=True, cache=True)
def present(
    rows: npt.NDArray[np.int32], values: FloatArray, begin: int, end: int, n: int,
    codes: IntArray, weight: FloatArray, class_mass: FloatArray, rest: FloatArray, total: FloatArray,
) -> tuple[int, bool]:  # fmt: skip
    """Fill the class masses of the zeros that are not stored, and of all rows that have the feature.

    Returns where the stored values that are not missing end, and whether any row is not stored.
    """
    zeros = end - begin < n
    for c in range(len(rest)):
        rest[c] = class_mass[c] if zeros else 0.0
        total[c] = 0.0
    last = begin
    for t in range(begin, end):
        c = codes[rows[t]]
        if zeros:
            rest[c] -= weight[rows[t]]
        if values[t] == values[t]:  # not missing
            total[c] += weight[rows[t]]
            last = t + 1
    for c in range(len(rest)):
        rest[c] = max(rest[c], 0.0)
        total[c] += rest[c]
    return last, zeros


@nb.njit(nogil=True, cache=True)
def tables(
    pointers: IntArray, rows: npt.NDArray[np.int32], values: FloatArray, codes: IntArray, weight: FloatArray,
    class_mass: FloatArray, whole: bool, low: int, high: int, counts: FloatArray,
) -> None:  # fmt: skip
    """Add up the mass of (class, bin) of features low..high; ``counts`` must be 0.

    Cut i is the smallest value up to which there is i times the mass d of a bin, and a value's bin is the
    number of cuts below it: as often as d goes into the mass below the value.  With ``whole`` weights d is a
    whole number, too; else it is smaller by what sums may be rounded.
    """
    n, bins, classes = len(codes), counts.shape[2], len(class_mass)
    mass, rest, total = np.empty(classes), np.empty(classes), np.empty(classes)
    for j in range(low, high):
        t, end = pointers[j], pointers[j + 1]
        end, zeros = present(rows, values, t, end, n, codes, weight, class_mass, rest, total)
        everything = total.sum()
        size = max(np.floor(everything / bins), 1.0) if whole else everything * (1.0 - 1e-12) / bins
        below = 0.0
        while t < end or zeros:
            t, zeros = next_value(rows, values, t, end, zeros, codes, weight, rest, mass)
            at = min(int(below / size), bins - 1) if size > 0.0 else 0
            for c in range(classes):
                counts[j, c, at] += mass[c]
                below += mass[c]


@nb.njit(nogil=True, cache=True)
def purities(
    pointers: IntArray, rows: npt.NDArray[np.int32], values: FloatArray, codes: IntArray, weight: FloatArray,
    class_mass: FloatArray, low: int, high: int, out: FloatArray,
) -> None:  # fmt: skip
    """Write what the best split of features low..high leaves pure: the sum over sides of share and purity.

    Thresholds lie between any two different values.  -1 for a feature of fewer than two classes.
    """
    n, classes = len(codes), len(class_mass)
    mass, rest, total, left = np.empty(classes), np.empty(classes), np.empty(classes), np.empty(classes)
    for j in range(low, high):
        t, end = pointers[j], pointers[j + 1]
        end, zeros = present(rows, values, t, end, n, codes, weight, class_mass, rest, total)
        everything = total.sum()
        seen = 0
        squares = 0.0
        for c in range(classes):
            seen += total[c] > 1e-12 * everything
            squares += total[c] * total[c]
            left[c] = 0.0
        if seen < 2:
            out[j] = -1.0
            continue
        best = squares / everything
        below = 0.0
        while t < end or zeros:
            t, zeros = next_value(rows, values, t, end, zeros, codes, weight, rest, mass)
            for c in range(classes):
                left[c] += mass[c]
                below += mass[c]
            above = everything - below
            if below <= 1e-12 * everything or above <= 1e-12 * everything:
                continue
            one = 0.0
            other = 0.0
            for c in range(classes):
                one += left[c] * left[c]
                other += (total[c] - left[c]) * (total[c] - left[c])
            best = max(best, one / below + other / above)
        out[j] = best / everything
