"""Welch's t-test for a difference of the means of two classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import stdtr

from streamsieve.criteria.criterion import Criterion, Needs, f_p_value, ratio
from streamsieve.protocols import FloatArray, Task
from streamsieve.state import register
from streamsieve.summaries.moments import MomentsBlock


@register
@dataclass(frozen=True)
class WelchT(Criterion):
    """Score by the absolute value of Welch's t, for two classes.

    **Formula.** ``|mean_1 - mean_2| / sqrt(s_1^2 / n_1 + s_2^2 / n_2)``, with p-values by the
    Welch-Satterthwaite degrees of freedom. If the feature is constant in a class, its spread there is unknown
    rather than 0, and the p-value is that of the F test: a rare class is often constant by accident.

    Parameters
    ----------
    ddof : int, default=1
        1 divides variances by n - 1, as statistics programs do; 0 by n, as the thesis's online form
        does.  (Its claim that online equals offline exactly holds only if both use the same.)

    Notes
    -----
    **When it fails.** Classes that differ in spread or shape but not in their means score near 0. p-values
    are far too small for skewed features and a rare class: screen those with "chi2" or "mutual_info".

    References
    ----------
    Welch (1947); Wang, Online and Offline Feature Screening and Applications, 2021, section 2.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.criteria import WelchT
    >>> from streamsieve.summaries import Moments
    >>> m = Moments()
    >>> m.update(np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]), np.array([0, 0, 0, 1, 1, 1]))
    >>> WelchT()(m)
    array([3.67423461])
    """

    name: ClassVar[str] = "t"
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.BINARY})
    needs: ClassVar[Needs] = Needs.MOMENTS

    ddof: int = 1

    def score(self, block: MomentsBlock) -> FloatArray:
        """Absolute difference of means over its standard error."""
        if len(block.mean) < 2:
            return np.zeros(block.mean.shape[1])
        difference, errors = self._parts(block)
        return ratio(np.abs(difference), np.sqrt(errors.sum(axis=0)))

    def p_value(self, block: MomentsBlock) -> FloatArray:
        """Two-sided, by Student's t with Welch-Satterthwaite degrees of freedom.

        If the feature is constant in a class, its variance there is unknown, not 0, and the pooled variance
        is used.
        """
        if len(block.mean) < 2:
            return np.ones(block.mean.shape[1])
        _, errors = self._parts(block)
        freedom = np.maximum(block.n - 1, 1e-300)
        df = ratio(errors.sum(axis=0) ** 2, (errors**2 / freedom).sum(axis=0))
        score = self.score(block)
        testable = (df > 0) & (score > 0) & np.all(block.n > 1, axis=0)
        without_spread = (errors.sum(axis=0) == 0) & (score > 0) & np.any(block.n > 1, axis=0)
        pooled = without_spread | (testable & np.any(errors == 0, axis=0))
        p = np.ones(len(score))
        p[testable] = 2 * stdtr(df[testable], -score[testable])
        if pooled.any():
            p[pooled] = f_p_value(block)[pooled]
        return p

    def _parts(self, block: MomentsBlock) -> tuple[FloatArray, FloatArray]:
        """Return the difference of means and each mean's squared standard error."""
        present = np.all(block.n > 0, axis=0)
        difference = np.where(present, block.mean[0] - block.mean[1], 0.0)
        divisor = np.maximum(block.n - self.ddof, 0.0)
        errors = np.divide(
            block.variance, divisor, out=np.zeros_like(divisor), where=(divisor > 0) & (block.variance > 0)
        )
        return difference, errors
