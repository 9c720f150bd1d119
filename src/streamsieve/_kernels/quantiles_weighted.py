"""Runs of unequal weight: sort values with the weights of their rows, thin to equal masses, collapse.

Thinning a distribution of mass M to k values at its mass positions (h + 1/2) M/k, each of weight c = M/k,
makes a mass F into c * round(F / c): off by c/2 at most, everywhere, for any weights.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import BoolArray, FloatArray, IntArray

Values = npt.NDArray[Any]


@nb.njit(nogil=True, cache=True)
def pack(rows: Values, u: FloatArray, keys: IntArray, missing: FloatArray) -> None:
    """Make keys (feature, row) that sort as float64: a float32 value, its row number in the 29 spare bits.

    One SIMD sort then orders values and rows together; an argsort takes far longer.  float64 values are
    rounded here and put right by :func:`order_exactly`.
    """
    n, p = rows.shape
    as_float = keys.view(np.float64)
    for j0 in range(0, p, 8):
        for i0 in range(0, n, 64):
            for j in range(j0, min(p, j0 + 8)):
                for i in range(i0, min(n, i0 + 64)):
                    v = np.float64(np.float32(rows[i, j]))
                    if abs(v) < np.inf:
                        as_float[j, i] = v
                    else:
                        # inf with bits set would be NaN; 2^200 beats every float32 and has bits to spare
                        as_float[j, i] = -(2.0**200) if v < 0 else 2.0**200
                        if np.isnan(v):
                            missing[j] += u[i]
                    keys[j, i] |= np.int64(i)


@nb.njit(nogil=True, cache=True)
def order(keys: IntArray, u: FloatArray, values: Values, cumulative: FloatArray) -> None:
    """Unpack sorted keys of float32 values, and add up the weights of their rows."""
    p, m = keys.shape
    low = (np.int64(1) << 29) - 1
    bits = np.empty(m, np.int64)
    as_float = bits.view(np.float64)
    for f in range(p):
        for i in range(m):
            bits[i] = keys[f, i] & ~low
        total = 0.0
        for i in range(m):
            total += u[keys[f, i] & low]
            cumulative[f, i] = total
            v = as_float[i]
            values[f, i] = np.inf if v >= 2.0**200 else v


@nb.njit(nogil=True, cache=True)
def order_exactly(
    keys: IntArray, rows: Values, u: FloatArray, values: Values, cumulative: FloatArray, unsorted: BoolArray
) -> None:
    """As :func:`order` for float64 values: those that share a float32 are put right by insertion.

    ``unsorted`` marks features with too many of them, such as a column of mean 1e9 and deviation 1.
    """
    p, m = keys.shape
    low = (np.int64(1) << 29) - 1
    w = np.empty(m)
    for f in range(p):
        moves = 0
        line = values[f]
        for i in range(m):
            r = keys[f, i] & low
            x = rows[r, f]
            if np.isnan(x):
                x = np.inf
            j = i
            while j > 0 and line[j - 1] > x:
                line[j] = line[j - 1]
                w[j] = w[j - 1]
                j -= 1
                moves += 1
            line[j] = x
            w[j] = u[r]
            if moves > 4 * m:
                break
        unsorted[f] = moves > 4 * m
        total = 0.0
        for i in range(m):
            total += w[i]
            cumulative[f, i] = total


@nb.njit(nogil=True, cache=True)
def thin(values: Values, cumulative: FloatArray, c: float, out: Values) -> None:
    """Take the values at mass positions (h + 1/2) c of each sorted row.

    A value owns the places up to floor(mass / c + 1/2).  It is stored to four of them blindly, later values
    overwrite, and only a heavier one loops: no branch depends on random weights.
    """
    p, m = values.shape
    k = out.shape[1]
    places = np.empty(k + 4, out.dtype)
    inverse = 1.0 / max(c, 1e-300)  # finite, or a place would be anywhere in memory
    for f in range(p):
        row = values[f]
        sums = cumulative[f]
        h = np.intp(0)
        for i in range(m):
            end = min(np.intp(sums[i] * inverse + 0.5), k)
            x = row[i]
            places[h] = x
            places[h + 1] = x
            places[h + 2] = x
            places[h + 3] = x
            for t in range(h + 4, end):
                places[t] = x
            h = end
        for t in range(h, k):  # rounding at the far end
            places[t] = row[m - 1]
        for t in range(k):
            out[f, t] = places[t]


@nb.njit(nogil=True, cache=True)
def collapse(A: Values, a: float, B: Values, b: float, out: Values) -> None:
    """Take the values at mass positions (h + 1/2)(a + b) of the merge of runs of weights a and b.

    From both ends and two features side by side, as the collapse of equal weights.  A value is always stored
    at place h, and h moves on only when the mass reaches it; the mass below is i * a + j * b by the cursors,
    so both walks round alike and agree where they meet.
    """
    p, k = A.shape
    c = a + b
    lo = np.empty(k + 1, A.dtype)  # place k, which is also -1, takes what overruns
    hi = np.empty(k + 1, A.dtype)
    lo2 = np.empty(k + 1, A.dtype)
    hi2 = np.empty(k + 1, A.dtype)
    for f in range(0, p, 2):
        g = min(f + 1, p - 1)
        xa, ya, xb, yb = A[f], B[f], A[g], B[g]
        i = j = i2 = j2 = h = h2 = np.intp(0)
        u = v = u2 = v2 = np.intp(k)
        q = q2 = np.intp(k - 1)
        for _ in range(k):
            x, y = xa[i], ya[j]
            lo[h] = min(x, y)
            s = np.intp(x <= y)
            i += s
            j += 1 - s
            h += np.intp(i * a + j * b >= (h + 0.5) * c)
            x, y = xb[i2], yb[j2]
            lo2[h2] = min(x, y)
            s = np.intp(x <= y)
            i2 += s
            j2 += 1 - s
            h2 += np.intp(i2 * a + j2 * b >= (h2 + 0.5) * c)
            x, y = xa[u - 1], ya[v - 1]
            hi[q] = max(x, y)
            s = np.intp(x > y)
            u -= s
            v -= 1 - s
            q -= np.intp(u * a + v * b < (q + 0.5) * c)
            x, y = xb[u2 - 1], yb[v2 - 1]
            hi2[q2] = max(x, y)
            s = np.intp(x > y)
            u2 -= s
            v2 -= 1 - s
            q2 -= np.intp(u2 * a + v2 * b < (q2 + 0.5) * c)
        for t in range(k):
            out[f, t] = lo[t] if t < h else hi[t]
        for t in range(k):
            out[g, t] = lo2[t] if t < h2 else hi2[t]


@nb.njit(nogil=True, cache=True)
def precedes(x: float, y: float) -> bool:
    """Whether the value of a later row stands before that of an earlier one, as :func:`pack` sorts them.

    Of equal values earlier rows are first where the sign is positive, and last where it is negative.
    """
    return bool(x < y or (x == y and np.signbit(x)))


@nb.njit(nogil=True, cache=True)
def insert(
    rows: Values, first: int, last: int, values: Values, place: npt.NDArray[np.int32], width: int
) -> None:
    """Insert rows ``first`` to ``last`` into sorted values (feature, row) and the numbers of their rows.

    Some at a time are sorted on their own, and then merged with those before from the far end.  Missing
    values are +inf, at the end.
    """
    new, at = np.empty(width, values.dtype), np.empty(width, np.int32)
    for f in range(rows.shape[1]):
        line, of_row = values[f], place[f]
        low = first
        while low < last:
            t = min(width, last - low)
            for i in range(t):
                x = rows[low + i, f]
                if np.isnan(x):
                    x = np.inf
                j = i
                while j > 0 and precedes(x, new[j - 1]):
                    new[j] = new[j - 1]
                    at[j] = at[j - 1]
                    j -= 1
                new[j] = x
                at[j] = low + i
            old, to = low - 1, low + t - 1
            for i in range(t - 1, -1, -1):
                while old >= 0 and precedes(new[i], line[old]):
                    line[to] = line[old]
                    of_row[to] = of_row[old]
                    to -= 1
                    old -= 1
                line[to] = new[i]
                of_row[to] = at[i]
                to -= 1
            low += t


@nb.njit(nogil=True, cache=True)
def accumulate(
    values: Values, place: npt.NDArray[np.int32], rows: Values, u: FloatArray, cumulative: FloatArray,
    missing: FloatArray,
) -> None:  # fmt: skip
    """Add up the weights of sorted values, and those of missing ones onto ``missing``."""
    p, m = values.shape
    for f in range(p):
        total = 0.0
        for i in range(m):
            r = place[f, i]
            total += u[r]
            cumulative[f, i] = total
        gone = missing[f]
        low = m
        while low > 0 and values[f, low - 1] == np.inf:
            low -= 1
        for i in range(low, m):
            if np.isnan(rows[place[f, i], f]):
                gone += u[place[f, i]]
        missing[f] = gone
