"""Conditioning sets of kept columns by partial correlation over complete rows (test-wise deletion).

As in ``partial.py`` a test needs two matrices: ``total``, correlations of the columns of a set and the column
in question, and ``within``, what is left of these once the target is known.  Both are over the rows where all
these columns are observed.  What is known of every pair serves in three ways:

* ``alone`` is the partial correlation of a column with the target given one other, over their complete pairs:
  the test of a set of one column.
* Columns that miss the same rows (or none) have the same complete rows as their pairs, so ``total`` and
  ``within`` of the pairs are those of the set.
* Any other set of two or three columns is tested by a pass over the rows.  Pairwise correlations, each over
  rows of its own, may be biased and contradict each other; they only say which sets to test first.

``loads`` are products of columns with the target: the correlation over the rows seen or, with classes, sums
over a class by the root of its rows.  Kept columns stay in their slots; ``order`` lists these by arrival,
then the free ones.  A variance below 1e-10 (columns have length 1) is rounding.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from streamsieve.protocols import FloatArray, IntArray

#: Rows that a test of a set adds at a time.
BLOCK = 512


@nb.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
def meet_numbers(
    a: FloatArray, b: FloatArray, y: FloatArray, load_a: FloatArray, load_b: FloatArray
) -> tuple[float, int]:
    """Return the correlation of two columns over complete pairs, and their number; write loads over them.

    The target has length 1.  The correlation is 0 over fewer than 4 complete pairs (of more rows).  Rows over
    which the target or a column is constant can test nothing, and count as none.
    """
    rows = sa = sb = sy = saa = sbb = syy = sab = say = sby = 0.0
    for i in range(len(a)):
        u, v, w = a[i], b[i], y[i]
        missing = np.isnan(u + v)
        u = 0.0 if missing else u
        v = 0.0 if missing else v
        w = 0.0 if missing else w
        rows += 0.0 if missing else 1.0
        sa += u
        sb += v
        sy += w
        saa += u * u
        sbb += v * v
        syy += w * w
        sab += u * v
        say += u * w
        sby += v * w
    load_a[0] = load_b[0] = 0.0
    if rows < 4.0 and rows < len(a):
        return 0.0, int(rows)
    of_a, of_b, of_y = saa - sa * sa / rows, sbb - sb * sb / rows, syy - sy * sy / rows
    varies_a, varies_b, varies_y = of_a > 1e-12 * saa, of_b > 1e-12 * sbb, of_y > 1e-12
    if varies_a and varies_y:
        load_a[0] = min(max((say - sa * sy / rows) / np.sqrt(of_a * of_y), -1.0), 1.0)
    if varies_b and varies_y:
        load_b[0] = min(max((sby - sb * sy / rows) / np.sqrt(of_b * of_y), -1.0), 1.0)
    r = (sab - sa * sb / rows) / np.sqrt(of_a * of_b) if varies_a and varies_b else 0.0
    return min(max(r, -1.0), 1.0), int(rows) if varies_a and varies_b and varies_y else 0


@nb.njit(nogil=True, cache=True, error_model="numpy")
def meet_classes(
    a: FloatArray, b: FloatArray, labels: IntArray, counts: IntArray, load_a: FloatArray, load_b: FloatArray
) -> tuple[float, int]:
    """Do the same for a target of classes; ``counts`` is space for the rows of each class."""
    for c in range(len(counts)):
        counts[c] = 0
        load_a[c] = load_b[c] = 0.0
    rows = 0
    sa = sb = saa = sbb = sab = 0.0
    for i in range(len(a)):
        u, v = a[i], b[i]
        if np.isnan(u + v):
            continue
        rows += 1
        sa += u
        sb += v
        saa += u * u
        sbb += v * v
        sab += u * v
        counts[labels[i]] += 1
        load_a[labels[i]] += u
        load_b[labels[i]] += v
    enough = rows >= 4 or rows == len(a)
    some = max(rows, 1)
    of_a, of_b = saa - sa * sa / some, sbb - sb * sb / some
    over_a = 1.0 / np.sqrt(of_a) if enough and of_a > 1e-12 * saa else 0.0
    over_b = 1.0 / np.sqrt(of_b) if enough and of_b > 1e-12 * sbb else 0.0
    most = 0
    for c in range(len(counts)):
        of_class = counts[c]
        most = max(most, of_class)
        root = np.sqrt(max(of_class, 1))
        load_a[c] = (load_a[c] - of_class * sa / some) / root * over_a
        load_b[c] = (load_b[c] - of_class * sb / some) / root * over_b
    r = (sab - sa * sb / some) * over_a * over_b
    constant = most == rows or over_a == 0.0 or over_b == 0.0
    return min(max(r, -1.0), 1.0), 0 if enough and constant else rows


@nb.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
def product(a: FloatArray, b: FloatArray) -> float:
    """Return the correlation of two columns without missing values."""
    s = 0.0
    for i in range(len(a)):
        s += a[i] * b[i]
    return s


@nb.njit(nogil=True, cache=True, error_model="numpy")
def enter(
    fresh: FloatArray, new: int, order: IntArray, q: int, y: FloatArray, labels: IntArray, counts: IntArray,
    columns: FloatArray, pairs: FloatArray, loads: FloatArray, joint: IntArray, here: FloatArray,
) -> None:  # fmt: skip
    """Write a column and its correlations with the target and the kept columns into slot ``new``.

    Given one other column, with r their correlation and u = l - r e what the other's loads e leave of the
    loads l, the target explains ``u'u + (e'u)^2 / (1 - e'e)`` of the column's variance 1 - r^2.
    """
    n, contrasts, single = len(fresh), loads.shape[1], len(labels) == 0
    total, within, alone = pairs[0], pairs[1], pairs[2]
    own, other = here[0], here[1]
    for i in range(n):
        columns[new, i] = fresh[i]
    for i in range(-1, q):  # first itself: that gives the loads over its own rows
        slot = new if i < 0 else order[i]
        if i >= 0 and joint[new, new] == n and joint[slot, slot] == n:
            r, rows = product(fresh, columns[slot]), n
            for d in range(contrasts):
                own[d] = loads[new, d]
                other[d] = loads[slot, d]
        elif single:
            r, rows = meet_numbers(fresh, columns[slot], y, own, other)
        else:
            r, rows = meet_classes(fresh, columns[slot], labels, counts, own, other)
        joint[new, slot] = joint[slot, new] = rows
        total[new, slot] = total[slot, new] = r if i >= 0 else 1.0
        left = total[new, slot]
        for d in range(contrasts):
            if i < 0:
                loads[new, d] = own[d]
            left -= loads[new, d] * loads[slot, d]
        within[new, slot] = within[slot, new] = left
        if i < 0:
            continue
        for turn in range(2):
            uu = eu = ee = 0.0
            for d in range(contrasts):
                e = other[d] if turn == 0 else own[d]
                u = own[d] - r * e if turn == 0 else other[d] - r * e
                uu += u * u
                eu += e * u
                ee += e * e
            # a single contrast that the other determines is explained by it alone
            uu = uu + eu * eu / (1.0 - ee) if 1.0 - ee > 1e-10 else (0.0 if single else uu)
            partial = np.sqrt(min(uu / (1.0 - r * r), 1.0)) if 1.0 - r * r > 1e-10 else 0.0
            if turn == 0:
                alone[new, slot] = partial
            else:
                alone[slot, new] = partial


@nb.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
def add_products(
    a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray, e: FloatArray, sums: FloatArray
) -> None:
    """Add the products of five columns and a column of ones over the rows where none is missing."""
    n = s0 = s1 = s2 = s3 = s4 = 0.0
    s00 = s01 = s02 = s03 = s04 = s11 = s12 = s13 = s14 = s22 = s23 = s24 = s33 = s34 = s44 = 0.0
    for i in range(len(a)):
        missing = np.isnan(a[i] + b[i] + c[i] + d[i])
        u = 0.0 if missing else a[i]
        v = 0.0 if missing else b[i]
        w = 0.0 if missing else c[i]
        x = 0.0 if missing else d[i]
        y = 0.0 if missing else e[i]
        n += 0.0 if missing else 1.0
        s0 += u
        s1 += v
        s2 += w
        s3 += x
        s4 += y
        s00 += u * u
        s01 += u * v
        s02 += u * w
        s03 += u * x
        s04 += u * y
        s11 += v * v
        s12 += v * w
        s13 += v * x
        s14 += v * y
        s22 += w * w
        s23 += w * x
        s24 += w * y
        s33 += x * x
        s34 += x * y
        s44 += y * y
    for k, each in enumerate(
        (s00, s01, s02, s03, s04, s0, s11, s12, s13, s14, s1, s22, s23, s24, s2, s33, s34, s3, s44, s4, n)
    ):
        sums[k] += each


@nb.njit(nogil=True, cache=True, error_model="numpy")
def add_rows(
    columns: FloatArray, t: int, members: IntArray, size: int, y: FloatArray, labels: IntArray,
    low: int, high: int, sums: FloatArray, counts: IntArray, by_class: FloatArray,
) -> None:  # fmt: skip
    """Add some rows to the sums of a set, t and the target: columns 0 to 2 (3 of the set), 3 and 4."""
    a, b, c, d = columns[members[0]], columns[members[1]], columns[members[size - 1]], columns[t]
    single = len(labels) == 0
    target = y if single else d
    add_products(a[low:high], b[low:high], c[low:high], d[low:high], target[low:high], sums)
    for i in range(high if single else low, high):
        if not np.isnan(a[i] + b[i] + c[i] + d[i]):
            label = labels[i]
            counts[label] += 1
            by_class[0, label] += a[i]
            by_class[1, label] += b[i]
            by_class[2, label] += c[i]
            by_class[3, label] += d[i]


@nb.njit(nogil=True, cache=True, error_model="numpy")
def correlations(
    sums: FloatArray, counts: IntArray, by_class: FloatArray, size: int, single: bool,
    total: FloatArray, loads: FloatArray, over: FloatArray,
) -> int:  # fmt: skip
    """Write correlations and loads of a set and a last column from their sums; return the number of rows.

    Rows over which the target or a column is constant can test nothing, and count as none.
    """
    rows = sums[20]
    if rows < 4.0:
        return int(rows)
    for i in range(size + 2 if single else size + 1):
        u = i if i < size else (3 if i == size else 4)
        at = u * (13 - u) // 2  # where the products of column u begin; the last is its sum
        left = sums[at] - sums[at + 5 - u] ** 2 / rows
        if left <= 1e-12 * (sums[at] if u < 4 else 1.0):
            return 0
        over[u] = 1.0 / np.sqrt(left)
    for i in range(size + 1):
        u = i if i < size else 3
        at = u * (13 - u) // 2
        for j in range(i + 1, size + 2 if single else size + 1):
            v = j if j < size else (3 if j == size else 4)
            mean = sums[v * (13 - v) // 2 + 5 - v] / rows
            r = (sums[at + v - u] - sums[at + 5 - u] * mean) * over[u] * over[v]
            r = min(max(r, -1.0), 1.0)
            if v == 4:
                loads[i, 0] = r
            else:
                total[i, j] = total[j, i] = r
        total[i, i] = 1.0
        for c in range(0 if single else len(counts)):
            if counts[c] == rows:
                return 0
            apart = by_class[u, c] - counts[c] * sums[at + 5 - u] / rows
            loads[i, c] = apart / np.sqrt(max(counts[c], 1)) * over[u]
    return int(rows)


@nb.njit(nogil=True, cache=True, error_model="numpy")
def strength(
    total: FloatArray, loads: FloatArray, size: int, single: bool, parts: FloatArray, M: FloatArray
) -> float:
    """Return the partial correlation (ratio) of column ``size`` with the target given those before it.

    Of the target only those directions count that loads of set and column have: at most 4, however many
    classes.
    """
    contrasts = loads.shape[1]
    for i in range(size + 1):
        for d in range(contrasts):
            parts[i, d] = loads[i, d]
        for j in range(size + 1):
            M[i, j] = total[i, j]
    k = size + 1
    for i in range(size + 1):  # what loads have to do with a direction is taken out of those that follow
        length = np.sqrt(product(parts[i], parts[i]))
        if length <= 1e-12:
            continue
        for j in range(k):
            M[k, j] = M[j, k] = 0.0
        M[k, k] = 1.0
        M[k, i] = M[i, k] = length
        for j in range(i + 1, size + 1):
            along = product(parts[i], parts[j]) / length
            for d in range(contrasts):
                parts[j, d] -= along * parts[i, d] / length
            M[k, j] = M[j, k] = along
        k += 1
    variance, explained = M[size, size], 0.0
    for step in range(k - 1):
        p = step if step < size else step + 1  # the set, then the target; the column stays
        pivot = M[p, p]
        if step >= size:
            if pivot <= 1e-10:
                if single:
                    return 0.0
                continue
            explained += M[size, p] * M[size, p] / pivot
        for u in range(k):
            factor = M[u, p] / pivot if u != p else 0.0
            for v in range(k):
                if v != p:
                    M[u, v] -= factor * M[p, v]
        if step < size:
            variance = M[size, size]
    return float(np.sqrt(min(explained / variance, 1.0)))


@nb.njit(nogil=True, cache=True, error_model="numpy")
def assess(T: FloatArray, W: FloatArray, size: int, level: float, single: bool) -> int:
    """Return what correlations say of column ``size`` given those before it; the matrices are used up.

    0 dependent, 1 independent, 2 a function of the set, 3 a member of the set is a function of others, so
    that a smaller set was tried, 4 the set determines the target.
    """
    for last in range(size + 1):
        if T[last, last] <= 1e-10:
            return 2 if last == size else 3
        for u in range(last + 1, size + 1):
            factor = T[u, last] / T[last, last]
            for v in range(last + 1, u + 1):
                T[u, v] -= factor * T[v, last]
    for i in range(size):
        if W[i, i] <= 1e-10 * T[i, i]:
            if single:
                return 4
            continue  # one contrast less
        for u in range(i + 1, size + 1):
            factor = W[u, i] / W[i, i]
            for v in range(i + 1, u + 1):
                W[u, v] -= factor * W[v, i]
    return 0 if W[size, size] <= level * T[size, size] else 1


@nb.njit(nogil=True, cache=True, error_model="numpy")
def assess_rows(
    columns: FloatArray, y: FloatArray, labels: IntArray, t: int, members: IntArray, size: int, lost: int,
    share: FloatArray, counts: IntArray, parts: FloatArray, space: FloatArray, sums: FloatArray,
) -> tuple[int, int]:  # fmt: skip
    """Do as `assess` over the complete rows of a set and t; return its result and the degrees of freedom.

    -1: there are no degrees of freedom.  Rows are added in blocks spread over all rows.  After 1, 2, 4, ...
    blocks the set is dependent at once if twice the log-likelihood ratio is 40 beyond the level.
    """
    n, single, found, freedom = columns.shape[1], len(labels) == 0, -1, 0
    T, W, M, by_class = space[0], space[1], space[2], parts[8:]
    blocks = (n + BLOCK - 1) // BLOCK
    step = max(int(0.618 * blocks), 1)
    while np.gcd(step, blocks) > 1:
        step += 1
    sums[:], counts[:], by_class[:] = 0.0, 0, 0.0
    for done in range(1, blocks + 1):
        low = done * step % blocks * BLOCK
        add_rows(columns, t, members, size, y, labels, low, min(low + BLOCK, n), sums, counts, by_class)
        if done < blocks and done & (done - 1) != 0:
            continue
        freedom = correlations(sums, counts, by_class, size, single, M, parts, space[3, 0]) - size - lost
        if freedom <= 0:
            found = -1
            continue
        for i in range(size + 1):
            for j in range(i + 1):
                T[i, j] = M[i, j]
                W[i, j] = M[i, j] - product(parts[i], parts[j])
        beyond = np.exp(-40.0 / freedom) if done < blocks else 1.0
        found = assess(T, W, size, beyond * share[freedom], single)
        if found == 0:
            break
    return found, freedom


@nb.njit(nogil=True, cache=True, error_model="numpy")
def judge(
    columns: FloatArray, pairs: FloatArray, loads: FloatArray, joint: IntArray, y: FloatArray,
    labels: IntArray, t: int, members: IntArray, size: int, again: bool, budget: IntArray, lost: int,
    share: FloatArray, skip: bool, counts: IntArray, parts: FloatArray, space: FloatArray, sums: FloatArray,
) -> tuple[int, float, int]:  # fmt: skip
    """Return whether a set makes t independent of the target, the partial correlation, and its freedom.

    0 no (the correlation then means nothing), 1 yes, 2 t is a function of the set, 3 too few complete rows
    to test (never with ``skip``).  -1: pairwise correlations say no, over rows of their own; with ``again``
    exactly these sets are tested.
    """
    n, single = columns.shape[1], len(labels) == 0
    T, W, M = space[0], space[1], space[2]
    rows, most = joint[t, t], joint[t, t]
    for i in range(size):
        for j in range(-1, i + 1):
            here = joint[members[i], t if j < 0 else members[j]]
            rows, most = min(rows, here), max(most, here)
    same = rows == most  # columns that share all their rows miss the same ones
    freedom = rows - size - lost
    if freedom <= 0 and (skip or rows < n):
        return 0 if skip else 3, 0.0, freedom
    level = share[freedom] if freedom > 0 else -1.0
    if size == 1:
        r = pairs[2, t, members[0]]
        found = 0 if 1.0 - r * r <= level else 1
        if 1.0 - pairs[0, t, members[0]] ** 2 <= 1e-10:
            found = 2
    else:
        for i in range(size + 1):
            u = members[i] if i < size else t
            for j in range(i + 1):
                v = members[j] if j < size else t
                T[i, j] = M[i, j] = M[j, i] = pairs[0, u, v]
                W[i, j] = pairs[1, u, v]
            for d in range(loads.shape[1]):
                parts[i, d] = loads[u, d]
        found = 0 if same and again else assess(T, W, size, level, single)
        if not same:
            here = int(again)
            if (found == 0) != again or budget[here] == 0:
                return -1 if found == 0 and not again else 0, 0.0, freedom
            budget[here] -= 1
            found, freedom = assess_rows(
                columns, y, labels, t, members, size, lost, share, counts, parts, space, sums
            )
            if found < 0:
                return 0 if skip else 3, 0.0, freedom
        r = strength(M, parts[:4], size, single, parts[4:8], space[3]) if found == 1 else 0.0
    if found == 0 or found == 3:  # noqa: PLR1714 - a set display is slow in compiled code
        return 0, 0.0, freedom
    if freedom <= 0:
        return 3, r, freedom
    return 2 if found == 2 else 1, r, freedom


@nb.njit(nogil=True, cache=True, error_model="numpy")
def decide(
    fresh: FloatArray, feature: IntArray, first: int,
    newcomer_first: bool, most: int, skip: bool, most_tests: int, lost: int, share: FloatArray,
    y: FloatArray, labels: IntArray,
    columns: FloatArray, pairs: FloatArray, loads: FloatArray, joint: IntArray,
    kept_feature: IntArray, order: IntArray, q: int,
    record: IntArray, statistic: FloatArray, n_evicted: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Offer relevant candidates ``first``, first + 1, ... to the kept columns.

    Candidates are the rows of ``fresh``, of length 1 and without their means over the rows seen.  A target of
    numbers is ``y``, of length 1; one of classes is ``labels``; the other is empty.  ``share[f]`` is the
    share of variance that must be left for independence with f degrees of freedom: ``lost`` fewer than rows,
    and one for each member of a set.  ``pairs`` are total, within and alone.

    Of sets of one size, those are tested first that are independent by pairwise correlations, then the
    others.  Sets whose columns miss different rows cost a pass over the rows each: for one column at most
    ``most_tests`` of the first kind and as many of the second; the rest is passed over.

    A row of ``record`` for each candidate, then one for each eviction: which column, at which newcomer, the
    result of `judge` (0: kept), degrees of freedom, and the set.  Returns (next candidate, kept, evicted); it
    comes back early when all slots are taken.
    """
    capacity = len(columns)
    contrasts = loads.shape[1]
    parts, here, counts = np.empty((12, contrasts)), np.empty((2, contrasts)), np.empty(contrasts, np.int64)
    space, gone, sums = np.empty((4, 9, 9)), np.empty(capacity, np.bool_), np.empty(21)
    budget = np.empty(2, np.int64)
    pool, spare = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    pick, members = np.empty(3, np.int64), np.empty(3, np.int64)
    for k in range(first, len(fresh)):
        if q == capacity:
            return k, q, n_evicted
        new = order[q]
        kept_feature[new] = feature[k]
        enter(fresh[k], new, order, q, y, labels, counts, columns, pairs, loads, joint, here)
        for i in range(q):
            gone[i] = False
        for turn in range(q + 1):
            at = (q if turn == 0 else turn - 1) if newcomer_first else turn
            t = order[at]
            others = 0
            for i in range(q):
                if i != at and not gone[i]:
                    pool[others] = order[i]
                    others += 1
            # an older column has met every set without the newcomer, which is the last member of all others
            known = 0 if at == q else 1
            found, r, freedom, size = 0, 0.0, 0, 0
            budget[0] = budget[1] = most_tests
            while found == 0 and size < min(most, others + known):
                size += 1
                chosen = size - known
                again, deferred = False, False
                for i in range(chosen):
                    pick[i] = i
                members[size - 1] = new
                while True:
                    for i in range(chosen):
                        members[i] = pool[pick[i]]
                    found, r, freedom = judge(
                        columns, pairs, loads, joint, y, labels, t, members, size, again, budget,
                        lost, share, skip, counts, parts, space, sums,
                    )  # fmt: skip
                    if found > 0:
                        break
                    deferred |= found < 0
                    found, i = 0, chosen - 1
                    while i >= 0 and pick[i] == others - chosen + i:
                        i -= 1
                    if i < 0 and (again or not deferred):
                        break
                    if i < 0:
                        again = True
                        for j in range(chosen):
                            pick[j] = j
                        continue
                    pick[i] += 1
                    for j in range(i + 1, chosen):
                        pick[j] = pick[j - 1] + 1
            if found == 0:
                continue
            row = k
            if at < q:
                gone[at] = True
                row = len(fresh) + n_evicted
                n_evicted += 1
            record[row, 0] = kept_feature[t]
            record[row, 1] = feature[k]
            record[row, 2] = found
            record[row, 3] = freedom
            for i in range(size):
                record[row, 4 + i] = kept_feature[members[i]]
            statistic[row] = r
            if at == q and newcomer_first:
                break
        left = 0
        for i in range(q):
            if gone[i]:
                spare[i - left] = order[i]
            else:
                order[left] = order[i]
                left += 1
        order[left] = new
        for i in range(q - left):
            order[left + 1 + i] = spare[i]
        q = left + 1 if record[k, 2] == 0 else left
    return len(fresh), q, n_evicted
