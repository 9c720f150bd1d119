"""Slow twins of ``streamsieve.evaluation.significance``: everything counted out.

Friedman: ranks within data sets, and the textbook sums of Demsar 2006, corrected for ties as Conover does.
Wilcoxon: all 2^n assignments of signs.
Table of groups: Wang 2021, section 2.7.
"""

from itertools import product

import numpy as np


def rank_row(row):
    """Rank 1 for the largest; equal ones share the mean of the places they take together."""
    return [sum(other > value for other in row) + (row.count(value) + 1) / 2 for value in row]


def friedman(table):
    """Return mean ranks, chi-square corrected for ties, and F."""
    rows = [rank_row(list(row)) for row in table]
    n, k = len(rows), len(rows[0])
    sums = [sum(row[j] for row in rows) for j in range(k)]
    chi2 = 12 / (n * k * (k + 1)) * sum(s**2 for s in sums) - 3 * n * (k + 1)
    ties = sum(row.count(rank) ** 3 - row.count(rank) for row in rows for rank in set(row))
    chi2 /= 1 - ties / (n * k * (k**2 - 1))
    return np.array(sums) / n, chi2, (n - 1) * chi2 / (n * (k - 1) - chi2)


def signed_rank_p(differences):
    """Return the share of all signs that give sums of ranks as uneven as these, or more so."""
    sizes = [-abs(d) for d in differences if d != 0]
    ranks = rank_row(sizes)
    total = sum(ranks)
    seen = min(
        sum(r for r, d in zip(ranks, (d for d in differences if d != 0), strict=True) if d > 0),
        sum(r for r, d in zip(ranks, (d for d in differences if d != 0), strict=True) if d < 0),
    )
    uneven = 0
    for signs in product((0, 1), repeat=len(ranks)):
        plus = sum(r for r, s in zip(ranks, signs, strict=True) if s)
        uneven += min(plus, total - plus) <= seen
    return uneven / 2 ** len(ranks)


def groups(alike):
    """Return the groups, as lists of places, of combinations sorted best first.

    For each F from the top, L is the last one below that does not differ significantly (or F itself); the
    group is all from F to L; a group within an earlier one is dropped.
    """
    kept = []
    for f in range(len(alike)):
        last = f
        for other in range(f, len(alike)):
            if alike[f][other]:
                last = other
        group = set(range(f, last + 1))
        if not any(group <= earlier for earlier in kept):
            kept.append(group)
    return [sorted(group) for group in kept]


def tiers(alike):
    """Return the best tier of every combination, from 1."""
    kept = groups(alike)
    return [min(t for t, group in enumerate(kept, start=1) if i in group) for i in range(len(alike))]
