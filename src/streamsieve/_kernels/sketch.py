"""Stochastic gradient steps into a count sketch, with a heap of the features of largest weight.

``cells[r, bucket, model]`` is the sketch: a feature stands in one bucket of each row r, with a sign there.
Its weight is read as the median over r of sign * cell.

The heap holds the best features in *slots*: a feature keeps its slot as long as it stays.  ``heap`` is a
binary heap of slots with the worst first, ``place`` its inverse, and ``table`` an open-addressing hash table
from a feature's id to its slot + 1 (0 is empty).  ``count[0]`` slots are taken.

A row's features are hashed once, and their cells are fetched ahead: nearly every access is a cache miss.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve._kernels.intrinsics import prefetch
from streamsieve.protocols import FloatArray, IntArray

Seeds: TypeAlias = npt.NDArray[np.uint64]


@nb.njit(nogil=True, cache=True)
def _hashed(feature: int, seed: np.uint64) -> np.uint64:
    """Shuffle 64 bits, so that every one of them hangs on every bit of the id (MurmurHash3's last step)."""
    h = np.uint64(feature) ^ seed
    h = (h ^ (h >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    h = (h ^ (h >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return h ^ (h >> np.uint64(33))


@nb.njit(nogil=True, cache=True)
def hash_names(text: npt.NDArray[np.uint8], ends: IntArray) -> IntArray:
    """Return a 62-bit id for every name; name i ends at byte ``ends[i]``.

    Two polynomials over the prime field of 2**31 - 1, at two fixed places.  The leading 1 makes names of
    different lengths different polynomials.
    """
    prime = 0x7FFFFFFF
    out = np.empty(len(ends), np.int64)
    low = 0
    for i in range(len(ends)):
        a = b = 1
        for at in range(low, ends[i]):
            digit = int(text[at]) + 1
            a = (a * 0x3C6EF372 + digit) % prime
            b = (b * 0x2545F491 + digit) % prime
        low = ends[i]
        out[i] = (a << 31) | b
    return out


@nb.njit(nogil=True, cache=True)
def _locate(feature: int, seeds: Seeds, cells: FloatArray, spots: IntArray, at: int) -> None:
    """Write to ``spots[at:]`` where the feature stands in each row of the sketch.

    A spot is twice the number of its first cell, plus 1 where the feature's sign is negative.
    """
    width, models = cells.shape[1], cells.shape[2]
    for r in range(len(seeds)):
        h = _hashed(feature, seeds[r])
        bucket = np.int64(((h >> np.uint64(33)) * np.uint64(width)) >> np.uint64(31))
        spots[at + r] = (((r * width + bucket) * models) << 1) | np.int64(h & np.uint64(1))


@nb.njit(nogil=True, cache=True)
def _middle(a: float, b: float, c: float) -> Any:
    return max(min(a, b), min(max(a, b), c))


@nb.njit(nogil=True, cache=True)
def _median(values: FloatArray) -> Any:
    """Return the middle of an odd number of values, which may change places."""
    for i in range(1, len(values)):
        value, j = values[i], i
        while j > 0 and values[j - 1] > value:
            values[j] = values[j - 1]
            j -= 1
        values[j] = value
    return values[len(values) // 2]


@nb.njit(nogil=True, cache=True)
def _seen(flat: FloatArray, spot: int, m: int) -> Any:
    return (1.0 - 2.0 * (spot & 1)) * flat[(spot >> 1) + m]


@nb.njit(nogil=True, cache=True)
def _weight(flat: FloatArray, spots: IntArray, at: int, m: int, values: FloatArray) -> Any:
    """Read a feature's weight in model m."""
    if len(values) == 3:
        return _middle(
            _seen(flat, spots[at], m), _seen(flat, spots[at + 1], m), _seen(flat, spots[at + 2], m)
        )
    for r in range(len(values)):
        values[r] = _seen(flat, spots[at + r], m)
    if len(values) == 5:  # the middle one of five is neither the least nor the largest of any four
        a, b, c, d = values[0], values[1], values[2], values[3]
        return _middle(max(min(a, b), min(c, d)), min(max(a, b), max(c, d)), values[4])
    return _median(values)


@nb.njit(nogil=True, cache=True)
def _norm(
    feature: int, cells: FloatArray, models: int, seeds: Seeds, spots: IntArray, values: FloatArray
) -> Any:
    """Return the sum of the absolute weights of a feature over all models."""
    _locate(feature, seeds, cells, spots, 0)
    flat = cells.reshape(cells.size)
    total = 0.0
    for m in range(models):
        total += abs(_weight(flat, spots, 0, m, values))
    return total


@nb.njit(nogil=True, cache=True)
def weights(features: IntArray, cells: FloatArray, models: int, seeds: Seeds) -> FloatArray:
    """Read the weights of features in every model, one feature a row."""
    spots, values = np.empty(len(seeds), np.int64), np.empty(len(seeds))
    flat = cells.reshape(cells.size)
    out = np.empty((len(features), models))
    for i in range(len(features)):
        _locate(features[i], seeds, cells, spots, 0)
        for m in range(models):
            out[i, m] = _weight(flat, spots, 0, m, values)
    return out


@nb.njit(nogil=True, cache=True)
def norms(low: int, high: int, cells: FloatArray, models: int, seeds: Seeds) -> FloatArray:
    """Return the sums of absolute weights of the features low, ..., high - 1."""
    spots, values = np.empty(len(seeds), np.int64), np.empty(len(seeds))
    out = np.empty(high - low)
    for i in range(len(out)):
        out[i] = _norm(low + i, cells, models, seeds, spots, values)
    return out


@nb.njit(nogil=True, cache=True)
def _home(feature: int, table: IntArray) -> int:
    """Return where in the table, whose length is a power of two, a feature is looked for first."""
    folded = (feature ^ (feature >> 31)) & 0x7FFFFFFF
    return ((folded * 0x4F1BBCDD) >> 24) & (len(table) - 1)


@nb.njit(nogil=True, cache=True)
def _find(feature: int, ids: IntArray, table: IntArray) -> Any:
    """Return the slot of a feature, or -1."""
    at = _home(feature, table)
    while table[at] != 0:
        if ids[table[at] - 1] == feature:
            return table[at] - 1
        at = (at + 1) & (len(table) - 1)
    return -1


@nb.njit(nogil=True, cache=True)
def _enter(slot: int, ids: IntArray, table: IntArray) -> None:
    """Make the feature of a slot findable."""
    at = _home(ids[slot], table)
    while table[at] != 0:
        at = (at + 1) & (len(table) - 1)
    table[at] = slot + 1


@nb.njit(nogil=True, cache=True)
def _leave(slot: int, ids: IntArray, table: IntArray) -> None:
    """Undo :func:`_enter`, and move those up that stood further on because of it."""
    last = len(table) - 1
    hole = _home(ids[slot], table)
    while table[hole] != slot + 1:
        hole = (hole + 1) & last
    at = hole
    while True:
        at = (at + 1) & last
        if table[at] == 0:
            break
        home = _home(ids[table[at] - 1], table)
        if (at - home) & last >= (at - hole) & last:  # its home is not behind the hole
            table[hole] = table[at]
            hole = at
    table[hole] = 0


@nb.njit(nogil=True, cache=True)
def _is_worse(a: int, b: int, keys: FloatArray, ids: IntArray) -> Any:
    """Whether slot a goes before slot b does; among equals the larger id goes."""
    return keys[a] < keys[b] or (keys[a] == keys[b] and ids[a] > ids[b])


@nb.njit(nogil=True, cache=True)
def _sink(at: int, size: int, heap: IntArray, place: IntArray, keys: FloatArray, ids: IntArray) -> None:
    slot = heap[at]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and _is_worse(heap[child + 1], heap[child], keys, ids):
            child += 1
        if not _is_worse(heap[child], slot, keys, ids):
            break
        heap[at] = heap[child]
        place[heap[at]] = at
        at = child
    heap[at] = slot
    place[slot] = at


@nb.njit(nogil=True, cache=True)
def _rise(at: int, heap: IntArray, place: IntArray, keys: FloatArray, ids: IntArray) -> None:
    slot = heap[at]
    while at > 0:
        parent = (at - 1) // 2
        if not _is_worse(slot, heap[parent], keys, ids):
            break
        heap[at] = heap[parent]
        place[heap[at]] = at
        at = parent
    heap[at] = slot
    place[slot] = at


@nb.njit(nogil=True, cache=True)
def _push(
    feature: int, key: float, ids: IntArray, keys: FloatArray, heap: IntArray, place: IntArray,
    table: IntArray, count: IntArray,
) -> None:  # fmt: skip
    """Give a feature its new key; one that is not in the heap replaces the worst if it is better."""
    size = count[0]
    slot = _find(feature, ids, table)
    if slot >= 0:
        keys[slot] = key
        _sink(place[slot], size, heap, place, keys, ids)
        _rise(place[slot], heap, place, keys, ids)
    elif size < len(ids):
        ids[size], keys[size], heap[size], place[size] = feature, key, size, size
        _enter(size, ids, table)
        count[0] = size + 1
        _rise(size, heap, place, keys, ids)
    else:
        slot = heap[0]
        if key > keys[slot] or (key == keys[slot] and feature < ids[slot]):
            _leave(slot, ids, table)
            ids[slot], keys[slot] = feature, key
            _enter(slot, ids, table)
            _sink(0, size, heap, place, keys, ids)


@nb.njit(nogil=True, cache=True)
def build(
    ids: IntArray, keys: FloatArray, heap: IntArray, place: IntArray, table: IntArray, count: IntArray
) -> None:
    """Rebuild heap and table for the features in the slots."""
    size = count[0]
    table[:] = 0
    for slot in range(size):
        heap[slot] = place[slot] = slot
        _enter(slot, ids, table)
    for at in range(size // 2 - 1, -1, -1):
        _sink(at, size, heap, place, keys, ids)


@nb.njit(nogil=True, cache=True)
def refresh(
    cells: FloatArray, models: int, seeds: Seeds, ids: IntArray, keys: FloatArray, heap: IntArray,
    place: IntArray, count: IntArray,
) -> None:  # fmt: skip
    """Read all weights of the heap again: other features in the same buckets have moved them."""
    size = count[0]
    spots, values = np.empty(len(seeds), np.int64), np.empty(len(seeds))
    for slot in range(size):
        keys[slot] = _norm(ids[slot], cells, models, seeds, spots, values)
    for at in range(size // 2 - 1, -1, -1):
        _sink(at, size, heap, place, keys, ids)


@nb.njit(nogil=True, cache=True)
def _error(margin: float) -> float:
    """Return the probability of the wrong side under the logistic model."""
    return 0.0 if margin > 700.0 else 1.0 / (1.0 + np.exp(margin))


@nb.njit(nogil=True, cache=True)
def _id(column: int, names: IntArray) -> Any:
    """Return the id of a column."""
    return names[column] if len(names) > 0 else np.int64(column)


@nb.njit(nogil=True, cache=True)
def learn(
    data: FloatArray, indices: npt.NDArray[np.int32], indptr: IntArray, names: IntArray, codes: IntArray,
    low: int, high: int, rate: float, factors: FloatArray, rows_before: int,
    cells: FloatArray, models: int, seeds: Seeds,
    ids: IntArray, keys: FloatArray, heap: IntArray, place: IntArray, table: IntArray, count: IntArray,
) -> int:  # fmt: skip
    """Learn the rows low, ..., high - 1 one after the other, and return how many were mistaken before.

    ``names`` gives the id of a column, or is empty where columns are ids themselves.  With one model,
    class 0 is its positive side.  Row i's step counts ``factors[i - low]`` times.
    """
    depth, longest = len(seeds), 0
    for i in range(low, high):
        longest = max(longest, indptr[i + 1] - indptr[i])
    spots, inside, found = np.empty(longest * depth, np.int64), np.empty(longest, np.bool_), np.empty(longest)
    values, outputs, steps = np.empty(depth), np.empty(models), np.empty(models)
    flat = cells.reshape(cells.size)
    mistakes = 0
    for i in range(low, high):
        first, n = indptr[i], indptr[i + 1] - indptr[i]
        outputs[:] = 0.0
        for e in range(n):
            feature = _id(indices[first + e], names)
            _locate(feature, seeds, cells, spots, e * depth)
            for r in range(depth):
                prefetch(flat, spots[e * depth + r] >> 1)
            inside[e] = _find(feature, ids, table) >= 0
            if inside[e]:
                for m in range(models):
                    outputs[m] += _weight(flat, spots, e * depth, m, values) * data[first + e]
        outputs /= factors[i - low]
        mistakes += _steps(outputs, codes[i], rate * factors[i - low], steps)
        for e in range(n):
            for r in range(depth):
                spot = spots[e * depth + r]
                x = (1.0 - 2.0 * (spot & 1)) * data[first + e]
                for m in range(models):
                    flat[(spot >> 1) + m] += steps[m] * x
        for e in range(n):
            found[e] = 0.0
            for m in range(models):
                found[e] += abs(_weight(flat, spots, e * depth, m, values))
        # strangers come when all those of the heap have moved, so that the order of columns does not matter
        for strangers in (False, True):
            for e in range(n):
                if inside[e] == strangers or data[first + e] == 0.0:
                    continue
                if not strangers or found[e] >= keys[heap[0]] or count[0] < len(ids):
                    _push(_id(indices[first + e], names), found[e], ids, keys, heap, place, table, count)
        # as many rows as slots, so that the cost a row stays the same
        if (rows_before + i - low + 1) % len(ids) == 0:
            refresh(cells, models, seeds, ids, keys, heap, place, count)
    return mistakes


@nb.njit(nogil=True, cache=True)
def _steps(outputs: FloatArray, code: int, rate: float, steps: FloatArray) -> int:
    """Write the models' steps along the row, and return 1 if its class is not clearly ahead, else 0."""
    if len(outputs) == 1:
        side = 1.0 if code == 0 else -1.0
        steps[0] = rate * side * _error(side * outputs[0])
        return 0 if side * outputs[0] > 0.0 else 1
    ahead = True
    for m in range(len(outputs)):
        side = 1.0 if m == code else -1.0
        steps[m] = rate * side * _error(side * outputs[m])
        ahead = ahead and (m == code or outputs[m] < outputs[code])
    return 0 if ahead else 1
