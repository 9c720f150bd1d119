"""Budgeted dual averaging, row by row, at a cost of the row's entries only.

Every feature has G, the sum of its gradients, and s2, the sum of their squares.  With
a = ridge * rate * (rows so far) and H = damping + sqrt(s2), its weight is w = -rate * G / (a + H) and its
score w * w * H.  The ``budget`` largest scores (the lower feature first among equals) are the members: only
they predict.  All scores change with every row, because a grows.

**1 / sqrt(score) = (a + H) / (rate |G| sqrt(H)) is a straight line in a.**  Two features that are not touched
swap places once at most, and one that ranks after another at two moments does so in between.  So it is enough
to know that features stay on their side of a few frozen lines:

* *outsiders* rank after the floor, now and at ``HORIZON``.  All other features stand in the pool:
* *sure members* rank before the upper line, the *rest* of the pool after the lower one, now and at ``CALM``;
* the *zone* is what is left, some dozens of features.  It is ranked again for every row, and its best fill
  up the budget.

A feature is looked at when it is touched; the pool when the zone has grown or calm is over; all features (by
the caller) when the best of the pool have come down to the floor or the horizon is reached.  A margin of
1e-12 stands for rounding, and equal lines rank by feature.  So the members are those of a full sort of all
computed scores, at every row.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve._kernels.intrinsics import prefetch
from streamsieve.protocols import FloatArray, IntArray

#: Places in ``counts``: rows learned; features ever touched; the pool's sure members, those and the zone, and
#: all of it; how many it may hold before it must be thinned out; the features of the lines (-1: no line).
ROWS, TOUCHED, SURE, REST, HELD, MOST, FLOOR, UPPER, LOWER = range(9)
#: Places in ``levels``: rate * G and H of the lines; how far the promises reach, and the next calm shall.
FLOOR_G, FLOOR_H, UPPER_G, UPPER_H, LOWER_G, LOWER_H, HORIZON, CALM, STRETCH = range(9)
#: What ``place`` says of a feature that was touched and stands outside the pool; 0 means never touched.
OUTSIDE = -1
#: A score below another's times this stays below it, however both are rounded.
SURELY = 1.0 - 1e-12
#: Gradients are held within this; sums of their squares cannot overflow then.
STEEPEST = 1e140


@nb.njit(nogil=True, cache=True, error_model="numpy")
def _score(g: float, h: float, a: float) -> float:
    w = g / (a + h)
    return w * w * h


@nb.njit(nogil=True, cache=True, error_model="numpy")
def _ranks_before(s: float, j: int, s0: float, j0: int) -> bool:
    """Whether score s of feature j comes before score s0 of feature j0 at this moment."""
    return s > s0 or (s == s0 and j < j0)


@nb.njit(nogil=True, cache=True, error_model="numpy")
def _stays_after(g: float, h: float, j: int, g0: float, h0: float, j0: int, now: float, then: float) -> bool:
    """Whether line (g, h) of feature j ranks after another one from now until then."""
    if h == h0 and abs(g) == abs(g0):
        return j > j0
    if _score(g, h, now) < _score(g0, h0, now) * SURELY:
        return bool(_score(g, h, then) < _score(g0, h0, then) * SURELY)
    return False


@nb.njit(nogil=True, cache=True, error_model="numpy")
def _swap(i: int, k: int, pool: IntArray, lines: FloatArray, place: npt.NDArray[np.int32]) -> None:
    pool[i], pool[k] = pool[k], pool[i]
    for r in range(3):
        lines[r, i], lines[r, k] = lines[r, k], lines[r, i]
    place[pool[i]] = i + 1
    place[pool[k]] = k + 1


@nb.njit(nogil=True, cache=True, error_model="numpy")
def _nth(rank: int, pool: IntArray, score: FloatArray, order: IntArray) -> int:
    """Return the place in the pool of the feature of a given rank.

    Hoare's quickselect on ``order``, a permutation of the places; NumPy's takes ten times as long to compile.
    """
    low, high = 0, len(order) - 1
    while low < high:
        middle = order[(low + high) // 2]
        s, j = score[middle], pool[middle]
        i, k = low, high
        while i <= k:
            while _ranks_before(score[order[i]], pool[order[i]], s, j):
                i += 1
            while _ranks_before(s, j, score[order[k]], pool[order[k]]):
                k -= 1
            if i <= k:
                order[i], order[k] = order[k], order[i]
                i += 1
                k -= 1
        if rank <= k:
            high = k
        elif rank >= i:
            low = i
        else:
            break
    return int(order[rank])


@nb.njit(nogil=True, cache=True, error_model="numpy")
def _settle(
    a: float, row: float, budget: int, width: int, pool: IntArray, lines: FloatArray,
    place: npt.NDArray[np.int32], counts: IntArray, levels: FloatArray,
) -> None:  # fmt: skip
    """Redraw the upper and the lower line, ``width`` features above and below the budget's end."""
    held, floor = counts[HELD], counts[FLOOR]
    g, h, score = lines[0], lines[1], lines[2]
    for i in range(held):
        w = g[i] / (a + h[i])
        score[i] = w * w * h[i]
    order = np.arange(held)
    then = min(a + levels[STRETCH], levels[HORIZON])
    upper, lower = -1, floor
    upper_g, upper_h, lower_g, lower_h = 0.0, 0.0, levels[FLOOR_G], levels[FLOOR_H]
    if budget > width:
        i = _nth(budget - width - 1, pool, score, order)
        upper, upper_g, upper_h = pool[i], g[i], h[i]
    if budget + width < held:
        i = _nth(budget + width, pool, score, order)
        if floor < 0 or _stays_after(lower_g, lower_h, floor, g[i], h[i], pool[i], a, then):
            lower, lower_g, lower_h = pool[i], g[i], h[i]
    both = upper >= 0 and lower >= 0
    if both and not _stays_after(lower_g, lower_h, lower, upper_g, upper_h, upper, a, then):
        then = a  # they say something of this moment only
    # sure members go to the front; from both ends, because few change their places
    low, high = 0, held
    while upper >= 0:
        while low < high and _stays_after(upper_g, upper_h, upper + 1, g[low], h[low], pool[low], a, then):
            low += 1
        k = high - 1
        while low <= k and not _stays_after(upper_g, upper_h, upper + 1, g[k], h[k], pool[k], a, then):
            k -= 1
        high = k + 1
        if low == high:
            break
        _swap(low, k, pool, lines, place)
    counts[SURE] = low
    # likewise the rest goes to the back
    high = held
    while lower >= 0:
        while low < high and not _stays_after(
            g[low], h[low], pool[low], lower_g, lower_h, lower - 1, a, then
        ):
            low += 1
        k = high - 1
        while low <= k and _stays_after(g[k], h[k], pool[k], lower_g, lower_h, lower - 1, a, then):
            k -= 1
        high = k + 1
        if low == high:
            break
        _swap(low, k, pool, lines, place)
    counts[REST] = high
    counts[UPPER], counts[LOWER] = upper, lower
    levels[UPPER_G], levels[UPPER_H], levels[LOWER_G], levels[LOWER_H] = upper_g, upper_h, lower_g, lower_h
    levels[CALM] = then
    if counts[REST] - counts[SURE] > 3 * width:
        levels[STRETCH] = max(0.5 * levels[STRETCH], row)
    elif then < levels[HORIZON]:
        levels[STRETCH] = min(max(2.0 * levels[STRETCH], row), a + 1e6 * row)


