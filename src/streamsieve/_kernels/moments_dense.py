"""Sums about a pivot, class by class, over dense rows: one pass, sound at any offset.

The pivot of a class is its own running mean (its first row at the very beginning).  So the sum
``s1 = sum w (x - pivot)`` stays small, ``s2 - s1^2 / w`` loses no digits (a column with mean 1e9 keeps its
variance), and Chan's merge needs no difference of two large numbers: it is ``s1 / w`` itself.

Columns go in tiles whose three accumulators stay in the L1 cache; four rows of one class are taken at a
time, so that accumulators are loaded and stored a quarter as often.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from streamsieve.protocols import FloatArray, IntArray


@nb.njit(nogil=True, cache=True)
def accumulate(
    X: FloatArray, order: IntArray, edges: IntArray, w: FloatArray, weighted: bool,
    most: FloatArray, pivot: FloatArray, s1: FloatArray, s2: FloatArray, low: int, high: int,
) -> bool:  # fmt: skip
    """Fill s1, s2 (class, feature) for features low..high.

    False if a NaN came up, or a sum of squares beyond ``most`` of its class.

    ``order`` sorts the rows by class and ``edges`` says where each class begins in it.
    """
    fine = True
    for j0 in range(low, high, 256):
        m = min(256, high - j0)
        for c in range(len(edges) - 1):
            pv = pivot[c, j0 : j0 + m]
            a1 = s1[c, j0 : j0 + m]
            a2 = s2[c, j0 : j0 + m]
            for j in range(m):
                a1[j] = 0.0
                a2[j] = 0.0
            i = edges[c]
            end = edges[c + 1]
            while i + 4 <= end:
                r0 = X[order[i], j0 : j0 + m]
                r1 = X[order[i + 1], j0 : j0 + m]
                r2 = X[order[i + 2], j0 : j0 + m]
                r3 = X[order[i + 3], j0 : j0 + m]
                if weighted:
                    w0, w1, w2, w3 = w[order[i]], w[order[i + 1]], w[order[i + 2]], w[order[i + 3]]
                    for j in range(m):
                        q = pv[j]
                        d0 = r0[j] - q
                        d1 = r1[j] - q
                        d2 = r2[j] - q
                        d3 = r3[j] - q
                        a1[j] += (w0 * d0 + w1 * d1) + (w2 * d2 + w3 * d3)
                        a2[j] += (w0 * d0 * d0 + w1 * d1 * d1) + (w2 * d2 * d2 + w3 * d3 * d3)
                else:
                    for j in range(m):
                        q = pv[j]
                        d0 = r0[j] - q
                        d1 = r1[j] - q
                        d2 = r2[j] - q
                        d3 = r3[j] - q
                        a1[j] += (d0 + d1) + (d2 + d3)
                        a2[j] += (d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3)
                i += 4
            while i < end:
                r0 = X[order[i], j0 : j0 + m]
                w0 = w[order[i]] if weighted else 1.0
                for j in range(m):
                    d0 = r0[j] - pv[j]
                    a1[j] += w0 * d0
                    a2[j] += w0 * d0 * d0
                i += 1
            for j in range(m):
                if not (a2[j] <= most[c]):
                    fine = False
    return fine


@nb.njit(nogil=True, cache=True)
def accumulate_columns(
    XT: FloatArray, order: IntArray, edges: IntArray, w: FloatArray, weighted: bool,
    most: FloatArray, pivot: FloatArray, s1: FloatArray, s2: FloatArray, low: int, high: int,
) -> bool:  # fmt: skip
    """As :func:`accumulate`, for a batch stored column by column (XT: one feature a row)."""
    fine = True
    for j in range(low, high):
        column = XT[j]
        for c in range(len(edges) - 1):
            q = pivot[c, j]
            t1 = 0.0
            t2 = 0.0
            for i in range(edges[c], edges[c + 1]):
                d = column[order[i]] - q
                wd = w[order[i]] * d if weighted else d
                t1 += wd
                t2 += wd * d
            s1[c, j] = t1
            s2[c, j] = t2
            if not (t2 <= most[c]):
                fine = False
    return fine


@nb.njit(nogil=True, cache=True)
def accumulate_missing(
    X: FloatArray, order: IntArray, edges: IntArray, w: FloatArray, weighted: bool,
    known: FloatArray, mean: FloatArray,
    pivot: FloatArray, s0: FloatArray, s1: FloatArray, s2: FloatArray, low: int, high: int,
) -> None:  # fmt: skip
    """As :func:`accumulate`, but NaN is a missing value: s0 is the weight of the values present.

    ``known`` is the weight behind each running mean; where it is 0, the first value present is the pivot.
    An infinite value comes out as a non-finite s2.
    """
    for c in range(len(edges) - 1):
        for j in range(low, high):
            s0[c, j] = 0.0
            s1[c, j] = 0.0
            s2[c, j] = 0.0
            pivot[c, j] = mean[c, j]
            if known[c, j] == 0.0:
                pivot[c, j] = 0.0
                for i in range(edges[c], edges[c + 1]):
                    if not np.isnan(X[order[i], j]):
                        pivot[c, j] = X[order[i], j]
                        break
        for i in range(edges[c], edges[c + 1]):
            row = X[order[i]]
            wi = w[order[i]] if weighted else 1.0
            for j in range(low, high):
                d = row[j] - pivot[c, j]
                if d == d:  # noqa: PLR0124 - the fastest test for NaN
                    s0[c, j] += wi
                    s1[c, j] += wi * d
                    s2[c, j] += wi * d * d
                elif row[j] == row[j]:
                    s2[c, j] = np.inf


@nb.njit(nogil=True, cache=True)
def far_from_pivot(wb: FloatArray, s1: FloatArray, s2: FloatArray) -> bool:
    """Whether some column's sums lost three digits or more to a pivot far from its mean."""
    for c in range(len(wb)):
        for j in range(s1.shape[1]):
            explained = s1[c, j] * s1[c, j]
            total = wb[c] * s2[c, j]
            if total > explained > 0.999 * total:
                return True
    return False


