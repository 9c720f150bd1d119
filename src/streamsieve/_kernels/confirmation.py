"""What confirms the p-value of a correlation: moments, normal scores and tables of single columns.

A column is the list of its stored values, ``values[pointers[j]:pointers[j + 1]]``; rows that are not stored
hold 0.  ``rows`` has the row of each stored value, and is not read for dense columns.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray

#: Fewest rows expected in a cell of a 2 x 2 table for the t test.
LEAST_EXPECTED = 5


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _third_and_fourth(column: FloatArray, center: float, norm: float, n: int) -> tuple[float, float]:
    """Return skewness and excess kurtosis of a column; rows that are not stored hold 0."""
    scale = math.sqrt(n) / norm
    s3 = s4 = 0.0
    for t in range(len(column)):
        z = (column[t] - center) * scale
        square = z * z
        s3 += square * z
        s4 += square * square
    absent = n - len(column)
    at_zero = -center * scale
    s3 += absent * at_zero**3
    s4 += absent * at_zero**4
    return s3 / n, s4 / n - 3.0


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def moments(
    pointers: IntArray, rows: npt.NDArray[np.int32], values: FloatArray, sparse: bool, mean: FloatArray,
    norm: FloatArray, y: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """Fill skewness, excess kurtosis, and the correlation with y, which sums to 0 and has length 1.

    ``norm`` is the length of the centered column.  A column of an offset far larger than its spread loses
    digits in none of them, because its mean is taken off first.  Without y there is no correlation.
    """
    n = len(y)
    for j in range(len(pointers) - 1):
        low, high = pointers[j], pointers[j + 1]
        column, center = values[low:high], mean[j]
        absent = n - len(column)
        out[0, j], out[1, j] = _third_and_fourth(column, center, norm[j], n)
        if len(out) < 3:
            continue
        # y sums to 0, so that rows that are not stored may count as 0 and the others by their difference
        base = 0.0 if absent > 0 else center
        dot = 0.0
        for t in range(len(column)):
            dot += (column[t] - base) * y[rows[low + t] if sparse else t]
        out[2, j] = dot / norm[j]


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def moments_of_rows(
    flat: FloatArray, width: int, n: int, chosen: IntArray, mean: FloatArray, norm: FloatArray,
    out: FloatArray,
) -> None:  # fmt: skip
    """Fill skewness and excess kurtosis of chosen columns of a block whose row i begins at ``i * width``.

    The columns are not gathered first, which would take longer than their moments.
    """
    for j in range(len(chosen)):
        at = chosen[j]
        center, scale = mean[at], math.sqrt(n) / norm[at]
        s3 = s4 = 0.0
        for i in range(n):
            z = (flat[at + i * width] - center) * scale
            square = z * z
            s3 += square * z
            s4 += square * square
        out[0, j] = s3 / n
        out[1, j] = s4 / n - 3.0


@nb.njit(nogil=True, cache=True)
def trusted_squares(
    cubic: FloatArray, square: FloatArray, tolerance: float, far: float, steps: int, out: FloatArray
) -> None:
    """Fill where ``cubic w^3 + square w^2`` reaches a tolerance, ``far`` at most.

    Newton's method from above, where it converges without a step too far because the polynomial is convex.
    """
    for j in range(len(out)):
        a, b = cubic[j], square[j]
        w = far
        if a > 0.0:
            w = min(w, np.cbrt(tolerance / a))
        if b > 0.0:
            w = min(w, math.sqrt(tolerance / b))
        for _ in range(steps):
            slope = (3.0 * a * w + 2.0 * b) * w
            above = (a * w + b) * w * w - tolerance
            if above <= 0.0 or slope <= 0.0:
                break
            w -= above / slope
        out[j] = w


@nb.njit(nogil=True, cache=True)
def doubtful(
    pointers: IntArray, rows: npt.NDArray[np.int32], values: FloatArray, sparse: bool, mean: FloatArray,
    norm: FloatArray, n: int, size: FloatArray, second: npt.NDArray[np.bool_],
    limits: tuple[float, float, float, float, float], doubt: tuple[float, float, float, float],
    out: npt.NDArray[np.uint8], tables: IntArray,
) -> None:  # fmt: skip
    """Fill 1 for columns whose decision at a level may not be that of the t or F test, 2 if only the p-value.

    ``size`` has correlations (ratios) with the target; ``second`` the rows of the second of two classes, or
    nothing.  A column of two values is then in doubt if few rows are expected in a cell of its table, which
    is filled into ``tables``; other columns have 0 there.  limits = (rows of the rarer class, square of the
    normal quantile of the level, or 0 if t is trusted there whatever the column, size up to which it is
    trusted whatever the column, degrees of freedom, or infinity for those of F, square of the largest normal
    quantile that matters).  doubt = (squared skewness of the target over 72 n,
    least and largest excess kurtosis over 24 n, tolerance).
    """
    rarest, square, least, freedom, most = limits
    skewness, lightest, heaviest, tolerance = doubt
    for j in range(len(pointers) - 1):
        low, high = pointers[j], pointers[j + 1]
        out[j] = tables[0, j] = tables[1, j] = 0
        if len(second) > 0:
            count, inside = _table(rows, values, low, high, sparse, second)
            if count > 0 and min(count, n - count) * rarest / n < LEAST_EXPECTED:
                out[j], tables[0, j], tables[1, j] = 1, count, inside
            if count > 0:
                continue
        own = 0.0  # the square of the normal quantile of the p-value, or a bound of it
        if size[j] >= least:
            left = 1.0 - size[j] * size[j]
            own = most if left <= 0.0 else min(most, -freedom * math.log(left))
        if square == 0.0 and own == 0.0:
            continue
        third, fourth = _third_and_fourth(values[low:high], mean[j], norm[j], n)
        cubic, kurtosis = third * third * skewness, max(fourth * lightest, fourth * heaviest, 0.0)
        if (cubic * square + kurtosis) * square * square > tolerance:
            out[j] = 1
        elif (cubic * own + kurtosis) * own * own > tolerance * (1.0 - 1e-6):
            out[j] = 2


@nb.njit(nogil=True, cache=True)
def two_by_two(
    pointers: IntArray, rows: npt.NDArray[np.int32], values: FloatArray, sparse: bool,
    second: npt.NDArray[np.bool_], out: IntArray,
) -> None:  # fmt: skip
    """Fill the 2 x 2 tables of columns of two values and a target of two classes: see `_table`."""
    for j in range(len(pointers) - 1):
        out[0, j], out[1, j] = _table(rows, values, pointers[j], pointers[j + 1], sparse, second)


@nb.njit(nogil=True, cache=True)
def _table(
    rows: npt.NDArray[np.int32], values: FloatArray, low: int, high: int, sparse: bool,
    second: npt.NDArray[np.bool_],
) -> tuple[int, int]:  # fmt: skip
    """Return how many rows of a column hold one of its two values, and how many of these the second class.

    Both are 0 for a column of more values, or with missing ones.
    """
    base = values[low] if high - low == len(second) else 0.0
    first = low
    while first < high and values[first] == base:
        first += 1
    other = values[first] if first < high else base
    count = 0
    inside = 0
    size = 8  # most columns of more values show it at once
    while first < high:  # a piece without branches
        last = min(first + size, high)
        wrong = 0
        for t in range(first, last):
            v = values[t]
            differs = v != base
            count += differs
            inside += differs & second[rows[t] if sparse else t - low]
            wrong += differs & (v != other)  # also a missing value
        if wrong > 0:
            return 0, 0
        first, size = last, 64
    return count, inside


@nb.njit(nogil=True, cache=True)
def distinct(
    pointers: IntArray, values: FloatArray, chosen: IntArray, n: int, most: int, out: IntArray
) -> None:
    """Count the distinct values of chosen columns of n rows, without missing ones, up to ``most + 1``."""
    # a hash table, at most a quarter full, whose slots belong to the column that their stamp names
    size = 8
    while size < 4 * (most + 2):
        size *= 2
    seen, stamp = np.empty(size), np.full(size, -1)
    patterns = values.view(np.int64)
    for j in range(len(chosen)):
        low, high = pointers[chosen[j]], pointers[chosen[j] + 1]
        count = 0
        if high - low < n:
            seen[0] = 0.0
            stamp[0] = j
            count = 1
        for t in range(low, high):
            v = values[t]
            if math.isnan(v):
                continue
            at = patterns[t] if v != 0.0 else 0  # zeros have two signs
            for shift in (32, 16, 8):
                at ^= at >> shift
            at &= size - 1
            while stamp[at] == j and seen[at] != v:
                at = (at + 1) & (size - 1)
            if stamp[at] != j:
                stamp[at] = j
                seen[at] = v
                count += 1
                if count > most:
                    break
        out[j] = count


@nb.njit(nogil=True, cache=True)
def fill_scores(
    column: FloatArray, order: IntArray, n: int, table: FloatArray, score: FloatArray
) -> tuple[float, float]:
    """Fill the normal scores of the stored values of a column; return that of rows not stored, and a gap.

    The gap is the largest one between neighboring scores.  ``order`` sorts the stored values; sorting them
    here would take as long to compile as all that follows.

    ``table[2 r]`` is the score of rank r, which for ties is their mean rank.
    """
    zeros = n - len(column)  # rows that are not stored, as long as their rank is not known
    at_zero = 0.0
    before = 0
    gap = 0.0
    last = 0.0
    t = 0
    while t < len(order) or zeros > 0:
        v = column[order[t]] if t < len(order) else 0.0
        here = 0
        if zeros > 0 and (t == len(order) or v >= 0.0):
            v = 0.0
            here = zeros
        end = t if here > 0 else t + 1
        while end < len(order) and column[order[end]] == v:
            end += 1
        s = table[2 * before + end - t + here + 1]
        gap = max(gap, s - last) if before > 0 else 0.0
        last = s
        for k in range(t, end):
            score[order[k]] = s
        if here > 0:
            at_zero = s
            zeros = 0
        before += end - t + here
        t = end
    return at_zero, gap


@nb.njit(nogil=True, cache=True)
def scored(
    pointers: IntArray, rows: npt.NDArray[np.int32], values: FloatArray, sparse: bool, order: IntArray,
    table: FloatArray, basis: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """Fill skewness, excess kurtosis and correlation (ratio) with the target of columns' normal scores."""
    n, contrasts = basis.shape
    score = np.zeros(n)
    dots = np.zeros(contrasts)
    for j in range(len(pointers) - 1):
        low, high = pointers[j], pointers[j + 1]
        at_zero, _ = fill_scores(values[low:high], order[low:high], n, table, score)
        absent = n - (high - low)
        mean = absent * at_zero
        for k in range(high - low):
            mean += score[k]
        mean /= n
        s2 = absent * (at_zero - mean) ** 2
        s3 = absent * (at_zero - mean) ** 3
        s4 = absent * (at_zero - mean) ** 4
        dots[:] = 0.0
        for k in range(high - low):
            d = score[k] - mean
            s2 += d * d
            s3 += d * d * d
            s4 += d * d * d * d
            row = rows[low + k] if sparse else k
            for c in range(contrasts):
                dots[c] += (score[k] - at_zero if absent > 0 else d) * basis[row, c]
        total = 0.0
        for c in range(contrasts):
            total += dots[c] * dots[c]
        out[:, j] = 0.0
        if s2 > 0.0:
            out[0, j] = s3 / n / (s2 / n) ** 1.5
            out[1, j] = s4 / n / (s2 / n) ** 2 - 3.0
            out[2, j] = math.sqrt(total / s2)


