"""A judge for ``tests/reference/osfs.py`` for missing values: correlations over complete pairs.

NaN is a missing value; the target has none.  n(a, b) is the number of rows where columns a and b are both
seen, r(a, b) their correlation over these rows: 0 with fewer than 4 (of more) or if one of them is constant
there.  Rows over which y is constant can test nothing: n is then 0.  For a test of column x given a set Z:

    M = pairwise correlations of {y, x} + Z,       n_eff = least n over pairs,
    r sqrt(f / (1 - r^2)), r the partial correlation of M and f = n_eff - |Z| - 2, is Student's t under
    independence.

If Z is one column, all three correlations are over the rows where x and Z are both seen: the partial
correlation of any textbook.  For larger sets they are over different rows, r(y, a) over those where a is
seen, and M need not be positive definite.  Then eigenvalues below FLOOR become FLOOR, and M is scaled to unit
diagonal.

For C > 2 classes the target is C numbers, 1 in the rows of a class and 0 elsewhere.  Its "correlation" with a
column of length 1 that sums to 0 (over the rows seen) is the column's sum over the class, by the root of the
number of rows seen there; squared and summed over classes that is the squared correlation ratio.  The C
numbers count as uncorrelated, as they are over all rows but for what sums to 0.  The test is F with C - 1 and
n_eff - |Z| - C degrees of freedom.

What is a function of what, as in the judge for complete rows: a variance up to 1e-10 is rounding.  A set with
a member that is a function of those before it is passed over; a column that is one of the set is collinear; a
set that determines y leaves no correlation.  Without missing values every answer is that of the other judge.

Source: MODERN.md M10; ALGORITHMS.md 0.4.
"""

import functools
from itertools import combinations

import numpy as np

from tests.reference import fisher_z
from tests.reference.osfs import COLLINEAR

FEWEST = 4
FLOOR = 1e-6


class PairedPartialCorrelations:
    """Fisher's z, or the F test, of partial correlations over pairwise-complete rows."""

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
        n_eff = min(self.pair(a, b)[1] for a, b in combinations(sorted((x, *Z)), 2))
        freedom = self.freedom(n_eff, len(Z))
        if freedom <= 0 and self.skip:
            return None
        total = np.array([[self.pair(min(a, b), max(a, b))[0] for a in (*Z, x)] for b in (*Z, x)])
        both = (x, *Z) if len(Z) == 1 else ()
        loads = np.array([self.loads(a, both) for a in (*Z, x)])
        complete = len(Z) == 1 or n_eff == self.n  # rounding is all that can be wrong
        flaw = first_flaw(total, total - loads @ loads.T, single=not self.many, complete=complete)
        if flaw == "repeats":
            return None
        r = 0.0
        if flaw not in {"collinear", "determined"}:
            M = np.block([[total, loads], [loads.T, np.eye(loads.shape[1])]])
            r = partial(positive_definite(M) if flaw == "contradicts" else M, len(Z))
        if freedom <= 0:
            return "unreliable test", r, 1.0
        if flaw == "collinear":
            return "collinear", 0.0, 1.0
        return None if r >= self.critical(freedom) else ("redundant", r, self.p_value(r, freedom))

    def pair(self, a, b):
        """Return the correlation of two columns over complete pairs, and the number of these."""
        both = self.seen[:, a] & self.seen[:, b]
        n = int(both.sum())
        enough = n >= FEWEST or n == self.n
        r = fisher_z.correlation(self.X[both, a], self.X[both, b]) if enough else 0.0
        testable = n < FEWEST or np.any(self.y[both] != self.y[both][0])
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


def left_over(M, k):
    """Return covariances given the first k of some columns."""
    return M[k:, k:] - M[k:, :k] @ np.linalg.solve(M[:k, :k], M[:k, k:])


def first_flaw(total, within, *, single, complete):
    """Return what is wrong with correlations of a set and a last column, and those given the target."""
    m = len(total)
    variances = []
    for k in range(m):
        variances.append(left_over(total, k)[0, 0])
        if variances[k] < -COLLINEAR and not complete:
            return "contradicts"
        if variances[k] <= COLLINEAR:
            return "repeats" if k < m - 1 else "collinear"
    useful = []  # members of the set that leave something of the target
    for k in range(m):
        some = [*useful, k]
        w = left_over(within[np.ix_(some, some)], len(useful))[0, 0]
        if w < -COLLINEAR and not complete:
            return "contradicts"
        if w > COLLINEAR * variances[k]:
            useful.append(k)
        elif k < m - 1 and single:
            return "determined"
        elif k < m - 1 and not complete:
            return "contradicts"  # classes determine it, and yet its covariances need not be 0
    return None


def positive_definite(M):
    """Return correlations without eigenvalues below the floor."""
    values, vectors = np.linalg.eigh(M)
    M = vectors @ np.diag(np.maximum(values, FLOOR)) @ vectors.T
    return M / np.sqrt(np.outer(M.diagonal(), M.diagonal()))


def partial(M, k):
    """Return the partial correlation (ratio) of column k with those after it, given those before it."""
    left = left_over(M, k)
    sizes, directions = np.linalg.eigh(left[1:, 1:])
    along = (directions.T @ left[1:, 0])[sizes > COLLINEAR]
    explained = np.sum(along**2 / sizes[sizes > COLLINEAR]) / left[0, 0]
    return float(np.sqrt(min(explained, 1.0)))
