"""Pearson's chi-squared test of independence in contingency tables."""

from __future__ import annotations

from typing import ClassVar

from streamsieve.independence.contingency_test import TableTest
from streamsieve.state import register


@register
class ChiSquareTest(TableTest):
    """Pearson's chi-squared test of (conditional) independence of discrete columns and a target.

    ``sum (n_xyz - e)^2 / e`` with ``e = n_xz n_yz / n_z`` over the cells of the table of a column x, the
    target y and the joint levels z of the conditioning set.  Not to be confused with the criterion
    ``ChiSquare``, which scores features of streaming rows.

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
        Degrees of freedom; see `GSquared`.
    bins : int, default=5
        Number of equal-frequency bins for columns with more than 32 distinct values, unless they are
        whole numbers that repeat or nominal, in [2, 1024].
    reliable : {"occupied", "nominal"}, default="occupied"
        Which table must have five rows for each degree of freedom; see `GSquared`.
    p_value : {"auto", "moments", "chi2"}, default="auto"
        How p-values are computed: by the mean and variance of the statistic over all permutations, the
        default, or by its limiting chi-squared distribution, which is liberal for skewed margins; see
        `GSquared`.
    exact : bool, default=False
        Whether every 2 x 2 table has Fisher's exact p-value; see `GSquared`.

    Notes
    -----
    The assumptions of p-values are those of `GSquared`: given the margins, rows are exchangeable within the
    levels z.  There is no continuity correction: the toolbox of the OSFS authors subtracts 0.5 if fewer than
    10 rows are expected, which makes the test conservative.

    References
    ----------
    Pearson (1900); Spirtes, Glymour, Scheines: Causation, Prediction, and Search, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.independence import ChiSquareTest
    >>> from streamsieve.protocols import Task
    >>> y = np.repeat([0, 1], 10)
    >>> x = np.r_[np.zeros(8), np.ones(12)]
    >>> measured = ChiSquareTest(y, Task.BINARY, alpha=0.01, p_value="chi2").relevance(x[:, None])
    >>> measured.statistic.round(3), measured.freedom
    (array([13.333]), array([1.]))
    """

    _pearson: ClassVar[bool] = True
