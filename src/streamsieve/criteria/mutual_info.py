"""Mutual information of a binned feature and the class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from streamsieve._parameters import check_choice
from streamsieve.criteria._table_formula import TableFormula, information, shares
from streamsieve.protocols import ANY_TASK, FloatArray, Task
from streamsieve.state import register
from streamsieve.summaries._tables import TableBlock

CORRECTIONS = ("none", "miller_madow")


@register
@dataclass(frozen=True)
class MutualInfo(TableFormula):
    """Score by the mutual information of feature and target, in nats.

    ``I = sum p(bin, class) ln(p(bin, class) / (p(bin) p(class)))``.  It finds dependence of any shape, not
    of means only.  Never below 0, and 0 for a constant feature.

    Parameters
    ----------
    bins : int, default=5
        Bins of equal frequency for a feature's values, at least 2.  Equal values share a bin.
    discrete : bool, default=False
        True: every value is a level of its own, and ``bins`` has no meaning.
    bias_correction : {"none", "miller_madow"}, default="none"
        "miller_madow" subtracts what independent data would score on average,
        ``(levels - 1) (classes - 1) / (2 n)``, and sets what falls below 0 to 0.

    Notes
    -----
    The more levels a feature has, the more information chance gives it: scores of features with different
    numbers of levels do not compare.  Use "miller_madow", or the criterion "su".  The correction takes every
    combination of a level and a class that occur for possible, whether or not it was seen.

    p-values are those of ``G^2 = 2 n I`` (uncorrected) by the chi-squared distribution; they are rough with
    fewer than about five rows a degree of freedom.  Under a half-life n counts rows by their information,
    and a level with less than half a row costs no degree of freedom.

    References
    ----------
    Lewis (1992); Miller (1955) for the bias.  Wang 2021 mixes up the indices of equation 2.18, and leaves
    the unit open.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.criteria import MutualInfo
    >>> from streamsieve.summaries import Quantiles
    >>> q = Quantiles()
    >>> q.update(np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 5.0], [4.0, 6.0]]), np.array([0, 0, 1, 1]))
    >>> MutualInfo(bins=2)(q), MutualInfo(bins=2).p_values(q).round(3)
    (array([0.69314718, 0.        ]), array([0.019, 1.   ]))
    """

    name: ClassVar[str] = "mutual_info"
    tasks: ClassVar[frozenset[Task]] = ANY_TASK

    bias_correction: str = "none"

    def check_parameters(self) -> None:
        """Refuse parameters out of their range."""
        super().check_parameters()
        check_choice("bias_correction", self.bias_correction, CORRECTIONS)

    def score(self, block: TableBlock) -> FloatArray:
        """Information in nats, less its bias if wanted."""
        s = shares(block)
        if self.bias_correction == "none":
            return information(s)
        # with less than one row there is no score to correct, only a division to survive
        bias: FloatArray = s.freedom / (2 * np.maximum(s.n, 1.0))
        return np.maximum(information(s) - bias, 0.0)
