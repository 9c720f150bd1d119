"""Online feature selection by a truncated linear model, from whole rows or from a few entries of each.

The weights are a sorted list of at most B columns and their values, never 0: nothing here has the length of
all features, so that a row costs the same however many there are.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray

Columns = npt.NDArray[np.int32]


@nb.njit(nogil=True, cache=True)
def learn_rows(
    indptr: IntArray, indices: Columns, data: FloatArray, y: FloatArray, columns: Columns,
    weights: FloatArray, m: int, scale: float, budget: int, learning_rate: float, ridge: float,
) -> Any:  # fmt: skip
    """Learn rows with labels -1 and +1, in place; return the number of weights, the scale, and the mistakes.

    ``columns`` and ``weights`` hold m values and have room for all that the rows may add, up to the budget.
    The model is ``scale * weights``.  A row of margin 1 or more only shrinks the scale; any other rewrites
    the list, and the scale is 1 again.
    """
    shrink = 1.0 - learning_rate * ridge
    radius = 1.0 / np.sqrt(ridge)
    longest = 0
    for r in range(len(y)):
        longest = max(longest, indptr[r + 1] - indptr[r])
    room = len(columns) + longest
    places, sums, sizes = np.empty(room, np.int32), np.empty(room), np.empty(room)
    mistakes = 0
    for r in range(len(y)):
        low, high = indptr[r], indptr[r + 1]
        margin = y[r] * scale * _dot(columns, weights, m, indices, data, low, high)
        if margin <= 0.0:
            mistakes += 1
        if margin >= 1.0:
            scale *= shrink
            continue
        keep, step = scale * shrink, learning_rate * y[r]
        n = _add(columns, weights, m, keep, indices, data, low, high, step, 1.0, 1.0, places, sums)
        m = _truncate(places, sums, n, radius, columns, weights, budget, sizes)
        scale = 1.0
    return m, scale, mistakes


@nb.njit(nogil=True, cache=True)
def learn_partial_rows(
    indptr: IntArray, indices: Columns, data: FloatArray, y: FloatArray, columns: Columns,
    weights: FloatArray, m: int, n_features: int, learning_rate: float, radius: float,
    exploration: float, seed: int, first_row: int,
) -> Any:  # fmt: skip
    """Learn rows of which at most as many entries may be looked at as there is room for weights, in place.

    Return the number of weights, the mistakes made, and the number of entries looked at.  Entries are looked
    up one by one: a row costs the same however long it is, but for the logarithm of a search.
    """
    budget = len(columns)
    wanted, seen, found = np.empty(budget, np.int32), np.empty(budget, np.int32), np.empty(budget)
    places, sums, sizes = np.empty(2 * budget, np.int32), np.empty(2 * budget), np.empty(2 * budget)
    bits = 2
    while 1 << bits < 4 * budget:
        bits += 1
    taken = np.empty(1 << bits, np.int64)
    share = budget / n_features if n_features else 1.0
    mistakes = observed = 0
    for r in range(len(y)):
        # without weights there is nothing to exploit: always explore
        probability = exploration if m else 1.0
        if probability == 1.0 or uniform(seed, first_row + r, 0) < probability:
            draw_columns(wanted, n_features, seed, first_row + r, taken, bits)
            n = budget
        else:
            for i in range(m):
                wanted[i] = columns[i]
            n = m
        observed += n
        n = _look(wanted, n, indices, data, indptr[r], indptr[r + 1], n_features, seen, found)
        margin = y[r] * _dot(columns, weights, m, seen, found, 0, n)
        if margin > 0.0:
            continue
        mistakes += 1
        step = learning_rate * y[r]
        # an entry is divided by the probability that it was looked at, so that it is right on average
        outside = share * probability
        inside = outside + (1.0 - probability)
        n = _add(columns, weights, m, 1.0, seen, found, 0, n, step, inside, outside, places, sums)
        m = _truncate(places, sums, n, radius, columns, weights, budget, sizes)
    return m, mistakes, observed


@nb.njit(nogil=True, cache=True)
def _dot(
    columns: Columns, weights: FloatArray, m: int, indices: Columns, data: FloatArray, low: int, high: int
) -> float:
    """Product of the first m weights with a row, in the order of columns."""
    total = 0.0
    length = high - low
    if length > 16 * m:  # a few weights, a long row
        for i in range(m):
            low = _search(indices, low, high, columns[i])
            if low < high and indices[low] == columns[i]:
                total += weights[i] * data[low]
        return total
    if m > 16 * length:
        i = 0
        for e in range(low, high):
            i = _search(columns, i, m, indices[e])
            if i < m and columns[i] == indices[e]:
                total += weights[i] * data[e]
        return total
    i, e = 0, low
    while i < m and e < high:
        a, b = columns[i], indices[e]
        if a == b:
            total += weights[i] * data[e]
        i += a <= b  # branch-free: which list is behind is random
        e += b <= a
    return total


@nb.njit(nogil=True, cache=True)
def _search(ordered: Columns, low: int, high: int, column: int) -> int:
    """First place from ``low`` on whose column is not smaller."""
    while low < high:
        middle = (low + high) >> 1
        if ordered[middle] < column:
            low = middle + 1
        else:
            high = middle
    return low


@nb.njit(nogil=True, cache=True)
def _add(
    columns: Columns, weights: FloatArray, m: int, keep: float, indices: Columns, data: FloatArray,
    low: int, high: int, step: float, inside: float, outside: float, places: Columns, sums: FloatArray,
) -> int:  # fmt: skip
    """List keep * weights + step * row without its zeros, and return its length.

    The row is divided by ``inside`` where there is a weight already, and by ``outside`` elsewhere.
    """
    n, i, e = 0, 0, low
    while i < m and e < high:
        # branch-free: which list is behind is random
        a, b = columns[i], indices[e]
        mine = keep * weights[i] if a <= b else 0.0
        theirs = step * (data[e] / (inside if a == b else outside)) if b <= a else 0.0
        places[n], sums[n] = min(a, b), mine + theirs
        n += sums[n] != 0.0
        i += a <= b
        e += b <= a
    for rest in range(i, m):
        places[n], sums[n] = columns[rest], keep * weights[rest]
        n += sums[n] != 0.0
    for rest in range(e, high):
        places[n], sums[n] = indices[rest], step * (data[rest] / outside)
        n += sums[n] != 0.0
    return n


@nb.njit(nogil=True, cache=True)
def _truncate(
    places: Columns, sums: FloatArray, n: int, radius: float, columns: Columns, weights: FloatArray,
    budget: int, sizes: FloatArray,
) -> int:  # fmt: skip
    """Shorten a vector to the radius, keep its largest values (of equals the first), return how many."""
    squares = 0.0
    for i in range(n):
        squares += sums[i] * sums[i]
    norm = np.sqrt(squares)
    factor = radius / norm if norm > radius else 1.0
    for i in range(n):
        sums[i] *= factor
        sizes[i] = abs(sums[i])
    threshold, ties = 0.0, 0
    if n > budget:
        threshold = _largest(sizes, n, budget)
        ties = budget
        for i in range(n):
            ties -= abs(sums[i]) > threshold
    m = 0
    for i in range(n):
        size = abs(sums[i])
        tied = size == threshold and ties > 0 and size > 0.0  # shortened to nothing is no weight
        ties -= tied
        if m < len(columns):
            columns[m], weights[m] = places[i], sums[i]
        m += size > threshold or tied
    return m


@nb.njit(nogil=True, cache=True)
def _largest(values: FloatArray, n: int, k: int) -> Any:
    """The k-th largest of the first n values, which change places."""
    low, high, target = 0, n - 1, n - k
    while low < high:
        # the middle one of three is a good guess for sorted values as well
        a, b, c = values[low], values[(low + high) >> 1], values[high]
        pivot = max(min(a, b), min(max(a, b), c))
        i = low
        for j in range(low, high + 1):
            value = values[j]
            values[j], values[i] = values[i], value
            i += value < pivot
        if target < i:
            high = i - 1
            continue
        low = i
        for j in range(low, high + 1):
            value = values[j]
            values[j], values[i] = values[i], value
            i += value == pivot
        if target < i:
            return pivot
        low = i
    return values[target]


@nb.njit(nogil=True, cache=True)
def _look(
    wanted: Columns, n: int, indices: Columns, data: FloatArray, low: int, high: int, n_features: int,
    seen: Columns, found: FloatArray,
) -> int:  # fmt: skip
    """Read n entries of a row in the order of columns; list those that are not 0, and return how many."""
    whole = high - low == n_features
    count, place = 0, low
    for i in range(n):
        column = wanted[i]
        place = low + column if whole else _search(indices, place, high, column)
        if place < high and indices[place] == column and data[place] != 0.0:
            seen[count], found[count] = column, data[place]
            count += 1
    return count


@nb.njit(nogil=True, cache=True)
def draw_columns(wanted: Columns, n_features: int, seed: int, row: int, taken: IntArray, bits: int) -> None:
    """Fill ``wanted`` with different columns, every set of them as likely as any other, in order.

    Floyd's way: draw t below j + 1 for the last values of j, and take j itself where t is taken already.
    ``taken`` is a hash table of 2^bits places, at least twice as many as there are columns wanted.
    """
    n = len(wanted)
    mask = (1 << bits) - 1
    for place in range(len(taken)):
        taken[place] = -1
    for i in range(n):
        last = n_features - n + i
        column = min(last, int(uniform(seed, row, 1 + i) * (last + 1)))
        place = _place(taken, column, bits, mask)
        if taken[place] == column:
            column = last
            place = _place(taken, column, bits, mask)
        taken[place] = column
        wanted[i] = column
    _sort(wanted)


@nb.njit(nogil=True, cache=True)
def _sort(columns: Columns) -> None:
    """Sort by insertion over shrinking distances (Shell)."""
    gap = len(columns) // 2
    while gap > 0:
        for i in range(gap, len(columns)):
            column, j = columns[i], i
            while j >= gap and columns[j - gap] > column:
                columns[j] = columns[j - gap]
                j -= gap
            columns[j] = column
        gap = 1 if gap == 2 else gap * 5 // 11


@nb.njit(nogil=True, cache=True)
def _place(taken: IntArray, column: int, bits: int, mask: int) -> int:
    """Where a column is in the table, or where it would go."""
    place = ((column * 2654435769) & 0xFFFFFFFF) >> (32 - bits)
    while taken[place] != -1 and taken[place] != column:
        place = (place + 1) & mask
    return place


@nb.njit(nogil=True, cache=True)
def uniform(seed: int, row: int, draw: int) -> float:
    """Return a number in [0, 1) that depends on nothing but the three: Philox 4x32 with 10 rounds.

    Counters and keys have 32 bits, so that their products fit into 64.
    """
    low = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    a, b = np.uint64(draw) & low, np.uint64(draw) >> half
    c, d = np.uint64(row) & low, np.uint64(row) >> half
    key, other = np.uint64(seed) & low, np.uint64(seed) >> half
    for _ in range(10):
        p = np.uint64(0xD2511F53) * a
        q = np.uint64(0xCD9E8D57) * c
        a, b, c, d = (q >> half) ^ b ^ key, q & low, (p >> half) ^ d ^ other, p & low
        key = (key + np.uint64(0x9E3779B9)) & low
        other = (other + np.uint64(0xBB67AE85)) & low
    return (float(a >> np.uint64(5)) * 67108864.0 + float(b >> np.uint64(6))) / 9007199254740992.0
