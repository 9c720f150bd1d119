"""Slow twin of ``streamsieve.summaries.cross_products``: two passes over the whole data, one pair at a time.

With w = weight * 2^(-age / half_life), age 0 for the last row, and W = sum w,

    mean_j = sum w x_j / W,    cov_jl = sum w (x_j - mean_j) (x_l - mean_l) / W,

and likewise for a target t in the place of x_l: the numbers y, or for every class the column that is 1 in its
rows and 0 in others.  n = W^2 / V with V = sum weight * decay^2.  Rows of weight 0 do not exist.

Source: Sun, Wang, Zhu, Barbu, arXiv:1803.11521.
"""

from typing import NamedTuple

import numpy as np

from tests.reference.moments import decay, existing


class JointTwin(NamedTuple):
    n: float
    mean: np.ndarray
    covariance: np.ndarray
    target_mean: np.ndarray
    target_variance: np.ndarray
    target_covariance: np.ndarray


def joint_moments(X, y, weight=None, half_life=None, classes=None):
    """Return the moments of all features with the numbers y, or with the columns of the given classes."""
    X, y, weight = existing(X, y, weight)
    f = decay(len(y), half_life)
    w = (weight * f).astype(np.longdouble)
    targets = [y.astype(np.float64)] if classes is None else [(y == label) * 1.0 for label in classes]
    columns = [_centered(x, w) for x in X.T]
    about = [_centered(t, w) for t in targets]
    p, m = len(columns), len(targets)
    covariance, cross = np.zeros((p, p)), np.zeros((m, p))
    for j in range(p):
        for other in range(p):
            covariance[j, other] = _mean(columns[j][1] * columns[other][1], w)
        for t in range(m):
            cross[t, j] = _mean(about[t][1] * columns[j][1], w)
    return JointTwin(
        float(w.sum() ** 2 / (weight * f * f).sum()),
        np.array([mean for mean, _ in columns], np.float64),
        covariance,
        np.array([mean for mean, _ in about], np.float64),
        np.array([_mean(t * t, w) for _, t in about], np.float64),
        cross,
    )


def _mean(values, w):
    return float((w * values).sum() / w.sum())


def _centered(x, w):
    """Return the mean and the values less the mean, relative to the first so that a constant is exact."""
    shifted = x.astype(np.longdouble) - x[0]
    mean = (w * shifted).sum() / w.sum()
    return float(x[0] + mean), shifted - mean
