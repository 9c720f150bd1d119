"""Trace ratio: the set of features with the largest ratio of between-class to within-class scatter."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from streamsieve._caller import warn
from streamsieve.base import OfflineSelector
from streamsieve.offline.shared.ranking import best_first
from streamsieve.offline.shared.standardized import ROUNDING, CorrelatedFeatures
from streamsieve.protocols import CLASSIFICATION, FloatArray, IntArray, Matrix, Task, Traits
from streamsieve.state import Array, Bool, Float, Int

#: Dinkelbach's iteration converges superlinearly, in about five rounds.
MOST_ROUNDS = 100
LARGEST = float(np.finfo(np.float64).max)


class TraceRatio(OfflineSelector):
    """Trace ratio criterion: the set with the largest between-class over within-class scatter.

    The ratio is that of the whole set, ``sum b / sum w``, not the mean of single ratios: a feature counts by
    its own spread, too.  The best set of a given size is found exactly.

    Parameters
    ----------
    k : int or None, default=None
        Size of the set, at least 1.  None: 10, or all if there are fewer.
    standardize : bool, default=False
        True: features are scaled to one variance first, so that their units do not matter; the set is then
        that of the best Fisher scores.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to record: on all features, on the selected ones, or none.

    Attributes
    ----------
    scores_ : float64 array, one per feature: ``b - ratio_ w``, in units of the largest spread; the set has
        the largest ones; the smallest float for a constant feature
    selected_ : columns of the selected features, in column order
    ranked_ : the same columns, best first
    ratio_ : float, the ratio of the set; the largest float where nothing is spread within classes
    n_iter_ : int, how many sets were looked at
    ledger_ : one decision per feature: why it was kept or rejected
    task_ : "binary" or "multiclass"

    Notes
    -----
    **Formula.** ``max over sets S of size k of sum_S b_j / sum_S w_j``, with b and w the scatter of a feature
    between and within classes.

    **When it fails.** Means only: classes that differ in spread or shape are not distinguished. Features in
    large units decide unless ``standardize=True``, and redundant features are all kept.

    Dinkelbach's iteration: with the ratio of the present set, take the features of largest ``b - ratio w``,
    until the ratio does not grow.  It grows with every set and there is no local optimum.  scikit-feature's
    ``trace_ratio`` begins with the first columns as they stand and then looks only at the features of largest
    single ratio, so it cannot exchange one.

    The sums b and w of a feature need variances only, which is one pass over X.  Features in large units
    decide: scale X, or set ``standardize``, unless the units mean something.  A constant feature has b = w =
    0 and would not spoil any set; it comes last all the same, as it is not informative.

    References
    ----------
    Nie, Xiang, Jia, Zhang and Yan, Trace ratio criterion for feature selection, AAAI 2008.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> X = rng.normal(size=(300, 5)) + np.outer(y, [0, 2, 0, 1, 0])
    >>> ss.TraceRatio(k=2).fit(X, y).selected_
    array([1, 3])
    """

    _traits = Traits(tasks=CLASSIFICATION, size_parameter="k")

    parameters = {"k": Int(1, optional=True), "standardize": Bool(), **OfflineSelector.parameters}
    fields = {
        **OfflineSelector.fields,
        "scores_": Array("f8", "features", finite=True),
        "ratio_": Float(0),
        "n_iter_": Int(1),
    }

    def __init__(self, k: int | None = None, *, standardize: bool = False, ledger: str = "all") -> None:
        self.k = k
        self.standardize = standardize
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """In the units of the features, and scaled."""
        yield cls()
        yield cls(k=1, standardize=True)

    def _choose(self, X: Matrix, y: npt.NDArray[Any], wanted: int) -> IntArray:
        features = CorrelatedFeatures(X, y, Task(self.task_))
        largest = float(features.norm.max())
        length = features.varies.astype(np.float64) if self.standardize else features.norm / (largest or 1.0)
        share = np.where(features.share > 1 - ROUNDING, 1.0, features.share)
        between, within = share * length**2, (1 - share) * length**2
        usable, constant = np.flatnonzero(features.varies), np.flatnonzero(~features.varies)
        best, self.ratio_, self.n_iter_ = best_set(between[usable], within[usable], min(wanted, len(usable)))
        # where nothing is spread within classes, anything that is weighs more than all the others together
        weight = self.ratio_ if self.ratio_ < LARGEST else 1.0 / ROUNDING
        self.scores_ = np.where(features.varies, between - weight * within, -LARGEST)
        return np.concatenate([usable[best], constant])[:wanted]


def best_set(between: FloatArray, within: FloatArray, k: int) -> tuple[IntArray, float, int]:
    """Return the k features of largest ``sum between / sum within``, that ratio, and the sets looked at."""
    ratio = 0.0
    for rounds in range(1, MOST_ROUNDS + 1):
        chosen = best_first(between - ratio * within, k)
        b, w = float(between[chosen].sum()), float(within[chosen].sum())
        if w == 0.0:
            return chosen, LARGEST if b > 0 else 0.0, rounds
        if b / w <= ratio * (1 + ROUNDING):
            return chosen, max(b / w, ratio), rounds
        ratio = b / w
    warn(
        f"the ratio still grows after {MOST_ROUNDS} sets of features: the best set was not reached",
        ConvergenceWarning,
    )
    return chosen, ratio, MOST_ROUNDS
