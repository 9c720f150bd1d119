"""Likelihood-ratio test (G squared) of independence in contingency tables."""

from __future__ import annotations

from typing import ClassVar

from streamsieve.independence.contingency_test import TableTest
from streamsieve.state import register


@register
class GSquared(TableTest):
    """Likelihood-ratio test (G squared) of (conditional) independence of discrete columns and a target.

    ``G2 = 2 sum n_xyz ln(n_xyz n_z / (n_xz n_yz))`` over the cells of the table of a column x, the target y
    and the joint levels z of the conditioning set; 2 n times the conditional mutual information in nats.
    Levels are unordered, so any kind of dependence is detected.

    Parameters
    ----------
    y : array
        The target: labels or numbers, one per row; numbers (regression) are discretized into 5
        equal-frequency classes.
    task : Task
        Type of target.
    alpha : float
        Significance level of the test, in (0, 1).
    degrees : {"strata", "nominal", "zero_cells"}, default="strata"
        Degrees of freedom: the sum over z of (levels of x - 1)(classes - 1), counting what occurs with z; the
        same counting all levels; or the latter minus one for every empty cell, and 1 at least.
    bins : int, default=5
        Number of equal-frequency bins for columns with more than 32 distinct values, unless they are
        whole numbers that repeat or nominal, in [2, 1024].
    reliable : {"occupied", "nominal"}, default="occupied"
        A test needs five rows for each degree of freedom; by "moments" one row suffices given nothing, and
        given columns five remain, because a test without power would accept independence.  "nominal" counts
        all rows and all levels.  "occupied" also accepts a larger table if there are five rows per degree in
        strata where column and target both vary; its degrees are those of "strata".
    p_value : {"auto", "moments", "chi2"}, default="auto"
        How p-values are computed.  "moments", the default, is the gamma distribution with the mean and
        variance of Pearson's statistic over all permutations of y within the levels z, summed over them; a
        2 x 2 table given nothing has Fisher's exact p-value if an expected count is below 5.  "chi2" is the
        limiting chi-squared distribution of the statistic with ``degrees``: liberal in sparse tables.
    exact : bool, default=False
        Whether every 2 x 2 table has Fisher's exact p-value, whatever its expected counts, as an online rule
        needs it: P(p <= u) <= u at every u.  For "moments".

    Notes
    -----
    "moments" tests Pearson's statistic, and G2 is what is reported: the mean and variance of G2 itself have
    no closed form.  The p-value holds given the margins, for rows that are exchangeable within the levels z.
    The moments are exact, the gamma distribution is an approximation: at the levels .05 and .01 its size is
    within 1.3 times the level, but larger if a level or class has a few rows, because the statistic then has
    few values, and up to 1.9 times at .01 and 6 times at .001 in sparse tables with margins skewed on both
    sides.  There (fewer than 16 rows of a level or class; or an expected count below 1, and a twentieth of
    the variance due to skewness) a p-value up to alpha is confirmed: it becomes the maximum with one that is
    valid at every level, by Fisher's exact tests of single cells (Bonferroni) or random tables with the same
    margins.  A p-value above alpha, which the ledger shows of a rejected column, is that of the gamma
    distribution: confirmed, it could be larger.  Sets that are searched for conditional independence are not
    confirmed.  Strata of fewer than four rows contribute nothing.

    A table without degrees of freedom has p = 1.  The paper subtracts one degree for every
    empty cell; its toolbox does not ("nominal").  Subtracting is liberal: a cell may be empty because the
    column depends on the target.  "strata" drops what cannot occur and nothing else, and is the degrees of
    freedom that ``scipy.stats.chi2_contingency`` gives stratum by stratum.

    References
    ----------
    Spirtes, Glymour, Scheines: Causation, Prediction, and Search, 2000; Agresti: Categorical Data Analysis;
    Haldane, Biometrika 31, 1940, and Dawson, Biometrika 41, 1954 (the moments); Besag and Clifford,
    Biometrika 78, 1991 (random tables).

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.independence import GSquared
    >>> from streamsieve.protocols import Task
    >>> rng = np.random.default_rng(0)
    >>> cause, noise, noise2 = rng.integers(0, 3, (3, 500))
    >>> dose = np.where(rng.random(500) < 0.8, cause, noise)
    >>> y = np.where(rng.random(500) < 0.8, dose, rng.integers(0, 3, 500))
    >>> test = GSquared(y, Task.MULTICLASS, alpha=0.01)
    >>> measured = test.relevance(np.c_[cause, noise2, dose])
    >>> test.p_values(measured.tested, measured.freedom)[:].round(3)
    array([0.   , 0.191, 0.   ])
    >>> test.given(cause, dose[:, None]).p_value > 0.01
    True
    """

    _pearson: ClassVar[bool] = False
