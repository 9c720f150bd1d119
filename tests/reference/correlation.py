"""Slow twin of ``streamsieve.criteria.correlation``: Pearson's r with a numeric target, by absolute value.

    r = |cov(x, y)| / sqrt(var x var y),      t = r sqrt(df / (1 - r^2)) with df = n - 2

A constant feature or target scores 0.  Without df > 0 there is nothing to test: p-value 1.

Source: Pearson (1895).
"""

import numpy as np
import scipy.stats

from tests.reference.comoments import comoments


def score(X, y, weight=None, half_life=None):
    twin = comoments(X, y, weight, half_life)
    out = np.zeros(len(twin.mean))
    for j in range(len(out)):
        spread = np.sqrt(twin.variance[j]) * np.sqrt(twin.target_variance[j])
        if spread > 0:
            out[j] = min(abs(twin.covariance[j]) / spread, 1.0)
    return out


def p_value(X, y, weight=None, half_life=None):
    n = comoments(X, y, weight, half_life).count
    out = np.ones(len(n))
    for j, r in enumerate(score(X, y, weight, half_life)):
        if n[j] > 2 and r > 0:
            t = np.inf if r == 1 else r * np.sqrt((n[j] - 2) / ((1 - r) * (1 + r)))
            out[j] = 2 * scipy.stats.t.sf(t, n[j] - 2)
    return out
