"""Pairs of columns that are informative together: columns as bits, one plane per level but the first.

Rows are sorted by class and classes padded to whole words, so that a popcount over the words of a class is a
count with that class.  The words of class c are ``edges[c]..edges[c + 1]``; ``g[c] = c ln c``.
"""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve._kernels.intrinsics import popcount
from streamsieve.protocols import BoolArray, FloatArray, IntArray

Bits = npt.NDArray[np.uint64]

#: Levels that a column may have.
LEVELS = 8


@nb.njit(nogil=True, cache=True)
def _distinct(values: FloatArray, out: IntArray) -> int:
    """Number distinct values by first appearance; return how many there are, or 9 if more than 8."""
    seen = np.empty(8)
    levels = 0
    for t in range(len(values)):
        code = 0
        while code < levels and seen[code] != values[t]:
            code += 1
        if code == 8:
            return 9
        if code == levels:
            seen[levels] = values[t]
            levels += 1
        out[t] = code
    return levels


@nb.njit(nogil=True, cache=True)
def many(columns: FloatArray, out: BoolArray) -> None:
    """Say which columns, one per row, have more than 8 distinct values."""
    codes = np.empty(columns.shape[1], np.int64)
    for j in range(len(columns)):
        out[j] = _distinct(columns[j], codes) > 8


@nb.njit(nogil=True, cache=True)
def encode(
    columns: FloatArray, cuts: FloatArray, highest: FloatArray, place: IntArray, y: IntArray,
    planes: Bits, counts: IntArray, levels: IntArray,
) -> None:  # fmt: skip
    """Turn columns, one per row, into planes of bits, counts of level and class, and numbers of levels.

    Up to 8 distinct values are levels.  A column of more has as level of a value the number of its cuts below
    it; where nothing lies above a cut, since most values are the highest one, the number of cuts up to it.
    Row i of a column goes to bit ``place[i]``.  All of the levels occur.
    """
    codes = np.empty(columns.shape[1], np.int64)
    number = np.empty(8, np.int64)
    one = np.uint64(1)
    for j in range(len(columns)):
        if _distinct(columns[j], codes) > 8:
            above = cuts[j, 0] < highest[j]
            for t in range(len(codes)):
                code = 0
                for i in range(cuts.shape[1]):
                    below = cuts[j, i] < columns[j, t] if above else cuts[j, i] <= columns[j, t]
                    code += int(below)
                codes[t] = code
        for a in range(8):
            number[a] = 0
        for t in range(len(codes)):
            number[codes[t]] = 1
        level = 0
        for a in range(8):  # a bin between two equal cuts is empty
            occurs = number[a]
            number[a] = level
            level += occurs
        levels[j] = level
        for t in range(len(codes)):
            code = number[codes[t]]
            counts[j, code, y[t]] += 1
            if code > 0:
                planes[j, code - 1, place[t] >> 6] |= one << np.uint64(place[t] & 63)


@nb.njit(nogil=True, cache=True)
def column_information(counts: IntArray, g: FloatArray) -> float:
    """Information of a column with the target up to a constant: sum of g over cells less that over levels."""
    s = 0.0
    for a in range(counts.shape[0]):
        total = 0
        for c in range(counts.shape[1]):
            s += g[counts[a, c]]
            total += counts[a, c]
        s -= g[total]
    return s


@nb.njit(nogil=True, cache=True)
def columns_information(counts: IntArray, g: FloatArray, out: FloatArray) -> None:
    """Do so for every column."""
    for j in range(len(counts)):
        out[j] = column_information(counts[j], g)


@nb.njit(nogil=True, cache=True)
def joint(
    a: Bits, a_counts: IntArray, a_levels: int, b: Bits, b_counts: IntArray, b_levels: int,
    edges: IntArray, table: IntArray,
) -> None:  # fmt: skip
    """Count levels of a, levels of b and classes; what is not in the planes follows from the margins."""
    for c in range(len(edges) - 1):
        for i in range(a_levels):
            table[i, 0, c] = a_counts[i, c]
        for j in range(1, b_levels):
            rest = b_counts[j, c]
            for i in range(1, a_levels):
                bits = 0
                for w in range(edges[c], edges[c + 1]):
                    bits += popcount(a[i - 1, w] & b[j - 1, w])
                table[i, j, c] = bits
                table[i, 0, c] -= bits
                rest -= bits
            table[0, j, c] = rest
            table[0, 0, c] -= rest


@nb.njit(nogil=True, cache=True)
def pair_information(table: IntArray, a_levels: int, b_levels: int, g: FloatArray) -> float:
    """Information of a pair with the target up to a constant: sum of g over cells less that over levels."""
    s = 0.0
    for i in range(a_levels):
        for j in range(b_levels):
            total = 0
            for c in range(table.shape[2]):
                s += g[table[i, j, c]]
                total += table[i, j, c]
            s -= g[total]
    return s


