"""Second-order online feature selection: adaptive regularization of weights, the B surest of them kept.

``cells[j] = (gain, mean)``: the weight of feature j has this mean and the variance 1 / (1 + gain).  The B
features of the largest gains are in a heap, least sure first, and ``member`` says which ones they are.  Gains
only grow, so a key in the heap may be behind its cell; it catches up when it comes to the top.  Thus a row
costs a few steps in the heap for each of its values at most, and mostly none.
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
    indptr: IntArray, indices: Columns, data: FloatArray, y: FloatArray, cells: FloatArray,
    member: npt.NDArray[np.bool_], heap: Columns, keys: FloatArray, n: int, budget: int,
    regularization: float,
) -> Any:  # fmt: skip
    """Learn rows with labels -1 and +1, in place; return the size of the heap and the mistakes made."""
    longest = 0
    for r in range(len(y)):
        longest = max(longest, indptr[r + 1] - indptr[r])
    left = np.empty(longest, np.int32)
    mistakes = 0
    for r in range(len(y)):
        margin = variance = 0.0
        for e in range(indptr[r], indptr[r + 1]):
            cell, x = cells[indices[e]], data[e]
            margin += cell[1] * x
            variance += x * (1.0 / (1.0 + cell[0]) * x)
        margin *= y[r]
        if margin <= 0.0:
            mistakes += 1
        if margin >= 1.0:
            continue
        step = (1.0 - margin) * (1.0 / (variance + regularization)) * y[r]
        gone = 0
        for e in range(indptr[r], indptr[r + 1]):
            j, x = indices[e], data[e]
            cell = cells[j]
            mean = cell[1] + step * (1.0 / (1.0 + cell[0])) * x
            cell[0] += x * x / regularization
            if not member[j]:
                if x == 0.0 or cell[0] == 0.0:
                    continue
                if n < budget:
                    _rise(heap, keys, n, j, cell[0])
                    n += 1
                elif _surer(heap, keys, cells, n, j, cell[0]):
                    # its mean stays until the row is done: it may be about to come back by its own value
                    left[gone] = heap[0]
                    gone += 1
                    member[heap[0]] = False
                    _sink(heap, keys, n, j, cell[0])
                else:
                    continue
                member[j] = True
            cell[1] = mean
        for i in range(gone):
            if not member[left[i]]:
                cells[left[i], 1] = 0.0
    return n, mistakes


@nb.njit(nogil=True, cache=True)
def _surer(heap: Columns, keys: FloatArray, cells: FloatArray, n: int, column: int, gain: float) -> bool:
    """Whether a feature is surer than the least sure one of the heap, which then comes first in it."""
    while gain > keys[0] or (gain == keys[0] and column < heap[0]):
        now = cells[heap[0], 0]
        if now == keys[0]:
            return True
        _sink(heap, keys, n, heap[0], now)
    return False


@nb.njit(nogil=True, cache=True)
def _sink(heap: Columns, keys: FloatArray, n: int, column: int, key: float) -> None:
    """Put a feature in the place of the top one, and move it down to where it belongs."""
    i = 0
    while 2 * i + 1 < n:
        child = 2 * i + 1
        other = child + 1
        if other < n and (
            keys[other] < keys[child] or (keys[other] == keys[child] and heap[other] > heap[child])
        ):
            child = other
        if key < keys[child] or (key == keys[child] and column > heap[child]):
            break
        heap[i], keys[i] = heap[child], keys[child]
        i = child
    heap[i], keys[i] = column, key


@nb.njit(nogil=True, cache=True)
def _rise(heap: Columns, keys: FloatArray, n: int, column: int, key: float) -> None:
    """Add a feature to a heap of n, and move it up to where it belongs."""
    i = n
    while i > 0:
        parent = (i - 1) >> 1
        if keys[parent] < key or (keys[parent] == key and heap[parent] > column):
            break
        heap[i], keys[i] = heap[parent], keys[parent]
        i = parent
    heap[i], keys[i] = column, key
