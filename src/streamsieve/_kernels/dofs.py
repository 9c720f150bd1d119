"""Determinantal point processes of a group of columns, and Wilcoxon's test of every pair."""

from __future__ import annotations

import math

import numba as nb
import numpy as np

from streamsieve.protocols import BoolArray, FloatArray, IntArray


@nb.njit(nogil=True, cache=True)
def sample(marginal: FloatArray, uniforms: FloatArray, negligible: float) -> BoolArray:
    """Draw a set from the process whose marginal kernel is given, one item after the other.

    The pivot of an elimination is the probability of an item given the decisions before it; an item is in if
    its uniform draw is below.  An item that is out leaves its pivot less 1 behind.  A ``negligible``
    probability counts as 0: it may be rounding, and equal items are never drawn together.
    """
    m = len(marginal)
    K = marginal.copy()
    out = np.zeros(m, np.bool_)
    for i in range(m):
        out[i] = uniforms[i] < K[i, i] and K[i, i] > negligible
        pivot = K[i, i] if out[i] else K[i, i] - 1.0
        for a in range(i + 1, m):
            factor = K[a, i] / pivot
            for b in range(i + 1, m):
                K[a, b] -= factor * K[i, b]
    return out


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def reduce(factor: FloatArray, q: int, rows: FloatArray) -> FloatArray:
    """Solve ``F x = row`` for every row, F being the lower triangle of the first q rows and columns."""
    out = np.empty((len(rows), q))
    for i in range(q):
        line = factor[i, :i]
        for r in range(len(rows)):
            known = out[r, :i]
            s = 0.0
            for k in range(i):
                s += line[k] * known[k]
            out[r, i] = (rows[r, i] - s) / factor[i, i]
    return out


@nb.njit(nogil=True, cache=True)
def remove(factor: FloatArray, q: int, i: int) -> None:
    """Turn the Cholesky factor of q columns, in place, into that of all but column i: its first q - 1 rows.

    What the later columns had of column i goes back into their own part, by rotations.
    """
    cosine, sine = np.empty(q), np.empty(q)
    for row in range(i + 1, q):
        own, above = factor[row], factor[row - 1]
        x = own[i]
        for k in range(i):
            above[k] = own[k]
        for k in range(i + 1, row):
            above[k - 1] = cosine[k] * own[k] + sine[k] * x
            x = cosine[k] * x - sine[k] * own[k]
        length = math.hypot(own[row], x)
        cosine[row], sine[row] = own[row] / length, x / length
        above[row - 1] = length


@nb.njit(nogil=True, cache=True)
def greedy(similarity: FloatArray, size: int, negligible: float) -> BoolArray:
    """Choose ``size`` items greedily by what they add to the determinant; of equals the first.

    An item that adds a ``negligible`` factor is not chosen.
    """
    m = len(similarity)
    L = similarity.copy()
    out = np.zeros(m, np.bool_)
    for _ in range(size):
        best = -1
        for i in range(m):
            if not out[i] and L[i, i] > negligible and (best < 0 or L[i, i] > L[best, best] + 1e-12):
                best = i
        if best < 0:
            break
        out[best] = True
        row = L[best].copy()
        for a in range(m):
            factor = row[a] / row[best]
            for b in range(m):
                L[a, b] -= factor * row[b]
    return out


@nb.njit(nogil=True, cache=True)
def wilcoxon(columns: FloatArray, some: IntArray, others: IntArray) -> FloatArray:
    """p-values of Wilcoxon's signed-rank test of columns in the rows of a table, by the normal approximation.

    Equal pairs of values are dropped, equal differences share their ranks, and the variance of the sum of
    signed ranks is the sum of their squares.  Without a difference there is no evidence: 1.
    """
    n = columns.shape[1]
    out = np.ones((len(some), len(others)))
    size, positive, rank = np.empty(n), np.empty(n, np.bool_), np.empty(n)
    for i in range(len(some)):
        a = columns[some[i]]
        for j in range(len(others)):
            b = columns[others[j]]
            count = 0
            for t in range(n):
                difference = a[t] - b[t]
                if difference != 0.0:
                    size[count] = abs(difference)
                    positive[count] = difference > 0.0
                    count += 1
            if count == 0:
                continue
            order = np.argsort(size[:count])
            low = 0
            while low < count:
                high = low + 1
                while high < count and size[order[high]] == size[order[low]]:
                    high += 1
                for t in range(low, high):
                    rank[order[t]] = 0.5 * (low + high + 1)
                low = high
            total = variance = 0.0
            for t in range(count):
                total += rank[t] if positive[t] else -rank[t]
                variance += rank[t] * rank[t]
            out[i, j] = math.erfc(abs(total) / math.sqrt(2.0 * variance))
    return out