@nb.njit(nogil=True, cache=True)
def freedom_of(table: IntArray, a_levels: int, b_levels: int, given_a: bool) -> int:
    """Degrees of freedom of one column and the target given the other one.

    The sum over the levels of the other one of (levels - 1)(classes - 1), counting what occurs there.
    """
    freedom = 0
    given, free = (a_levels, b_levels) if given_a else (b_levels, a_levels)
    for i in range(given):
        levels = classes = 0
        for c in range(table.shape[2]):
            total = 0
            for j in range(free):
                total += table[i, j, c] if given_a else table[j, i, c]
            classes += int(total > 0)
        for j in range(free):
            total = 0
            for c in range(table.shape[2]):
                total += table[i, j, c] if given_a else table[j, i, c]
            levels += int(total > 0)
        freedom += max(levels - 1, 0) * max(classes - 1, 0)
    return freedom


@nb.njit(nogil=True, cache=True)
def pair_moments(
    table: IntArray, a_levels: int, b_levels: int, given_a: bool, inverse: FloatArray, in_class: IntArray
) -> tuple[float, float, float]:
    """Pearson's statistic of one column and the target given the other one, its mean and its variance.

    Over all permutations within the levels of the other one (Haldane 1940; Dawson 1954).  Levels with fewer
    than four rows, or in which permutations do not change the statistic, are left out.  ``inverse[c]`` is
    1 / c, and 0 for c = 0; ``in_class`` is room for a count per class.
    """
    classes = table.shape[2]
    strata, levels = (a_levels, b_levels) if given_a else (b_levels, a_levels)
    total = mean = variance = 0.0
    if classes == 2 and levels == 2:  # in closed form: most of the time goes here
        for s in range(strata):
            k0, k1, m0, m1 = table[s, 0, 0], table[s, 0, 1], table[s, 1, 0], table[s, 1, 1]
            if not given_a:
                k0, k1, m0, m1 = table[0, s, 0], table[0, s, 1], table[1, s, 0], table[1, s, 1]
            n = k0 + k1 + m0 + m1
            by_level = inverse[k0 + k1] * inverse[m0 + m1]
            by_class = inverse[k0 + m0] * inverse[k1 + m1]
            if n < 4 or by_level * by_class == 0.0:
                continue
            size, less, less2 = float(n), inverse[n - 1], inverse[n - 2]
            v, square = (size - 2) * less, size * size
            w1, w2 = (square * by_level - 4) * less2, (square * by_class - 4) * less2
            more = 2.0 * size * inverse[n - 3] * (v - w1) * (v - w2) + size * size * less * w1 * w2
            if more > 1e-10:
                cross = float(k0 * m1 - k1 * m0)
                total += size * cross * cross * (by_level * by_class)
                mean += size * less
                variance += more
        return total, mean, variance
    for s in range(strata):
        n = c = r = 0
        by_level = by_class = part = 0.0
        for k in range(classes):
            count = 0
            for i in range(levels):
                count += table[s, i, k] if given_a else table[i, s, k]
            in_class[k] = count
            n += count
            c += int(count > 0)
            by_class += inverse[count]
        if n < 4 or c < 2:
            continue
        for i in range(levels):
            count = 0
            squares = 0.0
            for k in range(classes):
                here = table[s, i, k] if given_a else table[i, s, k]
                count += here
                squares += here * here * inverse[in_class[k]]
            r += int(count > 0)
            by_level += inverse[count]
            part += squares * inverse[count]
        if r < 2:
            continue
        less, less2 = inverse[n - 1], inverse[n - 2]
        v1, v2 = (n - r) * (r - 1) * less, (n - c) * (c - 1) * less
        w1, w2 = (n * by_level - r * r) * less2, (n * by_class - c * c) * less2
        more_mean = n * (r - 1) * (c - 1) * less
        more = 2.0 * n * inverse[n - 3] * (v1 - w1) * (v2 - w2) + n * less * n * w1 * w2
        if more > 1e-10 * more_mean:
            total += n * part - n
            mean += more_mean
            variance += more
    return max(total, 0.0), mean, variance


@nb.njit(nogil=True, cache=True)
def might_exceed(statistic: float, mean: float, variance: float, bound: float) -> bool:
    """Whether the transformation of Wilson and Hilferty takes a gamma distributed statistic up to a bound.

    It is not accurate for less than half a degree of freedom: then it might.
    """
    if statistic <= mean:
        return False
    h = variance / (9.0 * mean * mean)
    return bool(h > 4.0 / 9.0 or (statistic / mean) ** (1.0 / 3.0) >= 1.0 - h + bound * np.sqrt(h))


@nb.njit(nogil=True, cache=True)
def _push(line: IntArray, count: int, slot: int, free: IntArray, n_free: int) -> tuple[int, int]:
    """Append a slot to a queue; if it is full, the first one leaves."""
    if count == len(line):
        free[n_free] = line[0]
        n_free += 1
        for i in range(1, count):
            line[i - 1] = line[i]
        count -= 1
    line[count] = slot
    return count + 1, n_free


