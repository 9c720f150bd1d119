"""Conditioning sets of kept columns by tests over contingency tables.

Columns of two levels are bits.  Rows are sorted by class and every class begins a new word, so a popcount of
its words is a count for that class.  The cells of a table follow by inclusion and exclusion from popcounts of
the ANDs of all subsets of {column, set}; the ANDs of all members but the last are kept.

Columns of more levels are codes, row by row.  Rows are sorted into the strata of all members but the last,
and a test counts one stratum after another into a small table of which only occupied cells are visited.  A
stratum in which the column does not vary is not informative after any further split, and is dropped.

Sets are enumerated with an explicit stack, so that each of the two tests is called from one place: nested
loops take twice as long to compile.  For the same reason the arrays of the kind of columns that is absent are
None: Numba then compiles the other kind alone.
"""

from __future__ import annotations

import math
from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve._kernels.intrinsics import popcount
from streamsieve.protocols import FloatArray, IntArray

Bits = npt.NDArray[np.uint64]
Levels = npt.NDArray[np.uint16]
Small = npt.NDArray[np.int32]

#: Levels up to which a pair of columns is screened: bits of 8 x 8 levels are a word, and ANDs of their rows
#: are no more than rows.
FEW_LEVELS = 8


@nb.njit(nogil=True, cache=True)
def start_bits(column: Bits, edges: IntArray, class_counts: IntArray, ands: Bits, sums: IntArray) -> None:
    """Begin a search for a column; the words of class c are edges[c]..edges[c + 1].

    ``ands[w, m]`` is the AND of the members in the mask m, ``sums[c, m]`` the bits of it in class c.  Bit 0
    of a mask is the column itself, bits 1 and 2 are the members of the set.
    """
    for w in range(len(column)):
        ands[w, 0] = ~np.uint64(0)
        ands[w, 1] = column[w]
    for c in range(len(class_counts)):
        bits = 0
        for w in range(edges[c], edges[c + 1]):
            bits += popcount(column[w])
        sums[c, 0] = class_counts[c]
        sums[c, 1] = bits


@nb.njit(nogil=True, cache=True)
def push_bits(depth: int, member: Bits, edges: IntArray, ands: Bits, sums: IntArray) -> None:
    """Add a member to a set of ``depth`` members."""
    half = 2 << depth
    for w in range(len(member)):
        word = member[w]
        for m in range(half):
            ands[w, half + m] = ands[w, m] & word
    for c in range(len(edges) - 1):
        for m in range(half, 2 * half):
            bits = 0
            for w in range(edges[c], edges[c + 1]):
                bits += popcount(ands[w, m])
            sums[c, m] = bits


@nb.njit(nogil=True, cache=True)
def count_bits(depth: int, member: Bits, edges: IntArray, ands: Bits, sums: IntArray, cell: IntArray) -> None:
    """Count the cells given ``depth`` members and one more: ``cell[class, 2 * stratum + level]``."""
    half = 2 << depth
    for c in range(len(edges) - 1):
        # eight sums in registers: with fewer members some are unused, but one loop compiles sooner than three
        b0 = b1 = b2 = b3 = b4 = b5 = b6 = b7 = 0
        for w in range(edges[c], edges[c + 1]):
            word = member[w]
            b0 += popcount(word)
            b1 += popcount(ands[w, 1] & word)
            b2 += popcount(ands[w, 2] & word)
            b3 += popcount(ands[w, 3] & word)
            b4 += popcount(ands[w, 4] & word)
            b5 += popcount(ands[w, 5] & word)
            b6 += popcount(ands[w, 6] & word)
            b7 += popcount(ands[w, 7] & word)
        row = cell[c]
        row[half], row[half + 1] = b0, b1
        if depth > 0:
            row[half + 2], row[half + 3] = b2, b3
        if depth > 1:
            row[12], row[13], row[14], row[15] = b4, b5, b6, b7
        for m in range(half):
            row[m] = sums[c, m]
        # what all members of a mask share, minus what a further one shares as well
        bit = 1
        while bit < 2 * half:
            for m in range(2 * half):
                if not m & bit:
                    row[m] -= row[m | bit]
            bit *= 2


