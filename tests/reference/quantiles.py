"""Slow twin of ``streamsieve.summaries.quantiles``: sort every feature, walk up its values, fill the bins.

With W the mass of a feature that is not missing, all classes together, and K bins of size

    d = max(1, floor(W / K))         if all weights are whole numbers and nothing fades
    d = W (1 - 1e-12) / K            else

a value's bin is the number of i in 1 .. K-1 with i d <= the mass strictly below the value.  So equal values
share a bin, the remainder goes to the last bin, a heavy value leaves bins empty.  The same, by cuts: cut_i
is the smallest value up to which there is a mass of i d, and a value's bin is the number of cuts below it.

Masses are weight * 2^(-age / half_life), age 0 for the last row.  Rows of weight 0 do not exist.

Source: Wang 2021, Algorithm 4, corrected.
"""

import math
from typing import NamedTuple

import numpy as np

from tests.reference.moments import decay, existing


class Tables(NamedTuple):
    """One table a feature."""

    #: Labels in sorted order, as on the second axis of the counts.
    classes: list
    #: (feature, class, bin)
    counts: np.ndarray
    #: Rows that carry as much information, one per feature.
    n: np.ndarray


def tables(X, y, weight=None, half_life=None, bins=5):
    X, y, weight = existing(X, y, weight)
    mass = weight * decay(len(y), half_life)
    whole = half_life is None and all(w == int(w) for w in weight)
    classes = sorted(set(y.tolist()))
    counts = np.zeros((X.shape[1], len(classes), bins))
    for j in range(X.shape[1]):
        rows = [i for i in range(len(y)) if not math.isnan(X[i, j])]
        size = bin_size(math.fsum(mass[i] for i in rows), bins, whole)
        inside = bins_of([X[i, j] for i in rows], [mass[i] for i in rows], size, bins)
        for i, k in zip(rows, inside, strict=True):
            counts[j, classes.index(y[i]), k] += mass[i]
    return Tables(classes, counts, effective_rows(counts, weight, half_life))


def bin_size(total, bins, whole):
    """Return the mass after which a bin is full."""
    return max(1, math.floor(total / bins)) if whole else total * (1 - 1e-12) / bins


def bins_of(values, masses, size, bins):
    """Return the bin of every value, by the mass strictly below it."""
    out = [0] * len(values)
    below = equal = 0.0
    previous = None
    for i in sorted(range(len(values)), key=lambda i: values[i]):
        if values[i] != previous:
            below, equal, previous = below + equal, 0.0, values[i]
        equal += masses[i]
        out[i] = sum(k * size <= below for k in range(1, bins))
    return out


def cuts_of(values, masses, size, bins):
    """Return, for i = 1 .. bins - 1, the smallest value up to which there is a mass of i * size."""
    ordered = sorted(zip(values, masses, strict=True))
    cuts, up_to, reached = [], 0.0, 0
    for i in range(1, bins):
        while reached < len(ordered) and up_to < i * size:
            up_to += ordered[reached][1]
            reached += 1
        cuts.append(ordered[reached - 1][0] if up_to >= i * size else math.inf)
    return cuts


def rank(x, values, masses=None, *, strict=False):
    """Return the mass of the values up to x, or strictly below it; missing values have no rank."""
    masses = [1.0] * len(values) if masses is None else masses
    return math.fsum(m for v, m in zip(values, masses, strict=True) if (v < x if strict else v <= x))


def effective_rows(counts, weight, half_life):
    """Return the rows that carry as much information as each table.

    Rows with weights k (copies of a row) and decays f count as W^2 / V rows, W = sum k f and V = sum k f^2;
    a feature present in a share of the mass, as that share of them.
    """
    f = decay(len(weight), half_life)
    W, V = math.fsum(weight * f), math.fsum(weight * f * f)
    return counts.sum(axis=(1, 2)) * W / V if V > 0 else counts.sum(axis=(1, 2))
