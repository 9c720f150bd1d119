"""Slow twin of ``streamsieve.criteria.chi2``: Pearson's statistic, one cell at a time.

    chi^2 = sum (n_ab - n_a n_b / n)^2 / (n_a n_b / n)

over the rows and columns that count, with the masses scaled to n rows; the p-value is that of all criteria
over tables.

Source: Pearson (1900).
"""

import numpy as np

from tests.reference import mutual_info, quantiles

score_of = mutual_info.pearson
p_value_of, p_value = mutual_info.p_value_of, mutual_info.p_value


def score(X, y, weight=None, half_life=None, bins=5):
    _, counts, n = quantiles.tables(X, y, weight, half_life, bins)
    return np.array([score_of(t, m) for t, m in zip(counts.tolist(), n, strict=True)])
