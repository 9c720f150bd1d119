"""Slow twin of ``streamsieve.offline.inf_fs``: the graph entry by entry, and the inverse of a matrix.

    A_ij = alpha max(s_i, s_j) + (1 - alpha) (1 - |Spearman_ij|),   s scaled from 0 to 1,
    r = 0.9 / rho(A),   S = (I - r A)^-1 - I,   score_i = sum_j S_ij.

s is the standard deviation, or a mixture of I(x; y), F and the standard deviation, each scaled from 0 to 1.
Constant features are no nodes and score 0.

Errata: Siu's review takes instances for nodes and forgets r in sum_l (r A)^l.

Source: Roffo, Melzi and Cristani (2015).
"""

import numpy as np
from scipy.stats import spearmanr

from tests.reference.g_squared import classes, levels
from tests.reference.mrmr import f_statistic, information


def inf_fs(X, y=None, task=None, alpha=0.5, weights=(1, 1, 1), bins=5):
    """Return the score of every feature; without y, the unsupervised one."""
    X = np.asarray(X, np.float64)
    n, p = X.shape
    strength = X.std(axis=0)
    if y is not None:
        target = classes(y, task)
        parts = (
            [information(levels(X[:, j], bins), target) for j in range(p)],
            [f_statistic(X[:, j], y, task, n) for j in range(p)],
            strength,
        )
        strength = sum(w / sum(weights) * unit(part) for w, part in zip(weights, parts, strict=True))
    nodes = [j for j in range(p) if np.ptp(X[:, j]) > 0]
    scores = np.zeros(p)
    if nodes:
        scores[nodes] = paths(graph(X[:, nodes], unit(strength[nodes]), alpha))
    return scores


def graph(X, strength, alpha):
    p = X.shape[1]
    A = np.zeros((p, p))
    for i in range(p):
        for j in range(p):
            rho = 1.0 if i == j else abs(spearmanr(X[:, i], X[:, j]).statistic)
            rho = 1.0 if rho > 1 - 1e-12 else rho
            A[i, j] = alpha * max(strength[i], strength[j]) + (1 - alpha) * (1 - rho)
    return A


def paths(A):
    """Return the sums over all paths from every node."""
    radius = max(abs(np.linalg.eigvalsh(A)))
    if radius < 1e-12:
        return np.zeros(len(A))
    identity = np.eye(len(A))
    return (np.linalg.inv(identity - 0.9 / radius * A) - identity).sum(axis=1)


def unit(values):
    """Scale from 0 to 1; all 0 if they are equal."""
    values = np.asarray(values, np.float64)
    span = np.ptp(values)
    return (values - values.min()) / span if span > 1e-12 * abs(values).max() else np.zeros(len(values))
