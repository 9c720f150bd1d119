"""One fused pass over a block of columns: mean, centered sum of squares, product with the target.

Every column is shifted by one of its own values, x0 (its first; 0 for a sparse column that has zeros).
That is enough: the sum of squares about x0 is at most n + 1 times the centered one, so at most log10(n)
digits are lost, whatever the offset.  A constant column gives exactly 0, without a tolerance.  NaN or inf
anywhere come out as a non-finite sum of squares.

The target must sum to 0, so that the shift does not enter the product.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import BoolArray, FloatArray, IntArray

#: Squared correlation from which on it may be 1 but for rounding.
PERFECT = 1 - 1e-11
#: Sums of squares between which squares of sums have most of their digits.
LEAST_SQUARE, MOST_SQUARE = 1e-140, 1e140
#: Relative difference of two numbers that may be equal but for rounding.
EQUAL = 1e-6
#: Pieces of the rows, the last of which may be empty, of which sums are kept for a bound.
PIECES = 8

# "reassoc" and "contract" let sums vectorize and keep the meaning of NaN and inf


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def row_major(
    flat: FloatArray, width: int, y: FloatArray, mean: FloatArray, ss: FloatArray, dot: FloatArray,
    doubt: tuple[float, float, float, float, float], doubtful: BoolArray, first: int, last: int,
) -> None:  # fmt: skip
    """Columns first..last of a block whose row i begins at ``flat[i * width]``.

    In tiles of 256 columns, whose accumulators stay in L1; four rows at a time.  Columns whose t test may be
    wrong are marked in ``doubtful``, unless it is empty, while they are still in L2: see `_doubt`.
    """
    n = len(y)
    places = np.empty(256, np.int64)
    sums = np.empty((4, 256))
    # sums up to the end of each piece of the rows, if some columns are to be marked
    step = 4 * (n // (4 * PIECES) + 1) if len(doubtful) > 0 else n + 1
    partial = np.empty((2, PIECES, 256))
    for low in range(first, last, 256):
        k = min(256, last - low)
        s, q, c, x0 = mean[low : low + k], ss[low : low + k], dot[low : low + k], flat[low : low + k]
        s[:] = 0.0
        q[:] = 0.0
        c[:] = 0.0
        i, piece, end = 0, 0, step
        while i + 4 <= n:
            at = i * width + low
            r0, r1 = flat[at : at + k], flat[at + width : at + width + k]
            r2, r3 = flat[at + 2 * width : at + 2 * width + k], flat[at + 3 * width : at + 3 * width + k]
            y0, y1, y2, y3 = y[i], y[i + 1], y[i + 2], y[i + 3]
            for j in range(k):
                z = x0[j]
                d0 = r0[j] - z
                d1 = r1[j] - z
                d2 = r2[j] - z
                d3 = r3[j] - z
                s[j] += (d0 + d1) + (d2 + d3)
                q[j] += (d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3)
                c[j] += (d0 * y0 + d1 * y1) + (d2 * y2 + d3 * y3)
            i += 4
            if i == end:
                for j in range(k):
                    partial[0, piece, j], partial[1, piece, j] = s[j], q[j]
                piece += 1
                end += step
        while i < n:
            row = flat[i * width + low : i * width + low + k]
            for j in range(k):
                d = row[j] - x0[j]
                s[j] += d
                q[j] += d * d
                c[j] += d * y[i]
            i += 1
        if len(doubtful) > 0:
            for j in range(k):
                partial[0, piece, j], partial[1, piece, j] = s[j], q[j]
        for j in range(k):
            q[j] -= s[j] * s[j] / n
            s[j] = x0[j] + s[j] / n
        if len(doubtful) > 0:
            _doubt(
                flat[low:], width, n, s, q, c, doubt, partial[:, : piece + 1], step, places, sums,
                doubtful[low : low + k],
            )  # fmt: skip


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _doubt(
    flat: FloatArray, width: int, n: int, mean: FloatArray, ss: FloatArray, dot: FloatArray,
    doubt: tuple[float, float, float, float, float], partial: FloatArray, step: int, at: IntArray,
    sums: FloatArray, doubtful: BoolArray,
) -> None:  # fmt: skip
    """Mark the columns of a tile whose t test their third and fourth moments may change too much.

    doubt = (squared correlation of the first columns in question, squared skewness of the target over 72 n,
    least and largest excess kurtosis over 24 n, tolerance).  The normal quantile of a p-value by t is not
    known here, but not above ``sqrt(-(n - 2) log(1 - r^2))`` (Wallace, Annals of Mathematical Statistics 30,
    1959), so that more columns may be marked than have to be.

    Most columns need no moments: `_largest_fourth` bounds the fourth, and with it the third (the squared
    skewness is at most the fourth moment minus 1, Pearson 1916).  ``at`` and ``sums`` are work space.
    """
    least, tolerance = doubt[0], doubt[4]
    center, scale, s3, s4 = sums[0], sums[1], sums[2], sums[3]
    m = 0
    for j in range(len(ss)):
        doubtful[j] = False
        if not (ss[j] > 0.0 and dot[j] * dot[j] >= least * ss[j]):
            continue
        square = dot[j] * dot[j] / ss[j]
        if square >= PERFECT:
            doubtful[j] = True
            continue
        offset = mean[j] - flat[j]
        fourth = n * _largest_fourth(partial, j, offset, 1.0 / ss[j], n, step)
        if _change(square, fourth - 1.0, fourth - 3.0, -2.0, n, doubt) <= 0.99 * tolerance:
            continue
        at[m] = j
        center[m], scale[m] = mean[j], math.sqrt(n / ss[j])
        s3[m] = s4[m] = 0.0
        m += 1
    if m == 0:
        return
    for i in range(n):  # row by row: one column after the other would touch a page of memory per value
        row = flat[i * width : i * width + len(ss)]
        for t in range(m):
            z = (row[at[t]] - center[t]) * scale[t]
            square = z * z
            s3[t] += square * z
            s4[t] += square * square
    for t in range(m):
        j = at[t]
        kurtosis = s4[t] / n - 3.0
        square = dot[j] * dot[j] / ss[j]
        doubtful[j] = _change(square, (s3[t] / n) ** 2, kurtosis, kurtosis, n, doubt) > tolerance


@nb.njit(nogil=True, cache=True)
def _change(
    square: float, skewness: float, most: float, least: float, n: int,
    doubt: tuple[float, float, float, float, float],
) -> float:  # fmt: skip
    """Return how much a p-value may change, by squared correlation and skewness and two excess kurtoses."""
    w = -(n - 2) * math.log1p(-square)
    kurtosis = max(most * doubt[2], most * doubt[3], least * doubt[2], least * doubt[3], 0.0)
    return float((skewness * doubt[1] * w + kurtosis) * w * w)


@nb.njit(nogil=True, cache=True)
def _largest_fourth(partial: FloatArray, j: int, offset: float, scale: float, n: int, step: int) -> float:
    """Bound the sum of fourth powers about the mean, divided by the squared sum of squares, 1 / ``scale``.

    That of a piece of the rows is at most the square of its sum of squares.  ``partial`` has sums, and sums
    of squares, up to the end of each piece, about the first value, which the mean exceeds by ``offset``.
    """
    total = sum_before = square_before = 0.0
    for piece in range(partial.shape[1]):
        s, q = partial[0, piece, j], partial[1, piece, j]
        rows = min(step, n - piece * step)
        share = (q - square_before + offset * (rows * offset - 2.0 * (s - sum_before))) * scale
        total += share * share
        sum_before, square_before = s, q
    return total


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def column_major(
    XT: FloatArray, y: FloatArray, mean: FloatArray, ss: FloatArray, dot: FloatArray, first: int, last: int
) -> None:
    """Columns first..last of a block stored column by column; XT (m, n) has one column per row."""
    n = XT.shape[1]
    for j in range(first, last):
        column = XT[j]
        x0 = column[0]
        s = 0.0
        q = 0.0
        c = 0.0
        for i in range(n):
            d = column[i] - x0
            s += d
            q += d * d
            c += d * y[i]
        mean[j] = x0 + s / n
        ss[j] = q - s * s / n
        dot[j] = c


@nb.njit(nogil=True, cache=True)
def _table(column: FloatArray, rows: npt.NDArray[np.int32], x0: float, y: FloatArray) -> tuple[int, int]:
    """Return the 2 x 2 table of a column that holds x0 where nothing is stored: see `csc`."""
    other, count, inside = x0, 0, 0
    for t in range(len(column)):
        v = column[t]
        if v == x0:
            continue
        if count == 0:
            other = v
        if v != other:  # also a missing value
            return 0, 0
        count += 1
        inside += y[rows[t]] > 0.0
    return count, inside


# sparse columns are short: the set-up of a vectorized sum would cost more than the sum
@nb.njit(nogil=True, cache=True)
def csc(
    indptr: npt.NDArray[np.int32], indices: npt.NDArray[np.int32], data: FloatArray, n: int,
    y: FloatArray, mean: FloatArray, ss: FloatArray, dot: FloatArray, tables: npt.NDArray[np.int32],
    first: int, last: int,
) -> None:  # fmt: skip
    """Columns first..last of a sparse block; only the stored values are touched.

    ``tables``, unless it is empty, is filled with the 2 x 2 tables of columns of two values and a target of
    two classes: the number of rows that do not hold x0, and the number of these in the class where y is
    positive.  Both are 0 for a column of more values, or with missing ones.
    """
    for j in range(first, last):
        low, high = indptr[j], indptr[j + 1]
        x0 = data[low] if high - low == n else 0.0
        s = 0.0
        q = 0.0
        c = 0.0
        for t in range(low, high):
            d = data[t] - x0
            s += d
            q += d * d
            c += d * y[indices[t]]
        if tables.size > 0:
            count, inside = 0, 0
            if high - low == 1:
                v = data[low]
                count = (v < x0) | (v > x0)  # not if it is missing
                inside = count & (y[indices[low]] > 0.0)
            elif high > low:
                # k equal values have k q = s^2; squares that are too small or too large show nothing
                k = int(s * s / q + 0.5) if LEAST_SQUARE < q < MOST_SQUARE else 0
                if k == 0 or abs(s * s - k * q) <= EQUAL * s * s:
                    count, inside = _table(data[low:high], indices[low:high], x0, y)
            tables[0, j], tables[1, j] = count, inside
        mean[j] = x0 + s / n
        ss[j] = q - s * s / n
        dot[j] = c


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def one_column(x: FloatArray, y: FloatArray) -> tuple[float, float]:
    """One column: centered sum of squares, and product with the target."""
    n = x.shape[0]
    x0 = x[0]
    s = 0.0
    q = 0.0
    c = 0.0
    for i in range(n):
        d = x[i] - x0
        s += d
        q += d * d
        c += d * y[i]
    return q - s * s / n, c


@nb.njit(nogil=True, cache=True, error_model="numpy")
def grade(
    ss: FloatArray, dot: FloatArray, critical: float, codes: tuple[int, int, int], out: npt.NDArray[np.uint8]
) -> None:
    """Turn sums of squares into lengths, products into correlations, and say what each column is.

    ``codes`` are those for (relevant, irrelevant, constant).  Without branches, so that it vectorizes.
    """
    relevant, irrelevant, constant = np.uint8(codes[0]), np.uint8(codes[1]), np.uint8(codes[2])
    for j in range(len(ss)):
        length = np.sqrt(max(ss[j], 0.0))
        r = dot[j] / (length if length > 0.0 else 1.0)
        code = relevant if abs(r) >= critical else irrelevant
        ss[j] = length
        dot[j] = r if length > 0.0 else 0.0
        out[j] = code if length > 0.0 else constant