@nb.njit(nogil=True, cache=True)
def upper_gamma(a: float, x: float) -> float:
    """Regularized upper incomplete gamma function: a series below a + 1, above it a continued fraction."""
    if x <= 0.0:
        return 1.0
    front = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1.0:
        term = total = 1.0 / a
        k = a
        while abs(term) > 1e-16 * total:
            k += 1.0
            term *= x / k
            total += term
        return 1.0 - front * total
    b = x + 1.0 - a
    c = 1e300
    d = 1.0 / b
    fraction = d
    i = 0.0
    factor = 0.0
    while abs(factor - 1.0) > 1e-15 and i < 1e7:
        i += 1.0
        step = -i * (i - a)
        b += 2.0
        d = 1.0 / (step * d + b)
        c = b + step / c
        factor = c * d
        fraction *= factor
    return front * fraction


@nb.njit(nogil=True, cache=True)
def is_significant(
    statistic: float, mean: float, variance: float, alpha: float, critical: FloatArray
) -> bool:
    """Whether the gamma distribution with a mean and variance reaches a statistic with probability alpha.

    ``critical[0]`` and ``critical[1]`` bound the smallest significant ratio of statistic and mean from below
    and above, for eight ranges of 2 mean^2 / variance an octave, the first of which begins at 2^-4.
    """
    ratio, scale = statistic / mean, mean / variance
    fraction, octave = math.frexp(2.0 * mean * scale)
    at = 8 * (octave + 3) + int(16.0 * fraction) - 8
    if 0 <= at < critical.shape[1]:
        if ratio < critical[0, at]:
            return False
        if ratio >= critical[1, at]:
            return True
    return bool(upper_gamma(mean * scale, statistic * scale) <= alpha)


@nb.njit(nogil=True, cache=True)
def moments_of(
    n: int, r: int, c: int, by_level: float, by_class: float, inverse: FloatArray
) -> tuple[float, float]:
    """Mean and variance of Pearson's statistic over all permutations (Haldane 1940; Dawson 1954).

    ``by_level`` and ``by_class`` are sums of 1 / count.  Both are 0 where the statistic has one value only,
    and with fewer than four rows.
    """
    if n < 4:
        return 0.0, 0.0
    less = inverse[n - 1]
    v1, v2 = (n - r) * (r - 1) * less, (n - c) * (c - 1) * less
    w1, w2 = (n * by_level - r * r) * inverse[n - 2], (n * by_class - c * c) * inverse[n - 2]
    mean = n * (r - 1) * (c - 1) * less
    variance = 2.0 * n * inverse[n - 3] * (v1 - w1) * (v2 - w2) + n * less * n * w1 * w2
    if variance <= 1e-10 * mean:
        return 0.0, 0.0
    return mean, variance


@nb.njit(nogil=True, cache=True)
def judge_bits_of_two(
    cell: IntArray, strata: int, inverse: FloatArray
) -> tuple[float, int, int, int, bool, float, float]:
    """Return what `judge_bits` does by moments, of two classes; it does not count occupied cells."""
    total = mean = variance = 0.0
    freedom = rows = 0
    varies = False
    for z in range(strata):
        k0, k1, m0, m1 = cell[0, 2 * z], cell[0, 2 * z + 1], cell[1, 2 * z], cell[1, 2 * z + 1]
        zero, one, first, second = k0 + m0, k1 + m1, k0 + k1, m0 + m1
        if zero == 0 or one == 0:
            continue
        varies = True
        if first == 0 or second == 0:
            continue
        freedom += 1
        rows += zero + one
        if zero + one < 4:
            continue
        n = float(zero + one)
        less, i2, i3 = inverse[zero + one - 1], inverse[zero + one - 2], inverse[zero + one - 3]
        by_level, by_class = inverse[zero] * inverse[one], inverse[first] * inverse[second]
        v, w1, w2 = (n - 2.0) * less, (n * n * by_level - 4.0) * i2, (n * n * by_class - 4.0) * i2
        more = 2.0 * n * i3 * (v - w1) * (v - w2) + n * n * less * w1 * w2
        if more > 1e-10:
            cross = float(k0 * m1 - k1 * m0)
            total += n * cross * cross * (by_level * by_class)
            mean += n * less
            variance += more
    return total, freedom, rows, 0, varies, mean, variance


