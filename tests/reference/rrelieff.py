"""Slow twin of ``streamsieve.offline.rrelieff``: sums over rows and their ranked neighbors, as printed.

For each row i and its k nearest others u, of rank 1, 2, ..., with d(i, u) = exp(-(rank / sigma)^2) / sum:

    N_dP += diff_y d,   N_dA[j] += diff_j d,   N_dPdA[j] += diff_y diff_j d,

    W_j = N_dPdA[j] / N_dP - (N_dA[j] - N_dPdA[j]) / (m - N_dP),

where diff_y = |difference| / range of y; a part whose denominator is 0 is 0.  Differences and distances are
those of ``relieff.py``.

Source: Robnik-Sikonja and Kononenko (1997); Wang (2021), (2.19) to (2.25).
"""

import math

import numpy as np

from tests.reference.relieff import differences, distances, nearest


def rrelieff(X, y, k=10, sigma=50.0, metric="euclidean", nominal=None, rows=None):
    y = np.asarray(y, np.float64)
    n, p = np.shape(X)
    diff = differences(X, np.zeros(p, bool) if nominal is None else nominal)
    apart = distances(diff, metric)
    rows = range(n) if rows is None else rows
    n_dp, n_da, n_dpda = 0.0, np.zeros(p), np.zeros(p)
    for i in rows:
        found = nearest(apart[i], [u for u in range(n) if u != i], k, p)
        raw = [1.0 if sigma is None else math.exp(-((r / sigma) ** 2)) for r in range(1, len(found) + 1)]
        for u, weight in zip(found, raw, strict=True):
            d, diff_y = weight / sum(raw), abs(y[i] - y[u]) / np.ptp(y)
            n_dp += diff_y * d
            n_da += diff[i, u] * d
            n_dpda += diff_y * diff[i, u] * d
    m, least = len(rows), 1e-12 * len(rows)
    far = n_dpda / n_dp if n_dp > least else np.zeros(p)
    near = (n_da - n_dpda) / (m - n_dp) if m - n_dp > least else np.zeros(p)
    return far - near
