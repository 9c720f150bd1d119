"""Equal-frequency cuts: how a numeric target is discretized into classes, everywhere."""

from __future__ import annotations

import numpy as np

from streamsieve.protocols import FloatArray, IntArray


def equal_frequency_cuts(y: FloatArray, bins: int, weight: FloatArray | None = None) -> FloatArray:
    """Return the ``bins - 1`` values at which to cut y; infinite where there are too few values.

    Cut i is the smallest value whose cumulative weight reaches i * d, where d is the total weight over the
    number of bins, rounded down (to at least 1) if all weights are whole numbers.
    """
    if len(y) == 0:
        return np.full(bins - 1, np.inf)
    order = np.argsort(y, kind="stable")
    weight = np.ones(len(y)) if weight is None else weight
    mass = np.cumsum(weight[order])
    whole = bool(np.all(weight == np.floor(weight)))
    # tolerance, because a sum of fractional weights may fall short of its exact value by rounding
    step = max(1.0, np.floor(mass[-1] / bins)) if whole else mass[-1] * (1 - 1e-12) / bins
    place = np.searchsorted(mass, step * np.arange(1, bins))
    cuts: FloatArray = np.append(y[order], np.inf)[place]
    return cuts


def classes_by_cuts(y: FloatArray, cuts: FloatArray) -> IntArray:
    """Return how many cuts lie below each value: equal values share a class, and classes may be empty."""
    return np.searchsorted(cuts, y).astype(np.int64)