@nb.njit(nogil=True, cache=True)
def judge_bits(
    cell: IntArray, strata: int, g: FloatArray, inverse: FloatArray, pearson: bool, moments: bool
) -> tuple[float, int, int, int, bool, float, float]:
    """Return the statistic, its degrees of freedom over occupied cells and the rows behind them.

    Also the number of occupied cells, and whether the column varies in any stratum; ``g[c] = c ln c``.  With
    ``moments`` the statistic is Pearson's over the strata in which permutations change it, and its mean and
    variance follow; ``inverse[c] = 1 / c``, because divisions would take most of the time.
    """
    total = mean = variance = 0.0
    freedom = rows = occupied = 0
    varies = False
    for z in range(strata):
        zero = one = seen = 0
        part = 0.0
        for c in range(len(cell)):
            k0, k1 = cell[c, 2 * z], cell[c, 2 * z + 1]
            zero += k0
            one += k1
            seen += k0 + k1 > 0
            occupied += int(k0 > 0) + int(k1 > 0)
            if not pearson:
                part += g[k0] + g[k1] - g[k0 + k1]
        if zero == 0 or one == 0:
            continue
        varies = True
        if seen < 2:
            continue
        size = zero + one
        freedom += seen - 1
        rows += size
        if moments:
            by_class = 0.0
            for c in range(len(cell)):
                k0, k1 = cell[c, 2 * z], cell[c, 2 * z + 1]
                each = inverse[k0 + k1]
                less = float(k0 * one - k1 * zero)  # exact, so that the names of the levels change no bit
                part += less * less * each
                by_class += each
            by_level = inverse[zero] + inverse[one]
            more_mean, more_variance = moments_of(size, 2, seen, by_level, by_class, inverse)
            if more_mean > 0.0:
                total += part * (inverse[zero] * inverse[one])
                mean += more_mean
                variance += more_variance
        elif pearson:
            for c in range(len(cell)):
                k = cell[c, 2 * z] + cell[c, 2 * z + 1]
                if k > 0:
                    less = cell[c, 2 * z] - zero * k / size
                    part += less * less / k
            total += part * size * size / (zero * one)
        else:
            total += 2.0 * (part - g[zero] - g[one] + g[size])
    return max(total, 0.0), freedom, rows, occupied, varies, mean, variance


@nb.njit(nogil=True, cache=True)
def start_levels(column: Levels, y: IntArray, strata: Small, ends: Small) -> int:
    """Begin a search for a column: all rows in one stratum.  Returns the number of strata.

    ``strata[depth]`` holds, stratum by stratum, (row, level of the column, class); ``ends[depth]`` where each
    stratum begins.
    """
    for i in range(len(y)):
        strata[0, 0, i] = i
        strata[0, 1, i] = column[i]
        strata[0, 2, i] = y[i]
    ends[0, 0] = 0
    ends[0, 1] = len(y)
    return 1


@nb.njit(nogil=True, cache=True)
def push_levels(
    depth: int, member: Levels, levels: int, n_strata: int, everything: bool,
    strata: Small, ends: Small, tally: Small,
) -> int:  # fmt: skip
    """Split the strata of ``depth`` members by one more; return the number of strata.

    Unless ``everything`` is to stay, strata in which the column does not vary are left out.
    """
    row, level, label = strata[depth, 0], strata[depth, 1], strata[depth, 2]
    new_row, new_level, new_label = strata[depth + 1, 0], strata[depth + 1, 1], strata[depth + 1, 2]
    new_strata = 0
    filled = 0
    ends[depth + 1, 0] = 0
    for s in range(n_strata):
        low, high = ends[depth, s], ends[depth, s + 1]
        base = filled
        for a in range(levels + 1):
            tally[a] = 0
        for i in range(low, high):
            tally[member[row[i]] + 1] += 1
        for a in range(levels):
            tally[a + 1] += tally[a]
        for i in range(low, high):
            a = member[row[i]]
            at = base + tally[a]
            tally[a] += 1
            new_row[at] = row[i]
            new_level[at] = level[i]
            new_label[at] = label[i]
        # tally[a] is now where level a ends; what stays moves up
        begin = base
        for a in range(levels):
            end = base + tally[a]
            varies = everything and end > begin
            for i in range(begin + 1, end):
                varies |= new_level[i] != new_level[begin]
            if varies:
                for i in range(begin, end):
                    new_row[filled] = new_row[i]
                    new_level[filled] = new_level[i]
                    new_label[filled] = new_label[i]
                    filled += 1
                new_strata += 1
                ends[depth + 1, new_strata] = filled
            begin = end
    return new_strata


