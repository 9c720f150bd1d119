"""Equal-frequency bins out of sorted strands, without merging them."""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray

Values = npt.NDArray[Any]


@nb.njit(nogil=True, cache=True)
def _lower(row: Values, low: int, high: int, x: float) -> int:
    """Return the first place in low..high whose value is at least x."""
    while low < high:
        middle = (low + high) >> 1
        if row[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@nb.njit(nogil=True, cache=True)
def _upper(row: Values, low: int, high: int, x: float) -> int:
    """Return the first place in low..high whose value exceeds x."""
    while low < high:
        middle = (low + high) >> 1
        if row[middle] <= x:
            low = middle + 1
        else:
            high = middle
    return low


@nb.njit(nogil=True, cache=True)
def bins(
    V: Values, U: FloatArray, start: IntArray, u_start: IntArray, weight: FloatArray, of_class: IntArray,
    is_table: IntArray, sizes: IntArray, shift: FloatArray, mass: FloatArray, missing: FloatArray,
    whole: bool, cuts: FloatArray, counts: FloatArray,
) -> None:  # fmt: skip
    """Cut each feature's pooled mass into bins, and count every class in them.

    ``V[f, start[r] : start[r + 1]]`` are the sorted values of strand r, which belongs to class
    ``of_class[r]``.  Each of them weighs ``weight[r]``; if that is 0, ``U[f, u_start[r] + i]`` is the mass of
    the first i + 1.  ``is_table[r]`` is 0 for rows not yet in a run, 1 for a run, 2 for the exact table of a
    feature with few values: where such a table of size ``sizes[f, c] >= 0`` exists, the class's runs are not
    looked at.  ``shift[c]`` centers the error of the class's runs, ``missing[f, c]`` is in no bin.

    ``cuts[f, i]`` is the smallest value whose pooled mass reaches the (i + 1)-th target: a selection over
    sorted strands, by bisecting the one with the most mass in question.  Targets rise, so nothing left of
    one cut is looked at for the next.
    """
    R, C, K1 = len(weight), len(mass), cuts.shape[1]
    first, last = np.empty(R, np.intp), np.empty(R, np.intp)
    lo, hi, pos = np.empty(R, np.intp), np.empty(R, np.intp), np.empty(R, np.intp)
    room, below, center = np.empty(C), np.empty(C), np.empty(C)
    for f in range(V.shape[0]):
        row = V[f]
        total = pooled = 0.0
        for c in range(C):
            room[c] = max(mass[c] - missing[f, c], 0.0)
            total += room[c]
            center[c] = shift[c] if sizes[f, c] < 0 else 0.0
            pooled += center[c]
        for r in range(R):
            c = of_class[r]
            first[r], last[r] = start[r], start[r + 1]
            if is_table[r] == 2:
                last[r] = first[r] + max(sizes[f, c], 0)
            elif is_table[r] == 1 and sizes[f, c] >= 0:
                last[r] = first[r]
            elif missing[f, c] > 0.0:
                last[r] = _lower(row, first[r], last[r], np.inf)
        step = max(1.0, np.floor(total / (K1 + 1))) if whole else total * (1 - 1e-12) / (K1 + 1)
        largest = -np.inf
        for r in range(R):
            if last[r] > first[r]:
                largest = max(largest, row[last[r] - 1])
        for q in range(K1):
            target = step * (q + 1)
            answer = largest
            for r in range(R):
                lo[r], hi[r] = first[r], last[r]
            while True:
                heaviest, best = 0.0, -1
                for r in range(R):
                    if hi[r] > lo[r]:
                        if weight[r] > 0.0:
                            here = weight[r] * (hi[r] - lo[r])
                        else:
                            at = u_start[r] - start[r] - 1
                            here = U[f, at + hi[r]] - (U[f, at + lo[r]] if lo[r] > start[r] else 0.0)
                            here = max(here, 1e-300)
                        if here > heaviest:
                            heaviest, best = here, r
                if best < 0:
                    break
                x = row[(lo[best] + hi[best]) >> 1]
                reached = pooled
                for r in range(R):
                    pos[r] = _upper(row, lo[r], hi[r], x)
                    if weight[r] > 0.0:
                        reached += weight[r] * (pos[r] - start[r])
                    elif pos[r] > start[r]:
                        reached += U[f, u_start[r] + pos[r] - start[r] - 1]
                if reached >= target:
                    answer = x
                    for r in range(R):
                        hi[r] = _lower(row, lo[r], pos[r], x)
                else:
                    for r in range(R):
                        lo[r] = pos[r]
            cuts[f, q] = answer
            for c in range(C):
                below[c] = center[c]
            for r in range(R):
                first[r] = min(lo[r], last[r])
                upto = _upper(row, first[r], last[r], answer)
                if weight[r] > 0.0:
                    below[of_class[r]] += weight[r] * (upto - start[r])
                elif upto > start[r]:
                    below[of_class[r]] += U[f, u_start[r] + upto - start[r] - 1]
            for c in range(C):
                counts[f, c, q] = min(max(below[c], 0.0), room[c])
        for c in range(C):
            counts[f, c, K1] = room[c]
            for q in range(K1, 0, -1):
                counts[f, c, q] = max(counts[f, c, q] - counts[f, c, q - 1], 0.0)
