"""A buffer of the k best columns: which candidates enter, and which members leave.

``kept[:, slot]`` are the dependence on the target, the statistic and the p-value of a member, and
``new[:, j]`` those of candidate j.  ``pairs`` holds how much two members depend on each other, ``sums`` its
row sums.  Fates are 0 (kept), 1 (redundant) and 2 (outscored).  Without a weight for redundancy no columns
are held.
"""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray

#: Kept columns that lie side by side.
LANES = 16


@nb.njit(nogil=True, cache=True)
def limit(kept: FloatArray, sums: FloatArray, q: int, k: int, weight: float, tie: float) -> float:
    """Relevance at or below which a candidate is outscored, whatever it shares with members.

    Its own score is at most its dependence, and it costs every member no more than itself.  With a weight,
    the limit lies below any copy of a member: copies are redundant, not outscored.
    """
    if q < k:
        return -np.inf
    least = np.inf
    for s in range(q):
        least = min(least, kept[0, s] - weight / k * sums[s])
    return least - tie if weight > 0.0 else least + tie


@nb.njit(nogil=True, cache=True)
def place(
    j: int, shared: FloatArray, copied: int, k: int, weight: float, tie: float,
    new: FloatArray, feature: IntArray,
    kept: FloatArray, kept_feature: IntArray, pairs: FloatArray, sums: FloatArray, q: int,
    fate: npt.NDArray[np.uint8], by: IntArray,
    gone: IntArray, gone_fate: npt.NDArray[np.uint8], gone_values: FloatArray,
) -> int:  # fmt: skip
    """Let candidate j into a buffer with q members, or not; return its slot or -1.

    ``shared[s]`` is how much it depends on the member in slot s; it is a copy of the one in slot ``copied``
    (-1: of none).  Of k + 1 members the one with the least score leaves: dependence on the target minus
    weight times the mean of what it shares with the k others.  Of equals the last to arrive leaves.
    """
    if copied >= 0:
        fate[j] = 1
        by[j] = kept_feature[copied]
        return -1
    slot = q
    if q == k:
        own = 0.0
        worst = np.inf
        least = np.inf
        for s in range(q):
            own += shared[s]
            worst = min(worst, kept[0, s] - weight / k * (sums[s] + shared[s]))
            least = min(least, kept[0, s])
        if new[0, j] - weight / k * own <= worst + tie:
            fate[j] = 2
            if new[0, j] > least + tie:  # without redundancy it would have entered
                fate[j] = 1
                nearest = 0
                for s in range(1, q):
                    closer = shared[s] - shared[nearest]
                    earlier = kept_feature[s] < kept_feature[nearest]
                    if closer > tie or (closer >= -tie and earlier):
                        nearest = s
                by[j] = kept_feature[nearest]
            return -1
        slot = -1
        for s in range(q):
            score = kept[0, s] - weight / k * (sums[s] + shared[s])
            if score <= worst + tie and (slot < 0 or kept_feature[s] > kept_feature[slot]):
                slot = s
        gone[j] = kept_feature[slot]
        gone_fate[j] = 2 if kept[0, slot] <= min(least, new[0, j]) + tie else 1
        gone_values[0, j] = kept[1, slot]
        gone_values[1, j] = kept[2, slot]
    fate[j] = 0
    for i in range(3):
        kept[i, slot] = new[i, j]
    kept_feature[slot] = feature[j]
    if weight > 0.0:
        size = max(q, slot + 1)
        for s in range(q):
            pairs[s, slot] = shared[s]
            pairs[slot, s] = shared[s]
        pairs[slot, slot] = 0.0
        # all sums again: k^2 is little beside n k, and no rounding adds up over many swaps
        for s in range(size):
            total = 0.0
            for t in range(size):
                total += pairs[s, t]
            sums[s] = total
    return slot


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def decide(
    indptr: IntArray, indices: npt.NDArray[np.int32], data: FloatArray, sparse: bool,
    mean: FloatArray, norm: FloatArray, first: int, k: int, weight: float, tie: float,
    new: FloatArray, feature: IntArray, tiles: FloatArray,
    kept: FloatArray, kept_feature: IntArray, pairs: FloatArray, sums: FloatArray, q: int,
    fate: npt.NDArray[np.uint8], by: IntArray,
    gone: IntArray, gone_fate: npt.NDArray[np.uint8], gone_values: FloatArray,
) -> tuple[int, int]:  # fmt: skip
    """Offer candidates ``first``, first + 1, ... to columns that are compared by correlation.

    Candidate j has values ``data[indptr[j]:indptr[j + 1]]`` in rows ``indices`` (if not sparse: in all rows).
    ``tiles[tile, row, 16]`` holds members centered, of unit length.  Returns (next candidate, members); it
    comes back early when all slots are taken but more are allowed.
    """
    capacity = kept.shape[1]
    n = tiles.shape[1]
    shared = np.zeros(capacity)
    floor = limit(kept, sums, q, k, weight, tie)
    for j in range(first, new.shape[1]):
        if q == capacity and q < k:
            return j, q
        if new[0, j] <= floor:
            fate[j] = 2
            continue
        low = high = 0
        shift = 0.0
        copied = int(np.int64(-1))  # a literal would compile `place` a second time
        if weight > 0.0:
            low, high = indptr[j], indptr[j + 1]
            shift = mean[j] if high - low == n else 0.0
            for tile in range((q + 15) // 16):
                dots = shared[tile * 16 : tile * 16 + 16]
                dots[:] = 0.0
                columns = tiles[tile]
                for t in range(low, high):
                    v = data[t] - shift
                    row = columns[indices[t]] if sparse else columns[t - low]
                    for lane in range(16):
                        dots[lane] += v * row[lane]
            for s in range(q):
                shared[s] = min(abs(shared[s]) / norm[j], 1.0)
                earlier = copied < 0 or kept_feature[s] < kept_feature[copied]
                if shared[s] >= 1.0 - tie and earlier:
                    copied = s
        slot = place(
            j, shared, copied, k, weight, tie, new, feature, kept, kept_feature, pairs, sums, q,
            fate, by, gone, gone_fate, gone_values,
        )  # fmt: skip
        if slot < 0:
            continue
        q = max(q, slot + 1)
        floor = limit(kept, sums, q, k, weight, tie)
        if weight > 0.0:
            columns, lane = tiles[slot >> 4], slot & 15
            base = (shift - mean[j]) / norm[j]
            for i in range(n):
                columns[i, lane] = base
            for t in range(low, high):
                row_number = indices[t] if sparse else t - low
                columns[row_number, lane] = (data[t] - mean[j]) / norm[j]
            if high - low == n:
                # without zeros the mean may be far from 0 and rounded; what that leaves would meet the
                # offset of every later candidate
                rest = 0.0
                for i in range(n):
                    rest += columns[i, lane]
                for i in range(n):
                    columns[i, lane] -= rest / n
    return new.shape[1], q
