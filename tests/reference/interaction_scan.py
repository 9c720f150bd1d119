"""Slow twin of ``streamsieve.columns.interaction_scan``: every table by an explicit count, every p by SciPy.

Columns of up to 8 distinct values are levels; others are cut as in SAOLA into ``bins`` (where that leaves one
level, at values from the cut on).  A column is out if it has one level, or if five rows for a degree of
freedom, (levels - 1)(classes - 1), are not there.  For the t-th of the others, with

    level = alpha / (c (t + 1) ln^2(t + 1)),        c the sum of 1 / (k ln^2 k) over k = 2, 3, ...:

1. alone: G = 2 n I(b; y); relevant if p <= level / 2.
2. with each column of the pool, and, unless it is relevant, with each of the last ``pool`` columns kept: a is
   the one of the two with the larger I(.; y), G = 2 n I(the other; y | a), degrees of freedom the sum over
   the levels of a of (levels of the other - 1)(classes - 1), counting what occurs there.  Not tested if the
   rows are fewer than five times levels of a * (levels of the other - 1) * (classes - 1).  Found if p <=
   level / (2 * number of pairs tested with b).
3. both columns of a pair that is found are kept; the column from the pool leaves it for the kept ones.  A
   column that is not kept joins the pool; the oldest leaves if there are more than ``pool``.

G is reported.  By "moments" the p-values are those of Pearson's statistic, with Fisher's exact test of every
2 x 2 table; see ``table_moments.py``.  By "chi2" they are those of G.

Source: Zhou, Li, Zhao, Wu (2021), for the aim; Spirtes, Glymour, Scheines (2000), for the test.
"""

import functools

import numpy as np
import scipy.stats

from tests.reference import table_moments
from tests.reference.g_squared import tables
from tests.reference.lines import Line
from tests.reference.saola import TARGET_BINS, cut, entropy

LEVELS = 8
#: By summing the first ten million terms and an integral for the rest.
SUM_OF_SHARES = 2.109742801236892


def interaction_scan(X, y, task, *, pool=500, alpha=0.05, bins=2, p_value="moments"):
    """Return the selected columns, one decision a column, the pairs found, and the number of pairs missed."""
    y = cut(y, TARGET_BINS) if task == "regression" else np.asarray(y)
    run = Run(y, pool, alpha, p_value)
    for j in range(X.shape[1]):
        run.offer(j, coded(X[:, j], bins))
    return (sorted(run.kept), [run.verdict[j] for j in range(X.shape[1])]), run.pairs, run.missed


def coded(x, bins):
    if len(np.unique(x)) <= LEVELS:
        return np.unique(x, return_inverse=True)[1]
    codes = cut(x, bins)
    if len(np.unique(codes)) == 1:
        codes = (x >= max(x)).astype(int)
    return np.unique(codes, return_inverse=True)[1]


class Run:
    """The pool, what is kept, and the ledger."""

    def __init__(self, y, pool, alpha, way):
        self.way = way
        self.y, self.n, self.size, self.alpha = np.unique(y, return_inverse=True)[1], len(y), pool, alpha
        self.classes = len(np.unique(y))
        self.codes, self.pool, self.chosen, self.kept, self.pairs = {}, [], [], [], []
        self.t, self.verdict, self.tested, self.missed = 0, {}, [], 0

    def offer(self, j, codes):
        self.codes[j] = codes
        levels = len(np.unique(codes))
        G, freedom = self.information(j), (levels - 1) * (self.classes - 1)
        p = p_value(G, freedom) if self.way == "chi2" else self.alone(codes, 0.0)
        if levels == 1 or self.n < 5 * freedom:
            reason = "constant" if levels == 1 else "unreliable test"
            self.verdict[j] = Line(j, "rejected", reason, (), G, p)
            return
        self.t += 1
        self.missed += sum(a not in self.pool + self.chosen[-self.size :] for a in self.tested)
        self.tested.append(j)
        level = self.alpha / (SUM_OF_SHARES * (self.t + 1) * np.log(self.t + 1) ** 2) / 2
        if self.way == "moments":
            p = self.alone(codes, level)
        relevant = p <= level
        event, reason = ("kept", "relevant") if relevant else ("rejected", "irrelevant")
        self.verdict[j] = Line(j, event, reason, (), G, p)
        self.kept += [j] if relevant else []
        partners = self.pool + ([] if relevant else self.chosen[-self.size :])
        tested = [(a, *self.pair(a, j)) for a in partners if self.reliable(a, j)]
        if self.way == "chi2":
            tested = [(a, G, p_value(G, freedom)) for a, G, freedom in tested]
        else:
            tested = [(a, G, self.given(a, j, level / len(tested))) for a, G, _ in tested]
        found = [(a, G, p) for a, G, p in tested if p <= level / len(tested)]
        if found and not relevant:
            a, G, p = min(found, key=lambda pair: (pair[2], -pair[1]))
            self.verdict[j] = Line(j, "kept", "relevant", (a,), G, p)
            self.kept.append(j)
        for a, G, p in found:
            self.pairs.append((a, j))
            if a in self.pool:
                self.verdict[a] = Line(a, "kept", "relevant", (j,), G, p)
                self.pool.remove(a)
                self.chosen.append(a)
                self.kept.append(a)
        if relevant or found:
            self.chosen.append(j)
        else:
            self.pool = [*self.pool, j][-self.size :]

    def alone(self, codes, level):
        """Return the p-value of a column by moments; every 2 x 2 table has Fisher's."""
        strata = tables(codes, self.y, [])
        if table_moments.occurring(strata[0]).shape == (2, 2):
            return float(scipy.stats.fisher_exact(table_moments.occurring(strata[0])).pvalue)
        return table_moments.table_p(strata, alpha=level, given=True, tail=True)

    def given(self, a, b, level):
        """Return the p-value of the worse column given the better one."""
        a, b = self.better_first(a, b)
        strata = tables(self.codes[b], self.y, [self.codes[a]])
        return table_moments.table_p(strata, alpha=level, given=True, tail=True)

    @functools.cache  # noqa: B019 - a run is short
    def information(self, j):
        """Return 2 n I(column; y)."""
        return 2 * self.n * max(information(self.codes[j], self.y), 0.0)

    def reliable(self, a, b):
        a, b = self.better_first(a, b)
        levels, others = (len(np.unique(self.codes[j])) for j in (a, b))
        return self.n >= 5 * levels * (others - 1) * (self.classes - 1)

    def better_first(self, a, b):
        return (a, b) if self.information(a) >= self.information(b) - 1e-9 else (b, a)

    def pair(self, a, b):
        """Return G and the degrees of freedom of the worse column and y given the better one."""
        a, b = self.better_first(a, b)
        G, freedom = 0.0, 0
        for level in np.unique(self.codes[a]):
            here = self.codes[a] == level
            x, y = self.codes[b][here], self.y[here]
            G += 2 * np.sum(here) * max(information(x, y), 0.0)
            freedom += (len(np.unique(x)) - 1) * (len(np.unique(y)) - 1)
        return G, freedom


def information(a, b):
    """Return I(a; b) in nats, by an explicit contingency table."""
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1)
    return entropy(table.sum(axis=1)) + entropy(table.sum(axis=0)) - entropy(table.ravel())


def p_value(G, freedom):
    return float(scipy.stats.chi2.sf(G, freedom)) if freedom > 0 else 1.0
