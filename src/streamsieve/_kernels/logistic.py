"""The two products that fitting a logistic model comes down to, for matrices of a few rows.

Not by BLAS: for matrices this small its threads take longer to agree than one core takes for the sums.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from streamsieve.protocols import FloatArray


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def weighted_gram(rows: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the products of all pairs of rows, each place counted by its weight."""
    q, n = rows.shape
    gram = np.empty((q, q))
    weighted = np.empty(n)
    for i in range(q):
        first = rows[i]
        for t in range(n):
            weighted[t] = weight[t] * first[t]
        for j in range(i + 1):
            second = rows[j]
            s = 0.0
            for t in range(n):
                s += weighted[t] * second[t]
            gram[i, j] = s
            gram[j, i] = s
    return gram


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def orthonormalize(rows: FloatArray, least: float) -> None:
    """Make rows orthonormal in place, in order; one with at most a share ``least`` of its own becomes 0."""
    q, n = rows.shape
    for i in range(q):
        row = rows[i]
        length = 0.0
        for t in range(n):
            length += row[t] * row[t]
        for _ in range(2):  # twice is enough (Kahan)
            for j in range(i):
                other = rows[j]
                s = 0.0
                for t in range(n):
                    s += other[t] * row[t]
                for t in range(n):
                    row[t] -= s * other[t]
        left = 0.0
        for t in range(n):
            left += row[t] * row[t]
        scale = 1.0 / np.sqrt(left) if left > least * least * length else 0.0
        for t in range(n):
            row[t] *= scale
