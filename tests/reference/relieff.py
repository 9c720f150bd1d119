"""Slow twin of ``streamsieve.offline.relieff``: row by row, neighbor by neighbor.

1. range_j = max - min; diff_j(a, b) = |a - b| / range_j (0 if the range is 0), or [a != b] for a nominal j.
2. The distance of two rows is the sum of diff_j, or of its square.
3. For each row i: the k nearest of its own class (without itself) are H, those of each other class c are M_c;
   a class of fewer rows gives all.
4. ``W_j += (1 / m) [ sum_c P(c) / (1 - P(y_i)) mean_{b in M_c} diff_j(i, b) - mean_{h in H} diff_j(i, h) ]``.

Distances that differ by less than 1e-12 a feature are equal; of equals the first rows are taken.

Source: Kononenko (1994).
"""

import numpy as np


def differences(X, nominal):
    """Return diff_j of all pairs of rows, as an array (row, row, feature)."""
    X = np.asarray(X, np.float64)
    differences = np.zeros((len(X), len(X), X.shape[1]))
    for j in range(X.shape[1]):
        x = X[:, j]
        if nominal[j]:
            differences[:, :, j] = x[:, None] != x[None, :]
        elif np.ptp(x) > 0:
            differences[:, :, j] = np.abs(x[:, None] - x[None, :]) / np.ptp(x)
    return differences


def distances(differences, metric):
    return (differences**2 if metric == "euclidean" else differences).sum(axis=2)


def nearest(distance, candidates, k, n_features):
    """Return the k nearest of some rows, the nearest first; of equals the first rows."""
    tie = 1e-12 * n_features
    left, found = list(candidates), []
    while left and len(found) < k:
        least = min(distance[b] for b in left)
        best = next(b for b in left if distance[b] <= least + tie)
        left.remove(best)
        found.append(best)
    return found


def relieff(X, y, k=10, metric="euclidean", nominal=None, rows=None):
    y = np.asarray(y)
    n, p = np.shape(X)
    diff = differences(X, np.zeros(p, bool) if nominal is None else nominal)
    apart = distances(diff, metric)
    share = {c: np.mean(y == c) for c in np.unique(y)}
    rows = range(n) if rows is None else rows
    weights = np.zeros(p)
    for i in rows:
        for c, P in share.items():
            others = [b for b in range(n) if y[b] == c and b != i]
            found = nearest(apart[i], others, k, p)
            mean = np.mean([diff[i, b] for b in found], axis=0)
            weights += -mean if c == y[i] else P / (1 - share[y[i]]) * mean
    return weights / len(rows)
