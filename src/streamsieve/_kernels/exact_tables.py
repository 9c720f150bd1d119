"""P-values of contingency tables that hold at every level: Fisher's exact test, and random tables.

A 2 x 2 table is (fewest, corner): the rows of one level, and how many of them are in one class of ``ones``
rows out of n.  Given the margins the corner is hypergeometric.  ``lf[c]`` is ln c! for c up to n.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray


@nb.njit(nogil=True, cache=True)
def _log_probability(corner: int, fewest: int, ones: int, n: int, lf: FloatArray) -> float:
    rest = n - ones
    return float(
        lf[ones] - lf[corner] - lf[ones - corner]
        + lf[rest] - lf[fewest - corner] - lf[rest - fewest + corner]
        - (lf[n] - lf[fewest] - lf[n - fewest])
    )  # fmt: skip


@nb.njit(nogil=True, cache=True)
def _tail(corner: int, step: int, fewest: int, ones: int, n: int, lf: FloatArray) -> float:
    """Sum the probabilities of ``corner`` and all beyond it, upward (step 1) or downward (-1)."""
    term = math.exp(_log_probability(corner, fewest, ones, n, lf))
    total = term
    rest = n - ones - fewest
    while term > 1e-17 * total:
        if step > 0:
            term *= (ones - corner) * (fewest - corner) / ((corner + 1.0) * (rest + corner + 1.0))
        else:
            term *= corner * (rest + corner) / ((ones - corner + 1.0) * (fewest - corner + 1.0))
        corner += step
        total += term
    return total


@nb.njit(nogil=True, cache=True)
def fisher_one(corner: int, fewest: int, ones: int, n: int, lf: FloatArray) -> float:
    """Two-sided p-value of one table: the probability of all tables that are not more probable than it.

    Probabilities that agree to seven digits are equal, as in R.
    """
    lowest, highest = max(0, fewest + ones - n), min(fewest, ones)
    mode = (fewest + 1) * (ones + 1) // (n + 2)
    own = _log_probability(corner, fewest, ones, n, lf) + 1e-7
    if own >= _log_probability(mode, fewest, ones, n, lf):
        return 1.0
    # probabilities rise up to the mode and fall after it: bisect for the first that counts on the other side
    if corner > mode:
        inside, outside = mode, lowest - 1
        while inside - outside > 1:
            middle = (inside + outside) // 2
            if _log_probability(middle, fewest, ones, n, lf) <= own:
                outside = middle
            else:
                inside = middle
        p = _tail(corner, 1, fewest, ones, n, lf)
        if outside >= lowest:
            p += _tail(outside, -1, fewest, ones, n, lf)
    else:
        inside, outside = mode, highest + 1
        while outside - inside > 1:
            middle = (inside + outside) // 2
            if _log_probability(middle, fewest, ones, n, lf) <= own:
                outside = middle
            else:
                inside = middle
        p = _tail(corner, -1, fewest, ones, n, lf)
        if outside <= highest:
            p += _tail(outside, 1, fewest, ones, n, lf)
    return float(min(p, 1.0))


@nb.njit(nogil=True, cache=True)
def fisher(
    corner: IntArray, fewest: IntArray, ones: int, n: int, lf: FloatArray, known: FloatArray, out: FloatArray
) -> None:
    """Write Fisher's p-values of many tables with the same classes.

    ``known[fewest, corner]`` is that of a table met before, or 0.  Threads may share it: each number is
    written at once, and always the same.
    """
    for j in range(len(corner)):
        a, rows = corner[j], fewest[j]
        if rows >= len(known):
            out[j] = fisher_one(a, rows, ones, n, lf)
            continue
        if known[rows, a] == 0.0:
            known[rows, a] = fisher_one(a, rows, ones, n, lf)
        out[j] = known[rows, a]


@nb.njit(nogil=True, cache=True)
def fisher_bounds(ones: int, n: int, alpha: float, lf: FloatArray, low: IntArray, high: IntArray) -> None:
    """Write, for each number of rows of the level, the smallest and largest corner that is not significant.

    P-values rise up to the mode and fall after it, so both bounds are found by walking from those of the row
    before, which are a step or two away.
    """
    for fewest in range(1, len(low)):
        lowest, highest = max(0, fewest + ones - n), min(fewest, ones)
        mode = (fewest + 1) * (ones + 1) // (n + 2)
        a = min(max(low[fewest - 1], lowest), mode)
        while a > lowest and fisher_one(a - 1, fewest, ones, n, lf) > alpha:
            a -= 1
        while a < mode and fisher_one(a, fewest, ones, n, lf) <= alpha:
            a += 1
        b = max(min(high[fewest - 1] + 1, highest), mode)
        while b < highest and fisher_one(b + 1, fewest, ones, n, lf) > alpha:
            b += 1
        while b > mode and fisher_one(b, fewest, ones, n, lf) <= alpha:
            b -= 1
        low[fewest], high[fewest] = a, b


@nb.njit(nogil=True, cache=True)
def cell_p_value(table: IntArray, lf: FloatArray) -> tuple[float, int]:
    """Return the smallest p-value of one level and one class against all others, and the number of tests."""
    r, c = table.shape
    n = table.sum()
    smallest, tests = 1.0, 0
    for i in range(r if r > 2 else 1):
        for j in range(c if c > 2 else 1):
            p = fisher_one(table[i, j], table[i].sum(), table[:, j].sum(), n, lf)
            smallest = min(smallest, p)
            tests += 1
    return smallest, tests


@nb.njit(nogil=True, cache=True)
def _mixed(state: np.uint64) -> np.uint64:
    """Return the next number of splitmix64 after a state, which grows by a constant."""
    z = state + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@nb.njit(nogil=True, cache=True)
def begin(
    drawn: IntArray, drawn_ends: IntArray, shuffled: IntArray, shuffled_ends: IntArray
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], np.uint64]:
    """Return the levels of all rows, room for a table, and the seed, which is a function of the margins."""
    strata = len(drawn_ends) - 1
    rows = 0
    widest = tallest = 0
    state = np.uint64(0)
    for s in range(strata):
        for k in range(drawn_ends[s], drawn_ends[s + 1]):
            rows += drawn[k]
            state = _mixed(state ^ np.uint64(drawn[k]))
        for k in range(shuffled_ends[s], shuffled_ends[s + 1]):
            state = _mixed(state ^ np.uint64(shuffled[k]))
        widest = max(widest, drawn_ends[s + 1] - drawn_ends[s])
        tallest = max(tallest, shuffled_ends[s + 1] - shuffled_ends[s])
    codes = np.empty(rows, np.int32)
    at = 0
    for s in range(strata):
        for i in range(shuffled_ends[s + 1] - shuffled_ends[s]):
            for _ in range(shuffled[shuffled_ends[s] + i]):
                codes[at] = i
                at += 1
    return codes, np.empty((tallest, widest), np.int64), state


@nb.njit(nogil=True, cache=True)
def _draw(
    drawn: IntArray, drawn_ends: IntArray, shuffled: IntArray, shuffled_ends: IntArray,
    codes: npt.NDArray[np.int32], cell: npt.NDArray[np.int64], state: np.uint64,
) -> tuple[float, np.uint64]:  # fmt: skip
    """Draw a table; return Pearson's statistic summed over strata, and the next state."""
    total = 0.0
    begin = 0
    for s in range(len(drawn_ends) - 1):
        first, last = drawn_ends[s], drawn_ends[s + 1] - 1
        levels = shuffled_ends[s + 1] - shuffled_ends[s]
        size = 0
        for i in range(levels):
            margin = shuffled[shuffled_ends[s] + i]
            size += margin
            cell[i, last - first] = margin
            for j in range(last - first):
                cell[i, j] = 0
        here = 0
        for j in range(first, last):
            for _ in range(drawn[j]):
                high = _mixed(state) >> np.uint64(32)
                state += np.uint64(0x9E3779B97F4A7C15)
                other = begin + here + np.int64((high * np.uint64(size - here)) >> np.uint64(32))
                code = codes[other]
                codes[other] = codes[begin + here]
                codes[begin + here] = code
                cell[code, j - first] += 1
                cell[code, last - first] -= 1
                here += 1
        part = 0.0
        for i in range(levels):
            for j in range(last - first + 1):
                k = cell[i, j]
                part += k * k / (shuffled[shuffled_ends[s] + i] * float(drawn[first + j]))
        total += size * part - size
        begin += size
    return total, state


