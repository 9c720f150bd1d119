"""Fitted members of an ensemble, and what they say about rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier, is_regressor

from streamsieve import state
from streamsieve.base._saved import Saved
from streamsieve.exceptions import ParameterError, StateError
from streamsieve.learners._fsa_learner import AnnealedLearner
from streamsieve.protocols import Arrays, FloatArray, IntArray

#: Parts of an array's name in a state; honest ensembles of ensembles have far fewer.
DEEPEST = 40


@state.register
class Members:
    """Fitted estimators, one after another.

    Parameters
    ----------
    fitted : the estimators; those of this library can be saved, others would need pickle
    """

    def __init__(self, fitted: Sequence[Any]) -> None:
        self.fitted = list(fitted)

    def __len__(self) -> int:
        return len(self.fitted)

    def state(self) -> Arrays:
        """Return the members one by one: a header as text, and arrays."""
        arrays: Arrays = {"count": np.array([len(self.fitted)])}
        for i, member in enumerate(self.fitted):
            if not isinstance(member, Saved):
                raise StateError(
                    f"member {i} is a {type(member).__name__}, which could only be saved as code: use "
                    "members of this library, or keep the ensemble with joblib"
                )
            plain, own = state.pack(member._learnt())  # noqa: SLF001 - a state is made of its parts' states
            header = {"member": state.encode(f"member {i}", member), "attributes": plain}
            arrays[f"{i}/header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
            arrays |= {f"{i}/arrays/{name}": array for name, array in own.items()}
        return arrays

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild."""
        count = int(state.expect(arrays, "count", np.int64, (1,))[0])
        if not 0 <= count < len(arrays) or any(name.count("/") > DEEPEST for name in arrays):
            raise StateError("the state's members do not fit together")
        return cls([_member(i, arrays) for i in range(count)])


def _member(i: int, arrays: Mapping[str, npt.NDArray[Any]]) -> Any:
    text = state.expect(arrays, f"{i}/header", np.uint8, (None,)).tobytes()
    prefix = f"{i}/arrays/"
    own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
    try:
        header = json.loads(text)
        member, attributes = state.decode(header["member"]), state.unpack(header["attributes"], own)
    except StateError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise StateError(f"member {i} of the state does not fit: {error}") from error
    if not isinstance(member, Saved):
        raise StateError(f"member {i} of the state is no learner")
    member._restore(attributes, f"member {i}")  # noqa: SLF001
    return member


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


def learnt(estimator: Any, X: Any, y: npt.NDArray[Any]) -> Any:
    """Return a copy of an estimator that has learnt a block; one that keeps more columns keeps them all."""
    learner = clone(estimator)
    if isinstance(learner, AnnealedLearner) and (learner.n_features or 0) > X.shape[1]:
        learner.set_params(n_features=X.shape[1])
    return learner.fit(X, y)


def opinion(member: Any, X: Any, n_classes: int) -> FloatArray:
    """Return what a member predicts: (rows, classes) probabilities, or (rows, 1) numbers without classes.

    A classifier has learnt codes 0, 1, ...; one without probabilities is sure of its prediction.
    """
    if n_classes == 0:
        return np.asarray(member.predict(X), np.float64).reshape(-1, 1)
    shares = np.zeros((X.shape[0], n_classes))
    if hasattr(member, "predict_proba"):
        shares[:, np.asarray(member.classes_, np.intp)] = member.predict_proba(X)
    else:
        shares[np.arange(X.shape[0]), np.asarray(member.predict(X), np.intp)] = 1.0
    return shares


def check_weights(weights: Any, count: int) -> None:
    """Refuse weights of a state that are none."""
    fits = np.shape(weights) == (count,) and np.asarray(weights).dtype == np.float64
    if not fits or not np.all(np.isfinite(weights)) or np.any(np.asarray(weights) < 0):
        raise StateError("the state's weights are not one non-negative number a member")


def check_members(members: Members, widths: IntArray, n_classes: int) -> None:
    """Refuse members of a state that saw other columns, or other classes than 0, 1, ..."""
    if [member.n_features_in_ for member in members.fitted] != widths.tolist():
        raise StateError("the state's members saw other columns")
    for member in members.fitted if n_classes else ():
        codes = member.classes_
        if codes.dtype.kind not in "iu" or codes.min() < 0 or codes.max() >= n_classes:
            raise StateError("the state's members saw other classes")
