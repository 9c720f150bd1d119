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
def _merge_rest(
    x: Values, u: FloatArray, i: Any, i2: Any, j: Any, j2: Any, y: Values, v: FloatArray, at: int
) -> None:
    """Merge x[i] .. x[i2] and x[j] .. x[j2], and their masses, into y[at] and after."""
    while i <= i2 and j <= j2:
        later = np.int64(x[j] < x[i])
        y[at] = x[j] if later else x[i]
        v[at] = u[j] if later else u[i]
        i += 1 - later
        j += later
        at += 1
    for t in range(i, i2 + 1):
        y[at], v[at] = x[t], u[t]
        at += 1
    for t in range(j, j2 + 1):
        y[at], v[at] = x[t], u[t]
        at += 1


@nb.njit(nogil=True, cache=True)
def _merge_two(
    x: Values, u: FloatArray, low: Any, middle: Any, end: Any, y: Values, v: FloatArray, to: int
) -> None:
    """Merge the stretches low:middle and middle:end of two features into those that begin at ``to``.

    From both ends and two features side by side: four chains of comparisons at a time, and no end of a
    stretch to look out for.
    """
    x0, u0, y0, v0 = x[0], u[0], y[0], v[0]
    x1, u1, y1, v1 = x[1], u[1], y[1], v[1]
    i = k = low
    j = h = middle
    i2 = k2 = middle - 1
    j2 = h2 = end - 1
    n, last = min(middle - low, end - middle), to + end - low - 1
    for t in range(n):
        left, right = x0[i], x0[j]
        later = np.int64(right < left)
        y0[to + t] = right if later else left
        v0[to + t] = u0[j] if later else u0[i]
        i += 1 - later
        j += later
        left, right = x1[k], x1[h]
        later = np.int64(right < left)
        y1[to + t] = right if later else left
        v1[to + t] = u1[h] if later else u1[k]
        k += 1 - later
        h += later
        left, right = x0[i2], x0[j2]
        later = np.int64(left > right)
        y0[last - t] = left if later else right
        v0[last - t] = u0[i2] if later else u0[j2]
        i2 -= later
        j2 -= 1 - later
        left, right = x1[k2], x1[h2]
        later = np.int64(left > right)
        y1[last - t] = left if later else right
        v1[last - t] = u1[k2] if later else u1[h2]
        k2 -= later
        h2 -= 1 - later
    _merge_rest(x0, u0, i, i2, j, j2, y0, v0, to + n)
    _merge_rest(x1, u1, k, k2, h, h2, y1, v1, to + n)


@nb.njit(nogil=True, cache=True)
def _merge_to_two(lines: Values, weights: FloatArray, ends: IntArray, n: int) -> int:
    """Merge ``n`` stretches of two features until two are left; return which of the two lines holds them.

    Stretch s ends before ``ends[0, s + 1]``.  After the first pass their number is a power of two, so that a
    short one at the end is not read in every pass.  The last pass leaves a place between the two.
    """
    now = 0
    while n > 2:
        wanted = 1
        while 2 * wanted < n:
            wanted *= 2
        here, there = ends[now], ends[1 - now]
        alone = 2 * wanted - n  # stretches that are copied, because the others suffice
        x, u, y, v = lines[now], weights[now], lines[1 - now], weights[1 - now]
        for to in range(wanted):
            s = min(to, alone) + 2 * max(to - alone, 0)
            low, end = here[s], here[s + 1 if to < alone else s + 2]
            gap = 1 if wanted == 2 and to == 1 else 0
            if to < alone:
                for r in range(2):
                    for t in range(low, end):
                        y[r, t + gap], v[r, t + gap] = x[r, t], u[r, t]
            else:
                _merge_two(x, u, low, here[s + 1], end, y, v, low + gap)
            there[to], there[to + 1] = low, end
        n, now = wanted, 1 - now
    return now


@nb.njit(nogil=True, cache=True)
def merge_and_thin(values: Values, masses: FloatArray, edges: IntArray, c: float, out: Values) -> None:
    """Merge the stretches ``edges[i]:edges[i + 1]`` of each row, all sorted, and :func:`thin` the result.

    Two by two, stably: equal values stay in the order of their stretches, as after a stable sort.  The last
    two are thinned while they are merged, two features side by side.  Unsigned positions need no test for
    negative ones, which halves the time of the last loop.
    """
    p, m = values.shape
    n, k = len(edges) - 1, out.shape[1]
    lines, weights = np.empty((2, 2, m + 2), values.dtype), np.zeros((2, 2, m + 2))
    ends = np.empty((2, n + 1), np.int64)
    places, places2 = np.empty((2, k + 4), out.dtype)
    inverse = 1.0 / max(c, 1e-300)  # as in thin
    one, two, three, four, most = np.uintp(1), np.uintp(2), np.uintp(3), np.uintp(4), np.uintp(k)
    first = edges[1] if n <= 2 else m
    for f in range(0, p, 2):
        g = min(f + 1, p - 1)  # with an odd number of features the last one is done twice
        for r, feature in enumerate((f, g)):
            for t in range(m):
                to = t + (t >= first)
                lines[0, r, to], weights[0, r, to] = values[feature, t], masses[feature, t]
        for s in range(n + 1):
            ends[0, s] = edges[s]
        now = _merge_to_two(lines, weights, ends, n)
        x, u, y, v = lines[now, 0], weights[now, 0], lines[now, 1], weights[now, 1]
        # all comparisons with NaN fail, and +inf beats nothing: at its end a stretch gives way to the other
        x[ends[now, 1]] = y[ends[now, 1]] = np.nan
        x[m + 1] = y[m + 1] = np.inf
        i = i2 = h = h2 = np.uintp(0)
        j = j2 = np.uintp(ends[now, 1]) + one
        total = total2 = 0.0
        value, value2 = x[0], y[0]
        for _ in range(m):
            left, right = x[i], x[j]
            later = np.uintp(not (left <= right))
            value = right if later else left
            total += u[j] if later else u[i]
            i += one - later
            j += later
            end = min(np.uintp(np.intp(total * inverse + 0.5)), most)
            places[h] = value
            places[h + one] = value
            places[h + two] = value
            places[h + three] = value
            for t in range(h + four, end):
                places[t] = value
            h = end
            left, right = y[i2], y[j2]
            later = np.uintp(not (left <= right))
            value2 = right if later else left
            total2 += v[j2] if later else v[i2]
            i2 += one - later
            j2 += later
            end = min(np.uintp(np.intp(total2 * inverse + 0.5)), most)
            places2[h2] = value2
            places2[h2 + one] = value2
            places2[h2 + two] = value2
            places2[h2 + three] = value2
            for t in range(h2 + four, end):
                places2[t] = value2
            h2 = end
        for t in range(np.intp(h), k):  # rounding at the far end
            places[t] = value
        for t in range(np.intp(h2), k):
            places2[t] = value2
        for t in range(k):
            out[f, t] = places[t]
            out[g, t] = places2[t]


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