@nb.njit(nogil=True, cache=True)
def judge_levels(
    depth: int, member: Levels, levels: int, column_levels: int, classes: int, n_strata: int,
    strata: Small, ends: Small, log: FloatArray, inverse: FloatArray, pearson: bool, moments: bool,
    cell: Small, by_level: Small, by_class: Small, by_member: Small, first_seen: Small, parts: FloatArray,
) -> tuple[float, int, int, int, bool, float, float]:  # fmt: skip
    """Return what `judge_bits` does, given ``depth`` members and one more.  Tables must be 0, and are again.

    ``log[c] = ln c`` and ``inverse[c] = 1 / c``, with 0 for c = 0.  The cells of a stratum are listed by the
    first row that falls into each.  ``parts`` are, for each level of the last member, the statistic and the
    sums of 1 / count of levels and classes.
    """
    row, level, label = strata[depth, 0], strata[depth, 1], strata[depth, 2]
    total = mean = variance = 0.0
    freedom = rows = occupied = 0
    varies = False
    for s in range(n_strata):
        low, high = ends[depth, s], ends[depth, s + 1]
        cells = 0
        for i in range(low, high):
            at = (member[row[i]] * column_levels + level[i]) * classes + label[i]
            first_seen[cells] = i
            cells += cell[at] == 0
            cell[at] += 1
        occupied += cells
        # for each level of the last member: its rows, and the levels and classes that occur with it
        for t in range(cells):
            i = first_seen[t]
            a = member[row[i]]
            in_level, in_class = a * column_levels + level[i], a * classes + label[i]
            k = cell[in_level * classes + label[i]]
            by_member[0, a] += k
            by_member[1, a] += by_level[in_level] == 0
            by_member[2, a] += by_class[in_class] == 0
            by_level[in_level] += k
            by_class[in_class] += k
        for t in range(cells):
            i = first_seen[t]
            a = member[row[i]]
            if by_member[1, a] < 2 or by_member[2, a] < 2:
                continue
            at = a * column_levels + level[i]
            k, size, in_level, in_class = (
                cell[at * classes + label[i]], by_member[0, a], by_level[at], by_class[a * classes + label[i]]
            )  # fmt: skip
            if not pearson:
                total += 2.0 * k * ((log[k] - log[in_level]) + (log[size] - log[in_class]))
            elif moments:
                parts[0, a] += k * (k * inverse[in_level] * size * inverse[in_class] - 1.0)
            else:
                total += k * (k / in_level * size / in_class - 1.0)
        for t in range(cells):
            i = first_seen[t]
            a = member[row[i]]
            at = a * column_levels + level[i]
            cell[at * classes + label[i]] = 0
            parts[1, a] += inverse[by_level[at]]  # where it was 0 already, by 0
            parts[2, a] += inverse[by_class[a * classes + label[i]]]
            by_level[at] = 0
            by_class[a * classes + label[i]] = 0
        for a in range(levels):
            varies |= by_member[1, a] > 1
            more = (by_member[1, a] - 1) * (by_member[2, a] - 1)
            if by_member[0, a] > 0 and more > 0:
                freedom += more
                rows += by_member[0, a]
                if moments:
                    more_mean, more_variance = moments_of(
                        by_member[0, a], by_member[1, a], by_member[2, a], parts[1, a], parts[2, a], inverse
                    )
                    mean += more_mean
                    variance += more_variance
                    if more_mean > 0.0:
                        total += parts[0, a]
            for k in range(3):
                by_member[k, a] = 0
                parts[k, a] = 0.0
    return max(total, 0.0), freedom, rows, occupied, varies, mean, variance


