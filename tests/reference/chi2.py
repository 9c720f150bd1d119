"""Slow twin of ``streamsieve.criteria.chi2``: Pearson's statistic, one cell at a time.

    chi^2 = sum (n_ab - n_a n_b / n)^2 / (n_a n_b / n)

over the rows and columns that count, with the masses scaled to n rows; p-value by the chi-squared
distribution with (A - 1)(B - 1) degrees of freedom.

Source: Pearson (1900); ALGORITHMS.md 1.6.
"""

import math

import numpy as np
import scipy.stats

from tests.reference import quantiles
from tests.reference.mutual_info import counting, freedom, margins


def score_of(table, n):
    if not freedom(table, n):
        return 0.0
    rows, columns = margins(table)
    total = math.fsum(rows)
    row_counts, column_counts = counting(rows, n), counting(columns, n)
    terms = []
    for i, row in enumerate(table):
        for j, cell in enumerate(row):
            if row_counts[i] and column_counts[j]:
                expected = rows[i] / total * columns[j] / total * n
                terms.append((cell / total * n - expected) ** 2 / expected)
    return math.fsum(terms)


def p_value_of(table, n):
    df = freedom(table, n)
    return float(scipy.stats.chi2.sf(score_of(table, n), df)) if df else 1.0


def score(X, y, weight=None, half_life=None, bins=5):
    _, counts, n = quantiles.tables(X, y, weight, half_life, bins)
    return np.array([score_of(t, m) for t, m in zip(counts.tolist(), n, strict=True)])


def p_value(X, y, weight=None, half_life=None, bins=5):
    _, counts, n = quantiles.tables(X, y, weight, half_life, bins)
    return np.array([p_value_of(t, m) for t, m in zip(counts.tolist(), n, strict=True)])