@nb.njit(nogil=True, cache=True, error_model="numpy")
def _fill(
    a: float, budget: int, pool: IntArray, lines: FloatArray, place: npt.NDArray[np.int32],
    counts: IntArray, levels: FloatArray,
) -> bool:  # fmt: skip
    """Move the best of the zone to its front; return False if the lines do not say who is a member."""
    sure, rest = counts[SURE], counts[REST]
    if budget < sure or rest < budget:
        return False
    g, h, score = lines[0], lines[1], lines[2]
    for i in range(sure, rest):
        w = g[i] / (a + h[i])
        score[i] = w * w * h[i]
    worst = best = -1
    swaps = 0
    while swaps <= rest - sure:  # each of the zone moves once at most
        worst, best = -1, -1
        for i in range(sure, budget):
            if worst < 0 or _ranks_before(score[worst], pool[worst], score[i], pool[i]):
                worst = i
        for i in range(budget, rest):
            if best < 0 or _ranks_before(score[i], pool[i], score[best], pool[best]):
                best = i
        if worst < 0 or best < 0 or _ranks_before(score[worst], pool[worst], score[best], pool[best]):
            break
        _swap(worst, best, pool, lines, place)
        swaps += 1
    if swaps > rest - sure:
        return False  # scores that are not numbers have no order
    if worst >= 0 and counts[LOWER] >= 0:
        bound = _score(levels[LOWER_G], levels[LOWER_H], a)
        if not _ranks_before(score[worst], pool[worst], bound, counts[LOWER]):
            return False
    if best >= 0 and counts[UPPER] >= 0:
        bound = _score(levels[UPPER_G], levels[UPPER_H], a)
        if not _ranks_before(bound, counts[UPPER], score[best], pool[best]):
            return False
    return True


