"""Group-SAOLA: dependence of columns in slots, and redundancy within a group and between groups.

The rules see tables of dependences only, so one rule serves every measure.  A dependence is summed in the
same way whatever other columns stand beside it: how a stream is cut into blocks changes no digit.
"""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def correlations(columns: FloatArray, some: IntArray, others: IntArray) -> FloatArray:
    """Absolute correlations of columns, centered and of unit length, that lie in the rows of a table."""
    out = np.empty((len(some), len(others)))
    n = columns.shape[1]
    for i in range(len(some)):
        a = columns[some[i]]
        for j in range(len(others)):
            b = columns[others[j]]
            s = 0.0
            for t in range(n):
                s += a[t] * b[t]
            out[i, j] = abs(s)
    return out


@nb.njit(nogil=True, cache=True)
def entropies(codes: npt.NDArray[np.uint16], levels: IntArray, g: FloatArray) -> FloatArray:
    """Entropy of every row of codes, in nats times their number; ``g[c] = c ln c``."""
    m, n = codes.shape
    out = np.empty(m)
    for i in range(m):
        counts = np.zeros(levels[i], np.int64)
        for t in range(n):
            counts[codes[i, t]] += 1
        s = 0.0
        for a in range(levels[i]):
            s += g[counts[a]]
        out[i] = g[n] - s
    return out


@nb.njit(nogil=True, cache=True)
def informations(
    codes: npt.NDArray[np.uint16], levels: IntArray, h: FloatArray, some: IntArray,
    other_codes: npt.NDArray[np.uint16], other_levels: IntArray, other_h: FloatArray, others: IntArray,
    g: FloatArray, normalized: bool,
) -> FloatArray:  # fmt: skip
    """Mutual information in nats of every pair of coded columns, or their symmetric uncertainty.

    ``h`` are entropies in nats times the rows.
    """
    n = codes.shape[1]
    out = np.zeros((len(some), len(others)))
    cell = np.zeros(1, np.int64)
    for i in range(len(some)):
        a = some[i]
        for j in range(len(others)):
            b = others[j]
            width = other_levels[b]
            size = levels[a] * width
            if size > len(cell):
                cell = np.zeros(size, np.int64)
            if size == 4 and width == 2:
                # two yes-or-no columns: sums, which vectorize as a table of counts does not
                ones = other_ones = both_ones = np.int64(0)
                for t in range(n):
                    ones += np.int64(codes[a, t])
                    other_ones += np.int64(other_codes[b, t])
                    both_ones += np.int64(codes[a, t] & other_codes[b, t])
                cell[1], cell[2], cell[3] = other_ones - both_ones, ones - both_ones, both_ones
                cell[0] = n - cell[1] - cell[2] - cell[3]
            else:
                cell[:size] = 0
                for t in range(n):
                    cell[codes[a, t] * width + other_codes[b, t]] += 1
            joint = 0.0
            for c in range(size):
                joint += g[cell[c]]
            both = h[a] + other_h[b]
            shared = max(both - (g[n] - joint), 0.0)
            if not normalized:
                out[i, j] = shared / n
            elif both > 0.0:
                out[i, j] = 2.0 * shared / both
    return out


@nb.njit(nogil=True, cache=True)
def inside(pairs: FloatArray, relevance: FloatArray, tie: float) -> tuple[IntArray, FloatArray]:
    """Let the last members of a group compete with those before them, in order of arrival.

    Row i of ``pairs`` holds the dependences of the i-th newcomer on all members.  Returns by whom each member
    is dominated (-1: by none) and how strongly the two depend on each other.
    """
    new, members = pairs.shape
    by, pair = np.full(members, -1), np.zeros(members)
    for i in range(new):
        f = members - new + i
        for y in range(f):
            if by[y] >= 0 or pairs[i, y] < min(relevance[f], relevance[y]) - tie:
                continue
            if relevance[y] >= relevance[f] - tie:  # of two equals the newcomer goes
                by[f] = y
                pair[f] = pairs[i, y]
                break
            by[y] = f
            pair[y] = pairs[i, y]
    return by, pair


@nb.njit(nogil=True, cache=True)
def between(
    pairs: FloatArray, relevance: FloatArray, other_relevance: FloatArray, group: IntArray,
    literal: bool, tie: float,
) -> tuple[IntArray, FloatArray, IntArray, FloatArray]:  # fmt: skip
    """Let a group compete with the kept columns of earlier groups, group by group, pair by pair.

    ``group`` holds the group of each of those, in order.  Unless ``literal``, a rejected column rejects no
    others.  Returns which column rejects each member and their dependence, then the same for the others.
    """
    s, q = pairs.shape
    by, pair = np.full(s, -1), np.zeros(s)
    other_by, other_pair = np.full(q, -1), np.zeros(q)
    first = 0
    while first < q:
        last = first
        while last < q and group[last] == group[first]:
            last += 1
        for f in range(s):
            if by[f] >= 0 and not literal:
                continue
            for k in range(first, last):
                if other_by[k] >= 0 and not literal:
                    continue
                if pairs[f, k] <= min(relevance[f], other_relevance[k]) + tie:
                    continue
                if other_relevance[k] > relevance[f] + tie:
                    if by[f] < 0:
                        by[f] = k
                        pair[f] = pairs[f, k]
                    break
                if other_by[k] < 0:
                    other_by[k] = f
                    other_pair[k] = pairs[f, k]
        first = last
    return by, pair, other_by, other_pair
