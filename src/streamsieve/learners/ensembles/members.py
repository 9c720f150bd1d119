"""Learners of an ensemble: which are accepted, how they are fitted, saved, and asked for predictions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier, is_regressor

from streamsieve.base.persistent import Persistent
from streamsieve.exceptions import InputError, ParameterError, StateError, StreamSieveError
from streamsieve.learners.fsa.annealed import AnnealedLearner
from streamsieve.protocols import FloatArray, IntArray
from streamsieve.state import ListOf, Nested, Part
from streamsieve.state.registry import registered
from streamsieve.state.tree import Node, Place

#: Names within names in a state; ensembles of ensembles have far fewer in practice.
DEEPEST = 40


class FittedLearner(Nested):
    """A fitted learner of any registered class; ensembles may be learners of ensembles."""

    def __init__(self) -> None:
        self.shares, self.optional = (), False

    @property
    def kinds(self) -> dict[str, type[Part]]:  # type: ignore[override]
        """The classes allowed: those that predict and can be saved."""
        return {
            name: cls
            for name, cls in registered().items()
            if issubclass(cls, Persistent) and hasattr(cls, "predict")
        }

    def check(self, node: Node, place: Place) -> None:
        """Check the learner, unless it is within too many others."""
        if place.path.count("/") > DEEPEST:
            place.refuse("should be a learner, but is one within too many others")
        super().check(node, place)


class FittedLearners(ListOf):
    """A list of fitted learners."""

    def __init__(self, *, size: str) -> None:
        self.item, self.size = FittedLearner(), size

    def write(self, value: Sequence[Any]) -> Node:  # type: ignore[override]
        """Return the learners as arrays; those of other libraries are refused."""
        for learner in value:
            if not isinstance(learner, Persistent):
                raise StateError(
                    f"a {type(learner).__name__} could only be saved as code: use learners of this library, "
                    "or keep the ensemble with joblib"
                )
        return super().write(value)


def check_member(what: str, member: Any, task: str) -> None:
    """Refuse what cannot learn, and what learns another kind of target."""
    if isinstance(member, type):
        name = member.__name__
        raise ParameterError(f"{what} must be an estimator, but {name} is a class: write {name}()")
    if not hasattr(member, "fit") or not hasattr(member, "predict"):
        raise ParameterError(f"{what} must have fit and predict; got {member!r}")
    if not hasattr(member, "__sklearn_tags__"):
        return
    if task == "classification" and is_regressor(member):
        raise ParameterError(
            f"{what} must be a classifier, but {member!r} is a regressor: take another, or say "
            "task='regression'"
        )
    if task == "regression" and is_classifier(member):
        raise ParameterError(
            f"{what} must be a regressor, but {member!r} is a classifier: take another, or say "
            "task='classification'"
        )


def fitted(estimator: Any, X: Any, y: npt.NDArray[Any]) -> Any:
    """Return a copy of an estimator, fitted to a block; it keeps no more columns than there are."""
    learner = clone(estimator)
    if isinstance(learner, AnnealedLearner) and (learner.k or 0) > X.shape[1]:
        learner.set_params(k=X.shape[1])
    try:
        return learner.fit(X, y)
    except StreamSieveError:
        raise
    except ValueError as error:  # of another library, about values that it cannot work with
        raise InputError(f"{type(learner).__name__}, a member, cannot learn these rows: {error}") from error


def prediction(learner: Any, X: Any, n_classes: int) -> FloatArray:
    """Return what a learner predicts: (rows, classes) probabilities, or (rows, 1) numbers without classes.

    A classifier was fitted to codes 0, 1, ...; one without probabilities gives its prediction probability 1.
    """
    if n_classes and not hasattr(learner, "predict_proba"):
        return np.asarray(np.eye(n_classes)[np.asarray(learner.predict(X), np.intp)])
    if n_classes:
        predicted = np.zeros((X.shape[0], n_classes))
        predicted[:, np.asarray(learner.classes_, np.intp)] = learner.predict_proba(X)
    else:
        predicted = np.asarray(learner.predict(X), np.float64).reshape(-1, 1)
    if not np.all(np.isfinite(predicted)):
        name = type(learner).__name__
        raise InputError(f"{name}, a member, has predictions that are not finite: rescale the columns")
    return predicted


def inconsistent_learners(learners: Sequence[Any], widths: IntArray, n_classes: int) -> Iterator[str]:
    """Yield what is wrong with learners of a state: other numbers of columns, or classes but 0, 1, ..."""
    if [learner.n_features_in_ for learner in learners] != widths.tolist():
        yield "the learners were fitted to other columns"
    for learner in learners if n_classes else ():
        codes = learner.classes_
        if codes.dtype.kind not in "iu" or codes.min() < 0 or codes.max() >= n_classes:
            yield "a learner was fitted to other classes"
