"""SAOLA's pairwise rule over correlations, with the loop over candidates inside the kernel.

Kept columns are centered, of unit length, 32 side by side: ``tiles[tile, row, 32]``.  A tile's 32
correlations are computed when the scan reaches it: most candidates are rejected early.  ``order`` lists the
slots in order of arrival; freed slots are reused, so that an eviction moves no columns.
"""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray

LANES = 32


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def decide(
    indptr: IntArray, indices: npt.NDArray[np.int32], data: FloatArray, sparse: bool,
    mean: FloatArray, norm: FloatArray, relevance: FloatArray, feature: IntArray, first: int,
    two_phase: bool, use_max: bool, tie: float,
    tiles: FloatArray, kept_relevance: FloatArray, kept_feature: IntArray, order: IntArray,
    free: IntArray, q: int,
    by: IntArray, pair: FloatArray,
    evicted: IntArray, evicted_by: IntArray, evicted_pair: FloatArray, n_evicted: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Offer relevant candidates ``first``, first + 1, ... to the kept columns.

    Candidate k has values ``data[indptr[k]:indptr[k + 1]]`` in rows ``indices`` (if not sparse: in all rows).
    Fills ``by[k]`` with the feature that dominates it (-1: kept) and ``pair[k]`` with their correlation.
    Returns (next candidate, kept, evicted); it comes back early when all slots are taken.
    """
    capacity = order.shape[0]
    n = tiles.shape[1]
    dots = np.empty(capacity)
    done = np.empty(capacity // 32, np.bool_)
    dropped = np.empty(capacity, np.bool_)
    for k in range(first, len(relevance)):
        if q == capacity:
            return k, q, n_evicted
        low, high = indptr[k], indptr[k + 1]
        shift = mean[k] if high - low == n else 0.0
        r = relevance[k]
        done[:] = False
        n_dropped = 0
        dominated = False
        for i in range(q):
            dropped[i] = False
        for i in range(q):
            slot = order[i]
            tile = slot >> 5
            if not done[tile]:
                dot = dots[tile * 32 : tile * 32 + 32]
                dot[:] = 0.0
                columns = tiles[tile]
                for t in range(low, high):
                    v = data[t] - shift
                    row = columns[indices[t]] if sparse else columns[t - low]
                    for lane in range(32):
                        dot[lane] += v * row[lane]
                done[tile] = True
            d = abs(dots[slot]) / norm[k]
            other = kept_relevance[slot]
            if d >= (max(r, other) if use_max else min(r, other)) - tie:
                if other >= r - tie:  # equals stay out: a duplicate adds nothing
                    dominated = True
                    by[k] = kept_feature[slot]
                    pair[k] = d
                    break
                dropped[i] = True
                dots[slot] = d
                n_dropped += 1
        if n_dropped > 0 and not (dominated and two_phase):
            w = 0
            for i in range(q):
                slot = order[i]
                if dropped[i]:
                    free[capacity - q + (i - w)] = slot
                    evicted[n_evicted] = kept_feature[slot]
                    evicted_by[n_evicted] = feature[k]
                    evicted_pair[n_evicted] = dots[slot]
                    n_evicted += 1
                else:
                    order[w] = slot
                    w += 1
            q = w
        if not dominated:
            by[k] = -1
            slot = free[capacity - q - 1]
            columns, lane = tiles[slot >> 5], slot & 31
            base = (shift - mean[k]) / norm[k]
            for i in range(n):
                columns[i, lane] = base
            for t in range(low, high):
                row_number = indices[t] if sparse else t - low
                columns[row_number, lane] = (data[t] - mean[k]) / norm[k]
            if high - low == n:
                # without zeros the mean may be far from 0 and rounded; what that leaves would meet the
                # offset of every later candidate
                rest = 0.0
                for i in range(n):
                    rest += columns[i, lane]
                for i in range(n):
                    columns[i, lane] -= rest / n
            kept_relevance[slot] = r
            kept_feature[slot] = feature[k]
            order[q] = slot
            q += 1
    return len(relevance), q, n_evicted
