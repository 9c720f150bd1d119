"""Distances between rows, the nearest of them, and by how much neighbors differ, feature by feature.

Numeric features are scaled, so that two rows differ by 1 at most; nominal ones differ by 0 or 1.  What a
feature adds to a distance is its difference, or the square of it.

A sparse row is compared with all others by writing it out once: a stored value v of the other row, with b in
this one, adds ``f(v - b) - f(b)`` to the sum of all ``f(b)``.  So a pair costs what one of the two stores.
"""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import BoolArray, FloatArray, IntArray


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def add_absolute(X: FloatArray, some: IntArray, low: int, high: int, out: FloatArray) -> None:
    """Add ``sum |x - y|`` of some rows and rows low..high to ``out[i, low:high]``."""
    for i in range(len(some)):
        x = X[some[i]]
        for k in range(low, high):
            y = X[k]
            s = 0.0
            for j in range(len(x)):
                s += abs(x[j] - y[j])
            out[i, k] += s


@nb.njit(nogil=True, cache=True)
def add_unequal(X: FloatArray, some: IntArray, low: int, high: int, out: FloatArray) -> None:
    """Add the number of different values of some rows and rows low..high."""
    for i in range(len(some)):
        x = X[some[i]]
        for k in range(low, high):
            y = X[k]
            s = 0
            for j in range(len(x)):
                s += x[j] != y[j]
            out[i, k] += s


@nb.njit(nogil=True, cache=True)
def add_sparse(
    indptr: IntArray, indices: npt.NDArray[np.int32], data: FloatArray, nominal: BoolArray, squared: bool,
    some: IntArray, low: int, high: int, out: FloatArray,
) -> None:  # fmt: skip
    """Add the distances of some sparse rows and rows low..high; a feature is of one kind."""
    here = np.zeros(len(nominal))
    # what a value of its own adds to the distance from an empty row
    alone = np.zeros(len(nominal))
    for i in range(len(some)):
        begin, end = indptr[some[i]], indptr[some[i] + 1]
        base = 0.0
        for t in range(begin, end):
            j, v = indices[t], data[t]
            here[j] = v
            if nominal[j]:
                alone[j] = 1.0 if v != 0.0 else 0.0
            else:
                alone[j] = v * v if squared else abs(v)
            base += alone[j]
        for k in range(low, high):
            s = base
            for t in range(indptr[k], indptr[k + 1]):
                j = indices[t]
                d = data[t] - here[j]
                if nominal[j]:
                    s += (1.0 if d != 0.0 else 0.0) - alone[j]
                else:
                    s += (d * d if squared else abs(d)) - alone[j]
            out[i, k] += s
        for t in range(begin, end):
            here[indices[t]] = 0.0
            alone[indices[t]] = 0.0


@nb.njit(nogil=True, cache=True)
def pick(distance: FloatArray, low: int, farthest: FloatArray, tie: float, out: IntArray) -> None:
    """Fill ``out[i]`` with the nearest columns of ``distance[i]``, in order; they begin to count at ``low``.

    ``farthest[i]`` is the distance of the last that is wanted; those within ``tie`` of it are equals, of
    which the first are taken.
    """
    wanted = out.shape[1]
    for i in range(len(out)):
        limit = farthest[i]
        nearer = 0
        for k in range(distance.shape[1]):
            nearer += distance[i, k] < limit - tie
        equals = wanted - nearer
        found = 0
        for k in range(distance.shape[1]):
            d = distance[i, k]
            if d < limit - tie:
                out[i, found] = low + k
                found += 1
            elif d <= limit + tie and equals > 0:
                out[i, found] = low + k
                found += 1
                equals -= 1


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def weigh_absolute(
    X: FloatArray, one: IntArray, other: IntArray, weight: FloatArray, low: int, high: int, out: FloatArray
) -> None:
    """Add ``weight |x - y|`` over pairs of rows to ``out``, for features low..high."""
    total = out[low:high]
    for t in range(len(one)):
        x, y, w = X[one[t], low:high], X[other[t], low:high], weight[t]
        for j in range(high - low):
            total[j] += w * abs(x[j] - y[j])


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def weigh_unequal(
    X: FloatArray, one: IntArray, other: IntArray, weight: FloatArray, low: int, high: int, out: FloatArray
) -> None:
    """Add ``weight [x != y]`` over pairs of rows to ``out``, for features low..high."""
    total = out[low:high]
    for t in range(len(one)):
        x, y, w = X[one[t], low:high], X[other[t], low:high], weight[t]
        for j in range(high - low):
            total[j] += w if x[j] != y[j] else 0.0


@nb.njit(nogil=True, cache=True)
def weigh_sparse(
    indptr: IntArray, indices: npt.NDArray[np.int32], data: FloatArray, nominal: BoolArray,
    one: IntArray, other: IntArray, weight: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """Add the weighted differences over pairs of sparse rows to ``out``; indices of a row rise."""
    end = len(nominal)
    for t in range(len(one)):
        a, last_a = indptr[one[t]], indptr[one[t] + 1]
        b, last_b = indptr[other[t]], indptr[other[t] + 1]
        while a < last_a or b < last_b:
            at_a = indices[a] if a < last_a else end
            at_b = indices[b] if b < last_b else end
            j = min(at_a, at_b)
            d = 0.0
            if at_a == j:
                d += data[a]
                a += 1
            if at_b == j:
                d -= data[b]
                b += 1
            if nominal[j]:
                out[j] += weight[t] if d != 0.0 else 0.0
            else:
                out[j] += weight[t] * abs(d)
