"""One-way analysis of variance, as scikit-learn's ``f_classif``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from streamsieve.criteria.criterion import Criterion, Needs, f_p_value, f_statistic, split
from streamsieve.protocols import CLASSIFICATION, FloatArray, Task
from streamsieve.state import register
from streamsieve.summaries.moments import MomentsBlock


@register
@dataclass(frozen=True)
class AnovaF(Criterion):
    """Score by the F statistic of a one-way analysis of variance, for any number of classes.

    The same numbers as scikit-learn's ``f_classif``, in one pass over a stream, with weights, missing
    values and fading.  A feature with missing values is scored on its observed rows.  A feature that is
    constant in every class has the p-value of a permutation test, 2 / 70 for two classes of four rows, not 0.

    Notes
    -----
    **Formula.** ``F = [sum_c n_c (mean_c - mean)^2 / (C - 1)] / [sum_c n_c var_c / (n - C)]``.

    **When it fails.** Classes that differ in spread or shape but not in their means score near 0. p-values
    are too small for skewed or heavy-tailed features and a rare class: screen those with "chi2" or
    "mutual_info".

    References
    ----------
    Fisher (1925); Heiman (1992).

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.criteria import AnovaF
    >>> from streamsieve.summaries import Moments
    >>> m = Moments()
    >>> m.update(np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]), np.array([0, 0, 0, 1, 1, 1]))
    >>> AnovaF()(m), AnovaF().p_values(m).round(4)
    (array([13.5]), array([0.0213]))
    """

    name: ClassVar[str] = "f"
    tasks: ClassVar[frozenset[Task]] = CLASSIFICATION
    needs: ClassVar[Needs] = Needs.MOMENTS

    def score(self, block: MomentsBlock) -> FloatArray:
        """Mean square between classes over mean square within."""
        return f_statistic(split(block))

    def p_value(self, block: MomentsBlock) -> FloatArray:
        """By the F distribution."""
        return f_p_value(block)