@nb.njit(nogil=True, cache=True)
def mark_rows(column: Levels, levels: int, y: IntArray, marks: Bits) -> None:
    """Mark the level and the class of every row in the bits of a word; both together are 64 at most."""
    for i in range(len(y)):
        marks[i] = np.uint64(1) << np.uint64(column[i]) | np.uint64(1) << np.uint64(levels + y[i])


@nb.njit(nogil=True, cache=True)
def least_freedom(
    marks: Bits, levels: int, member: Levels, member_levels: int, seen: Bits
) -> tuple[int, bool]:
    """Return the degrees of freedom of a column given one member, as `judge_levels` does, and if it varies.

    Which levels and classes meet in a stratum says it, without a table: rows that do not suffice for a test
    are found in a tenth of the time.
    """
    for a in range(member_levels):
        seen[a] = 0
    for i in range(len(marks)):
        seen[member[i]] |= marks[i]
    own = (np.uint64(1) << np.uint64(levels)) - np.uint64(1)
    freedom = 0
    varies = False
    for a in range(member_levels):
        r, c = popcount(seen[a] & own), popcount(seen[a] & ~own)
        varies |= r > 1
        if c > 1:  # else the stratum says nothing, or is empty
            freedom += (r - 1) * (c - 1)
    return freedom, varies


