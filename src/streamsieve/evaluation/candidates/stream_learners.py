"""Learners for streams: unfitted ones, baselines, and adapters for those of other libraries."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._parameters import did_you_mean
from streamsieve.evaluation.candidates.learners import (
    by_name,
    fresh,
    learner_label,
    learner_names,
    learner_of,
    taken,
)
from streamsieve.exceptions import CapabilityError
from streamsieve.protocols import Matrix

#: Baselines that use no features.
BASELINES = ("majority", "mean", "no_change")


class Majority:
    """Predict the most frequent class so far, or the mean."""

    def __init__(self, n_classes: int) -> None:
        self._counts, self._sum, self._n = np.zeros(n_classes, np.int64), 0.0, 0

    def predict(self, X: Matrix) -> npt.NDArray[Any]:
        """Predict rows."""
        n = X.shape[0]
        if len(self._counts):
            return np.full(n, int(np.argmax(self._counts)))
        return np.full(n, self._sum / self._n)

    def learn(self, X: Matrix, y: npt.NDArray[Any]) -> None:  # noqa: ARG002 - it does not look at features
        """Learn rows."""
        if len(self._counts):
            self._counts += np.bincount(y, minlength=len(self._counts))
        else:
            self._sum += float(y.sum())
            self._n += len(y)


class NoChange:
    """Predict the class of the last known row: for all rows of a batch, the last row before it."""

    def predict(self, X: Matrix) -> npt.NDArray[Any]:
        """Predict rows."""
        return np.full(X.shape[0], self._last)

    def learn(self, X: Matrix, y: npt.NDArray[Any]) -> None:  # noqa: ARG002 - it does not look at features
        """Learn rows."""
        self._last = y[-1]


class Batchwise:
    """An unfitted learner with scikit-learn's ``partial_fit``; ``n_classes`` is 0 for a numeric target."""

    def __init__(self, learner: Any, n_classes: int) -> None:
        self._learner = learner
        self._classes = {"classes": np.arange(n_classes)} if n_classes else {}

    def predict(self, X: Matrix) -> npt.NDArray[Any]:
        """Predict rows."""
        return np.asarray(self._learner.predict(taken(X, None)))

    def learn(self, X: Matrix, y: npt.NDArray[Any]) -> None:
        """Learn rows."""
        self._learner.partial_fit(taken(X, None), y, **self._classes)


class RowByRow:
    """A learner of river, which learns dicts one by one; features that are 0 are left out."""

    def __init__(self, learner: Any, *, regression: bool) -> None:
        self._learner, self._kind = learner, np.float64 if regression else np.int64

    def predict(self, X: Matrix) -> npt.NDArray[Any]:
        """Predict rows."""
        found = [self._learner.predict_one(row) for row in _dicts(X)]
        return np.array([label or 0 for label in found], self._kind)  # None before the first row

    def learn(self, X: Matrix, y: npt.NDArray[Any]) -> None:
        """Learn rows."""
        for row, label in zip(_dicts(X), y.tolist(), strict=True):
            self._learner.learn_one(row, label)


def _dicts(X: Matrix) -> list[dict[str, float]]:
    rows = sp.csr_array(X)
    return [
        {
            f"x{j}": value
            for j, value in zip(rows.indices[low:high].tolist(), rows.data[low:high].tolist(), strict=True)
        }
        for low, high in zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True)
    ]


def baselines(*, regression: bool) -> tuple[str, ...]:
    """Return the baselines for classes, or for numbers."""
    return ("mean", "no_change") if regression else ("majority", "no_change")


def as_stream_learners(learners: Any, *, regression: bool) -> dict[str, Any]:
    """Return learners by name; refuse those that cannot learn batch by batch."""
    named = by_name(learners, learner_label, "learners is empty: give a name such as 'sgd', or an estimator")
    return {name: _checked(name, learner, regression=regression) for name, learner in named.items()}


def _checked(name: str, learner: Any, *, regression: bool) -> Any:
    if isinstance(learner, str) and learner in baselines(regression=regression):
        return learner
    if hasattr(learner, "learn_one") and hasattr(learner, "predict_one"):
        kinds = {each.__name__ for each in type(learner).__mro__}
        if ("Classifier" if regression else "Regressor") in kinds:
            kind = "numbers" if regression else "classes"
            raise CapabilityError(f"learner {name!r} is not made for a target of {kind}: use another")
        return learner
    made = learner_of(learner, regression=regression)
    if not hasattr(made, "partial_fit"):
        names = learner_names(regression=regression)
        able = [each for each in names if hasattr(learner_of(each, regression=regression), "partial_fit")]
        known = ", ".join([*able, *baselines(regression=regression)])
        raise CapabilityError(
            f"learner {name!r} ({type(made).__name__}) has no partial_fit, so it cannot follow a stream"
            f"{did_you_mean(name, able)}; use one of {known}, or an estimator with partial_fit or "
            "learn_one"
        )
    return made


def started(learner: Any, n_classes: int, seed: int) -> Any:
    """Return an unfitted learner with ``predict`` and ``learn``."""
    if isinstance(learner, str):
        return NoChange() if learner == "no_change" else Majority(n_classes)
    if hasattr(learner, "learn_one") and hasattr(learner, "predict_one"):
        if hasattr(learner, "clone"):  # of river
            learner = learner.clone({"seed": seed} if getattr(learner, "seed", seed) is None else None)
        else:
            learner = copy.deepcopy(learner)
        return RowByRow(learner, regression=n_classes == 0)
    return Batchwise(fresh(learner, seed), n_classes)
