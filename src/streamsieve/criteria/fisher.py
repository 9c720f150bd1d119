"""The Fisher score: variance between classes over variance within."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from streamsieve.criteria.criterion import Criterion, Needs, f_p_value, ratio, split
from streamsieve.protocols import CLASSIFICATION, FloatArray, Task
from streamsieve.state import register
from streamsieve.summaries.moments import MomentsBlock


@register
@dataclass(frozen=True)
class Fisher(Criterion):
    """Fisher score: variance between classes over variance within, for any number of classes.

    **Formula.** ``sum_c n_c (mean_c - mean)^2 / sum_c n_c var_c``. For two classes it is ``r^2 / (1 - r^2)``
    with the correlation r of feature and label; the F statistic is this times (n - C) / (C - 1), so the
    ranking and the p-values are those of ``f``.

    Notes
    -----
    **When it fails.** Classes that differ in spread or shape but not in their means score near 0. p-values
    are those of "f": too small for skewed or heavy-tailed features and a rare class, where "chi2" and
    "mutual_info" hold.

    References
    ----------
    Duda, Hart and Stork (2001).  Wang 2021, equation 2.15, lacks parentheses: Tr{D_b (D_t + gI)^-1}.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.criteria import Fisher
    >>> from streamsieve.summaries import Moments
    >>> m = Moments()
    >>> m.update(np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]), np.array([0, 0, 0, 1, 1, 1]))
    >>> Fisher()(m)
    array([3.375])
    """

    name: ClassVar[str] = "fisher"
    tasks: ClassVar[frozenset[Task]] = CLASSIFICATION
    needs: ClassVar[Needs] = Needs.MOMENTS

    def score(self, block: MomentsBlock) -> FloatArray:
        """Between over within."""
        parts = split(block)
        # with one row per class the variance within is 0, and every feature would seem perfect
        judged = (parts.df_within > 0) | (parts.within > 0)
        return ratio(np.where(judged, parts.between, 0.0), parts.within)

    def p_value(self, block: MomentsBlock) -> FloatArray:
        """That of the F test."""
        return f_p_value(block)
