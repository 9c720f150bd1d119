"""Slow twin of ``streamsieve.offline.mrmr``: every relevance and redundancy again at every step.

1. rel_j is I(x_j; y) ("mi") or the F statistic ("fc").
2. The first feature has the largest rel.
3. Repeat: red_j is the mean over chosen q of I(x_j; x_q), or of |correlation|; choose the largest rel - red
   ("d") or rel / (red + 1e-12) ("q").

Constant features come last, in their order.  Values equal up to 1e-10 of their size are equal: the first
feature is chosen.  Codes are those of ``g_squared.py``.  F = (explained / (C - 1)) / (left / (n - C)), for a
numeric target C = 2; what is left is 1e-12 of the whole at least.

Source: Ding and Peng (2005); Peng, Long and Ding (2005).
"""

import numpy as np

from tests.reference import fisher_z
from tests.reference.g_squared import classes, levels
from tests.reference.saola import entropies

TIE = 1e-10


def mrmr(X, y, task, wanted, scheme="mid", bins=5):
    """Return the chosen features in order, and their balance when they were chosen."""
    X, n = np.asarray(X, np.float64), len(y)
    p = X.shape[1]
    if scheme.startswith("mi"):
        codes, target = [levels(X[:, j], bins) for j in range(p)], classes(y, task)
        relevance = [information(x, target) for x in codes]
        redundancy = [[information(a, b) for b in codes] for a in codes]
    else:
        relevance = [f_statistic(X[:, j], y, task, n) for j in range(p)]
        redundancy = [[abs(fisher_z.correlation(X[:, a], X[:, b])) for b in range(p)] for a in range(p)]
    constant = [j for j in range(p) if np.all(X[:, j] == X[0, j])]
    left, order, balance = [j for j in range(p) if j not in constant], [], []
    while left and len(order) < wanted:
        values = [value(relevance[j], [redundancy[j][q] for q in order], scheme[-1]) for j in left]
        size = max(abs(max(values)), 0 if scheme[-1] == "q" else 1)
        at = next(i for i, v in enumerate(values) if v >= max(values) - TIE * size)
        order.append(left.pop(at))
        balance.append(values[at])
    order += constant[: wanted - len(order)]
    return order, balance + [0.0] * (len(order) - len(balance)), relevance


def value(relevance, redundancies, kind):
    if not redundancies:
        return relevance
    mean = sum(redundancies) / len(redundancies)
    return relevance - mean if kind == "d" else relevance / (mean + 1e-12)


def information(a, b):
    """Return I(a; b) in nats; what rounding leaves of 0 is 0."""
    nats = entropies(a, b)[2]
    return nats if nats >= 1e-12 else 0.0


def f_statistic(x, y, task, n):
    if np.all(x == x[0]):
        return 0.0
    if task == "regression":
        share, groups = fisher_z.correlation(x, y) ** 2, 2
    else:
        share, groups = fisher_z.correlation_ratio(x, y) ** 2, len(np.unique(y))
    return share / max(1 - share, 1e-12) * max(n - groups, 1) / (groups - 1)
