"""A judge for ``tests/reference/osfs.py`` for missing values: every test over its complete rows.

NaN is a missing value; the target has none.  A test of column x given a set Z is the test of partial
correlation over the n rows where x and all of Z are seen (test-wise deletion): residuals of x and y by least
squares on Z,

    r sqrt(f / (1 - r^2)), r the correlation of the residuals and f = n - |Z| - 2, is Student's t under
    independence.

For C > 2 classes it is the analysis of covariance, F with C - 1 and n - |Z| - C degrees of freedom, also if
some classes do not occur in these rows.  Rows over which y, x or a member of Z is constant can test nothing:
n is then 0.  What is a function of what is decided as in the judge for complete rows, over the rows seen.

Sets of two or three are tried in two turns, each in order of arrival: first those for which pairwise
correlations (each over the rows where its two columns are seen, r(y, a) over those where a is seen) do not
say "dependent", then the others.  Pairwise, n is the least number of rows of two columns.

Source: Fisher (1924) for partial correlations; test-wise deletion.
"""

import functools
from itertools import combinations_with_replacement

import numpy as np

from tests.reference import fisher_z
from tests.reference.osfs import COLLINEAR

FEWEST = 4


class PairedPartialCorrelations:
    """Fisher's z, or the F test, of partial correlations over complete rows."""

    def __init__(self, X, y, task, *, alpha=0.01, unreliable="skip"):
        self.X, self.n, self.many = np.asarray(X, np.float64), len(y), task == "multiclass"
        self.seen = ~np.isnan(self.X)
        self.alpha, self.skip = alpha, unreliable == "skip"
        labels = np.unique(y)
        self.classes = len(labels) if self.many else 2
        self.y = np.asarray(y, np.float64) if task == "regression" else np.searchsorted(labels, y)
        # OSFS asks again and again
        self.pair, self.loads = functools.cache(self.pair), functools.cache(self.loads)
        self.given = functools.cache(self.given)

    def relevance(self, j):
        seen = self.seen[:, j]
        x, y, n = self.X[seen, j], self.y[seen], int(seen.sum())
        freedom = self.freedom(n, 0)
        missing = n < self.n
        untestable = freedom <= 0 or (missing and (n < FEWEST or len(np.unique(y)) < 2))
        varies = n > 0 and bool(np.any(x != x[0]))
        if not varies and not (missing and untestable):
            return "constant", 0.0, self.p_value(0.0, freedom)
        r = abs(self.ratio(x, y)) if varies else 0.0
        p = self.p_value(r, freedom)
        if untestable:
            return "unreliable test", r, 1.0
        return None if r >= self.critical(freedom) else "irrelevant", r, p

    def given(self, x, Z):
        rows = self.seen[:, [x, *Z]].all(axis=1)
        X, y, n = self.X[rows], self.y[rows], int(rows.sum())
        if n < self.n and any(np.all(v == v[:1]) for v in (y, X[:, x], *X[:, Z].T)):
            n = 0
        freedom = self.freedom(n, len(Z))
        if freedom <= 0 and (self.skip or n < self.n):
            return None if self.skip else ("unreliable test", 0.0, 1.0)
        given = X[:, Z]
        if np.any(np.linalg.qr(fisher_z.unit(given), "r").diagonal() ** 2 <= COLLINEAR):
            return None  # a member of the set is a function of those before it: a smaller set was tried
        function = np.sum(fisher_z.left_over(X[:, [x]], given) ** 2) <= COLLINEAR
        classes = np.unique(y)[:-1] if self.many else ()
        target = (y[:, None] == classes) * 1.0 if self.many else y[:, None].astype(np.float64)
        r = 0.0 if function else fisher_z.partial(X[:, x], target, given)
        if freedom <= 0:
            return "unreliable test", r, 1.0
        if function:
            return "collinear", 0.0, 1.0
        return None if r >= self.critical(freedom) else ("redundant", r, self.p_value(r, freedom))

    def in_turn(self, x, sets):
        """Return sets in the order in which they are tried."""
        return sorted(sets, key=lambda Z: len(Z) > 1 and self.looks_dependent(x, Z))

    def looks_dependent(self, x, Z):
        """Return whether pairwise correlations say that x depends on y given a set."""
        n = min(self.pair(a, b)[1] for a, b in combinations_with_replacement(sorted((x, *Z)), 2))
        freedom = self.freedom(n, len(Z))
        if freedom <= 0:
            return False  # whatever they say: there is no test
        total = np.array([[self.pair(min(a, b), max(a, b))[0] for a in (*Z, x)] for b in (*Z, x)])
        loads = np.array([self.loads(a) for a in (*Z, x)])
        share = share_left(total, total - loads @ loads.T, single=not self.many)
        return share is not None and share <= 1 - self.critical(freedom) ** 2

    def pair(self, a, b):
        """Return the correlation of two columns over complete pairs, and the number of these."""
        both = self.seen[:, a] & self.seen[:, b]
        n = int(both.sum())
        enough = n >= FEWEST or n == self.n
        r = fisher_z.correlation(self.X[both, a], self.X[both, b]) if enough else 0.0
        vary = all(np.any(v[both] != v[both][:1]) for v in (self.y, self.X[:, a], self.X[:, b]))
        testable = n < FEWEST or vary
        return 1.0 if a == b else r, n if testable else 0

    def loads(self, j, also=()):
        """Return how a column stands to the target, over the rows where it and the others are seen."""
        seen = self.seen[:, [j, *also]].all(axis=1)
        x, y, n = self.X[seen, j], self.y[seen], int(seen.sum())
        if (n < FEWEST and n < self.n) or np.all(x == x[0]):
            return [0.0] * (self.classes if self.many else 1)
        if not self.many:
            return [fisher_z.correlation(x, y.astype(np.float64))]
        x = fisher_z.unit(x[:, None])[:, 0]
        return [x[y == c].sum() / np.sqrt(max(np.sum(y == c), 1)) for c in range(self.classes)]

    def ratio(self, x, y):
        """Return the correlation (ratio) of a column with the target."""
        if self.many:
            return fisher_z.correlation_ratio(x, y)
        return fisher_z.correlation(x, y.astype(np.float64))

    def freedom(self, n, conditioned):
        return n - conditioned - self.classes

    def critical(self, freedom):
        if self.many:
            return fisher_z.ratio_critical(self.alpha, freedom + self.classes, self.classes)
        return fisher_z.critical(self.alpha, freedom + 2)

    def p_value(self, r, freedom):
        if freedom <= 0:
            return 1.0
        if self.many:
            return fisher_z.ratio_p_value(r, freedom + self.classes, self.classes)
        return fisher_z.p_value(r, freedom + 2)


