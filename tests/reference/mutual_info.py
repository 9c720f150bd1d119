"""Slow twin of ``streamsieve.criteria.mutual_info``: straight from the definition, one cell at a time.

    I = sum p_ab ln(p_ab / (p_a p_b))          (nats, over the cells with p_ab > 0)
    Miller-Madow:  max(0, I - (A - 1)(B - 1) / (2 n))
    p-value:  P(chi^2 with (A - 1)(B - 1) degrees of freedom > G^2),   G^2 = 2 n I

A and B are the rows and columns of the table that count: those with half a row of n rows (of ten thousand
rows, if n is less).  Without two of each there is nothing to test: p-value 1.

Source: Lewis (1992), Miller (1955); ALGORITHMS.md 0.2, 0.3, 1.1.
"""

import math

import numpy as np
import scipy.stats

from tests.reference import quantiles


def margins(table):
    return [math.fsum(row) for row in table], [math.fsum(column) for column in zip(*table, strict=True)]


def several(masses):
    """Return whether at least two of the masses are more than dust."""
    total = math.fsum(masses)
    return sum(m > 1e-12 * total for m in masses) > 1


def information(table):
    """Return I in nats; 0 if fewer than two rows or columns hold anything."""
    rows, columns = margins(table)
    total = math.fsum(rows)
    if not (several(rows) and several(columns)):
        return 0.0
    terms = []
    for a, row in zip(rows, table, strict=True):
        for b, cell in zip(columns, row, strict=True):
            if cell > 0:
                terms.append(cell / total * (math.log(cell / a) - math.log(b / total)))
    return max(0.0, math.fsum(terms))


def counting(masses, n):
    """Return for each row (or column) of a table whether it counts, given its mass."""
    total = math.fsum(masses)
    return [total > 0 and m / total * max(n, 1e4) >= 0.5 - 1e-9 for m in masses]


def freedom(table, n):
    """Return (A - 1)(B - 1), or 0."""
    a, b = (sum(counting(masses, n)) for masses in margins(table))
    return max(a - 1, 0) * max(b - 1, 0)


def score_of(table, n, bias_correction="none"):
    if bias_correction == "none":
        return information(table)
    return max(0.0, information(table) - freedom(table, n) / (2 * max(n, 1.0)))


def p_value_of(table, n):
    df = freedom(table, n)
    return float(scipy.stats.chi2.sf(2 * n * information(table), df)) if df else 1.0


def score(X, y, weight=None, half_life=None, bins=5, bias_correction="none"):
    _, counts, n = quantiles.tables(X, y, weight, half_life, bins)
    return np.array([score_of(t, m, bias_correction) for t, m in zip(counts.tolist(), n, strict=True)])


def p_value(X, y, weight=None, half_life=None, bins=5):
    _, counts, n = quantiles.tables(X, y, weight, half_life, bins)
    return np.array([p_value_of(t, m) for t, m in zip(counts.tolist(), n, strict=True)])
