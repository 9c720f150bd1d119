"""Orthonormal Legendre polynomials of ranks: a column as a curve of degree 3, whatever its scale."""

from __future__ import annotations

import numba as nb
import numpy as np

from streamsieve.protocols import FloatArray, IntArray

#: Degree of the polynomials.
DEGREE = 3


@nb.njit(nogil=True, cache=True)
def rank_bases(columns: FloatArray, low: int, high: int, out: FloatArray, rank: IntArray) -> None:
    """Fill bases of columns ``low`` to ``high``, one column per row, and how many functions each has.

    Mid-ranks r become u = 2 (r - 1/2) / n - 1, then P1(u), P2(u), P3(u), centered and made orthonormal in
    this order.  A column of v values has at most v - 1 functions; ``out[j, rank[j]:]`` is 0.
    """
    n = columns.shape[1]
    u = np.empty(n)
    for j in range(low, high):
        order = np.argsort(columns[j])
        first = 0
        while first < n:
            last = first
            while last + 1 < n and columns[j, order[last + 1]] == columns[j, order[first]]:
                last += 1
            for i in range(first, last + 1):
                u[order[i]] = (first + last + 1.0) / n - 1.0
            first = last + 1
        known = 0
        for degree in range(1, 4):
            q = out[j, known]
            length = 0.0
            for i in range(n):
                v = u[i]
                if degree == 2:
                    v = 1.5 * v * v - 0.5
                elif degree == 3:
                    v = (2.5 * v * v - 1.5) * v
                q[i] = v
                length += v * v
            for _ in range(2):  # the second time removes what rounding left
                mean = q.sum() / n
                for i in range(n):
                    q[i] -= mean
                for k in range(known):
                    shared = 0.0
                    for i in range(n):
                        shared += out[j, k, i] * q[i]
                    for i in range(n):
                        q[i] -= shared * out[j, k, i]
            left = 0.0
            for i in range(n):
                left += q[i] * q[i]
            if left > 1e-20 * length:
                scale = 1.0 / np.sqrt(left)
                for i in range(n):
                    q[i] *= scale
                known += 1
        for k in range(known, 3):
            out[j, k, :] = 0.0
        rank[j] = known
