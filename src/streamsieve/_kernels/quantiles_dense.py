"""Sorted runs of equal weight: transpose, collapse, join, and the tally of columns with few values.

A *run* is a (features, k) array, each row sorted; all its values stand for the same mass.  Missing values
are +inf here: they sort last and every comparison is total.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray

Values = npt.NDArray[Any]


@nb.njit(nogil=True, cache=True)
def beyond(X: Values, limit: float) -> int:
    """Count the values whose magnitude exceeds the limit; NaN does not."""
    n, p = X.shape
    bound = np.empty(1, X.dtype)  # of the values' own type, or all of them would be widened
    bound[0] = limit
    found = 0
    for i in range(n):
        row = X[i]
        here = 0
        for j in range(p):
            here += int(abs(row[j]) > bound[0])
        found += here
    return found


@nb.njit(nogil=True, cache=True)
def transpose(rows: Values, out: Values, missing: FloatArray) -> None:
    """Write rows (row, feature) to out (feature, row); count NaN and turn it into +inf."""
    n, p = rows.shape
    for j0 in range(0, p, 16):
        for i0 in range(0, n, 64):
            for j in range(j0, min(p, j0 + 16)):
                gone = 0
                for i in range(i0, min(n, i0 + 64)):
                    v = rows[i, j]
                    absent = np.isnan(v)
                    gone += 1 if absent else 0
                    out[j, i] = np.inf if absent else v
                missing[j] += gone


@nb.njit(nogil=True, cache=True)
def collapse(A: Values, B: Values, out: Values, odd: bool) -> None:
    """Keep every second value of the merge of two runs: the 2nd, 4th, ... if odd, else the 1st, 3rd, ...

    One pair of cursors walks up and one down, k steps each, so that no bounds need testing; two features go
    side by side: four branch-free chains, far quicker than sorting the concatenation.
    """
    p, k = A.shape
    for f in range(0, p, 2):
        g = min(f + 1, p - 1)  # with an odd number of features the last one is done twice
        a, b, o = A[f], B[f], out[f]
        a2, b2, o2 = A[g], B[g], out[g]
        i = j = i2 = j2 = np.intp(0)
        u = v = u2 = v2 = np.intp(k - 1)
        for t in range(k // 2):
            x, y = a[i], b[j]
            first = min(x, y)
            c = np.intp(x <= y)
            i += c
            j += 1 - c
            x, y = a2[i2], b2[j2]
            first2 = min(x, y)
            c = np.intp(x <= y)
            i2 += c
            j2 += 1 - c
            x, y = a[i], b[j]
            second = min(x, y)
            c = np.intp(x <= y)
            i += c
            j += 1 - c
            x, y = a2[i2], b2[j2]
            second2 = min(x, y)
            c = np.intp(x <= y)
            i2 += c
            j2 += 1 - c
            o[t] = second if odd else first
            o2[t] = second2 if odd else first2
            x, y = a[u], b[v]
            second = max(x, y)
            c = np.intp(x > y)
            u -= c
            v -= 1 - c
            x, y = a2[u2], b2[v2]
            second2 = max(x, y)
            c = np.intp(x > y)
            u2 -= c
            v2 -= 1 - c
            x, y = a[u], b[v]
            first = max(x, y)
            c = np.intp(x > y)
            u -= c
            v -= 1 - c
            x, y = a2[u2], b2[v2]
            first2 = max(x, y)
            c = np.intp(x > y)
            u2 -= c
            v2 -= 1 - c
            o[k - 1 - t] = second if odd else first
            o2[k - 1 - t] = second2 if odd else first2


@nb.njit(nogil=True, cache=True)
def join(A: Values, B: Values, out: Values) -> None:
    """Merge two runs of width k into one of width 2k; nothing is lost."""
    p, k = A.shape
    for f in range(p):
        a, b, o = A[f], B[f], out[f]
        i = j = np.intp(0)
        u = v = np.intp(k - 1)
        for t in range(k):
            x, y = a[i], b[j]
            o[t] = min(x, y)
            c = np.intp(x <= y)
            i += c
            j += 1 - c
            x, y = a[u], b[v]
            o[2 * k - 1 - t] = max(x, y)
            c = np.intp(x > y)
            u -= c
            v -= 1 - c


@nb.njit(nogil=True, cache=True)
def tally(
    ordered: Values, cumulative: FloatArray, weighted: bool,
    values: FloatArray, masses: FloatArray, sizes: IntArray,
) -> None:  # fmt: skip
    """Add sorted rows (feature, value) to each feature's small table of distinct values and their masses.

    ``cumulative[f, i]`` is the mass of the first i + 1 values; without weights it is i + 1 and not read.  A
    feature whose table is full gets size -1 and is left alone from then on.
    """
    p, m = ordered.shape
    most = values.shape[1]
    for f in range(p):
        size = sizes[f]
        if size < 0:
            continue
        row = ordered[f]
        if size == 0 and m > most:  # a continuous column shows at once, before memory is touched for it
            distinct = 1
            for i in range(1, most + 1):
                distinct += int(row[i] > row[i - 1])
            if distinct > most and row[most] < np.inf:
                sizes[f] = -1
                continue
        place = 0
        start = 0
        before = 0.0
        while start < m and row[start] < np.inf:
            x = row[start]
            low, high = start + 1, m  # the end of this value's stretch
            step = 1
            while start + step < m and row[start + step] <= x:
                low = start + step + 1
                step *= 2
            high = min(m, start + step)
            while low < high:
                middle = (low + high) >> 1
                if row[middle] <= x:
                    low = middle + 1
                else:
                    high = middle
            total = cumulative[f, low - 1] if weighted else float(low)
            while place < size and values[f, place] < x:
                place += 1
            if place < size and values[f, place] == x:
                masses[f, place] += total - before
            elif size < most:
                for t in range(size, place, -1):
                    values[f, t] = values[f, t - 1]
                    masses[f, t] = masses[f, t - 1]
                values[f, place] = x
                masses[f, place] = total - before
                size += 1
            else:
                size = -1
                break
            before = total
            start = low
        sizes[f] = size
