"""Slow twin of ``streamsieve.criteria.t``: Welch's t for two classes, by absolute value.

    t  = |mean_1 - mean_2| / sqrt(e_1 + e_2),     e_c = s_c^2 / n_c = var_c / (n_c - ddof)
    df = (e_1 + e_2)^2 / (e_1^2 / (n_1 - 1) + e_2^2 / (n_2 - 1))

A class with fewer than 1 + ddof rows has no spread to speak of: e_c = 0.  Means that differ without any
spread score the largest float.  If e_c = 0 in a class, the p-value is that of the F test (pooled variance),
provided that both classes hold two rows or, without any spread, one of them does.

Source: Welch (1947).
"""

import numpy as np
import scipy.stats

from tests.reference import f
from tests.reference.fisher import quotient
from tests.reference.moments import effective_counts, moments


def _tests(X, y, weight, half_life, ddof):
    """Yield t and p of every feature."""
    cells = moments(X, y, weight, half_life)
    counts = effective_counts(X, y, weight, half_life)
    labels, pooled = list(cells), f.p_value(X, y, weight, half_life)
    for j in range(np.shape(X)[1]):
        n = [counts[label][j] for label in labels]
        if len(labels) != 2 or min(n) == 0:
            yield 0.0, 1.0
            continue
        difference = abs(cells[labels[0]][1][j] - cells[labels[1]][1][j])
        e = [cells[c][2][j] / (m - ddof) if m > ddof else 0.0 for c, m in zip(labels, n, strict=True)]
        t = quotient(difference, np.sqrt(sum(e)))
        yield t, _p(t, e, n, pooled[j])


def _p(t, e, n, pooled):
    if t == 0 or max(n) <= 1 or (min(n) <= 1 and sum(e) > 0):
        return 1.0
    if min(e) == 0:
        return pooled
    df = sum(e) ** 2 / sum(e_c**2 / (n_c - 1) for e_c, n_c in zip(e, n, strict=True))
    return 2 * scipy.stats.t.sf(t, df)


def score(X, y, weight=None, half_life=None, ddof=1):
    return np.array([t for t, _ in _tests(X, y, weight, half_life, ddof)])


def p_value(X, y, weight=None, half_life=None, ddof=1):
    return np.array([p for _, p in _tests(X, y, weight, half_life, ddof)])
