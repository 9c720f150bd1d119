"""Slow twin of ``streamsieve.independence.g_squared``: tables counted row by row, formulas as printed.

Ind(X, Y | Z) with levels r_X, r_Y and r_Z joint states of Z:

1. count N_xyz;
2. ``G2 = 2 sum N_xyz ln(N_xyz N_..z / (N_x.z N_.yz))``, terms with N_xyz = 0 are 0;
3. degrees of freedom: "nominal" (r_X - 1)(r_Y - 1) r_Z; "zero_cells" that minus 1 for each empty cell, 1 at
   least; "strata" the sum over z of (r_X - 1)(r_Y - 1), counting only levels that occur in the stratum;
4. if n < 5 times the nominal degrees, the test is unreliable.  By "occupied" it is reliable all the same if
   the strata with degrees of their own hold five rows for each of them, and these are then its degrees;
5. p = P(chi-squared with these degrees >= G2); dependent iff p <= alpha.  No degrees: p = 1.

What an unreliable test means: "independent", or "skip", where it means nothing, except that a column which is
a function of a single other one is redundant.  With "skip", a set is tried only if each member can be tested
alone.

Errata: the paper's (4) prints wrong indices in the denominator, and its "five per cell" has the factors
(r - 1), so it is per degree of freedom.

Source: Spirtes, Glymour, Scheines (2000); Wu et al. (2013).
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2

from tests.reference import table_moments
from tests.reference.levels import are_levels


def levels(x, bins=5):
    """Return the level of every row, 0, 1, 2, ...: distinct values, or bins of equal frequency (0.5)."""
    x = np.asarray(x, np.float64)
    if not are_levels(x):
        bins = min(bins, len(x))
        ordered, d = sorted(x.tolist()), len(x) // bins
        cuts = [ordered[i * d - 1] for i in range(1, bins)]
        x = np.array([sum(cut < value for cut in cuts) for value in x.tolist()])
    return np.unique(x, return_inverse=True)[1]


def classes(y, task):
    """Return the class of every row; a numeric target is cut into five."""
    if task == "regression":
        size, ordered = len(y) // 5, sorted(y)
        cuts = [ordered[i * size - 1] for i in range(1, 5)] if size else sorted(set(y))[:-1]
        y = [sum(cut < value for cut in cuts) for value in y]
    return np.unique(y, return_inverse=True)[1]


def tables(x, y, Z):
    """Return the table of x and y in every stratum of Z that occurs."""
    shape = x.max() + 1, y.max() + 1
    found = {}
    for row in range(len(x)):
        z = tuple(column[row] for column in Z)
        found.setdefault(z, np.zeros(shape, int))[x[row], y[row]] += 1
    return list(found.values())


def g_squared(table):
    """Return the statistic of one stratum."""
    total, rows, columns = table.sum(), table.sum(axis=1), table.sum(axis=0)
    return 2 * sum(
        table[a, b] * math.log(table[a, b] * total / (rows[a] * columns[b]))
        for a in range(len(rows))
        for b in range(len(columns))
        if table[a, b]
    )


def freedom(table):
    """Return the degrees of freedom of one stratum, counting what occurs."""
    return int((np.sum(table.sum(axis=1) > 0) - 1) * (np.sum(table.sum(axis=0) > 0) - 1))


class Answer(NamedTuple):
    """What one test says."""

    statistic: float
    freedom: int
    p_value: float
    reliable: bool
    #: The column does not vary in any stratum.
    is_function: bool


def conditional(
    x, y, Z, degrees="strata", reliable="occupied", statistic=g_squared, p_value="chi2", alpha=1.0
):
    """Test levels x and classes y given the levels Z.

    By "moments" the p-value is that of ``table_moments.py``.  Given nothing, a row for each degree of freedom
    is enough; else rows must be enough as ever, for a test without power would separate everything.
    """
    strata = tables(x, y, Z)
    value = sum(statistic(table) for table in strata)
    joint = math.prod(int(column.max()) + 1 for column in Z)
    nominal = int(x.max() * y.max()) * joint
    enough = len(x) >= 5 * nominal
    occupied = sum(freedom(table) for table in strata)
    df = {
        "nominal": nominal,
        "strata": occupied,
        "zero_cells": max(
            nominal - (strata[0].size * joint - sum(np.count_nonzero(table) for table in strata)),
            min(nominal, 1),
        ),
    }[degrees]
    if not enough and reliable == "occupied":
        df = occupied
        enough = df > 0 and sum(table.sum() for table in strata if freedom(table)) >= 5 * df
    varies = any(np.sum(table.sum(axis=1) > 0) > 1 for table in strata)
    if p_value == "moments":
        tested = any(table_moments.moments(table)[2] > 0 for table in strata)
        exact = not Z and table_moments.occurring(strata[0]).shape == (2, 2)
        if not Z:
            enough = len(x) >= nominal
        enough = enough and (tested or exact or occupied == 0)
        p = table_moments.table_p(strata, alpha=alpha, given=bool(Z))
        return Answer(value, occupied, p, enough, not varies)
    return Answer(value, df, float(chi2.sf(value, df)) if df else 1.0, enough, not varies)


class Tables:
    """A judge for ``tests/reference/osfs.py`` and ``fast_osfs.py``."""

    def __init__(
        self, X, y, task="classification", *, alpha=0.01, degrees="strata", unreliable="skip",
        reliable="occupied", bins=5, statistic=g_squared, p_value="chi2",
    ):  # fmt: skip
        self.X, self.y = [levels(x, bins) for x in np.asarray(X).T], classes(y, task)
        self.alpha, self.skip = alpha, unreliable == "skip"
        self.rules = {"degrees": degrees, "reliable": reliable, "statistic": statistic, "p_value": p_value}

    def relevance(self, j):
        if self.X[j].max() == 0:
            return "constant", 0.0, 1.0
        answer = conditional(self.X[j], self.y, [], **self.rules, alpha=self.alpha)
        if not answer.reliable:
            return "unreliable test", 0.0, 1.0
        return None if answer.p_value <= self.alpha else "irrelevant", answer.statistic, answer.p_value

    def alone(self, j, i):
        return conditional(self.X[j], self.y, [self.X[i]], **self.rules).reliable

    def given(self, j, Z):
        if self.skip and len(Z) > 1 and not all(self.alone(j, i) for i in Z):
            return None
        # sets are searched without confirming p-values of sparse tables
        answer = conditional(self.X[j], self.y, [self.X[i] for i in Z], **self.rules, alpha=0.0)
        if not answer.reliable:
            if not self.skip:
                return "unreliable test", 0.0, 1.0
            return ("collinear", 0.0, 1.0) if len(Z) == 1 and answer.is_function else None
        if answer.p_value <= self.alpha:
            return None
        return "collinear" if answer.is_function else "redundant", answer.statistic, answer.p_value
