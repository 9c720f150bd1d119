"""Base class for offline selectors: the whole matrix is available; baselines for streaming selectors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._parameters import check_choice
from streamsieve._validation import TASKS, check_rows, question_labels, task_of
from streamsieve.base.choose import warn_if_beyond
from streamsieve.base.effects import decision_effect
from streamsieve.base.fitted import fitted_property
from streamsieve.base.ranking import DEFAULT_K
from streamsieve.base.selector import Selector
from streamsieve.decisions import KEPT, REASON_CODE, Decisions, Outcome
from streamsieve.exceptions import InputError, TargetError
from streamsieve.feature_names import FeatureNames
from streamsieve.ledger import KEEP, Ledger
from streamsieve.protocols import BoolArray, FloatArray, IntArray, Matrix, Reason, RowBatch, Task
from streamsieve.state import Array, Choice, Field, Int, Nested, Texts, untouched_on_error

#: Limit on the number of features claimed by a state file that has no array with one entry per feature.
MOST_FEATURES = 2**27


class Why(NamedTuple):
    """Why features were rejected: one reason per feature, and the features responsible for it.

    Attributes
    ----------
    reason : codes of ``REASON_CODE``; those of selected features are ignored
    statistic, p_value : one number per feature, NaN where there is none
    by : for redundant features, the columns that make them so
    """

    reason: npt.NDArray[np.uint8]
    statistic: FloatArray
    p_value: FloatArray | None = None
    by: Mapping[int, tuple[int, ...]] | None = None


class OfflineSelector(Selector):
    """Base class for selecting features from the whole matrix.

    A subclass implements :meth:`_choose`, and :meth:`_why` if features may be rejected for other reasons than
    a low score.  It has the parameter ``ledger``, the parameter ``k`` unless the method itself determines the
    number of features, and ``task`` if it handles both classification and regression.

    Attributes
    ----------
    selected_ : columns of the selected features, in column order
    ranked_ : the same columns, best first
    ledger_ : one decision per feature
    task_ : type of target; absent if the method needs none
    """

    _fitted_by: ClassVar[str] = "fit"
    parameters: ClassVar[Mapping[str, Any]] = {"ledger": Choice(*KEEP)}
    fields: ClassVar[Mapping[str, Field]] = {
        "n_features_in_": Int(1, MOST_FEATURES, size="features"),
        "feature_names_in_": Texts("features", optional=True),
        "task_": Choice(*Task, None),
        "ranked_": Array("i8", "selected", below="features", unique=True),
        "ledger_": Nested(Ledger),
    }
    #: The fields of a selector without an array of one entry per feature; `n_features_in_` is then bounded.
    narrow_fields: ClassVar[Mapping[str, Field]] = {
        **fields,
        "n_features_in_": Int(1, MOST_FEATURES),
        "feature_names_in_": Texts("names", optional=True),
        "ranked_": Array("i8", "selected", low=0, unique=True),
    }

    k: int | None = None
    ledger: str = "all"
    ranked_: IntArray

    @abstractmethod
    def _choose(self, X: Matrix, y: npt.NDArray[Any], wanted: int) -> IntArray:
        """Return the columns chosen, best first.

        ``X`` is finite, dense or CSR, with at least two rows; ``y`` is not constant, has the type
        ``self.task_``, and is empty if the method needs no target; ``wanted`` is the number of features to
        keep.
        """

    def _why(self) -> Why:
        """Return why features were not chosen; by default because others have larger scores."""
        p = self.n_features_in_
        reason = np.full(p, REASON_CODE[Reason.OUTSCORED], np.uint8)
        return Why(reason, np.array(getattr(self, "scores_", np.full(p, np.nan))))

    # ---------------------------------------------------------------- fitting

    def fit(self, X: Any, y: Any = None) -> Self:
        """Select features from the whole matrix.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            The data, without missing values.
        y : array-like of shape (n_samples,), default=None
            The target: one label or number per row.  Ignored by methods that need none.

        Returns
        -------
        self
        """
        self._check_values()
        with untouched_on_error(self):
            self._forget()
            batch = check_rows(self, X, y, None, target=self._target, reset=True)
            if batch.X.dtype == np.float32:  # float32 squares overflow beyond 1e19 and underflow below 1e-23
                batch = replace(batch, X=batch.X.astype(np.float64))
            self._fit(batch)
        return self

    def _fit(self, batch: RowBatch) -> None:
        self._check_parameters()
        warn_if_beyond(self.k, self.n_features_in_)
        if batch.X.shape[0] < 2:
            raise InputError(
                f"X has n_samples = {batch.X.shape[0]}: at least two rows are needed to compare features"
            )
        y = self._checked_target(batch.y)
        self.ranked_ = np.asarray(self._choose(batch.X, y, self._wanted), np.int64)
        self.ledger_ = self._explained(batch.X)
        self.ledger_.effect_of = partial(decision_effect, self)

    @property
    def _wanted(self) -> int:
        """Number of features to keep."""
        return int(min(DEFAULT_K if self.k is None else self.k, self.n_features_in_))

    @fitted_property
    def selected_(self) -> IntArray:
        """Columns of the selected features, in column order."""
        return np.sort(self.ranked_)

    def _ranking(self) -> tuple[list[str], list[float], list[float]]:
        out, ranked = self.get_feature_names_out(), self.ranked_
        place = {int(column): str(name) for column, name in zip(self.selected_, out, strict=True)}
        names = [place[int(column)] for column in ranked]
        lines = {line.feature: line for line in self.ledger_.kept()}
        if hasattr(self, "scores_"):
            scores = self.scores_[ranked].tolist()
        else:
            scores = [lines[name].statistic if name in lines else np.nan for name in names]
        return names, scores, [lines[name].p_value if name in lines else np.nan for name in names]

    def _support(self) -> BoolArray:
        mask = np.zeros(self.n_features_in_, bool)
        mask[self.ranked_] = True
        return mask

    # ---------------------------------------------------------------- the target

    @property
    def _asked_task(self) -> str:
        """Type of target as requested by the parameter ``task``, or the only one the method supports."""
        tasks = self.traits.tasks
        if Task.REGRESSION not in tasks:
            return "classification"
        return "regression" if len(tasks) == 1 else check_choice("task", getattr(self, "task", "auto"), TASKS)

    @property
    def _target(self) -> str | None:
        """Type of ``y`` that the method needs: "classes", "numeric", "either", or None for no target."""
        if not self.traits.tasks:
            return None
        known = {"classification": "classes", "regression": "numeric", "auto": "either"}
        # a method for one type of target recommends another method for the other type
        return known[self._asked_task] if hasattr(self, "task") else "either"

    def _checked_target(self, y: npt.NDArray[Any] | None) -> npt.NDArray[Any]:
        """Check the target, which must not be constant, and note its type."""
        if y is None:
            return np.zeros(0)
        tasks = self.traits.tasks
        fractional = y.dtype.kind == "f" and not np.array_equal(y, np.floor(y))
        if fractional and Task.REGRESSION not in tasks:
            raise TargetError(
                f"{type(self).__name__} needs class labels, but y holds fractional numbers: bin y, or take "
                "RReliefF, MRMR, FCBF or HITONPC"
            )
        if y.dtype.kind in "USO" and tasks == {Task.REGRESSION}:
            raise TargetError(
                f"{type(self).__name__} needs numbers, but y holds text such as {str(y[0])!r}: "
                f"{self._elsewhere}"
            )
        if Task.MULTICLASS in tasks and Task.REGRESSION not in tasks and not hasattr(self, "task"):
            question_labels(y, type(self).__name__, has_task=False)
        y, task = task_of(y, self._asked_task)
        if task not in tasks:
            known = " or ".join(sorted(tasks))
            raise TargetError(
                f"{type(self).__name__} needs a {known} target, but y is {task}: {self._elsewhere}"
            )
        self.task_ = str(task)
        self._describe_target(y, task)
        return y

    @property
    def _elsewhere(self) -> str:
        """Which selectors to use for a target that this method does not support."""
        return "ReliefF, MRMR, FCBF and HITONPC compare any number of classes"

    # ---------------------------------------------------------------- the ledger

    def _explained(self, X: Matrix) -> Ledger:
        """Return one decision per feature, in order of columns."""
        ledger = Ledger(self.ledger)
        if self.ledger == "none":
            return ledger
        reason, statistic, p_value, by = self._why()
        reason[_constant(X)] = REASON_CODE[Reason.CONSTANT]
        reason[self.ranked_] = KEPT
        given = getattr(self, "feature_names_in_", None)
        outcome = Outcome(reason, statistic, p_value, by or {})
        ledger.record(Decisions(outcome, FeatureNames(), None if given is None else given.tolist()))
        return ledger

    # ---------------------------------------------------------------- loading

    def _restored(self) -> None:
        super()._restored()
        self.ledger_.effect_of = partial(decision_effect, self)

    def _consistent(self) -> Iterator[str]:
        p = self.n_features_in_
        if len(self.ranked_) and self.ranked_.max() >= p:
            yield "a selected feature is none of the features"
        if len(getattr(self, "feature_names_in_", range(p))) != p:
            yield "there is not one name per feature"
        tasks = self.traits.tasks
        if getattr(self, "task_", None) not in (tasks or {None}):
            yield f"a selector of {type(self).__name__} for this kind of target does not exist"
        if self.ledger_.keep != self.ledger:
            yield f"the ledger keeps {self.ledger_.keep!r}, but the parameter is {self.ledger!r}"


def _constant(X: Matrix) -> BoolArray:
    """Return which columns have one value only."""
    low, high = X.min(axis=0), X.max(axis=0)
    if sp.issparse(X):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    return np.asarray(low == high)
