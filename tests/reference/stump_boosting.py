"""Slow twin of ``streamsieve.offline.stump_boosting``: every feature, threshold and sign, one by one.

1. w = 1 / n.
2. For t = 1..T: the stump of least weighted error e_t over unused features, thresholds between different
   values, and both signs; equal up to 1e-10 (thresholds of a feature: 1e-12), the first.  Stop if e_t >= 1/2.
3. a_t = ln((1 - e_t) / e_t) / 2; w *= exp(-a_t y h_t), normalized.  Stop after e_t = 0.

Source: Ding et al. (2011).
"""

import math

import numpy as np


def best_stump(x, sign, w):
    """Return (error, threshold, sign above) of the best stump of a feature, or None."""
    best = None
    for threshold in np.unique(x)[:-1]:
        up = float(w[np.where(x > threshold, 1, -1) != sign].sum())
        for error, above in ((up, 1.0), (1 - up, -1.0)):
            if best is None or error < best[0] - 1e-12:
                best = error, float(threshold), above
    return best


def stump_boosting(X, y, wanted):
    """Return the features by round, and (error, threshold, sign) of their stumps."""
    X = np.asarray(X, np.float64)
    sign = np.where(y == np.unique(y)[1], 1, -1)
    w = np.full(len(sign), 1 / len(sign))
    order, stumps = [], []
    while len(order) < wanted:
        found = {j: best_stump(X[:, j], sign, w) for j in range(X.shape[1]) if j not in order}
        found = {j: stump for j, stump in found.items() if stump is not None}
        least = min((stump[0] for stump in found.values()), default=1.0)
        if least >= 0.5 - 1e-10:
            break
        j = next(j for j, stump in found.items() if stump[0] <= least + 1e-10)
        error, threshold, above = found[j]
        order.append(j)
        stumps.append((max(error, 0.0), threshold, above))
        if error <= 1e-12:
            break
        a = math.log((1 - error) / error) / 2
        w = w * np.exp(-a * sign * np.where(X[:, j] > threshold, above, -above))
        w /= w.sum()
    return order, stumps
