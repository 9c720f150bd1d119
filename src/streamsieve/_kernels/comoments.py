"""Moments of features together with a numeric target: dense rows about pivots, CSR rows by Welford."""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray


@nb.njit(nogil=True, cache=True)
def accumulate(
    X: FloatArray, y: FloatArray, w: FloatArray, pivot: FloatArray,
    s1: FloatArray, s2: FloatArray, sxy: FloatArray, low: int, high: int,
) -> bool:  # fmt: skip
    """Fill sums of w d, w d^2, w d y with d = x - pivot, for features low..high.

    ``y`` must already be relative to its own pivot.  False if a NaN or an overflow came up.
    """
    fine = True
    n = X.shape[0]
    for j0 in range(low, high, 256):
        m = min(256, high - j0)
        pv = pivot[j0 : j0 + m]
        a1 = s1[j0 : j0 + m]
        a2 = s2[j0 : j0 + m]
        ay = sxy[j0 : j0 + m]
        for j in range(m):
            a1[j] = 0.0
            a2[j] = 0.0
            ay[j] = 0.0
        i = 0
        while i + 2 <= n:
            r0 = X[i, j0 : j0 + m]
            r1 = X[i + 1, j0 : j0 + m]
            w0, w1 = w[i], w[i + 1]
            y0, y1 = y[i], y[i + 1]
            for j in range(m):
                q = pv[j]
                d0 = r0[j] - q
                d1 = r1[j] - q
                e0 = w0 * d0
                e1 = w1 * d1
                a1[j] += e0 + e1
                a2[j] += e0 * d0 + e1 * d1
                ay[j] += e0 * y0 + e1 * y1
            i += 2
        while i < n:
            r0 = X[i, j0 : j0 + m]
            for j in range(m):
                d0 = r0[j] - pv[j]
                e0 = w[i] * d0
                a1[j] += e0
                a2[j] += e0 * d0
                ay[j] += e0 * y[i]
            i += 1
        for j in range(m):
            if not (a2[j] < np.inf and np.isfinite(ay[j])):
                fine = False
    return fine


@nb.njit(nogil=True, cache=True)
def update_missing(X: FloatArray, y: FloatArray, w: FloatArray, cells: FloatArray) -> None:
    """Take dense rows with NaN into ``cells[feature] = [w, mean x, m2 x, mean y, cxy, m2 y]`` by Welford."""
    for i in range(X.shape[0]):
        if w[i] > 0.0:
            for j in range(X.shape[1]):
                x = X[i, j]
                if not np.isnan(x):
                    cell = cells[j]
                    n = cell[0] + w[i]
                    share = w[i] / n
                    dx = x - cell[1]
                    dy = y[i] - cell[3]
                    cell[0] = n
                    cell[1] += dx * share
                    cell[3] += dy * share
                    cell[2] += w[i] * dx * (x - cell[1])
                    cell[4] += w[i] * dx * (y[i] - cell[3])
                    cell[5] += w[i] * dy * (y[i] - cell[3])


@nb.njit(nogil=True, cache=True)
def update_csr(
    indptr: IntArray, indices: npt.NDArray[np.int32], data: FloatArray, y: FloatArray, w: FloatArray,
    table: FloatArray,
) -> None:  # fmt: skip
    """Take CSR rows into ``table[feature]``: 8 numbers, one cache line.

    [w, mean x, m2 x, mean y, cxy] of the stored values, then [w, mean y, m2 y] of the missing ones.
    """
    for i in range(len(indptr) - 1):
        wi = w[i]
        if wi == 0.0:
            continue
        yi = y[i]
        for e in range(indptr[i], indptr[i + 1]):
            cell = table[indices[e]]
            x = np.float64(data[e])
            if np.isnan(x):
                n = cell[5] + wi
                dy = yi - cell[6]
                cell[5] = n
                cell[6] += dy * (wi / n)
                cell[7] += wi * dy * (yi - cell[6])
            else:
                n = cell[0] + wi
                share = wi / n
                dx = x - cell[1]
                cell[0] = n
                cell[1] += dx * share
                cell[3] += (yi - cell[3]) * share
                cell[2] += wi * dx * (x - cell[1])
                cell[4] += wi * dx * (yi - cell[3])
