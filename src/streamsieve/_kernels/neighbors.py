"""Mutual information of single features and a target, by counting neighbors.

Both kernels compute ``psi(N) + <psi(c) - psi(c_x) - psi(c_y)>``.  Each row looks as far as its k-th nearest
neighbor, feature and target taken together; c, c_x and c_y count the rows inside that distance by both, by
the feature alone and by the target alone, itself included.  *Inside* is nearer, or at the very same place.
Without ties c is k.

A difference that falls short of the distance by rounding only is no nearer: 0.3 - 0.2 is less than 0.2 - 0.1
for a computer.  What is nearer must be so by one part in ten thousand million.

A row may stand for several copies.  Columns are sparse: rows that are not stored are 0, NaN is missing.
"""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray


@nb.njit(nogil=True, cache=True)
def _psi(count: int, table: FloatArray) -> float:
    """Digamma of a whole number: from a table of at least 1024 numbers, or by its series beyond that."""
    if count < len(table):
        return float(table[count])
    inverse = 1.0 / count
    square = inverse * inverse
    return float(np.log(float(count)) - 0.5 * inverse - square * (1.0 / 12.0 - square / 120.0))


@nb.njit(nogil=True, cache=True)
def _sort(
    values: FloatArray, n: int, order: IntArray, keys: FloatArray, other: IntArray, spare: FloatArray
) -> None:
    """Fill ``order`` with the places of the first n values in increasing order, equal ones as they stand.

    ``keys`` are the values in that order; ``other`` and ``spare`` are room.  (Numba's own sort of this kind
    takes several times as long to compile.)
    """
    for low in range(0, n, 16):  # short runs by insertion
        for i in range(low, min(low + 16, n)):
            value, at = values[i], i
            while at > low and keys[at - 1] > value:
                keys[at], order[at] = keys[at - 1], order[at - 1]
                at -= 1
            keys[at], order[at] = value, i
    width = 16
    while width < n:  # then merged, two by two
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            a, b = low, middle
            for at in range(low, high):
                if a < middle and (b >= high or keys[a] <= keys[b]):
                    spare[at], other[at] = keys[a], order[a]
                    a += 1
                else:
                    spare[at], other[at] = keys[b], order[b]
                    b += 1
        for at in range(n):
            keys[at], order[at] = spare[at], other[at]
        width *= 2


@nb.njit(nogil=True, cache=True)
def _mass_inside(
    values: FloatArray, below: IntArray, length: int, place: int, scale: float, radius: float
) -> int:
    """Return the mass of those of increasing values that are inside the radius of the one at ``place``.

    ``below[i]`` is the mass of the first i values; differences are multiplied by ``scale``.
    """
    here = values[place]
    low, high = 0, place
    while low < high:
        middle = (low + high) // 2
        d = here - values[middle]
        if d == 0.0 or d * scale < radius:
            high = middle
        else:
            low = middle + 1
    first = low
    low, high = place + 1, length
    while low < high:
        middle = (low + high) // 2
        d = values[middle] - here
        if d == 0.0 or d * scale < radius:
            low = middle + 1
        else:
            high = middle
    return int(below[low] - below[first])


