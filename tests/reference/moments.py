"""Slow twin of ``streamsieve.summaries.moments``: two passes over the whole data, one cell at a time.

For class c and feature j, over the rows of the class in which the feature is present,

    mass = sum w,    mean = sum w x / mass,    variance = sum w (x - mean)^2 / mass     (ddof 0),

with w = weight * 2^(-age / half_life), age 0 for the last row.  Rows of weight 0 do not exist.

Source: Wang 2021, equations 3.1-3.3, corrected; Chan, Golub, LeVeque (1983).
"""

import numpy as np


def decay(n, half_life):
    """Return 2^(-age / half_life) of n rows, oldest first."""
    if half_life is None:
        return np.ones(n)
    return np.array([2.0 ** (-(n - 1 - i) / half_life) for i in range(n)])


def existing(X, y, weight):
    """Return the rows of positive weight as float64, and their weights."""
    X, y = np.asarray(X, np.float64), np.asarray(y)
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, np.float64)
    there = weight > 0
    return X[there], y[there], weight[there]


def mean_and_variance(x, w):
    """Two passes in long double, relative to the first value so that a constant comes out exactly."""
    if len(x) == 0:
        return 0.0, 0.0
    first = x[0]
    shifted, w = (x - first).astype(np.longdouble), w.astype(np.longdouble)
    mean = (w * shifted).sum() / w.sum()
    variance = (w * (shifted - mean) ** 2).sum() / w.sum()
    return float(first + mean), float(variance)


def moments(X, y, weight=None, half_life=None):
    """Return {label: (mass, mean, variance)}, each an array over features."""
    X, y, weight = existing(X, y, weight)
    w = weight * decay(len(y), half_life)
    cells = {}
    for label in sorted(set(y.tolist())):
        mass, mean, variance = np.zeros((3, X.shape[1]))
        for j in range(X.shape[1]):
            present = (y == label) & ~np.isnan(X[:, j])
            mass[j] = w[present].sum()
            mean[j], variance[j] = mean_and_variance(X[present, j], w[present])
        cells[label] = mass, mean, variance
    return cells


def effective_counts(X, y, weight=None, half_life=None):
    """Return {label: number of rows that carry as much information}, each an array over features.

    A class of rows with weights k_i (copies of a row) and decays f_i counts as W^2 / V rows, where
    W = sum k f and V = sum k f^2; a feature present in a share of the class's mass, as that share of it.
    """
    cells = moments(X, y, weight, half_life)
    X, y, weight = existing(X, y, weight)
    f = decay(len(y), half_life)
    counts = {}
    for label, (mass, _, _) in cells.items():
        of_class = y == label
        W = (weight * f)[of_class].sum()
        V = (weight * f * f)[of_class].sum()
        counts[label] = mass / W * (W * W / V)
    return counts