@nb.njit(nogil=True, cache=True)
def bounds(
    pointers: IntArray, rows: npt.NDArray[np.int32], values: FloatArray, sparse: bool, order: IntArray,
    table: FloatArray, codes: IntArray, counts: IntArray, out: FloatArray,
) -> None:  # fmt: skip
    """Fill bounds of the p-values of each class against the others, by the normal scores of columns.

    Under independence the scores of a class are drawn from all without replacement.  The tail of their sum is
    at most Chernoff's bound for draws with replacement (Hoeffding 1963, theorem 4).  With many rows the bound
    is refined by the factor of Bahadur and Rao (1960) for sums on a lattice as wide as the largest gap.
    """
    n, classes = len(codes), len(counts)
    score = np.zeros(n)
    sums = np.zeros(classes)
    left = np.zeros(classes, np.int64)
    for j in range(len(pointers) - 1):
        low, high = pointers[j], pointers[j + 1]
        at_zero, gap = fill_scores(values[low:high], order[low:high], n, table, score)
        sums[:] = 0.0
        for c in range(classes):
            left[c] = counts[c]
        for k in range(high - low):
            c = codes[rows[low + k] if sparse else k]
            sums[c] += score[k]
            left[c] -= 1
        sums += left * at_zero
        for c in range(classes):
            size, total = counts[c], sums[c]
            if 2 * size > n:  # what the others have says the same, more precisely
                size, total = n - size, sums.sum() - total
            out[j, c] = _chernoff(score[: high - low], at_zero, gap, n, size, total / size)


