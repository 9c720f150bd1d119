"""Pearson's chi-squared of a binned feature and the class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from streamsieve.criteria._table_formula import Shares, TableFormula, chi2_p_value, lift, shares
from streamsieve.protocols import FloatArray
from streamsieve.state import register
from streamsieve.summaries._tables import TableBlock


@register
@dataclass(frozen=True)
class ChiSquare(TableFormula):
    """Score by Pearson's chi-squared statistic of feature and class.

    ``sum (count - expected)^2 / expected`` over bins and classes, where ``expected`` is what independence
    would put there.  For any number of classes.

    Parameters
    ----------
    bins : int, default=5
        Bins of equal frequency for a feature's values, at least 2.  Equal values share a bin.
    discrete : bool, default=False
        True: every value is a level of its own, and ``bins`` has no meaning.

    Notes
    -----
    Not the ``chi2`` of scikit-learn and scikit-feature: that sums the values of a feature as if they were
    counts, so it wants non-negative features and depends on their unit.  This one is
    ``scipy.stats.chi2_contingency`` without continuity correction.

    Empty bins and classes are left out.  So are those with less than half a row: the statistic gives a class
    with a bin of its own n rows' worth however rare both are, and with a half-life both would keep that long
    after their last row.  Under a half-life n counts rows by their information.

    The more levels a feature has, the larger chi-squared is by chance; p-values take that into account.

    References
    ----------
    Pearson (1900); Wang, Online and Offline Feature Screening and Applications, 2021, section 2, where it is
    given for two classes.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.criteria import ChiSquare
    >>> from streamsieve.summaries import Quantiles
    >>> q = Quantiles()
    >>> q.update(np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 5.0], [4.0, 6.0]]), np.array([0, 0, 1, 1]))
    >>> ChiSquare(bins=2)(q), ChiSquare(bins=2).p_values(q).round(4)
    (array([4., 0.]), array([0.0455, 1.    ]))
    """

    name: ClassVar[str] = "chi2"

    def score(self, block: TableBlock) -> FloatArray:
        """Sum of squared deviations from independence, each over its expectation."""
        return _statistic(shares(block))

    def p_value(self, block: TableBlock) -> FloatArray:
        """By the chi-squared distribution."""
        s = shares(block)
        return chi2_p_value(_statistic(s), s.freedom)


def _statistic(s: Shares) -> FloatArray:
    expected, terms = lift(s)
    terms -= 1
    terms *= terms
    terms *= expected
    terms *= s.classes_count[:, None] & s.bins_count
    return np.where(s.freedom > 0, s.n * terms.sum(axis=0).sum(axis=0), 0.0)
