"""FCBF: features in order of relevance, each removing the weaker ones that it predicts better."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve._validation import TASKS
from streamsieve.base.offline import OfflineSelector, Why
from streamsieve.column_types import ColumnTypes
from streamsieve.decisions import REASON_CODE
from streamsieve.dependence.blocks import TIE
from streamsieve.offline.shared.discrete import CodedFeatures
from streamsieve.offline.shared.ranking import best_first
from streamsieve.offline.shared.typed_features import TypedFeatures
from streamsieve.protocols import IntArray, Matrix, Reason, Statistic, Task, Traits
from streamsieve.state import Array, Choice, Float, Int


class FCBF(TypedFeatures, OfflineSelector):
    """Fast correlation-based filter: relevant features that no stronger kept feature makes redundant.

    Dependence is symmetric uncertainty, ``SU(a, b) = 2 I(a; b) / (H(a) + H(b))``, between 0 and 1.  Features
    are processed by decreasing dependence on y; each kept one removes the later ones whose dependence on it
    is at least their dependence on y.  The method itself determines the number of features.

    Parameters
    ----------
    delta : float, default=0.0
        A feature whose dependence on y is at or below it is irrelevant; in [0, 1).
    bins : int, default=5
        Number of equal-frequency bins for features with more than 32 distinct values, in [2, 1024]. Whole
        numbers that repeat keep their levels, see docs/column_types.md.
    types : dict of str to str, str or None, default=None
        Types of features by name, as ``{"zip": "nominal"}``, or one type for all: "numeric", "ordinal",
        "nominal" or "binary"; nominal features keep their levels, numeric ones are cut into bins.  Other
        types are inferred from the dtype or guessed, see docs/column_types.md.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of target; "auto" infers it: fractional numbers, or more than 20 distinct whole numbers with
        fewer than 10 rows each, mean regression, anything else classification.  A numeric
        target is cut into five classes of equal frequency.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to record: on all features, on the selected ones, or none.

    Attributes
    ----------
    scores_ : float64 array, one per feature: its symmetric uncertainty with y
    selected_ : columns of the selected features, in column order
    ranked_ : the same columns, the most relevant first
    removed_by_ : int64 array, one per feature: the column that made it redundant, or -1
    column_types_ : types of the features by name
    ledger_ : one decision per feature: why it was kept or rejected
    task_ : "binary", "multiclass" or "regression"

    Notes
    -----
    **Formula.** ``SU(a, b) = 2 I(a; b) / (H(a) + H(b))``. Feature f is removed by a kept k with ``SU(k, y) >=
    SU(f, y)`` and ``SU(f, k) >= SU(f, y)``.

    **When it fails.** Pairs only, as :class:`SAOLA`. Symmetric uncertainty over bins is inflated by many
    levels and few rows.

    Of features that depend on y equally the first comes first, so a copy is removed by its original.  Each
    kept feature costs one comparison with those left.  ``SAOLA(measure="su")`` offered the columns in this
    order keeps the same features, except that neither of two equals eliminates the other.

    References
    ----------
    Yu and Liu, Efficient feature selection via analysis of relevance and redundancy, JMLR 5, 2004.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 3, 500)
    >>> copy = np.where(rng.random(500) < 0.9, y, rng.integers(0, 3, 500))
    >>> poor = np.where(rng.random(500) < 0.8, copy, rng.integers(0, 3, 500))
    >>> sieve = ss.FCBF().fit(np.c_[poor, copy], y)
    >>> sieve.selected_, sieve.removed_by_
    (array([1]), array([ 1, -1]))
    """

    _traits = Traits(text=True)

    _statistic = Statistic("symmetric uncertainty")
    parameters = {
        "delta": Float(0, 1, open_high=True),
        "bins": Int(2, 1024),
        "task": Choice(*TASKS),
        **OfflineSelector.parameters,
    }
    fields = {
        **OfflineSelector.fields,
        "scores_": Array("f8", "features", finite=True),
        "removed_by_": Array("i8", "features", low=-1),
    }

    def __init__(
        self,
        delta: float = 0.0,
        *,
        bins: int = 5,
        types: ColumnTypes = None,
        task: str = "auto",
        ledger: str = "all",
    ) -> None:
        self.delta = delta
        self.bins = bins
        self.types = types
        self.task = task
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Any relevance, and a threshold for it with a numeric target."""
        yield cls()
        yield cls(delta=0.02, bins=3, task="regression")
        yield cls(types="numeric")

    def _choose(self, X: Matrix, y: npt.NDArray[Any], wanted: int) -> IntArray:  # noqa: ARG002 - it decides itself
        coded = CodedFeatures(X, y, Task(self.task_), self.bins)
        p = X.shape[1]
        self.scores_ = coded.uncertainty(coded.target, np.arange(p))
        self.removed_by_ = np.full(p, -1)
        left = best_first(self.scores_, p)
        left = left[self.scores_[left] > self.delta + TIE]
        chosen: list[int] = []
        while len(left):
            best, left = int(left[0]), left[1:]
            chosen.append(best)
            redundant = coded.uncertainty(coded.column(best), left) >= self.scores_[left] - TIE
            self.removed_by_[left[redundant]] = best
            left = left[~redundant]
        return np.array(chosen, np.int64)

    def _why(self) -> Why:
        redundant = self.removed_by_ >= 0
        reason = np.where(redundant, REASON_CODE[Reason.REDUNDANT], REASON_CODE[Reason.IRRELEVANT])
        by = {j: (int(self.removed_by_[j]),) for j in np.flatnonzero(redundant).tolist()}
        return Why(reason.astype(np.uint8), self.scores_.copy(), by=by)

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        if np.any(self.removed_by_ >= self.n_features_in_):
            yield "a feature was removed by none of the features"
