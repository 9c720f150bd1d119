"""Correlation with a numeric target, by absolute value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import stdtr

from streamsieve.criteria.criterion import Criterion, Needs, ratio
from streamsieve.protocols import FloatArray, Task
from streamsieve.state import register
from streamsieve.summaries.comoments import CoMomentsBlock

#: Correlation that is 1 but for rounding.
PERFECT = 1 - 1e-15


@register
@dataclass(frozen=True)
class Correlation(Criterion):
    """Score by the absolute value of Pearson's correlation with a numeric target.

    By absolute value: a strongly negative correlation is as good as a positive one.  (Wang 2021, section
    2, prints "larger rho", and at least one streaming library ranked negative ones last for years.)
    Two classes coded 0 and 1 are a numeric target too: then this is the point-biserial correlation.

    Notes
    -----
    **Formula.** ``|r| = |sum (x - mean x)(y - mean y)| / sqrt(sum (x - mean x)^2 sum (y - mean y)^2)``.

    **When it fails.** Dependence that is not linear, such as that of a square, scores near 0, and one outlier
    can make or hide a correlation. p-values are too small if feature and target are both heavy-tailed:
    screen those with ``MutualInfo``, or transform one of the two.

    References
    ----------
    Pearson (1895); p-values by Student's t with n - 2 degrees of freedom.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.criteria import Correlation
    >>> from streamsieve.summaries import CoMoments
    >>> m = CoMoments()
    >>> m.update(np.array([[1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]), np.array([3.0, 2.0, 1.0]))
    >>> Correlation()(m)
    array([1., 0.])
    """

    name: ClassVar[str] = "correlation"
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.BINARY, Task.REGRESSION})
    needs: ClassVar[Needs] = Needs.COMOMENTS

    def score(self, block: CoMomentsBlock) -> FloatArray:
        """Absolute covariance over both standard deviations; 1 if it is 1 but for rounding."""
        spread = np.sqrt(block.variance) * np.sqrt(block.target_variance)
        r = np.where(spread > 0, ratio(np.abs(block.covariance), spread), 0.0)
        return np.where(r > PERFECT, 1.0, r)

    def p_value(self, block: CoMomentsBlock) -> FloatArray:
        """Two-sided, by Student's t."""
        r, df = self.score(block), block.n - 2
        testable = (df > 0) & (r > 0)
        p = np.ones(len(r))
        t = ratio(r * np.sqrt(np.maximum(df, 0)), np.sqrt((1 - r) * (1 + r)))
        p[testable] = 2 * stdtr(df[testable], -t[testable])
        return p
