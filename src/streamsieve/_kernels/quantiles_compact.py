"""Sorted stretches of values and masses, merged two by two and thinned to one run of equal masses."""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray

Values = npt.NDArray[Any]


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
    """Merge the stretches ``edges[i]:edges[i + 1]`` of each row, all sorted, and thin the result.

    It is thinned as by ``thin`` of `_kernels.quantiles_weighted`.  Two by two, stably: equal values stay in
    the order of their stretches, as after a stable sort.  The last two are thinned while they are merged, two
    features side by side.  Unsigned positions need no test for negative ones, which halves the time of the
    last loop.
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
