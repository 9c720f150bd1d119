"""Mutual information of one coded column and many others.

A coded column is the list of rows whose code is not 0.  The table of two columns is counted over that list;
its first row, that of code 0, is what the counts of the other column leave.
"""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray


@nb.njit(nogil=True, cache=True)
def information(
    pointers: IntArray, rows: npt.NDArray[np.int32], codes: npt.NDArray[np.uint16],
    levels: IntArray, entropy: FloatArray, wanted: IntArray,
    other: npt.NDArray[np.uint16], other_counts: IntArray, other_entropy: float, g: FloatArray,
    first: int, last: int, out: FloatArray,
) -> None:  # fmt: skip
    """Information of columns ``wanted[first:last]`` and another, in nats times the rows.

    Entropies are in the same unit, ``g[c] = c ln c``.
    """
    n, width = len(other), len(other_counts)
    widest = 1
    for k in range(first, last):
        widest = max(widest, levels[wanted[k]])
    cell = np.zeros(widest * width, np.int64)
    for k in range(first, last):
        j = wanted[k]
        size = levels[j] * width
        for a in range(width, size):
            cell[a] = 0
        for t in range(pointers[j], pointers[j + 1]):
            cell[codes[t] * width + other[rows[t]]] += 1
        for a in range(width):
            cell[a] = other_counts[a]
        for a in range(width, size):
            cell[a % width] -= cell[a]
        joint = 0.0
        for a in range(size):
            joint += g[cell[a]]
        out[k] = max(entropy[j] + other_entropy - (g[n] - joint), 0.0)