@nb.njit(nogil=True, cache=True)
def exceedances(
    drawn: IntArray, drawn_ends: IntArray, shuffled: IntArray, shuffled_ends: IntArray,
    observed: float, most: int, stop: int,
) -> tuple[int, int]:  # fmt: skip
    """Draw tables with given margins; return (those with Pearson's statistic at or above it, all draws).

    Stratum s has the margins ``drawn[drawn_ends[s]:drawn_ends[s + 1]]`` of one side, the largest last, and
    likewise those of the other.  At most ``most`` tables; no more after ``stop`` that are as large.  The seed
    are the margins, so the answer depends on nothing else.
    """
    codes, cell, state = begin(drawn, drawn_ends, shuffled, shuffled_ends)
    threshold = observed * (1.0 - 1e-9)
    found = 0
    for draw in range(most):
        total, state = _draw(drawn, drawn_ends, shuffled, shuffled_ends, codes, cell, state)
        if total >= threshold:
            found += 1
            if found == stop:
                return found, draw + 1
    return found, most


@nb.njit(nogil=True, cache=True)
def draw_on(
    drawn: IntArray, drawn_ends: IntArray, shuffled: IntArray, shuffled_ends: IntArray,
    codes: npt.NDArray[np.int32], cell: npt.NDArray[np.int64], state: np.uint64,
    threshold: float, made: int, most: int, largest: FloatArray, record: FloatArray, place: IntArray, n: int,
) -> tuple[np.uint64, int, int]:  # fmt: skip
    """Draw the tables of `exceedances` one after the other, until ``largest`` is full of what exceeds.

    ``largest`` has the largest statistics so far, ascending; whenever its first number grows, that number and
    the draws made are appended to ``record`` and ``place``, of which n are used.  Ends when these are full,
    too. Returns the state, the draws made, and n.
    """
    while made < most and largest[0] < threshold and n < len(record):
        total, state = _draw(drawn, drawn_ends, shuffled, shuffled_ends, codes, cell, state)
        made += 1
        if total > largest[0]:
            before = largest[0]
            k = 0
            while k + 1 < len(largest) and largest[k + 1] < total:
                largest[k] = largest[k + 1]
                k += 1
            largest[k] = total
            if largest[0] > before:
                record[n] = largest[0]
                place[n] = made
                n += 1
    return state, made, n
