"""Mutual information by nearest neighbors, without bins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
from scipy.special import digamma

from streamsieve._kernels import neighbors as kernel
from streamsieve._parameters import check_number
from streamsieve._threads import over_features
from streamsieve.criteria.criterion import Criterion, Needs
from streamsieve.protocols import ANY_TASK, FloatArray, Task
from streamsieve.state import register
from streamsieve.summaries.windows.recent_rows import ColumnsBlock

#: Relative cost of a value, in units of the threading threshold (``threads.SMALL``).
EFFORT = 256
#: Counts whose digamma is tabulated; beyond these, four terms of its series are exact.
LOOKED_UP = 4096


@register
@dataclass(frozen=True)
class KSG(Criterion):
    """Mutual information of feature and target by the KSG nearest-neighbor estimator, in nats.

    It needs no bins, and detects dependence of any shape.  A numeric target is scored by the first estimator
    of Kraskov, Stoegbauer and Grassberger, class labels by that of Ross.  Never below 0, and 0 for a constant
    feature.  It needs the rows themselves, so it scores the last ones: ``Screen("ksg", window=...)``, 1000 by
    default.

    Parameters
    ----------
    n_neighbors : int, default=4
        Number of nearest neighbors, at least 1.  More neighbors: less variance, more bias.

    Notes
    -----
    **Formula.** For each row, let d be the distance of its k-th nearest neighbor: the larger of the
    differences in the feature and in the target, each over its standard deviation. Then

        I = psi(N) + < psi(c) - psi(c_x) - psi(c_y) >

    where c, c_x and c_y count the rows within d, itself included: by both differences, by that of the
    feature, by that of the target.  With class labels, a row of another class is infinitely far, and rows
    alone in their class are left out.  A feature with missing values is scored on the rows that have it.

    *Ties.*  Within means nearer than d (by more than rounding), or at the same place.  Without ties c is k,
    and the estimate is that of the papers and of ``sklearn.feature_selection.mutual_info_regression`` and
    ``mutual_info_classif`` (default k 3).  Against ties these add random noise, so their result changes with
    the seed; counting the rows needs none.  Where all values are tied, the estimate is that of the table of
    counts with Grassberger's bias correction.

    A weight is a number of copies of a row, so it must be whole.  There are no p-values, hence no ``alpha``
    and no ``on_drift``, and no ``half_life``, because neighbors have no weights.  Cost per feature: n log n
    for
    labels, where zeros of sparse rows cost nothing, and up to n^1.5 for a numeric target.

    **When it fails.** Few rows in the window: the estimate has a bias toward 0 and a variance that hides weak
    dependence. It has no p-values, and rows outside the window do not count.

    References
    ----------
    Kraskov, Stoegbauer and Grassberger, Estimating mutual information, Physical Review E 69, 2004 (equation
    8); Ross, Mutual information between discrete and continuous data sets, PLoS ONE 9, 2014; Grassberger,
    Finite sample corrections to entropy and dimension estimates, Physics Letters A 128, 1988.  Keller,
    Mueller and Boehm, Estimating mutual information on data streams, SSDBM 2015, for the windows and k = 4;
    there the window may be chosen at query time, at the price of using samples instead of all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.criteria import KSG
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0, 2 * np.pi, 500)
    >>> X = np.c_[np.cos(angle), rng.normal(size=500)]
    >>> rows = KSG().new_summary(target="numeric")
    >>> rows.update(X, np.sin(angle))  # neither is correlated with the target
    >>> KSG()(rows).round(1)
    array([2.6, 0. ])
    """

    name: ClassVar[str] = "ksg"
    tasks: ClassVar[frozenset[Task]] = ANY_TASK
    needs: ClassVar[Needs] = Needs.ROWS

    n_neighbors: int = 4

    def check_values(self) -> None:
        """Raise ``ParameterError`` for parameters out of range."""
        check_number("n_neighbors", self.n_neighbors, low=1, integer=True)

    def score(self, block: ColumnsBlock) -> FloatArray:
        """Information in nats."""
        check_number("n_neighbors", self.n_neighbors, low=1, integer=True)
        n_features = len(block.indptr) - 1
        out = np.zeros(n_features)
        columns, ways = (block.indptr, block.indices, block.data), (int(self.n_neighbors), _table())
        if block.n_classes:

            def work(low: int, high: int) -> None:
                kernel.labels(*columns, block.y, block.copies, block.n_classes, *ways, low, high, out)
        else:
            order = np.argsort(block.y, kind="stable")
            rank = np.empty(len(order), np.int64)
            rank[order] = np.arange(len(order))
            rows = (block.y[order], rank, block.copies[order])

            def work(low: int, high: int) -> None:
                kernel.numbers(*columns, *rows, *ways, low, high, out)

        n_values = len(block.data) if block.n_classes else n_features * len(block.y)
        over_features(n_features, EFFORT * n_values, work)
        return out


@cache
def _table() -> FloatArray:
    """Return the digamma function of whole numbers; the entry for 0 is never used."""
    return np.concatenate([[0.0], digamma(np.arange(1.0, LOOKED_UP))])
