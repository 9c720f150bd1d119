"""Slow twin of ``streamsieve.criteria.ksg``: every distance of every pair of rows, copies and all.

    d_ij = max(|x_i - x_j| / sd(x), |y_i - y_j| / sd(y))       (labels: 0 if equal, else infinite; sd(x) = 1)
    e_i  = the k-th smallest d_ij over j != i                  (k at most the number of finite ones)
    c    = rows j with d_ij inside e_i, c_x, c_y by either part alone; the row itself counts
    I    = max(0, psi(N) + mean(psi(c) - psi(c_x) - psi(c_y)))

Inside: less than (1 - 1e-10) e_i, or 0.  Rows alone in their class are left out.  Rows in which the feature
is missing are left out first; then sd (population) and N are of those that are left.

Without ties c = k: equation 8 of Kraskov, Stoegbauer and Grassberger 2004 (n_x + 1 is c_x), and Ross 2014
(c_y = N_class, c_x = m).  Source: Kraskov, Stoegbauer, Grassberger (2004); Keller (2015).
"""

import numpy as np
from scipy.special import digamma


def distances(values):
    """Return |a - b| over the standard deviation, for all pairs."""
    spread = 1.0
    if np.any(values != values[0]):
        middle = np.mean(values)
        far = np.abs(values - middle).max()
        spread = far * np.sqrt(np.mean(((values - middle) / far) ** 2))
    return np.abs(values[:, None] - values[None, :]) / spread


def information(x, y, k=4, *, labels):
    """Return the estimate of one feature, in nats."""
    if labels:
        counts = np.array([np.sum(y == label) for label in y], int)
        x, y = x[counts > 1], y[counts > 1]
    if len(x) < 2 or np.all(x == x[0]) or np.all(y == y[0]):
        return 0.0
    by_x = np.abs(x[:, None] - x[None, :]) if labels else distances(x)
    by_y = np.where(y[:, None] == y[None, :], 0.0, np.inf) if labels else distances(y)
    both = np.maximum(by_x, by_y)
    radius = np.empty(len(x))
    for i in range(len(x)):
        others = np.sort(np.delete(both[i], i))
        others = others[np.isfinite(others)]
        radius[i] = others[min(k, len(others)) - 1] * (1 - 1e-10)
    c, c_x, c_y = (((d < radius[:, None]) | (d == 0)).sum(axis=1) for d in (both, by_x, by_y))
    return max(0.0, digamma(len(x)) + np.mean(digamma(c) - digamma(c_x) - digamma(c_y)))


def score(X, y, weight=None, k=4, *, labels):
    """Return one score a feature; weights are numbers of copies."""
    rows = np.arange(len(y)) if weight is None else np.repeat(np.arange(len(y)), weight.astype(int))
    X, y = X[rows], y[rows]
    there = ~np.isnan(X)
    return np.array(
        [information(X[there[:, j], j], y[there[:, j]], k, labels=labels) for j in range(X.shape[1])]
    )
