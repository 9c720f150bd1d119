"""Welford over the non-zeros of CSR rows: one cache line a non-zero, zeros for free.

``table[feature, class]`` holds [weight, mean, m2] of the values that are stored, and the weight of the
missing ones.  The zeros are never touched: their weight is what is left of the class's total, and they
are merged in on access.  A feature's cell is fetched 32 non-zeros ahead, because with millions
of features nearly every access is a cache miss.
"""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve._kernels.intrinsics import prefetch
from streamsieve.protocols import FloatArray, IntArray


@nb.njit(nogil=True, cache=True)
def update(
    indptr: IntArray, indices: npt.NDArray[np.int32], data: FloatArray, codes: IntArray,
    w: FloatArray, weighted: bool, table: FloatArray,
) -> None:  # fmt: skip
    """Take CSR rows into the table; ``codes`` are the rows' classes."""
    classes = table.shape[1]
    flat = table.reshape(table.size)
    last = len(indices) - 1
    wi = 1.0
    for i in range(len(indptr) - 1):
        c = codes[i]
        if weighted:
            wi = w[i]
            if wi == 0.0:
                continue
        for e in range(indptr[i], indptr[i + 1]):
            prefetch(flat, (np.intp(indices[min(e + 32, last)]) * classes + c) * 4)
            cell = table[indices[e], c]
            x = np.float64(data[e])
            if np.isnan(x):
                cell[3] += wi
            else:
                n = cell[0] + wi
                d = x - cell[1]
                mean = cell[1] + d * (wi / n)
                cell[0] = n
                cell[1] = mean
                cell[2] += wi * d * (x - mean)
