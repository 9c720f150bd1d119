"""Quantiles over the non-zeros of CSR rows: a hot slot a feature, and sorted runs for everything else.

``hot[feature]`` is [value, mass of class 0, 1, ...]: the first non-zero value the feature ever had, or 0.  A
column with one non-zero value never leaves it: a cache line and an addition a non-zero, exact indefinitely.

Any other non-zero is an entry (prefix, value, mass) with ``prefix = feature << shift | class``.  Entries
are staged in order of arrival.  A full stage becomes a run: sorted by prefix and value, equal entries summed.
Two runs merge into one, which is thinned where a prefix has too many values.

A mass of None stands for 1 everywhere.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve._kernels.intrinsics import prefetch
from streamsieve.protocols import FloatArray, IntArray

#: An array that may go along, or None; Numba compiles the two cases apart.
Optional: TypeAlias = Any


@nb.njit(nogil=True, cache=True)
def ingest(
    indptr: IntArray, indices: npt.NDArray[np.int32], data: FloatArray, codes: IntArray,
    w: FloatArray, weighted: bool, hot: FloatArray, missing: FloatArray, shift: int,
    prefix: IntArray, value: FloatArray, mass: FloatArray, with_mass: bool, fill: int, row: int, entry: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Take CSR rows in, from an entry of a row on; return (row, entry, fill) where it stopped.

    It stops early at an entry that finds the stage full, or that is missing while ``missing`` has no rows.
    """
    width = hot.shape[1]
    flat = hot.reshape(hot.size)
    last = len(indices) - 1
    room = len(value)
    wi = 1.0
    while row < len(indptr) - 1:
        c = codes[row]
        if weighted:
            wi = w[row]
        end = indptr[row + 1] if wi > 0.0 else entry
        while entry < end:
            ahead = np.intp(indices[min(entry + 32, last)]) * width
            prefetch(flat, ahead)
            if c >= 7:  # the mass is in another cache line than the value
                prefetch(flat, ahead + 1 + c)
            j = np.intp(indices[entry])
            x = np.float64(data[entry])
            usual = flat[j * width]
            if x == usual and x != 0.0:
                flat[j * width + 1 + c] += wi
            elif np.isnan(x):
                if len(missing) == 0:
                    return row, entry, fill
                missing[j, c] += wi
            elif x != 0.0:
                if usual == 0.0:
                    flat[j * width] = x
                    flat[j * width + 1 + c] = wi
                else:
                    if fill == room:
                        return row, entry, fill
                    prefix[fill] = j << shift | c
                    value[fill] = x
                    if with_mass:
                        mass[fill] = wi
                    fill += 1
            entry += 1
        row += 1
        entry = indptr[row]
    return row, entry, fill


@nb.njit(nogil=True, cache=True)
def absorb_hot(
    other: FloatArray, classes: IntArray, hot: FloatArray, shift: int,
    prefix: IntArray, value: FloatArray, mass: FloatArray, fill: int, place: int,
) -> tuple[int, int]:  # fmt: skip
    """Merge another's hot slots in: equal values add up, a different one goes to the stage.

    ``place`` counts the other's (feature, class); returns (place, fill), early if the stage or its masses
    have no room.
    """
    n = len(classes)
    while place < len(other) * n:
        j, i = divmod(place, n)
        x, m = other[j, 0], other[j, 1 + i]
        if m > 0.0:
            if hot[j, 0] == 0.0:
                hot[j, 0] = x
            if hot[j, 0] == x:
                hot[j, 1 + classes[i]] += m
            else:
                if fill >= min(len(value), len(mass)):
                    return place, fill
                prefix[fill] = j << shift | classes[i]
                value[fill] = x
                mass[fill] = m
                fill += 1
        place += 1
    return place, fill


@nb.njit(nogil=True, cache=True)
def is_sound(
    prefix: IntArray, value: FloatArray, mass: Optional, shift: int, n_classes: int,
    hot: FloatArray, ordered: bool,
) -> bool:  # fmt: skip
    """Whether entries can be those of a stage (or, if ordered, a run): known features, finite, positive."""
    last = (1 << shift) - 1
    for i in range(len(prefix)):
        p = prefix[i]
        if p < 0 or p >> shift >= len(hot) or (p & last) >= n_classes or hot[p >> shift, 0] == 0.0:
            return False
        if not 0.0 < abs(value[i]) < np.inf:
            return False
        if mass is not None and not 0.0 < mass[i] < np.inf:
            return False
        if ordered and i > 0 and not (prefix[i - 1] < p or (prefix[i - 1] == p and value[i - 1] < value[i])):
            return False
    return True


@nb.njit(nogil=True, cache=True)
def first_of(prefix: IntArray, shift: int, feature: int) -> int:
    """Where a feature's entries begin; prefixes need only be in order of their features."""
    low, high = 0, len(prefix)
    while low < high:
        mid = (low + high) // 2
        if prefix[mid] >> shift < feature:
            low = mid + 1
        else:
            high = mid
    return low


@nb.njit(nogil=True, cache=True)
def add_stored(prefix: IntArray, mass: FloatArray, shift: int, low: int, high: int, out: FloatArray) -> None:
    """Add the masses of the entries of features low..high to ``out[feature - low, class]``."""
    last = (1 << shift) - 1
    for i in range(first_of(prefix, shift, low), len(prefix)):
        p = prefix[i]
        if p >> shift >= high:
            break
        out[(p >> shift) - low, p & last] += mass[i]


@nb.njit(nogil=True, cache=True)
def fill_tables(
    prefix: IntArray, value: FloatArray, mass: FloatArray, shift: int, first: int,
    hot: FloatArray, zeros: FloatArray, weight: FloatArray, whole: bool,
    low: int, high: int, counts: FloatArray,
) -> None:  # fmt: skip
    """Fill ``counts[row, class, bin]`` for rows low..high; a row is a feature, row 0 is feature ``first``.

    Entries must have their classes pooled; ``hot``, ``zeros`` and ``weight`` are by row.  A value's bin is
    the number of i = 1 .. bins - 1 with i d <= the mass strictly below it, where d is weight / bins.
    """
    n_classes, bins = counts.shape[1], counts.shape[2]
    last = (1 << shift) - 1
    at = first_of(prefix, shift, first + low)
    for r in range(low, high):
        d = max(1.0, np.floor(weight[r] / bins)) if whole else weight[r] * (1.0 - 1e-12) / bins
        some_zeros = False
        for c in range(n_classes):
            some_zeros |= zeros[r, c] > 0.0
        usual = hot[r, 0]
        some_hot = usual != 0.0
        below = 0.0
        b = 0
        while True:
            some_cold = at < len(prefix) and prefix[at] >> shift == first + r
            if not (some_cold or some_hot or some_zeros):
                break
            x = value[at] if some_cold else np.inf
            if some_hot and usual < x:
                x = usual
            if some_zeros and x > 0.0:
                x = 0.0
            while b < bins - 1 and (b + 1) * d <= below:
                b += 1
            if some_zeros and x == 0.0:
                some_zeros = False
                for c in range(n_classes):
                    counts[r, c, b] += zeros[r, c]
                    below += zeros[r, c]
            if some_hot and x == usual:
                some_hot = False
                for c in range(n_classes):
                    counts[r, c, b] += hot[r, 1 + c]
                    below += hot[r, 1 + c]
            while at < len(prefix) and prefix[at] >> shift == first + r and value[at] == x:
                counts[r, prefix[at] & last, b] += mass[at]
                below += mass[at]
                at += 1
