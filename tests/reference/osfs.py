"""Slow twin of ``streamsieve.columns.osfs``: one column at a time, every subset, every test from the rows.

BCF, the best candidate features so far, is empty at first.  For a new column X:

1. X is constant, or Ind(y, X | nothing): rejected.
2. X joins BCF.  For each Y in BCF, in order of arrival (so X comes last): if there is a Z among the others
   that are left, 1 <= |Z| <= k, with Ind(y, Y | Z), Y leaves BCF.

Sets are tried by size, then in order of arrival; the first that separates is what the ledger names.  A test
without enough rows says "independent", or, by the other rule, nothing.

A judge answers the questions.  ``judge.relevance(j)`` is (reason or None, statistic, p-value) of column j
given nothing, with None for a relevant one; ``judge.given(j, Z)`` is (reason, statistic, p-value) if column j
is independent of y given the columns Z, else None.  A judge with ``in_turn(j, sets)`` has an order of its own
for sets of one size.

Errata: the paper's cost ``k^|BCF|`` should read ``|BCF|^k``.

Source: Wu, Yu, Ding, Wang, Zhu (2013), Algorithm 1 with Section 3.3.
"""

import functools
from itertools import combinations

import numpy as np

from tests.reference import fisher_z
from tests.reference.lines import Line

COLLINEAR = 1e-10


def osfs(judge, p, most=3):
    """Return the columns selected among 0..p - 1, and every decision, in order."""
    kept, lines = [], []
    for new in range(p):
        reason, *numbers = judge.relevance(new)
        if reason:
            lines.append(Line(new, "rejected", reason, (), *numbers))
            continue
        verdict = Line(new, "kept", "relevant", (), *numbers)
        kept.append(new)
        for old in list(kept):
            found = separator(judge, old, [k for k in kept if k != old], most)
            if found is None:
                continue
            kept.remove(old)
            by, reason, *numbers = found
            if old == new:
                verdict = Line(new, "rejected", reason, by, *numbers)
            else:
                lines.append(Line(old, "evicted", reason, by, *numbers))
        lines.append(verdict)
    return kept, lines


def separator(judge, column, others, most, member=None):
    """Return the first set that makes a column independent of y, and what the test said, or None."""
    for size in range(1, most + 1):
        sets = [Z for Z in combinations(others, size) if member is None or member in Z]
        for Z in judge.in_turn(column, sets) if hasattr(judge, "in_turn") else sets:
            answer = judge.given(column, Z)
            if answer is not None:
                return Z, *answer
    return None


class PartialCorrelations:
    """Fisher's z of partial correlations; analysis of covariance for more than two classes."""

    def __init__(self, X, y, task, *, alpha=0.01, unreliable="skip"):
        self.X, self.y, self.n = np.asarray(X, np.float64), np.asarray(y), len(y)
        self.alpha, self.skip = alpha, unreliable == "skip"
        labels = np.unique(y)
        self.classes = len(labels) if task == "multiclass" else 2
        if task == "regression":
            self.target = self.y.astype(np.float64)[:, None]
        else:  # the last class is what the others leave
            self.target = (self.y[:, None] == labels[:-1]).astype(np.float64)
        self.critical = [self._critical(conditioned) for conditioned in range(4)]
        self.given = functools.cache(self.given)  # OSFS asks again and again

    def relevance(self, j):
        if np.all(self.X[:, j] == self.X[0, j]):
            return "constant", 0.0, self._p_value(0.0, 0)
        r = fisher_z.partial(self.X[:, j], self.target, self.X[:, []])
        if self._freedom(0) <= 0:
            return "unreliable test", r, 1.0
        return None if r >= self.critical[0] else "irrelevant", r, self._p_value(r, 0)

    def given(self, j, Z):
        k, x, given = len(Z), self.X[:, [j]], self.X[:, Z]
        # the squares on the diagonal of R are what each column keeps, given those before it
        if np.any(np.linalg.qr(fisher_z.unit(given), "r").diagonal() ** 2 <= COLLINEAR):
            return None  # one of them says what the others say: a smaller set was tried
        nothing_left = np.sum(fisher_z.left_over(x, given) ** 2) <= COLLINEAR
        r = 0.0 if nothing_left else fisher_z.partial(x[:, 0], self.target, given)
        if self._freedom(k) <= 0:
            return None if self.skip else ("unreliable test", r, 1.0)
        if nothing_left:
            return "collinear", 0.0, 1.0
        return None if r >= self.critical[k] else ("redundant", r, self._p_value(r, k))

    def _freedom(self, conditioned):
        return self.n - conditioned - self.classes

    def _critical(self, conditioned):
        if self.classes == 2:
            return fisher_z.critical(self.alpha, self.n, conditioned)
        return fisher_z.ratio_critical(self.alpha, self.n - conditioned, self.classes)

    def _p_value(self, r, conditioned):
        if self._freedom(conditioned) <= 0:
            return 1.0
        if self.classes == 2:
            return fisher_z.p_value(r, self.n, conditioned)
        return fisher_z.ratio_p_value(r, self.n - conditioned, self.classes)
