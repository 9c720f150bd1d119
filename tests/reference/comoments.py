"""Slow twin of ``streamsieve.summaries.comoments``: two passes, one feature at a time.

Over the rows in which feature j is present, with weights w as in the twin of the moments,

    var x = sum w (x - mean x)^2 / sum w,   var y likewise,
    cov   = sum w (x - mean x) (y - mean y) / sum w.

Source: Chan, Golub, LeVeque (1983).
"""

from typing import NamedTuple

import numpy as np

from tests.reference.moments import decay, existing


class CoMomentsTwin(NamedTuple):
    count: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    target_variance: np.ndarray
    covariance: np.ndarray


def comoments(X, y, weight=None, half_life=None):
    X, y, weight = existing(X, y, weight)
    f = decay(len(y), half_life)
    w = weight * f
    information = w.sum() / (w * f).sum() if len(y) else 1.0
    columns = [_one(X[:, j], y.astype(np.float64), w) for j in range(X.shape[1])]
    mass, *rest = np.array(columns, np.float64).reshape(-1, 5).T
    return CoMomentsTwin(mass * information, *rest)


def _one(x, y, w):
    present = ~np.isnan(x)
    if not present.any():
        return 0.0, 0.0, 0.0, 0.0, 0.0
    x, y, w = (a[present].astype(np.longdouble) for a in (x, y, w))
    first = x[0]
    dx, dy = x - first, y - y[0]
    mean = (w * dx).sum() / w.sum()
    dx, dy = dx - mean, dy - (w * dy).sum() / w.sum()
    return (
        w.sum(),
        first + mean,
        (w * dx * dx).sum() / w.sum(),
        (w * dy * dy).sum() / w.sum(),
        (w * dx * dy).sum() / w.sum(),
    )