@nb.njit(nogil=True, cache=True)
def bounds_of_functions(functions: FloatArray, codes: IntArray, counts: IntArray, out: FloatArray) -> None:
    """Fill the same bounds of functions of rows, with mean 0 and variance 1, one function per row."""
    n, classes = len(codes), len(counts)
    sums = np.zeros(classes)
    for j in range(len(functions)):
        gap = np.max(np.diff(np.sort(functions[j])))
        sums[:] = 0.0
        for i in range(n):
            sums[codes[i]] += functions[j, i]
        for c in range(classes):
            size, total = counts[c], sums[c]
            if 2 * size > n:
                size, total = n - size, -total
            out[j, c] = _chernoff(functions[j], 0.0, gap, n, size, total / size)


@nb.njit(nogil=True, cache=True)
def _chernoff(score: FloatArray, at_zero: float, gap: float, n: int, size: int, mean: float) -> float:
    """Return a bound of the two-sided probability that ``size`` draws have a mean as far out as this.

    ``(E exp(s (score - mean)))^size`` bounds it for any s of the right sign; Newton's method looks for the
    smallest.
    """
    absent = n - len(score)
    center = (score.sum() + absent * at_zero) / n
    sign = 1.0 if mean >= center else -1.0
    s = 0.0
    bound = 0.0
    factor = 1.0
    for _ in range(30):
        d = sign * (at_zero - mean)
        e = absent * math.exp(s * d) if absent > 0 else 0.0
        m0, m1, m2 = e, e * d, e * d * d
        for k in range(len(score)):
            d = sign * (score[k] - mean)
            e = math.exp(s * d)
            m0 += e
            m1 += e * d
            m2 += e * d * d
        bound = min(bound, size * math.log(m0 / n))
        slope = m1 / m0
        curve = m2 / m0 - slope * slope
        if curve <= 0.0 or s > 100.0:
            break
        if abs(slope) < 1e-10:
            if s > 0.0:
                factor = min(1.0, (gap + 1.0 / s) / math.sqrt(2.0 * math.pi * size * curve))
            break
        s = min(max(s - slope / curve, 0.5 * s), 2.0 * s + 1.0)
    return min(1.0, 2.0 * math.exp(bound) * factor)
