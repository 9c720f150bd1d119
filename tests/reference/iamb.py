"""Slow twin of ``streamsieve.offline.iamb``: every test from the rows.

1. While the feature with the smallest p-value given the blanket (then the largest statistic, then the first)
   is significant, it joins.  Inter-IAMB: after each, step 2; a blanket seen before ends the loop.
2. Each member, in the order they joined, leaves if it is independent of y given all others.

Source: Tsamardinos, Aliferis, Statnikov (2003).
"""

import numpy as np
import scipy.stats

from tests.reference import fisher_z, table_moments
from tests.reference.g_squared import tables
from tests.reference.saola import TARGET_BINS, cut


def iamb(test, p, alpha, *, interleaved, by_statistic, among=None):
    """Return the blanket in the order its members joined; ``test(j, Z)`` is (statistic, p-value)."""
    among = range(p) if among is None else among
    kept, seen = [], {frozenset()}

    def shrink():
        for j in list(kept):
            if test(j, [k for k in kept if k != j])[1] > alpha:
                kept.remove(j)

    while len(kept) < len(among):
        found = []
        for j in among:
            if j not in kept:
                statistic, p_value = (float(f"{number:.9e}") for number in test(j, kept))
                found.append((0.0 if by_statistic else p_value, -statistic, j, p_value))
        *_, best, p_value = min(found)
        if p_value > alpha:
            break
        kept.append(best)
        if interleaved:
            shrink()
        if frozenset(kept) in seen:
            break
        seen.add(frozenset(kept))
    shrink()
    return kept


def by_correlation(X, y, task):
    labels = np.unique(y)
    classes = len(labels) if task == "multiclass" else 2
    target = y.astype(float)[:, None] if task == "regression" else (y[:, None] == labels[:-1]).astype(float)

    def test(j, Z):
        x, given = X[:, j], X[:, Z]
        if np.all(x == x[0]) or (Z and np.sum(fisher_z.left_over(x[:, None], given) ** 2) <= 1e-10):
            return 0.0, 1.0
        r, k = min(fisher_z.partial(x, target, given), 1.0), len(Z)
        freedom = len(y) - np.linalg.matrix_rank(np.column_stack([np.ones(len(y)), given])) - classes + 1
        if freedom <= 0:
            return r, 1.0
        if classes == 2:
            return r, fisher_z.p_value(r, len(y), k)
        return r, fisher_z.ratio_p_value(r, len(y) - k, classes)

    return test


def by_tables(codes, y, task, p_value):
    y = np.unique(cut(y, TARGET_BINS) if task == "regression" else y, return_inverse=True)[1]

    def test(j, Z):
        strata = tables(codes[j], y, [codes[k] for k in Z])
        G = freedom = 0.0
        for table in strata:
            expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
            G += 2 * np.sum(table[table > 0] * np.log(table[table > 0] / expected[table > 0]))
            freedom += (np.sum(table.any(axis=1)) - 1) * (np.sum(table.any(axis=0)) - 1)
        statistic = G
        if p_value == "moments":
            statistic, mean, variance = map(sum, zip(*map(table_moments.moments, strata), strict=True))
            if variance <= 0:
                return G, 1.0
            statistic, freedom = 2 * mean * statistic / variance, 2 * mean**2 / variance
        return max(G, 0.0), float(scipy.stats.chi2.sf(statistic, freedom)) if freedom > 0 else 1.0

    return test