@nb.njit(nogil=True, cache=True)
def commit(
    W: FloatArray, wb: FloatArray, pivot: FloatArray, s1: FloatArray, s2: FloatArray,
    mean: FloatArray, m2: FloatArray,
) -> None:  # fmt: skip
    """Chan's merge of a batch's sums into mean and m2; W and wb are the weights before and of the batch.

    Where the pivot is the old mean, as it nearly always is, the difference of the means is s1 / wb itself.
    """
    for c in range(len(W)):
        if wb[c] > 0.0:
            t = W[c] + wb[c]
            share = wb[c] / t
            cross = W[c] * share
            for j in range(mean.shape[1]):
                d = s1[c, j] / wb[c]
                own = s2[c, j] - s1[c, j] * d
                if W[c] > 0.0:
                    delta = (pivot[c, j] - mean[c, j]) + d
                    mean[c, j] += delta * share
                    m2[c, j] += (own if own > 0.0 else 0.0) + delta * delta * cross
                else:
                    mean[c, j] = pivot[c, j] + d
                    m2[c, j] = own if own > 0.0 else 0.0


@nb.njit(nogil=True, cache=True)
def commit_missing(
    weight: FloatArray, pivot: FloatArray, s0: FloatArray, s1: FloatArray, s2: FloatArray,
    mean: FloatArray, m2: FloatArray,
) -> None:  # fmt: skip
    """As :func:`commit` with a weight of its own for every feature, which it advances."""
    for c in range(mean.shape[0]):
        for j in range(mean.shape[1]):
            b = s0[c, j]
            if b > 0.0:
                a = weight[c, j]
                d = s1[c, j] / b
                own = s2[c, j] - s1[c, j] * d
                share = b / (a + b)
                mean[c, j] = pivot[c, j] + d * share
                m2[c, j] += (own if own > 0.0 else 0.0) + d * d * a * share
                weight[c, j] = a + b
