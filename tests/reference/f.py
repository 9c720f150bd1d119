"""Slow twin of ``streamsieve.criteria.f``: one-way analysis of variance.

    F = (between / (C - 1)) / (within / (n - C)),      p = P(F distribution with C - 1, n - C > F)

with the sums of squares of the Fisher score, C the classes in which the feature occurs and n the rows (by
their information) that hold it.  Without C >= 2 and n > C there is nothing to test: score 0, p-value 1.

Classes that differ without spread within them: p = C! n_1! ... n_C! / n!, at most 1, the share of assignments
of the rows to the classes that do the same.

Source: Fisher (1925); scikit-learn's ``f_classif``.
"""

import math

import numpy as np
import scipy.stats

from tests.reference.fisher import quotient, sums_of_squares
from tests.reference.moments import effective_counts, moments


def _tests(X, y, weight, half_life):
    """Yield F, C - 1, n - C, and the p-value without spread of every feature."""
    cells = moments(X, y, weight, half_life)
    counts = effective_counts(X, y, weight, half_life)
    for j in range(np.shape(X)[1]):
        between, within, C = sums_of_squares(cells, j)
        n = sum(count[j] for count in counts.values())
        if C < 2 or n <= C:
            yield 0.0, 0.0, 0.0, None
        else:
            sizes = [count[j] for count in counts.values()]
            share = math.lgamma(C + 1) + sum(math.lgamma(m + 1) for m in sizes) - math.lgamma(n + 1)
            perfect = math.exp(min(share, 0.0)) if within == 0 and between > 0 else None
            yield quotient(between * (n - C), within * (C - 1)), C - 1, n - C, perfect


def score(X, y, weight=None, half_life=None):
    return np.array([F for F, *_ in _tests(X, y, weight, half_life)])


def p_value(X, y, weight=None, half_life=None):
    tests = _tests(X, y, weight, half_life)
    return np.array(
        [(scipy.stats.f.sf(F, b, w) if b else 1.0) if share is None else share for F, b, w, share in tests]
    )
