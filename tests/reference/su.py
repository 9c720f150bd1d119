"""Slow twin of ``streamsieve.criteria.su``: 2 I / (H(x) + H(y)), straight from the definition.

0 if both entropies are 0.  The p-value is that of G^2 on the same table.

Source: Press et al. (1988), Yu and Liu (2003).
"""

import math

import numpy as np

from tests.reference import mutual_info, quantiles


def entropy(masses):
    total = math.fsum(masses)
    return -math.fsum(m / total * math.log(m / total) for m in masses if m > 0)


def score_of(table, n):
    rows, columns = mutual_info.margins(table)
    both = entropy(rows) + entropy(columns)
    return 2 * mutual_info.information(table) / both if both > 0 else 0.0


p_value_of, p_value = mutual_info.p_value_of, mutual_info.p_value


def score(X, y, weight=None, half_life=None, bins=5):
    _, counts, n = quantiles.tables(X, y, weight, half_life, bins)
    return np.array([score_of(t, m) for t, m in zip(counts.tolist(), n, strict=True)])
