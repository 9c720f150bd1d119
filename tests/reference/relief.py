"""Slow twin of ``streamsieve.offline.relief``: for each row its nearest hit and its nearest miss.

``W_j += (1 / m) [ diff_j(i, miss) - diff_j(i, hit) ]``, two classes, with the differences and distances of
``relieff.py``.  The paper squares the differences; see the class.

Source: Kira and Rendell (1992).
"""

import numpy as np

from tests.reference.relieff import differences, distances, nearest


def relief(X, y, metric="euclidean", nominal=None, rows=None):
    y = np.asarray(y)
    n, p = np.shape(X)
    diff = differences(X, np.zeros(p, bool) if nominal is None else nominal)
    apart = distances(diff, metric)
    rows = range(n) if rows is None else rows
    weights = np.zeros(p)
    for i in rows:
        (hit,) = nearest(apart[i], [b for b in range(n) if y[b] == y[i] and b != i], 1, p)
        (miss,) = nearest(apart[i], [b for b in range(n) if y[b] != y[i]], 1, p)
        weights += diff[i, miss] - diff[i, hit]
    return weights / len(rows)