@nb.njit(nogil=True, cache=True)
def scan(
    new_planes: Bits, new_counts: IntArray, new_levels: IntArray, new_information: FloatArray,
    feature: IntArray, way: npt.NDArray[np.uint8], bound: FloatArray, first: int,
    planes: Bits, counts: IntArray, levels: IntArray, information: FloatArray, features: IntArray,
    pool: IntArray, chosen: IntArray, free: IntArray, numbers: IntArray,
    edges: IntArray, g: FloatArray, inverse: FloatArray, rows: int, moments: bool,
    slots: IntArray, statistic: FloatArray, tested: FloatArray, freedom: FloatArray,
) -> tuple[int, int]:  # fmt: skip
    """Take columns ``first``, first + 1, ... until one makes a pair that might be found.

    Ways are 0 (not looked at), 1 (irrelevant alone: pairs with the pool and the chosen, then joins the pool)
    and 2 (relevant alone: pairs with the pool, then joins the chosen).  A pair whose nominal table has fewer
    than ``rows`` rows for a degree of freedom is not tested.

    Returns the column at which a pair exceeds its bound, or the number of columns, and how many partners
    were tested; these stand in ``slots``, ``statistic``, ``tested`` (a chi-squared statistic) and its degrees
    of ``freedom``.  Pairs that do not exceed the bound have none, and 1 is tested.  That column has not
    joined yet.

    By ``moments`` Pearson's statistic is tested, scaled to its mean and variance under permutation, and the
    bound is that of `might_exceed`; else the likelihood ratio, and the bound is one of it.
    ``numbers`` (updated) counts the pool, the chosen, the free slots, the pairs tested, the columns that have
    left a full pool, and the pairs that these would have made with columns taken later.
    """
    classes = len(edges) - 1
    n = len(g) - 1
    table = np.empty((8, 8, classes), np.int64)
    in_class = np.empty(classes, np.int64)
    for j in range(first, len(way)):
        if way[j] == 0:
            continue
        done = 0
        exceeds = False
        total = numbers[0] + (numbers[1] if way[j] == 1 else 0)
        for i in range(total):
            slot = pool[i] if i < numbers[0] else chosen[i - numbers[0]]
            # of equals the earlier one, whatever rounding says
            better = information[slot] >= new_information[j] - 1e-9
            given = levels[slot] if better else new_levels[j]
            other = new_levels[j] if better else levels[slot]
            if n < rows * given * (other - 1) * (classes - 1):
                continue
            joint(
                planes[slot], counts[slot], levels[slot], new_planes[j], new_counts[j], new_levels[j],
                edges, table,
            )  # fmt: skip
            slots[done], statistic[done], tested[done], freedom[done] = slot, 0.0, 1.0, 0.0
            might = True
            if moments:
                value, mean, variance = pair_moments(
                    table, levels[slot], new_levels[j], better, inverse, in_class
                )
                might = variance > 0.0 and might_exceed(value, mean, variance, bound[j])
                if might:
                    tested[done] = 2.0 * value * mean / variance
                    freedom[done] = 2.0 * mean * mean / variance
            if might:
                # 2 n times the information of the other one given the better one
                both = pair_information(table, levels[slot], new_levels[j], g)
                ratio = max(2.0 * (both - max(information[slot], new_information[j])), 0.0)
                statistic[done] = ratio
                if not moments and ratio >= bound[j]:
                    degrees = freedom_of(table, levels[slot], new_levels[j], better)
                    if degrees > 0:
                        tested[done], freedom[done] = ratio, degrees
                exceeds |= moments or ratio >= bound[j]
            done += 1
        numbers[3] += done
        numbers[5] += numbers[4]
        if exceeds:
            return j, done
        join(j, way[j] == 2, new_planes, new_counts, new_levels, new_information, feature,
             planes, counts, levels, information, features, pool, chosen, free, numbers)  # fmt: skip
    return len(way), 0


@nb.njit(nogil=True, cache=True)
def join(
    j: int, is_chosen: bool, new_planes: Bits, new_counts: IntArray, new_levels: IntArray,
    new_information: FloatArray, feature: IntArray,
    planes: Bits, counts: IntArray, levels: IntArray, information: FloatArray, features: IntArray,
    pool: IntArray, chosen: IntArray, free: IntArray, numbers: IntArray,
) -> None:  # fmt: skip
    """Put a column at the end of the pool or of the chosen; where that is full, the first one leaves."""
    numbers[2] -= 1
    slot = free[numbers[2]]
    line, at = (chosen, 1) if is_chosen else (pool, 0)
    numbers[4] += int(numbers[at] == len(line))
    for a in range(planes.shape[1]):
        for w in range(planes.shape[2]):
            planes[slot, a, w] = new_planes[j, a, w]
    for a in range(counts.shape[1]):
        for c in range(counts.shape[2]):
            counts[slot, a, c] = new_counts[j, a, c]
    levels[slot] = new_levels[j]
    information[slot] = new_information[j]
    features[slot] = feature[j]
    numbers[at], numbers[2] = _push(line, numbers[at], slot, free, numbers[2])