@nb.njit(nogil=True, cache=True, error_model="numpy")
def learn(
    data: FloatArray, indices: npt.NDArray[np.int32], indptr: IntArray, signs: FloatArray, first: int,
    rate: float, ridge: float, damping: float, budget: int, width: int,
    table: FloatArray, place: npt.NDArray[np.int32], touched: npt.NDArray[np.int32],
    pool: IntArray, lines: FloatArray, counts: IntArray, levels: FloatArray, margins: FloatArray,
) -> int:  # fmt: skip
    """Learn rows from ``first`` on; return the first row that was not, because the pool must be renewed.

    Parameters
    ----------
    data, indices, indptr : the rows
    signs : -1 or +1 a row
    width : about half of the zone's size
    table : (feature, 2), G and s2
    place : 0, ``OUTSIDE``, or 1 + the feature's place in the pool
    touched : all features that are not at place 0
    pool, lines : the pool's features, members first; their rate * G, H and (scratch) score.  There must be
        room for all entries of a row beyond ``counts[MOST]``, or for all features
    counts, levels : see above; changed
    margins : takes what was predicted for every row
    """
    flat = table.reshape(table.size)
    end = len(indices) - 1
    for i in range(first, len(indptr) - 1):
        a = ridge * rate * counts[ROWS]
        floor, horizon = counts[FLOOR], levels[HORIZON]
        if a > horizon or counts[HELD] > counts[MOST]:
            return i
        some_are_left = floor >= 0 or counts[HELD] > budget
        if some_are_left and (a > levels[CALM] or not _fill(a, budget, pool, lines, place, counts, levels)):
            _settle(a, ridge * rate, budget, width, pool, lines, place, counts, levels)
            if not _fill(a, budget, pool, lines, place, counts, levels):
                return i
        f = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            ahead = indices[min(e + 24, end)]
            prefetch(place, ahead)
            prefetch(flat, np.intp(ahead) * 2)
            at = place[indices[e]] - 1
            if 0 <= at < budget:
                f += -(lines[0, at] / (a + lines[1, at])) * data[e]
        margins[i] = f
        counts[ROWS] += 1
        y = signs[i]
        if y * f >= 1.0:
            continue
        a = ridge * rate * counts[ROWS]
        step = -2.0 * y * (1.0 - y * f)
        floor_g, floor_h, floor_now, floor_then = levels[FLOOR_G], levels[FLOOR_H], 0.0, 0.0
        if floor >= 0:
            floor_now = _score(floor_g, floor_h, a) * SURELY
            floor_then = _score(floor_g, floor_h, horizon) * SURELY
        for e in range(indptr[i], indptr[i + 1]):
            slope = step * data[e]
            if slope == 0.0:
                continue
            if abs(slope) > STEEPEST:
                slope = math.copysign(STEEPEST, slope)
            j = indices[e]
            total = table[j, 0] + slope
            squares = table[j, 1] + slope * slope
            table[j, 0] = total
            table[j, 1] = squares
            g, h = rate * total, damping + np.sqrt(squares)
            at = place[j] - 1
            if at < 0:
                if at == -1:
                    touched[counts[TOUCHED]] = j
                    counts[TOUCHED] += 1
                    place[j] = OUTSIDE
                if floor >= 0:
                    score = _score(g, h, a)
                    if score < floor_then:  # and so it stays: scores only fall as a grows
                        continue
                    if h == floor_h and abs(g) == abs(floor_g):
                        if j >= floor:
                            continue
                    elif score < floor_now and _score(g, h, horizon) < floor_then:
                        continue
                at = counts[HELD]
                counts[HELD] += 1
                place[j] = at + 1
                pool[at] = j
            lines[0, at] = g
            lines[1, at] = h
            if at < counts[SURE]:
                up_g, up_h, upper = levels[UPPER_G], levels[UPPER_H], counts[UPPER]
                if not _stays_after(up_g, up_h, upper + 1, g, h, j, a, levels[CALM]):
                    counts[SURE] -= 1
                    _swap(at, counts[SURE], pool, lines, place)
            elif at >= counts[REST]:
                low_g, low_h, lower = levels[LOWER_G], levels[LOWER_H], counts[LOWER]
                if lower < 0 or not _stays_after(g, h, j, low_g, low_h, lower - 1, a, levels[CALM]):
                    _swap(at, counts[REST], pool, lines, place)
                    counts[REST] += 1
        if counts[REST] - counts[SURE] > 6 * width:
            levels[CALM] = -1.0
    return len(indptr) - 1


@nb.njit(nogil=True, cache=True, error_model="numpy")
def look(
    features: npt.NDArray[np.int32], table: FloatArray, rate: float, damping: float, a: float, out: FloatArray
) -> None:
    """Compute the scores of some features."""
    flat = table.reshape(table.size)
    last = len(features) - 1
    for i in range(len(features)):
        prefetch(flat, np.intp(features[min(i + 32, last)]) * 2)
        j = features[i]
        out[i] = _score(rate * table[j, 0], damping + np.sqrt(table[j, 1]), a)
