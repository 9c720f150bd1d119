"""SAOLA's pairwise rule over the rows where both columns are seen; NaN marks what is missing.

Kept columns lie one after the other, without their means and of length 1 over the rows seen, NaN elsewhere.
``order`` lists their slots in order of arrival, then the free ones: nothing moves when a column leaves.
"""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray


@nb.njit(nogil=True, cache=True, error_model="numpy")
def standardize(
    indptr: IntArray, indices: npt.NDArray[np.int32], data: FloatArray, sparse: bool,
    out: FloatArray, seen: IntArray,
) -> None:  # fmt: skip
    """Write columns without their means, of length 1, and in how many rows each is seen.

    Column j has values ``data[indptr[j]:indptr[j + 1]]`` in rows ``indices`` (if not sparse: in all rows).
    """
    n = out.shape[1]
    for j in range(len(out)):
        x = out[j]
        for i in range(n):
            x[i] = 0.0
        for t in range(indptr[j], indptr[j + 1]):
            x[indices[t] if sparse else t - indptr[j]] = data[t]
        number = 0
        shift = 0.0
        for i in range(n):
            if not np.isnan(x[i]):
                if number == 0:
                    shift = x[i]
                number += 1
        seen[j] = number
        # by one of its own values, so that an offset costs no digits; last by what rounding left of the mean
        for _ in range(3):
            s = 0.0
            for i in range(n):
                x[i] -= shift
                if not np.isnan(x[i]):
                    s += x[i]
            shift = s / max(number, 1)
        squares = 0.0
        for i in range(n):
            if not np.isnan(x[i]):
                squares += x[i] * x[i]
        over = 1.0 / np.sqrt(squares) if squares > 0.0 else 0.0
        for i in range(n):
            x[i] *= over


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def together(a: FloatArray, b: FloatArray) -> tuple[float, int]:
    """Return |correlation| of two columns over complete pairs, and their number.

    Fewer than 4 complete pairs of more rows, or one of the two constant over them: 0.
    """
    rows = sa = sb = saa = sbb = sab = 0.0
    for i in range(len(a)):
        u, v = a[i], b[i]
        missing = np.isnan(u + v)
        u = 0.0 if missing else u
        v = 0.0 if missing else v
        rows += 0.0 if missing else 1.0
        sa += u
        sb += v
        saa += u * u
        sbb += v * v
        sab += u * v
    if rows >= 4.0 or rows == len(a):
        of_a = saa - sa * sa / rows
        of_b = sbb - sb * sb / rows
        if of_a > 1e-12 * saa and of_b > 1e-12 * sbb:
            return min(abs(sab - sa * sb / rows) / np.sqrt(of_a * of_b), 1.0), int(rows)
    return 0.0, int(rows)


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def product(a: FloatArray, b: FloatArray) -> float:
    """Return |correlation| of two columns without missing values."""
    s = 0.0
    for i in range(len(a)):
        s += a[i] * b[i]
    return abs(s)


@nb.njit(nogil=True, cache=True)
def decide(
    fresh: FloatArray, seen: IntArray, relevance: FloatArray, feature: IntArray, first: int,
    two_phase: bool, use_max: bool, tie: float,
    columns: FloatArray, kept_seen: IntArray, kept_relevance: FloatArray, kept_feature: IntArray,
    order: IntArray, q: int,
    by: IntArray, pair: FloatArray, pair_rows: IntArray,
    evicted: IntArray, evicted_by: IntArray, evicted_pair: FloatArray, evicted_rows: IntArray, n_evicted: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Offer relevant candidates ``first``, first + 1, ... to the kept columns.

    Candidates are the rows of ``fresh``, made by `standardize`.  Fills ``by[k]`` with the feature that
    dominates candidate k (-1: kept), ``pair[k]`` with their correlation and ``pair_rows[k]`` with the number
    of rows behind it.  Returns (next candidate, kept, evicted); it comes back early when all slots are taken.
    """
    capacity, n = columns.shape
    dropped = np.empty(capacity, np.bool_)
    between, joint, spare = np.empty(capacity), np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    for k in range(first, len(fresh)):
        if q == capacity:
            return k, q, n_evicted
        r = relevance[k]
        by[k] = -1
        n_dropped = 0
        for i in range(q):
            dropped[i] = False
        for i in range(q):
            slot = order[i]
            if seen[k] == n and kept_seen[slot] == n:
                d, rows = product(fresh[k], columns[slot]), n
            else:
                d, rows = together(fresh[k], columns[slot])
            other = kept_relevance[slot]
            if d < (max(r, other) if use_max else min(r, other)) - tie:
                continue
            if other >= r - tie:  # equals stay out: a duplicate adds nothing
                by[k] = kept_feature[slot]
                pair[k] = d
                pair_rows[k] = rows
                break
            dropped[i] = True
            between[i] = d
            joint[i] = rows
            n_dropped += 1
        newcomer = order[q]
        if n_dropped > 0 and not (by[k] >= 0 and two_phase):
            left = 0
            for i in range(q):
                slot = order[i]
                if dropped[i]:
                    spare[i - left] = slot
                    evicted[n_evicted] = kept_feature[slot]
                    evicted_by[n_evicted] = feature[k]
                    evicted_pair[n_evicted] = between[i]
                    evicted_rows[n_evicted] = joint[i]
                    n_evicted += 1
                else:
                    order[left] = slot
                    left += 1
            order[left] = newcomer
            for i in range(n_dropped):
                order[left + 1 + i] = spare[i]
            q = left
        if by[k] < 0:
            for i in range(n):
                columns[newcomer, i] = fresh[k, i]
            kept_seen[newcomer] = seen[k]
            kept_relevance[newcomer] = r
            kept_feature[newcomer] = feature[k]
            q += 1
    return len(fresh), q, n_evicted
