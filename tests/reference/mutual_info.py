"""Slow twin of ``streamsieve.criteria.mutual_info``: straight from the definition, one cell at a time.

    I = sum p_ab ln(p_ab / (p_a p_b))          (nats, over the cells with p_ab > 0)
    Miller-Madow:  max(0, I - (A - 1)(B - 1) / (2 n))
    p-value:  the larger of  P(chi^2 with (A - 1)(B - 1) degrees of freedom > G^2),   G^2 = 2 n I
              and  P(gamma distribution with mean m and variance V > X^2),            X^2 Pearson's statistic

A and B are the rows and columns of the table that count: those with half a row of n rows (of ten thousand
rows, if n is less).  Without two of each, or with n < 4, there is nothing to test: p-value 1.  m and V are
the moments of X^2 over all permutations of the rows' labels, with n_i the rows of a class, n_j of a bin:

    m = n (A - 1)(B - 1) / (n - 1)
    V = 2 n / (n - 3) (v - w)(v' - w') + n^2 / (n - 1) w w'
    v = (n - A)(A - 1) / (n - 1),   w = (n sum 1 / n_i - A^2) / (n - 2);   v', w' with B and n_j

If V is 0 (below 1e-12 m^2), X^2 is the same for all permutations: p-value 1.  In any case the p-value is at
least the probability of the table given its margins, prod n_i! prod n_j! / (n! prod n_ij!).

Source: Lewis (1992), Miller (1955), Haldane (1940), Dawson (1954).
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


def pearson(table, n):
    """Return Pearson's statistic over the rows and columns that count, with masses scaled to n rows."""
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


def permutation_moments(table, n):
    """Return mean and variance of Pearson's statistic."""
    parts = []
    for masses in margins(table):
        sizes = [m / math.fsum(masses) * n for m, c in zip(masses, counting(masses, n), strict=True) if c]
        k = len(sizes)
        inverse = math.fsum(1 / size for size in sizes)
        parts.append((k, (n - k) * (k - 1) / (n - 1), (n * inverse - k**2) / (n - 2)))
    (a, v, w), (b, v_b, w_b) = parts
    mean = n * (a - 1) * (b - 1) / (n - 1)
    return mean, 2 * n / (n - 3) * (v - w) * (v_b - w_b) + n**2 / (n - 1) * w * w_b


def p_value_of(table, n):
    df = freedom(table, n)
    if not df or n < 4:
        return 1.0
    mean, variance = permutation_moments(table, n)
    if variance <= 1e-12 * mean**2:
        return 1.0
    of_pearson = scipy.stats.gamma.sf(pearson(table, n), mean**2 / variance, scale=variance / mean)
    return float(max(of_pearson, scipy.stats.chi2.sf(2 * n * information(table), df), probability(table, n)))


def probability(table, n):
    """Return the probability of a table given its margins, with masses scaled to n rows."""
    rows, columns = margins(table)
    total = math.fsum(rows)
    logs = [math.lgamma(m / total * n + 1) for m in (*rows, *columns)]
    logs += [-math.lgamma(cell / total * n + 1) for row in table for cell in row]
    return math.exp(min(math.fsum(logs) - math.lgamma(n + 1), 0.0))


def score(X, y, weight=None, half_life=None, bins=5, bias_correction="none"):
    _, counts, n = quantiles.tables(X, y, weight, half_life, bins)
    return np.array([score_of(t, m, bias_correction) for t, m in zip(counts.tolist(), n, strict=True)])


def p_value(X, y, weight=None, half_life=None, bins=5):
    _, counts, n = quantiles.tables(X, y, weight, half_life, bins)
    return np.array([p_value_of(t, m) for t, m in zip(counts.tolist(), n, strict=True)])
