"""Slow twin of ``streamsieve.rows.sofs``: the rule as the papers tell it, on whole vectors.

mean = 0, sigma = 1.  For each row x with label y = -1 or +1:

    f = mean'x;  if y f < 1:
        beta = 1 / (x' sigma x + r),  alpha = (1 - y f) beta
        mean <- mean + alpha y sigma x      1/sigma <- 1/sigma + x^2 / r
        mean <- 0 outside the B smallest sigma, of equals the first ones being smaller

with gain = 1/sigma - 1, which small values cannot vanish in.

Source: Crammer, Kulesza, Dredze (2009) with a diagonal matrix; Wu, Hoi, Mei, Yu (2017).
"""

import numpy as np

from tests.reference.ofs import product


def sofs(X, y, *, k, regularization=1.0):
    """Return the means and gains after every row, and the margin y f of every row before it was learnt."""
    mean, gain = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    history, margins = [], []
    for x, label in zip(X, y, strict=True):
        margin = label * product(mean, x)
        margins.append(margin)
        if margin < 1:
            sigma = 1 / (1 + gain)
            beta = 1 / (product(x, sigma * x) + regularization)
            alpha = (1 - margin) * beta
            mean = mean + alpha * label * sigma * x
            gain = gain + x**2 / regularization
            others = np.argsort(-gain, kind="stable")[k:]
            mean[others] = 0
        history.append((mean, gain))
    return history, np.array(margins)