@nb.njit(nogil=True, cache=True)
def labels(
    indptr: IntArray, indices: npt.NDArray[np.int32], data: FloatArray, codes: IntArray, copies: IntArray,
    n_classes: int, k: int, table: FloatArray, low: int, high: int, out: FloatArray,
) -> None:  # fmt: skip
    """Information of features low..high and class labels; rows of another class are infinitely far.

    Classes of which a feature has one row only are left out.  Costs the stored values and classes, not the
    zeros: equal values of one class are one point of a larger mass.
    """
    rows_of, mass_of = np.zeros(n_classes, np.int64), np.zeros(n_classes, np.int64)
    for i in range(len(codes)):
        rows_of[codes[i]] += 1
        mass_of[codes[i]] += copies[i]
    longest = 0
    for j in range(low, high):
        longest = max(longest, indptr[j + 1] - indptr[j])
    most = longest + n_classes
    # points as they come; sorted by value; then by class and value, equal ones merged
    value, code, mass = np.empty(most), np.empty(most, np.int64), np.empty(most, np.int64)
    own, own_mass, own_place = np.empty(most), np.empty(most, np.int64), np.empty(most, np.int64)
    order, keys = np.empty(most, np.int64), np.empty(most)
    other, spare = np.empty(most, np.int64), np.empty(most)
    # different values of all classes, and the mass below each
    distinct, below = np.empty(most), np.empty(most + 1, np.int64)
    zero_rows, zero_mass = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    total, size = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    start = np.empty(n_classes + 1, np.int64)
    for j in range(low, high):
        out[j] = 0.0
        for c in range(n_classes):
            zero_rows[c], zero_mass[c], total[c], size[c] = rows_of[c], mass_of[c], 0, 0
        m = 0
        for t in range(indptr[j], indptr[j + 1]):
            i = indices[t]
            c = codes[i]
            zero_rows[c] -= 1
            zero_mass[c] -= copies[i]
            if data[t] == data[t]:
                value[m], code[m], mass[m] = data[t], c, copies[i]
                total[c] += copies[i]
                m += 1
        for c in range(n_classes):
            if zero_rows[c] > 0:
                value[m], code[m], mass[m] = 0.0, c, zero_mass[c]
                total[c] += zero_mass[c]
                m += 1
        n = 0
        for c in range(n_classes):
            if total[c] > 1:
                n += total[c]
        _sort(value, m, order, keys, other, spare)
        n_distinct = 0
        for s in range(m):
            at = order[s]
            c = code[at]
            if total[c] < 2:
                continue
            if n_distinct == 0 or distinct[n_distinct - 1] != value[at]:
                distinct[n_distinct] = value[at]
                below[n_distinct + 1] = 0
                n_distinct += 1
            below[n_distinct] += mass[at]
            size[c] += 1
        if n_distinct < 2:
            continue
        below[0] = 0
        for g in range(n_distinct):
            below[g + 1] += below[g]
        start[0] = 0
        for c in range(n_classes):
            start[c + 1] = start[c] + size[c]
            size[c] = 0
        g = 0
        for s in range(m):
            at = order[s]
            c = code[at]
            if total[c] < 2:
                continue
            if distinct[g] != value[at]:
                g += 1
            place = start[c] + size[c]
            if size[c] > 0 and own[place - 1] == value[at]:
                own_mass[place - 1] += mass[at]
            else:
                own[place], own_mass[place], own_place[place] = value[at], mass[at], g
                size[c] += 1
        mean = 0.0
        for c in range(n_classes):
            if total[c] < 2:
                continue
            first, last = start[c], start[c] + size[c] - 1
            enough = min(k, total[c] - 1)
            mean -= total[c] / n * _psi(total[c], table)
            for s in range(first, last + 1):
                found = own_mass[s] - 1
                left, right, radius = s - 1, s + 1, 0.0
                while found < enough:
                    to_left = own[s] - own[left] if left >= first else np.inf
                    to_right = own[right] - own[s] if right <= last else np.inf
                    if to_left <= to_right:
                        radius = to_left
                        found += own_mass[left]
                        left -= 1
                    else:
                        radius = to_right
                        found += own_mass[right]
                        right += 1
                radius *= 1.0 - 1e-10
                inside = own_mass[s]
                left, right = s - 1, s + 1
                while left >= first and own[s] - own[left] < radius:
                    inside += own_mass[left]
                    left -= 1
                while right <= last and own[right] - own[s] < radius:
                    inside += own_mass[right]
                    right += 1
                near = _mass_inside(distinct, below, n_distinct, own_place[s], 1.0, radius)
                mean += own_mass[s] / n * (_psi(inside, table) - _psi(near, table))
        out[j] = max(mean + _psi(n, table), 0.0)


@nb.njit(nogil=True, cache=True)
def _inverse_spread(values: FloatArray, copies: IntArray, n: int) -> float:
    """Return one over the standard deviation of values that are not all the same."""
    total, mean = 0, 0.0
    for i in range(n):
        total += copies[i]
    for i in range(n):
        mean += values[i] * (copies[i] / total)
    farthest = 0.0
    for i in range(n):
        farthest = max(farthest, abs(values[i] - mean))
    # relative to the farthest value, because the square of a tiny deviation is 0
    square = 0.0
    for i in range(n):
        d = (values[i] - mean) / farthest
        square += d * d * (copies[i] / total)
    return float(min(1.0 / max(farthest * np.sqrt(square), 1e-307), 1e307))


@nb.njit(nogil=True, cache=True)
def _insert(nearest: FloatArray, k: int, d: float, times: int) -> None:
    """Add a distance, as often as it counts, to the k smallest, which are in order."""
    while times > 0 and d < nearest[k - 1]:
        at = k - 1
        while at > 0 and nearest[at - 1] > d:
            nearest[at] = nearest[at - 1]
            at -= 1
        nearest[at] = d
        times -= 1


