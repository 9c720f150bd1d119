"""Products of a column with itself some rows later: its autocovariances."""

from __future__ import annotations

import numba as nb

from streamsieve.protocols import FloatArray


@nb.njit(nogil=True, cache=True)
def lagged_products(Z: FloatArray, low: int, high: int, out: FloatArray) -> None:
    """Write ``sum_i z_i z_(i+j)`` of the rows low..high of Z to ``out[z, j - 1]``, for all lags j it has.

    Each lag has its own sum, so that the loop over lags vectorizes and the order of additions is fixed.
    """
    n, lag = Z.shape[1], out.shape[1]
    for c in range(low, high):
        for j in range(lag):
            out[c, j] = 0.0
        for i in range(n - 1):
            value = Z[c, i]
            for j in range(min(lag, n - 1 - i)):
                out[c, j] += value * Z[c, i + 1 + j]
