"""What offline selectors share: a task, a number of features to keep, and an ordered choice."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import check_choice, check_number
from streamsieve._validation import TASKS, task_of
from streamsieve.base import OfflineSelector
from streamsieve.exceptions import InputError, ParameterError, StateError, TargetError
from streamsieve.protocols import BoolArray, FloatArray, IntArray, Matrix, RowBatch, Task

#: Features kept where nobody says how many.
DEFAULT_FEATURES = 10
#: Numbers that differ by less than this share of their size are equal: sums are rounded.
TIE = 1e-10


class ChosenFeatures(OfflineSelector):
    """Choose features, best first.

    A subclass writes :meth:`_check_parameters` and :meth:`_choose`.  It has the parameter ``n_features``,
    unless the method itself knows how many, and ``task``, if it takes labels and numbers alike.
    """

    n_features: int | None = None
    selected_: IntArray

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters out of their range; ``n_features`` and ``task`` are checked already."""

    @abstractmethod
    def _choose(self, X: Matrix, y: npt.NDArray[Any], wanted: int) -> IntArray:
        """Return the columns chosen, best first.

        ``X`` is finite, dense or CSR, of at least two rows; ``y`` has two classes or varies (``self.task_``
        says which), and is empty where no target is wanted; ``wanted`` is how many features to keep.
        """

    # ---------------------------------------------------------------- the target

    @property
    def _asked_task(self) -> str:
        """What the target is said to be: by the parameter ``task``, or by what the method is made for."""
        tasks = self.traits.tasks
        if Task.REGRESSION not in tasks:
            return "classification"
        return "regression" if len(tasks) == 1 else check_choice("task", getattr(self, "task", "auto"), TASKS)

    @property
    def _target(self) -> str | None:
        if not self.traits.tasks:
            return None
        known = {"classification": "classes", "regression": "numeric", "auto": "either"}
        # a method for one kind of target says itself where to go with the other
        return known[self._asked_task] if hasattr(self, "task") else "either"

    def _checked_target(self, y: npt.NDArray[Any] | None) -> npt.NDArray[Any]:
        """Return a target that varies, and note what kind it is."""
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
        y, task = task_of(y, self._asked_task)
        if task not in tasks:
            known = " or ".join(sorted(tasks))
            raise TargetError(
                f"{type(self).__name__} needs a {known} target, but y is {task}: {self._elsewhere}"
            )
        self.task_ = str(task)
        return y

    @property
    def _elsewhere(self) -> str:
        """Where to go with a target that this method has no meaning for."""
        return "ReliefF, MRMR, FCBF and HITONPC compare any number of classes"

    # ---------------------------------------------------------------- choosing

    def _fit(self, batch: RowBatch) -> None:
        n, p = batch.X.shape
        wanted = self._wanted(p)
        self._check_parameters()
        if n < 2:
            raise InputError(f"X has n_samples = {n}: at least two rows are needed to compare features")
        y = self._checked_target(batch.y)
        self.selected_ = np.asarray(self._choose(batch.X, y, wanted), np.int64)

    def _wanted(self, n_features: int) -> int:
        """Return how many of so many features to keep."""
        if self.n_features is None:
            return min(DEFAULT_FEATURES, n_features)
        check_number("n_features", self.n_features, low=1, integer=True)
        if self.n_features > n_features:
            raise ParameterError(
                f"n_features={self.n_features}, but X has {n_features} features: choose n_features <= "
                f"{n_features}, or None"
            )
        return int(self.n_features)

    def _support(self) -> BoolArray:
        mask = np.zeros(self.n_features_in_, bool)
        mask[self.selected_] = True
        return mask

    def _restored(self) -> None:
        super()._restored()
        self._wanted(self.n_features_in_)
        self._check_parameters()
        selected = self.selected_
        within = selected.dtype == np.int64 and selected.ndim == 1
        if not within or np.any((selected < 0) | (selected >= self.n_features_in_)):
            raise StateError("the state's selected features are not among its features")
        if len(np.unique(selected)) != len(selected):
            raise StateError("the state selects a feature twice")
        if hasattr(self, "scores_"):
            self._check_numbers("scores_", self.n_features_in_)

    def _check_numbers(self, name: str, length: int) -> None:
        """Refuse what was learnt if it is not so many finite numbers."""
        numbers = getattr(self, name)
        if numbers.dtype != np.float64 or numbers.shape != (length,) or not np.all(np.isfinite(numbers)):
            raise StateError(f"the state's {name} is not {length} finite numbers")

    def _check_columns(self, name: str, shape: tuple[int, ...]) -> None:
        """Refuse what was learnt if it is not columns of features, or -1 for none."""
        columns, p = getattr(self, name), self.n_features_in_
        if columns.dtype != np.int64 or columns.shape != shape or np.any((columns < -1) | (columns >= p)):
            raise StateError(f"the state's {name} does not hold columns of its features")


def best_first(scores: FloatArray, k: int) -> IntArray:
    """Return the columns of the k largest scores, in that order.

    Of scores that are equal but for rounding, the first column comes first.
    """
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    drop = falling[:-1] - falling[1:] > TIE * np.maximum(np.abs(falling[:-1]), np.abs(falling[1:]))
    group = np.concatenate([[0], np.cumsum(drop)])[: len(order)]
    return order[np.lexsort((order, group))][:k]


def first_best(values: FloatArray, scale: float) -> int:
    """Return the place of the largest value; of those equal to it but for rounding, the first.

    ``scale`` is the size of the numbers that the values are sums or differences of.
    """
    return int(np.argmax(values >= float(values.max()) - TIE * scale))