@nb.njit(nogil=True, cache=True)
def numbers(
    indptr: IntArray, indices: npt.NDArray[np.int32], data: FloatArray, y: FloatArray, rank: IntArray,
    copies: IntArray, k: int, table: FloatArray, low: int, high: int, out: FloatArray,
) -> None:  # fmt: skip
    """Information of features low..high and a numeric target; each in units of its standard deviation.

    ``y`` and ``copies`` are in increasing order of y, where row i of the columns stands at ``rank[i]``.

    To find a row's neighbors, the rows are cut into strips of about sqrt(n) that follow each other in y, and
    are in order of x within.  The search goes from strip to strip, the nearest first, until one is as far as
    the k-th neighbor, and in each strip from the row's own x outward: a few strips of a few rows.
    """
    n_all = len(y)
    column = np.empty(n_all)
    x, t, mass = np.empty(n_all), np.empty(n_all), np.empty(n_all, np.int64)
    order, sorted_x, at_x = np.empty(n_all, np.int64), np.empty(n_all), np.empty(n_all, np.int64)
    # rows and values strip by strip; also room for sorting
    strip_rows, strip_x = np.empty(n_all, np.int64), np.empty(n_all)
    x_below, y_below = np.empty(n_all + 1, np.int64), np.empty(n_all + 1, np.int64)
    same, filled = np.empty(n_all, np.int64), np.empty(n_all, np.int64)
    nearest = np.empty(k)
    for j in range(low, high):
        out[j] = 0.0
        for i in range(n_all):
            column[i] = 0.0
            filled[i] = 0
        for s in range(indptr[j], indptr[j + 1]):
            column[rank[indices[s]]] = data[s]
        m = 0
        for i in range(n_all):
            if column[i] == column[i]:
                x[m], t[m], mass[m] = column[i], y[i], copies[i]
                m += 1
        if m < 2:
            continue
        _sort(x, m, order, sorted_x, strip_rows, strip_x)  # of equal x the smaller y comes first
        if sorted_x[0] == sorted_x[m - 1] or t[0] == t[m - 1]:
            continue
        width = int(np.sqrt(float(m)))
        x_below[0] = y_below[0] = 0
        run = 0  # where rows with the same x and y begin
        for s in range(m):
            i = order[s]
            at_x[i] = s
            x_below[s + 1] = x_below[s] + mass[i]
            y_below[s + 1] = y_below[s] + mass[s]
            if x[i] != x[order[run]] or t[i] != t[order[run]]:
                for r in range(run, s):
                    same[order[r]] = x_below[s] - x_below[run]
                run = s
            strip = i // width
            place = strip * width + filled[strip]
            strip_rows[place], strip_x[place] = i, x[i]
            filled[strip] += 1
        for r in range(run, m):
            same[order[r]] = x_below[m] - x_below[run]
        n = x_below[m]
        x_scale, y_scale = _inverse_spread(x, mass, m), _inverse_spread(t, mass, m)
        enough = min(k, n - 1)
        mean = 0.0
        for i in range(m):
            radius = 0.0
            inside = same[i]
            if inside - 1 < enough:  # else the k-th neighbor is at the same place
                for s in range(enough):
                    nearest[s] = np.inf
                _insert(nearest, enough, 0.0, mass[i] - 1)
                below = above = i // width
                strip = below
                while True:
                    begin, end = strip * width, min(strip * width + width, m)
                    # the first value of the strip that is not below x[i]
                    left, right = begin, end
                    while left < right:
                        middle = (left + right) // 2
                        if strip_x[middle] < x[i]:
                            left = middle + 1
                        else:
                            right = middle
                    left -= 1
                    while right < end:
                        d = (strip_x[right] - x[i]) * x_scale
                        if d >= nearest[enough - 1]:
                            break
                        other = strip_rows[right]
                        if other != i:
                            d = max(d, abs(t[other] - t[i]) * y_scale)
                            _insert(nearest, enough, d, mass[other])
                        right += 1
                    while left >= begin:
                        d = (x[i] - strip_x[left]) * x_scale
                        if d >= nearest[enough - 1]:
                            break
                        other = strip_rows[left]
                        d = max(d, abs(t[other] - t[i]) * y_scale)
                        _insert(nearest, enough, d, mass[other])
                        left -= 1
                    down, up = np.inf, np.inf
                    if below > 0:
                        down = (t[i] - t[below * width - 1]) * y_scale
                    if (above + 1) * width < m:
                        up = (t[(above + 1) * width] - t[i]) * y_scale
                    if min(down, up) >= nearest[enough - 1]:
                        break
                    if down <= up:
                        below -= 1
                        strip = below
                    else:
                        above += 1
                        strip = above
                radius = nearest[enough - 1] * (1.0 - 1e-10)
                inside = 1
                while inside <= enough and nearest[inside - 1] < radius:
                    inside += 1
            near_x = _mass_inside(sorted_x, x_below, m, at_x[i], x_scale, radius)
            near_y = _mass_inside(t, y_below, m, i, y_scale, radius)
            mean += mass[i] / n * (_psi(inside, table) - _psi(near_x, table) - _psi(near_y, table))
        out[j] = max(mean + _psi(n, table), 0.0)
