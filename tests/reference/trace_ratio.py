"""Slow twin of ``streamsieve.offline.trace_ratio``: every set of the size, one after another.

b_f = sum over classes of n_c (mean_c - mean)^2, w_f = sum over classes of the squares about mean_c; the best
set U of a size has the largest sum b / sum w.  With ``scaled``, columns have variance 1 first.

Source: Nie et al. (2008).
"""

from itertools import combinations

import numpy as np


def spreads(X, y, scaled=False):
    """Return b and w of every feature."""
    X, y = np.asarray(X, np.float64), np.asarray(y)
    X = X - X.mean(axis=0)
    if scaled:
        deviation = X.std(axis=0)
        X = X / np.where(deviation > 0, deviation, 1.0)
    b, w = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for c in np.unique(y):
        rows = X[y == c]
        b += len(rows) * rows.mean(axis=0) ** 2
        w += ((rows - rows.mean(axis=0)) ** 2).sum(axis=0)
    return b, w


def trace_ratio(X, y, k, scaled=False):
    """Return the best set of k features, and its ratio."""
    b, w = spreads(X, y, scaled)
    sets = list(combinations(range(len(b)), k))
    ratios = [b[list(s)].sum() / w[list(s)].sum() for s in sets]
    best = int(np.argmax(ratios))
    return sets[best], ratios[best]
