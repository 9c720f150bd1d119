"""Slow twin of ``streamsieve.rows.ofs``: the rule as in the paper, on whole vectors.

w = 0.  For each row x with label y = -1 or +1:

    f = w'x
    if y f < 1:  w <- (1 - l2 rate) w + rate y x
                 w <- w min(1, 1 / (sqrt(l2) |w|))
                 keep the B largest |w|, of equals the first
    else:        w <- (1 - l2 rate) w

Source: Wang, Zhao, Hoi, Jin (2014), algorithm 2.
"""

import math
from functools import reduce
from operator import add

import numpy as np


def ofs(X, y, *, k, learning_rate=0.2, l2=0.01):
    """Return the weights after every row, and the margin y f of every row before it was learnt."""
    w = np.zeros(X.shape[1])
    history, margins = [], []
    for x, label in zip(X, y, strict=True):
        margin = label * product(w, x)
        margins.append(margin)
        w = (1 - l2 * learning_rate) * w
        if margin < 1:
            w = w + learning_rate * label * x
            w = truncated(shortened(w, 1 / np.sqrt(l2)), k)
        history.append(w)
    return history, np.array(margins)


def product(w, x):
    """Return w'x, added up from the first feature to the last."""
    return added(a * b for a, b in zip(w.tolist(), x.tolist(), strict=True))


def added(numbers):
    """Return a sum from left to right; since Python 3.12 the built-in one makes up for rounding."""
    return reduce(add, numbers, 0.0)


def shortened(w, radius):
    """Return a vector no longer than the radius, in the same direction."""
    length = math.sqrt(product(w, w))
    return w * (radius / length) if length > radius else w


def truncated(w, k):
    """Return the vector with all but its k largest values set to 0; of equals the first stay."""
    stay = np.argsort(-np.abs(w), kind="stable")[:k]
    out = np.zeros_like(w)
    out[stay] = w[stay]
    return out