def share_left(total, within, *, single):
    """Return the share of the last column's variance given the others that the target leaves, or None.

    None if one of the columns, or the target, is determined by those before it, or correlations over
    different rows contradict each other.
    """
    m = len(total)
    T, W = total.copy(), within.copy()
    for k in range(m):
        if T[k, k] <= COLLINEAR:
            return None
        T[k + 1 :, k + 1 :] -= np.outer(T[k + 1 :, k], T[k, k + 1 :]) / T[k, k]
    for k in range(m - 1):
        if W[k, k] > COLLINEAR * T[k, k]:
            W[k + 1 :, k + 1 :] -= np.outer(W[k + 1 :, k], W[k, k + 1 :]) / W[k, k]
        elif single:
            return None
    return W[-1, -1] / T[-1, -1]


def partial(M, k):
    """Return the partial correlation (ratio) of column k with those after it, given those before it."""
    left = M[k:, k:] - M[k:, :k] @ np.linalg.solve(M[:k, :k], M[:k, k:])
    sizes, directions = np.linalg.eigh(left[1:, 1:])
    along = (directions.T @ left[1:, 0])[sizes > COLLINEAR]
    explained = np.sum(along**2 / sizes[sizes > COLLINEAR]) / left[0, 0]
    return float(np.sqrt(min(explained, 1.0)))
