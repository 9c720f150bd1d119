"""Columns as levels, and the test of each against the classes, for a whole block at once.

Levels are names: any permutation gives the same test.  Up to 32 distinct values are levels of their own, and
up to ``most_levels(n)`` if they are whole numbers; more are cut into bins of equal frequency.  A column is
handled as the list of rows whose level is not that of the value 0, so a sparse one costs what it stores.

Sorting into levels takes long to compile, and most wide data is 0 and 1: blocks without other values are
measured and encoded by functions compiled without it.

``values`` holds the columns one after another and ``pointers`` where each begins.  Of a sparse block
``rows`` belongs to the values; of a dense one it is 0, 1, 2, ..., n - 1, the same for every column.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray


@nb.njit(nogil=True, cache=True)
def most_levels(n: int) -> int:
    """Number of distinct whole numbers that are levels of their own over n rows: 20 rows each, 32 to 256."""
    return min(256, max(32, n // 20))


@nb.njit(nogil=True, cache=True)
def _encode(
    values: FloatArray, rows: npt.NDArray[np.int32], n: int, bins: int, distinct: FloatArray,
    out_rows: npt.NDArray[np.int32], out_levels: npt.NDArray[np.uint16], counts: IntArray,
) -> tuple[int, int]:  # fmt: skip
    """Give levels 0, 1, 2, ... to one column of n rows; rows that are not given hold 0.

    Lists rows with their level (all others have level 0) and counts every level.  Returns (rows listed,
    number of levels); 1 level is a constant column, -1 stands for a value that is not finite.
    """
    distinct[0] = 0.0
    counts[0] = 0
    used = 1
    length = 0
    most = most_levels(n) + 1  # with a place for the value 0, which need not occur
    stored = len(values)
    for t in range(stored):
        v = values[t]
        level = 0
        while level < used and distinct[level] != v:
            level += 1
        if level == used:
            if not math.isfinite(v):
                return 0, -1
            if v != math.floor(v):
                most = 33
            if used >= most:
                used = most + 1
                break
            distinct[used] = v
            counts[used] = 0
            used += 1
        if level > 0:
            out_rows[length] = rows[t]
            out_levels[length] = level
            counts[level] += 1
            length += 1
    counts[0] = n - length
    if used - (1 if length == n else 0) > most - 1:
        length, used = _bin(values, rows, n, bins, out_rows, out_levels, counts)
    return length, _without_gaps(out_levels, length, counts, used)


@nb.njit(nogil=True, cache=True)
def _bin(
    values: FloatArray, rows: npt.NDArray[np.int32], n: int, bins: int,
    out_rows: npt.NDArray[np.int32], out_levels: npt.NDArray[np.uint16], counts: IntArray,
) -> tuple[int, int]:  # fmt: skip
    """Cut i is the i * floor(n / bins)-th smallest value; a value's bin is the number of cuts below it.

    The zeros that are not stored take their place among the sorted values without being sorted.
    """
    bins = min(bins, n)
    ordered = np.sort(values)
    zeros = n - len(values)
    negative = 0
    while negative < len(values) and ordered[negative] < 0.0:
        negative += 1
    cuts = np.empty(bins - 1)
    for i in range(bins - 1):
        rank = (i + 1) * (n // bins) - 1
        if rank < negative:
            cuts[i] = ordered[rank]
        elif rank < negative + zeros:
            cuts[i] = 0.0
        else:
            cuts[i] = ordered[rank - zeros]
    zero_bin = np.searchsorted(cuts, 0.0)
    counts[:bins] = 0
    length = 0
    for t in range(len(values)):
        if not math.isfinite(values[t]):
            return 0, -1
        level = np.searchsorted(cuts, values[t])
        # the bin of zero gets level 0, the one that is not listed
        if level == zero_bin:
            level = 0
        elif level == 0:
            level = zero_bin
        if level > 0:
            out_rows[length] = rows[t]
            out_levels[length] = level
            counts[level] += 1
            length += 1
    counts[0] = n - length
    return length, bins


@nb.njit(nogil=True, cache=True)
def _without_gaps(out_levels: npt.NDArray[np.uint16], length: int, counts: IntArray, used: int) -> int:
    """Renumber levels so that every one occurs; return how many there are."""
    levels = 0
    for a in range(used):
        levels += counts[a] > 0
    if used < 0 or levels == used:
        return used
    new = np.zeros(used, np.uint16)
    levels = 0
    for a in range(used):
        new[a] = levels
        counts[levels] = counts[a]
        levels += counts[a] > 0
    for t in range(length):
        out_levels[t] = new[out_levels[t]]
    return levels


@nb.njit(nogil=True, cache=True)
def _count_bits(
    values: FloatArray, rows: npt.NDArray[np.int32], low: int, high: int, offset: int,
    y: IntArray, classes: int, cell: IntArray,
) -> int:  # fmt: skip
    """Count the classes of rows that hold a value other than 0, if it is one and the same; else return -1.

    The short way for what most wide data is: values low..high, that of place t in row ``rows[t - offset]``.
    Writes ``cell[classes + class]``; returns how many rows.
    """
    for c in range(classes, 2 * classes):
        cell[c] = 0
    one = 0.0
    length = 0
    for t in range(low, high):
        v = values[t]
        if v == 0.0:
            continue
        if v != one:
            if length > 0 or not math.isfinite(v):
                return -1
            one = v
        cell[classes + y[rows[t - offset]]] += 1
        length += 1
    return length


@nb.njit(nogil=True, cache=True)
def _statistic(
    cell: IntArray,
    counts: IntArray,
    levels: int,
    class_counts: IntArray,
    n: int,
    g: FloatArray,
    pearson: bool,
) -> float:
    """G2 or Pearson's chi-squared of the table ``cell[level * classes + class]``; ``g[c] = c ln c``."""
    classes = len(class_counts)
    total = 0.0
    if not pearson:
        for k in range(levels * classes):
            total += g[cell[k]]
        for a in range(levels):
            total -= g[counts[a]]
        for c in range(classes):
            total -= g[class_counts[c]]
        return float(max(2.0 * (total + g[n]), 0.0))
    for a in range(levels):
        share = counts[a] / n
        for c in range(classes):
            expected = share * class_counts[c]
            more = cell[a * classes + c] - expected
            total += more * more / expected
    return float(total)