@nb.njit(nogil=True, cache=True)
def mark_levels(column: Levels, levels: int, y: IntArray, rows: Bits, classes: Bits) -> None:
    """Mark in bits the rows of each level of a column, and the classes that occur with it."""
    for a in range(levels):
        classes[a] = 0
        for w in range(rows.shape[1]):
            rows[a, w] = 0
    for i in range(len(y)):
        rows[column[i], i // 64] |= np.uint64(1) << np.uint64(i % 64)
        classes[column[i]] |= np.uint64(1) << np.uint64(y[i])


@nb.njit(nogil=True, cache=True)
def untestable(
    n: int, rows: Bits, classes: Bits, levels: int, other_rows: Bits, other_classes: Bits, other_levels: int,
    base: int, rows_per_freedom: int,
) -> tuple[bool, bool]:  # fmt: skip
    """Whether rows do not suffice to test a column given another, and the other given the column.

    As `least_freedom` says it, for a pair both ways at once, and of columns that vary given the other;
    ``base`` is the number of classes less 1.
    """
    meets = np.uint64(0)  # bit 8 a + b: level a of the column occurs with level b of the other
    for a in range(levels):
        for b in range(other_levels):
            together = np.uint64(0)
            for w in range(rows.shape[1]):
                together |= rows[a, w] & other_rows[b, w]
            meets |= np.uint64(together != 0) << np.uint64(8 * a + b)
    freedom = other_freedom = 0
    varies = other_varies = False
    for b in range(other_levels):
        r, c = popcount(meets & np.uint64(0x0101010101010101) << np.uint64(b)), popcount(other_classes[b])
        varies |= r > 1
        freedom += (r - 1) * (c - 1) if r > 1 else 0
    for a in range(levels):
        r, c = popcount(meets & np.uint64(0xFF) << np.uint64(8 * a)), popcount(classes[a])
        other_varies |= r > 1
        other_freedom += (r - 1) * (c - 1) if r > 1 else 0
    few = n < rows_per_freedom * base * other_levels * (levels - 1)
    other_few = n < rows_per_freedom * base * levels * (other_levels - 1)
    return (
        few and varies and rows_per_freedom * freedom > n,
        other_few and other_varies and rows_per_freedom * other_freedom > n,
    )


@nb.njit(nogil=True, cache=True)
def separate(
    bits: Bits | None, numbers: Levels | None, levels: IntArray, t: int, must: int, members: IntArray, q: int,
    most: int, rows_per_freedom: int, skip: bool, where_occupied: bool, degrees: int, pearson: bool,
    moments: bool, alpha: float,
    y: IntArray, class_counts: IntArray, edges: IntArray,
    g: FloatArray, log: FloatArray, inverse: FloatArray, critical: FloatArray,
    ands: Any, sums: Any, bit_cell: Any, strata: Any, ends: Any,
    cell: Any, by_level: Any, by_class: Any, by_member: Any, first_seen: Any, parts: Any, found: IntArray,
    marks: Bits, seen: Bits,
) -> tuple[int, int, float, float, float]:  # fmt: skip
    """Find the first set that makes column t independent of the classes.

    Sets of 1..most of ``members[:q]``, all with ``must`` in them unless it is -1; by size, then by position.
    ``degrees`` is 0 (nominal), 1 (zero cells) or 2 (strata).  Returns (size of the set or 0, result,
    statistic, what is tested, freedom), where 1 is independence, 2 that the column is a function of the set,
    3 that there are too few rows for a test.  ``found`` takes the set; ``must`` comes first.  What is tested
    is a chi-squared statistic, or without freedom the p-value, 1.

    By ``moments`` Pearson's statistic is tested, whatever is returned; ``critical`` are then the two bounds
    of `is_significant`, and else smallest significant statistics in ``critical[0]``, by degrees of freedom.

    If sets with too few rows are passed over (``skip``), members that cannot be tested alone are dropped.
    ``marks`` has room for a word per row, ``seen`` for one per level, as many as bits of a word.
    """
    n, classes = len(y), len(class_counts)
    first = 1 if must >= 0 else 0
    total = q + first
    base = (levels[t] - 1) * (classes - 1)
    position = np.empty(4, np.int64)
    joint = np.empty(5, np.int64)
    n_strata = np.empty(5, np.int64)
    joint[0] = 1
    n_strata[0] = 1
    each_alone = skip and where_occupied and most > 1
    if bits is not None:
        start_bits(bits[t], edges, class_counts, ands, sums)
    started = marked = False
    may_mark = where_occupied and skip and levels[t] + classes <= len(seen)
    for size in range(1, most + 1):
        if size > total:
            break
        depth = np.int64(0)  # a literal 0 is a type of its own, and all below would be compiled twice
        position[0] = 0
        while depth >= 0:
            i = position[depth]
            only_must = depth < first and not (each_alone and size == 1)
            last = 1 if only_must else total - (size - 1 - depth)
            position[depth] = i + 1
            if i >= last:
                depth -= 1
                continue
            c = must if i < first else members[i - first]
            found[depth] = c
            joint[depth + 1] = joint[depth] * levels[c]
            nominal = base * joint[depth + 1]
            enough = n >= rows_per_freedom * nominal
            known = size == 1 and i >= first > 0  # to be given alone: tried before the newcomer came
            if known and enough:
                continue
            if not (enough or where_occupied) and (size > 1 or not skip):
                if skip:
                    continue  # so has every set that contains this one
                if depth == size - 1:
                    return size, 3, 0.0, 1.0, 0.0
            hopeless = varies = False
            if numbers is not None:
                if may_mark and size == 1 and not enough and levels[c] <= len(seen):
                    if not marked:
                        mark_rows(numbers[t], levels[t], y, marks)
                        marked = True
                    fewest, varies = least_freedom(marks, levels[t], numbers[c], levels[c], seen)
                    hopeless = rows_per_freedom * fewest > n  # no need to count for an unreliable test
                if not started and not hopeless:
                    start_levels(numbers[t], y, strata, ends)
                    started = True
            if depth < size - 1:
                if bits is not None:
                    push_bits(depth, bits[c], edges, ands, sums)
                if numbers is not None:
                    n_strata[depth + 1] = push_levels(
                        depth, numbers[c], levels[c], n_strata[depth], degrees == 1, strata, ends, first_seen
                    )
                depth += 1
                position[depth] = i + 1
                continue
            if bits is not None:
                count_bits(depth, bits[c], edges, ands, sums, bit_cell)
            by_moments = moments
            significant = untested = False
            tested, effective, statistic = 1.0, 0.0, 0.0
            freedom = rows = occupied = 0
            while not hopeless:  # a set that separates is counted again, for the statistic to return
                if bits is not None:
                    if by_moments and classes == 2:
                        statistic, freedom, rows, occupied, varies, mean, variance = judge_bits_of_two(
                            bit_cell, joint[size], inverse
                        )
                    else:
                        statistic, freedom, rows, occupied, varies, mean, variance = judge_bits(
                            bit_cell, joint[size], g, inverse, pearson or by_moments, by_moments
                        )
                if numbers is not None:
                    statistic, freedom, rows, occupied, varies, mean, variance = judge_levels(
                        depth, numbers[c], levels[c], levels[t], classes, n_strata[depth], strata, ends,
                        log, inverse, pearson or by_moments, by_moments,
                        cell, by_level, by_class, by_member, first_seen, parts,
                    )  # fmt: skip
                if not by_moments:
                    break
                by_moments = False
                untested = freedom > 0 and variance == 0.0
                if variance > 0.0:
                    effective = 2.0 * mean * mean / variance
                    tested = 2.0 * mean * statistic / variance
                    significant = is_significant(statistic, mean, variance, alpha, critical)
                if significant or untested or known:
                    break
            reliable = enough or (where_occupied and freedom > 0 and rows >= rows_per_freedom * freedom)
            if untested or not reliable:
                if size == 1 and skip and not varies and not known:
                    return 1, 2, 0.0, 1.0, 0.0
                if not skip:
                    return size, 3, 0.0, 1.0, 0.0
                if size == 1:
                    if i < first:
                        return 0, 0, 0.0, 1.0, 0.0
                    members[i - first] = -1
                continue
            if not moments:
                if enough and degrees == 0:
                    freedom = nominal
                elif enough and degrees == 1:
                    freedom = max(nominal - (levels[t] * classes * joint[size] - occupied), 1)
                significant = statistic >= critical[0, freedom]
                effective = float(freedom)
                tested = statistic if freedom > 0 else 1.0
            if not significant and not known:
                return size, 1 if varies else 2, statistic, tested, effective
        if size == 1:
            left = np.int64(0)
            for k in range(q):
                if members[k] >= 0:
                    members[left] = members[k]
                    left += 1
            total = int(left + first)
    return 0, 0, 0.0, 1.0, 0.0


@nb.njit(nogil=True, cache=True)
def decide(
    new_bits: Any, new_numbers: Any, new_levels: IntArray, new_feature: IntArray, done: int,
    bits: Bits | None, numbers: Levels | None, levels: IntArray, feature: IntArray, q: int,
    newcomer_first: bool, largest: int, many_kept: int, rows_per_freedom: int, skip: bool,
    where_occupied: bool, degrees: int, pearson: bool, moments: bool, alpha: float,
    y: IntArray, class_counts: IntArray, edges: IntArray,
    g: FloatArray, log: FloatArray, inverse: FloatArray, critical: FloatArray,
    ands: Any, sums: Any, bit_cell: Any, strata: Any, ends: Any,
    cell: Any, by_level: Any, by_class: Any, by_member: Any, first_seen: Any, parts: Any,
    verdict: IntArray, statistic: FloatArray, tested: FloatArray, freedom: FloatArray, by: IntArray,
    evicted: IntArray, evicted_at: IntArray, evicted_verdict: IntArray, evicted_statistic: FloatArray,
    evicted_tested: FloatArray, evicted_freedom: FloatArray, evicted_by: IntArray, n_evicted: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Offer columns ``done``, done + 1, ... one after another.  Returns (next column, kept, evicted).

    It comes back early when all slots are taken.  Verdicts are 0 (kept) or what `separate` found.  Sets have
    up to ``largest`` columns, but at most two while ``many_kept`` or more are kept, and one
    while twice as many are.
    """
    slots = len(levels)
    members = np.empty(slots, np.int64)
    alive = np.empty(slots, np.bool_)
    found = np.empty(4, np.int64)
    marks, seen = np.empty(len(y), np.uint64), np.empty(64, np.uint64)
    n, base = len(y), len(class_counts) - 1
    # rows that do not suffice for a test are found for all kept columns before any table is counted
    screened = numbers is not None and where_occupied and skip and base < 64
    screened = screened and n < rows_per_freedom * base * FEW_LEVELS * (FEW_LEVELS - 1)
    room = slots if screened else 0
    rows_of = np.empty((room, FEW_LEVELS, (n + 63) // 64), np.uint64)
    classes_of = np.empty((room, FEW_LEVELS), np.uint64)
    hopeless, hopeless_back = np.zeros(slots, np.bool_), np.zeros(slots, np.bool_)
    if numbers is not None:
        for i in range(q if screened else 0):
            if levels[i] <= FEW_LEVELS:
                mark_levels(numbers[i], levels[i], y, rows_of[i], classes_of[i])
    for j in range(done, len(new_levels)):
        if q == slots:
            return j, q, n_evicted
        most = min(largest, 1 if q >= 2 * many_kept else 2 if q >= many_kept else 3)
        # element by element: assigning a slice would compile a check of shapes, with its message
        if bits is not None:
            for w in range(bits.shape[1]):
                bits[q, w] = new_bits[j, w]
        if numbers is not None:
            for w in range(numbers.shape[1]):
                numbers[q, w] = new_numbers[j, w]
        levels[q] = new_levels[j]
        feature[q] = new_feature[j]
        few_levels = screened and levels[q] <= FEW_LEVELS
        if numbers is not None and few_levels:
            mark_levels(numbers[q], levels[q], y, rows_of[q], classes_of[q])
        for i in range(q + 1):
            alive[i] = True
            if screened:
                hopeless[i] = hopeless_back[i] = False
                if few_levels and i < q and levels[i] <= FEW_LEVELS:
                    hopeless[i], hopeless_back[i] = untestable(
                        n, rows_of[q], classes_of[q], levels[q], rows_of[i], classes_of[i], levels[i],
                        base, rows_per_freedom,
                    )  # fmt: skip
        for turn in range(q + 1):
            t = turn
            if newcomer_first:
                t = q if turn == 0 else turn - 1
            if hopeless_back[t]:
                continue
            others = np.int64(0)
            for i in range(q if t == q or most > 1 else 0):  # sets of one column are the newcomer alone
                if alive[i] and i != t and not (t == q and hopeless[i]):
                    members[others] = i
                    others += 1
            must = -1 if t == q else q
            size, what, value, tested_of, freedom_of = separate(
                bits, numbers, levels, t, must, members, others,
                most, rows_per_freedom, skip, where_occupied, degrees, pearson, moments, alpha,
                y, class_counts, edges, g, log, inverse, critical,
                ands, sums, bit_cell, strata, ends, cell, by_level, by_class, by_member, first_seen, parts,
                found, marks, seen,
            )  # fmt: skip
            if size == 0:
                continue
            alive[t] = False
            if t == q:
                verdict[j] = what
                statistic[j] = value
                tested[j] = tested_of
                freedom[j] = freedom_of
                for i in range(size):
                    by[j, i] = feature[found[i]]
                if newcomer_first:
                    break
            else:
                evicted[n_evicted] = feature[t]
                evicted_at[n_evicted] = feature[q]
                evicted_verdict[n_evicted] = what
                evicted_statistic[n_evicted] = value
                evicted_tested[n_evicted] = tested_of
                evicted_freedom[n_evicted] = freedom_of
                for i in range(size):  # the newcomer came first, and is named last
                    evicted_by[n_evicted, i] = feature[found[(i + 1) % size]]
                n_evicted += 1
        w = 0
        for i in range(q + 1):
            if alive[i]:
                if w != i:
                    if bits is not None:
                        for k in range(bits.shape[1]):
                            bits[w, k] = bits[i, k]
                    if numbers is not None:
                        for k in range(numbers.shape[1]):
                            numbers[w, k] = numbers[i, k]
                    levels[w] = levels[i]
                    feature[w] = feature[i]
                    for a in range(levels[i] if screened and levels[i] <= FEW_LEVELS else 0):
                        classes_of[w, a] = classes_of[i, a]
                        for k in range(rows_of.shape[2]):
                            rows_of[w, a, k] = rows_of[i, a, k]
                w += 1
        q = w
    return len(new_levels), q, n_evicted
