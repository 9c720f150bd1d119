"""Slow twin of ``streamsieve.criteria.fisher``.

    score = sum_c m_c (mean_c - mean)^2 / sum_c m_c var_c       (m_c the mass of class c, var with ddof 0)

over the classes in which the feature occurs; 0/0 is 0 and x/0 is the largest float.
The p-value is that of the F test.

Source: Duda, Hart and Stork (2001).
"""

import numpy as np

from tests.reference.moments import effective_counts, moments

LARGEST = float(np.finfo(np.float64).max)


def quotient(numerator, denominator):
    """0/0 = 0 (nothing to see), x/0 = the largest float (perfect separation)."""
    if numerator == 0:
        return 0.0
    if denominator == 0:
        return LARGEST
    return float(min(numerator / denominator, LARGEST))


def sums_of_squares(cells, j):
    """Return the sums of squares of feature j between and within its classes, and how many these are."""
    there = [(mass[j], mean[j], var[j]) for mass, mean, var in cells.values() if mass[j] > 0]
    if not there:
        return 0.0, 0.0, 0
    origin = there[0][1]
    total = sum(mass for mass, _, _ in there)
    center = sum(mass * (mean - origin) for mass, mean, _ in there) / total
    between = sum(mass * (mean - origin - center) ** 2 for mass, mean, _ in there)
    within = sum(mass * var for mass, _, var in there)
    return between, within, len(there)


def score(X, y, weight=None, half_life=None):
    """Return one Fisher score a feature; 0 where each class has one row: no spread to judge by."""
    cells = moments(X, y, weight, half_life)
    counts = effective_counts(X, y, weight, half_life)
    scores = []
    for j in range(np.shape(X)[1]):
        between, within, classes = sums_of_squares(cells, j)
        rows = sum(count[j] for count in counts.values())
        unjudged = within == 0 and rows <= classes
        scores.append(0.0 if unjudged else quotient(between, within))
    return np.array(scores)


def p_value(X, y, weight=None, half_life=None):
    from tests.reference import f

    return f.p_value(X, y, weight, half_life)
