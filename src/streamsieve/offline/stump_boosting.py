"""Boosting of decision stumps: one feature per round."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._kernels import stumps as kernel
from streamsieve._threads import over_features
from streamsieve.base import OfflineSelector
from streamsieve.offline.shared.ranking import TIE, first_best
from streamsieve.offline.shared.row_similarity import dense_blocks
from streamsieve.protocols import FloatArray, IntArray, Matrix, Task, Traits
from streamsieve.state import Array, Int

#: An error below this is none.
PERFECT = 1e-12
#: Sums of weights that differ by less are equal.
ROUNDING = 1e-12
#: Stored values that are sorted at once: Ctrl-C is answered between two sorts.
SORTED = 2**22
#: Attributes with one number per round.
ROUND = ("errors_", "thresholds_", "signs_", "votes_")


class StumpBoosting(OfflineSelector):
    """Feature selection by boosted decision stumps (AdaBoost), one new feature per round.

    A stump is one feature and one threshold.  Each round selects the stump of smallest weighted error among
    all unused features, then increases the weights of misclassified rows, so that later features complement
    earlier ones.

    Parameters
    ----------
    k : int or None, default=None
        Number of rounds and features, at least 1.  If None, 10, or all if there are fewer.  Fewer are kept if
        a stump makes no error, or if none is better than random guessing.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to record: on all features, on the selected ones, or none.

    Attributes
    ----------
    selected_ : columns of the selected features, in column order
    ranked_ : the same columns, by round
    errors_ : float64 array, one per feature of ``ranked_``: the weighted error of its stump
    thresholds_ : float64 array, one per feature of ``ranked_``: the largest value below the threshold
    signs_ : float64 array, one per feature of ``ranked_``: 1 if rows above the threshold are of the second
        class (in sorted order), else -1
    votes_ : float64 array, one per feature of ``ranked_``: weight of its stump, ``ln((1 - e) / e) / 2``
    ledger_ : one decision per feature: why it was kept or rejected
    task_ : "binary"

    Notes
    -----
    **Formula.** Round r takes the feature and threshold of least weighted error e; rows then weigh ``w exp(-v
    y h(x))`` with the vote ``v = ln((1 - e) / e) / 2``.

    **When it fails.** Each stump is one feature, so XOR is not found. Mislabeled rows gain weight in every
    round. Two classes only.

    The training error of the ensemble is at most the product of
    ``2 sqrt(e (1 - e))`` over the rounds.  Of equal stumps the first feature and its lowest threshold are
    taken.  A feature is used once, as rounds are to bring features; the paper uses 150.  Columns are sorted
    once; a round is one pass over what they store.

    References
    ----------
    Ding, Stepinski, Mu, Bandeira, Ricardo, Wu, Lu, Cao and Wu, Subkilometer crater discovery with boosting
    and transfer learning, ACM TIST 2, 2011 ("naive boosting"); Viola and Jones (2004); Freund and Schapire
    (1997).

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((300, 6))
    >>> y = X[:, 4] + 0.5 * X[:, 1] > 0.75
    >>> boosting = ss.StumpBoosting(k=2).fit(X, y)
    >>> boosting.ranked_, boosting.thresholds_.round(1), boosting.signs_
    (array([4, 1]), array([0.6, 0.5]), array([1., 1.]))
    """

    _traits = Traits(tasks=frozenset({Task.BINARY}), size_parameter="k", nested_sizes=True)

    parameters = {"k": Int(1, optional=True), **OfflineSelector.parameters}
    fields = {
        **OfflineSelector.narrow_fields,
        **{name: Array("f8", "selected", finite=True) for name in ROUND},
    }

    def __init__(self, k: int | None = None, *, ledger: str = "all") -> None:
        self.k = k
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Some rounds, and one."""
        yield cls()
        yield cls(k=1)

    def _choose(self, X: Matrix, y: npt.NDArray[Any], wanted: int) -> IntArray:
        sign = np.where(y == np.unique(y)[1], 1.0, -1.0)
        columns = RisingColumns(X)
        weight = np.full(len(sign), 1.0 / len(sign))
        usable = np.ones(columns.p, bool)
        order: list[int] = []
        rounds: list[tuple[float, float, float, float]] = []
        while len(order) < wanted:
            gain, threshold, above = columns.stumps(weight, sign)
            gain[~usable] = -1.0
            j = first_best(gain, 1.0)
            if gain[j] <= TIE:
                break  # no better than random guessing
            error = max(0.5 - float(gain[j]), 0.0)
            vote = 0.5 * math.log((1 - error) / max(error, PERFECT))
            order.append(j)
            rounds.append((error, float(threshold[j]), float(above[j]), vote))
            usable[j] = False
            if error <= PERFECT:
                break
            guess = np.where(columns.values_of(j) > threshold[j], above[j], -above[j])
            weight = weight * np.exp(-vote * sign * guess)
            weight /= weight.sum()
        self.errors_, self.thresholds_, self.signs_, self.votes_ = np.array(rounds).reshape(-1, 4).T.copy()
        return np.array(order, np.int64)


class RisingColumns:
    """The values of every feature in rising order, with their rows; of sparse ones what they store."""

    def __init__(self, X: Matrix) -> None:
        self.n, self.p = X.shape
        if sp.issparse(X):
            self._X = X = sp.csc_array(X)
            self._pointers = X.indptr.astype(np.int64)
            self._rows, self._values = np.empty(X.nnz, np.int32), np.empty(X.nnz)
            ends = np.searchsorted(self._pointers, np.arange(0, X.nnz, SORTED), side="left")
            for low, high in itertools.pairwise([*np.unique(ends).tolist(), self.p]):
                part = slice(*self._pointers[[low, high]].tolist())
                column = np.repeat(np.arange(high - low), np.diff(self._pointers[low : high + 1]))
                order = np.lexsort((X.data[part], column))
                self._rows[part], self._values[part] = X.indices[part][order], X.data[part][order]
        else:
            self._X = X
            self._pointers = np.arange(self.p + 1) * self.n
            rows, values = np.empty((self.p, self.n), np.int32), np.empty((self.p, self.n))
            for part, block in dense_blocks(X):
                order = np.argsort(block.T, axis=1, kind="stable")
                rows[part], values[part] = order, np.take_along_axis(block.T, order, axis=1)
            self._rows, self._values = rows.reshape(-1), values.reshape(-1)

    def stumps(self, weight: FloatArray, sign: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return, for every feature, by how much its best stump errs less than a coin, and that stump."""
        gain, threshold, above = np.zeros(self.p), np.zeros(self.p), np.ones(self.p)
        signed, negative = weight * sign, float(weight[sign < 0].sum())

        def work(low: int, high: int) -> None:
            kernel.best_stumps(
                self._pointers, self._rows, self._values, signed, negative, low, high, ROUNDING,
                gain, threshold, above,
            )  # fmt: skip

        over_features(self.p, 2 * len(self._values), work)
        return gain, threshold, above

    def values_of(self, j: int) -> FloatArray:
        """Return one feature, row by row."""
        column = self._X[:, [j]]
        return np.asarray(column.toarray() if sp.issparse(column) else column, np.float64)[:, 0]
