"""Slow twin of ``streamsieve.criteria.gini``: every split, one side at a time.

    score = -min over splits of sum_side (n_side / n) (1 - sum_c p_c^2)

Splits: at each threshold between two bins, or into all levels if these have no order; and none at all.  With
fewer than two classes the score is -1.  The p-value is that of G^2 on the same table.

Source: Breiman et al. (1984).
"""

import math

import numpy as np

from tests.reference import mutual_info, quantiles


def impurity(parts):
    """Return the mean impurity of parts given by their class masses."""
    total = math.fsum(m for part in parts for m in part)
    out = 0.0
    for part in parts:
        size = math.fsum(part)
        if size > 0:
            out += size / total * (1 - math.fsum((m / size) ** 2 for m in part))
    return out


def together(parts):
    """Return the class masses of several parts as one."""
    return [math.fsum(masses) for masses in zip(*parts, strict=True)]


def score_of(table, n, *, ordered=True):
    classes, bins = mutual_info.margins(table)
    if not mutual_info.several(classes):
        return -1.0
    levels = list(zip(*table, strict=True))
    splits = [[classes]]
    if ordered:
        splits += [[together(levels[:h]), together(levels[h:])] for h in range(1, len(bins))]
    else:
        splits.append(levels)
    return -min(impurity(parts) for parts in splits)


p_value_of, p_value = mutual_info.p_value_of, mutual_info.p_value


def score(X, y, weight=None, half_life=None, bins=5):
    _, counts, n = quantiles.tables(X, y, weight, half_life, bins)
    return np.array([score_of(t, m) for t, m in zip(counts.tolist(), n, strict=True)])
