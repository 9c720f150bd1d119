"""Gini impurity left by the best split of a binned feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from streamsieve.criteria._table_formula import TINY, Shares, TableFormula, shares
from streamsieve.protocols import FloatArray
from streamsieve.state import register
from streamsieve.summaries._tables import TableBlock


@register
@dataclass(frozen=True)
class Gini(TableFormula):
    """Score by minus the Gini impurity that the best split of a feature leaves.

    ``-min_h sum_side (n_side / n) (1 - sum_c p_c^2)`` over the thresholds h between bins: 0 if one threshold
    tells the classes apart, minus the impurity of the whole if no threshold helps.

    Parameters
    ----------
    bins : int, default=5
        Bins of equal frequency for a feature's values, at least 2.  Equal values share a bin.
    discrete : bool, default=False
        True: every value is a level of its own, and ``bins`` has no meaning.  Where levels have no order, the
        split is into all of them; it then favours features with many levels.

    Notes
    -----
    The thesis's Gini index is the only score there of which less is better.  Here, as everywhere in this
    library, larger is better: it is negated, and no score is above 0.  A feature of which nothing was seen,
    or rows of one class only, scores -1, which is below everything.

    scikit-feature starts the search for the minimum at 0.5, so every worse split looks like 0.5; with more
    than two classes such splits are common.  It tries all distinct values, where this tries the bins' edges.

    A feature with missing values is judged by its own rows.  If it is missing mostly in one class, the rest
    is pure before any split; "su" and "mutual_info" are not misled by that.

    p-values are those of the likelihood-ratio test of independence on the same table, as for "mutual_info":
    the smallest impurity has no simple distribution of its own.

    References
    ----------
    Breiman, Friedman, Olshen and Stone (1984); Wang, Online and Offline Feature Screening and Applications,
    2021, section 2.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.criteria import Gini
    >>> from streamsieve.summaries import Quantiles
    >>> q = Quantiles()
    >>> q.update(np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 5.0], [4.0, 6.0]]), np.array([0, 0, 1, 1]))
    >>> Gini(bins=2)(q)
    array([ 0. , -0.5])
    """

    name: ClassVar[str] = "gini"
    worst: ClassVar[float] = -1.0

    def score(self, block: TableBlock) -> FloatArray:
        """Minus the smallest impurity after a split."""
        s = shares(block)
        whole = purity(s.classes)
        split = _best_threshold(s) if block.ordered else purity(s.cells).sum(axis=0)
        best = np.where(s.two_bins, split, whole)
        return np.where(s.two_classes, np.minimum(best, 1.0) - 1, self.worst)


def purity(classes: FloatArray) -> FloatArray:
    """Share of each part times the sum of its squared class shares; the classes are the first axis."""
    pure: FloatArray = (classes * classes).sum(axis=0) / np.maximum(classes.sum(axis=0), TINY)
    return pure


def _best_threshold(s: Shares) -> FloatArray:
    """Return the purest of all cuts into two sides."""
    # Both sides are sums of what lies there: the difference of two sums would leave dust on an empty side.
    left, right = s.cells[:, :-1].copy(), s.cells[:, 1:].copy()
    for cut in range(1, left.shape[1]):  # NumPy's cumsum along a short axis is several times slower
        left[:, cut] += left[:, cut - 1]
        right[:, -cut - 1] += right[:, -cut]
    best: FloatArray = (purity(left) + purity(right)).max(axis=0, initial=0.0)
    return best