@nb.njit(nogil=True, cache=True)
def _moments(counts: IntArray, levels: int, class_counts: IntArray, n: int) -> tuple[float, float]:
    """Mean and variance of Pearson's statistic over all permutations (Haldane 1940; Dawson 1954).

    The variance is 0 where there is no test: fewer than four rows, or one value of the statistic only.
    """
    if n < 4:
        return 0.0, 0.0
    classes = len(class_counts)
    by_level = by_class = 0.0
    for a in range(levels):
        by_level += 1.0 / counts[a]
    for c in range(classes):
        by_class += 1.0 / class_counts[c]
    v1, w1 = (n - levels) * (levels - 1.0) / (n - 1), (n * by_level - levels * levels) / (n - 2)
    v2, w2 = (n - classes) * (classes - 1.0) / (n - 1), (n * by_class - classes * classes) / (n - 2)
    mean = n * (levels - 1.0) * (classes - 1) / (n - 1)
    variance = 2.0 * n / (n - 3) * (v1 - w1) * (v2 - w2) + n / (n - 1.0) * n * w1 * w2
    return mean, variance if variance > 1e-10 * mean else 0.0


@nb.njit(nogil=True, cache=True)
def measure(
    pointers: IntArray, rows: npt.NDArray[np.int32], values: FloatArray, sparse: bool, bins: int,
    y: IntArray, class_counts: IntArray, g: FloatArray, critical: FloatArray,
    exact_low: IntArray, exact_high: IntArray,
    rows_per_freedom: int, zero_cells: bool, pearson: bool, moments: bool,
    codes_of: tuple[int, int, int, int],
    reason: npt.NDArray[np.uint8], statistic: FloatArray, tested: FloatArray, freedom: FloatArray,
    fewest: IntArray, levels_of: IntArray, first: int, last: int, distinct: FloatArray | None,
) -> int:  # fmt: skip
    """Test columns first..last against the classes; return the first that was not tested, or ``last``.

    Writes the reason, the statistic, what is tested with its degrees of freedom, the rows of the rarest level
    and the number of levels (-1: a value is not finite). ``codes_of`` are the ledger's codes for (relevant,
    irrelevant, constant, unreliable test). ``distinct`` is room for ``most_levels(n) + 1`` values; with None
    only columns of zeros and one other value are tested.

    What is tested is a chi-squared statistic if there are degrees of freedom.  With ``moments`` it is
    Pearson's, scaled to the mean and variance under permutation, and the reason is left to the caller.
    Without degrees it is the p-value, and 1 stands for no test.  Of a 2 x 2 table with fewer than
    ``len(exact_low)`` rows of the rarer level, for Fisher's test, it is the number of these rows in the
    second class, and the degrees of freedom are the rows with a minus sign; the table is significant outside
    ``exact_low..exact_high``.
    """
    n, classes = len(y), len(class_counts)
    relevant, irrelevant, constant, unreliable = codes_of
    most = max(most_levels(n) + 1, bins)
    listed = np.empty(n, np.int32)
    level_of = np.empty(n, np.uint16)
    counts = np.empty(most, np.int64)
    # a table with enough rows has at most 4 (levels - 1) (classes - 1) cells, and bits have two a class
    cell = np.empty(max(4 * (n // rows_per_freedom), 2 * classes) + most, np.int64)
    for j in range(first, last):
        low, high = pointers[j], pointers[j + 1]
        length = _count_bits(values, rows, low, high, 0 if sparse else low, y, classes, cell)
        bits = 0 < length < n
        if bits:
            levels = 2
            counts[0], counts[1] = n - length, length
        elif length >= 0:
            levels = 1
        else:
            if distinct is None:
                return j
            if distinct is not None:  # said twice, so that Numba sees it where nothing else follows
                where = rows[low:high] if sparse else rows
                length, levels = _encode(values[low:high], where, n, bins, distinct, listed, level_of, counts)
        levels_of[j] = levels
        statistic[j] = 0.0
        tested[j] = 1.0
        freedom[j] = 0.0
        fewest[j] = n
        if levels < 2:
            reason[j] = constant
            continue
        nominal = (levels - 1) * (classes - 1)
        if n < rows_per_freedom * nominal:
            reason[j] = unreliable
            continue
        if not bits:
            for k in range(classes, levels * classes):
                cell[k] = 0
            for t in range(length):
                cell[level_of[t] * classes + y[listed[t]]] += 1
        for c in range(classes):
            others = 0
            for k in range(classes + c, levels * classes, classes):
                others += cell[k]
            cell[c] = class_counts[c] - others
        statistic[j] = _statistic(cell, counts, levels, class_counts, n, g, pearson)
        reason[j] = irrelevant
        if moments:
            rarest = 0
            for a in range(1, levels):
                if counts[a] < counts[rarest]:
                    rarest = a
            fewest[j] = counts[rarest]
            if nominal == 1 and fewest[j] < len(exact_low):
                corner = cell[rarest * classes + 1]
                freedom[j], tested[j] = -fewest[j], corner
                if not exact_low[fewest[j]] <= corner <= exact_high[fewest[j]]:
                    reason[j] = relevant
                continue
            mean, variance = _moments(counts, levels, class_counts, n)
            if variance == 0.0:
                if nominal > 0:
                    reason[j] = unreliable
                continue
            total = statistic[j]
            if not pearson:
                total = _statistic(cell, counts, levels, class_counts, n, g, moments)
            freedom[j], tested[j] = 2.0 * mean * mean / variance, 2.0 * total * mean / variance
            continue
        degrees = nominal
        if zero_cells and nominal > 0:
            empty = 0
            for k in range(levels * classes):
                empty += cell[k] == 0
            degrees = max(nominal - empty, 1)
        if degrees > 0:
            freedom[j], tested[j] = degrees, statistic[j]
            if statistic[j] >= critical[degrees]:
                reason[j] = relevant
    return last


@nb.njit(nogil=True, cache=True)
def encode(
    pointers: IntArray, rows: npt.NDArray[np.int32], values: FloatArray, sparse: bool, bins: int,
    chosen: IntArray, place: IntArray, out: npt.NDArray[np.uint16],
) -> None:  # fmt: skip
    """Write the levels of chosen columns, that of row i to ``place[i]``.  ``out`` must be 0."""
    n = len(place)
    most = most_levels(n) + 1
    distinct = np.empty(most)
    listed = np.empty(n, np.int32)
    level_of = np.empty(n, np.uint16)
    counts = np.empty(max(most, bins), np.int64)
    for k in range(len(chosen)):
        low, high = pointers[chosen[k]], pointers[chosen[k] + 1]
        where = rows[low:high] if sparse else rows
        length, _ = _encode(values[low:high], where, n, bins, distinct, listed, level_of, counts)
        for t in range(length):
            out[k, place[listed[t]]] = level_of[t]


@nb.njit(nogil=True, cache=True)
def encode_two(
    pointers: IntArray, rows: npt.NDArray[np.int32], values: FloatArray, sparse: bool,
    chosen: IntArray, place: IntArray, out: npt.NDArray[np.uint16],
) -> bool:  # fmt: skip
    """Do what `encode` does for columns of two values; return whether all of them are such columns."""
    n = len(place)
    for k in range(len(chosen)):
        low, high = pointers[chosen[k]], pointers[chosen[k] + 1]
        first = values[low] if high - low == n else 0.0
        second = first
        for t in range(low, high):
            v = values[t]
            if v == first:
                continue
            if second == first:
                second = v
            elif v != second:
                return False
            out[k, place[rows[t if sparse else t - low]]] = 1
    return True
