"""Symmetric uncertainty of a binned feature and the class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from streamsieve.criteria._formula import ratio
from streamsieve.criteria._table_formula import TableFormula, entropy, information, shares
from streamsieve.protocols import FloatArray
from streamsieve.state import register
from streamsieve.summaries._tables import TableBlock


@register
@dataclass(frozen=True)
class SymmetricUncertainty(TableFormula):
    """Score by mutual information as a share of what feature and class hold: ``2 I / (H(x) + H(y))``.

    From 0 (independent, or one of them constant) to 1 (each determines the other), whatever the unit of
    entropy.  The same number with feature and class exchanged.

    Parameters
    ----------
    bins : int, default=5
        Bins of equal frequency for a feature's values, at least 2.  Equal values share a bin.
    discrete : bool, default=False
        True: every value is a level of its own, and ``bins`` has no meaning.

    Notes
    -----
    Dividing by the entropies takes back what mutual information gives to features with many levels, so
    scores of features with different numbers of levels compare.  p-values are those of ``G^2 = 2 n I``, as
    for "mutual_info".

    References
    ----------
    Press et al. (1988); Yu and Liu (2003), who brought it to feature selection.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.criteria import SymmetricUncertainty
    >>> from streamsieve.summaries import Quantiles
    >>> q = Quantiles()
    >>> q.update(np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 5.0], [4.0, 6.0]]), np.array([0, 0, 1, 1]))
    >>> SymmetricUncertainty(bins=2)(q)
    array([1., 0.])
    """

    name: ClassVar[str] = "su"

    def score(self, block: TableBlock) -> FloatArray:
        """Twice the information over both entropies, at most 1."""
        s = shares(block)
        return np.minimum(ratio(2 * information(s), entropy(s.classes) + entropy(s.bins)), 1.0)
