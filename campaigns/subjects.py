"""The selectors and learners that campaigns attack, and the doors through which data reaches them."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone

from streamsieve import registry
from streamsieve.base import ColumnSelector, RowSelector
from streamsieve.exceptions import CapabilityError
from streamsieve.testing._data import Sample, sample, sample_for


class Door(NamedTuple):
    """A way for a matrix into an object.

    Attributes
    ----------
    name : of the method
    enter : called with the object, a matrix and a target
    fitted : whether the object must have learned something before
    """

    name: str
    enter: Callable[[Any, Any, npt.NDArray[Any]], Any]
    fitted: bool = False


FIT = Door("fit", lambda one, X, y: one.fit(X, y))
AGAIN = Door("partial_fit", lambda one, X, y: one.partial_fit(X, y))
SECOND = Door("second partial_fit", lambda one, X, y: one.partial_fit(X, y), fitted=True)
TRANSFORM = Door("transform", lambda one, X, y: one.transform(X), fitted=True)
PREDICT = Door("predict", lambda one, X, y: one.predict(X), fitted=True)
OFFER = Door("offer", lambda one, X, y: one.begin(y).offer(X))
MEASURE = Door("measure_block", lambda one, X, y: one.begin(y).measure_block(X))


#: Objects whose name and parameters match nowhere are left out.
only = ""


@cache
def subjects() -> list[Any]:
    """Return every variant of every selector, and every learner, of those that match ``only``."""
    selectors = [variant for cls in registry.selectors().values() for variant in cls.variants()]
    every = [*selectors, *(cls() for cls in registry.learners())]
    return [subject for subject in every if re.search(only, name_of(subject))]


def doors(subject: Any) -> list[Door]:
    """Return the doors of a selector or learner."""
    if isinstance(subject, ColumnSelector):
        return [FIT, OFFER, TRANSFORM] + [MEASURE] * _measures(subject)
    if isinstance(subject, RowSelector):
        return [FIT, AGAIN, SECOND, TRANSFORM]
    if hasattr(subject, "predict"):
        return [FIT, PREDICT] + [SECOND] * hasattr(subject, "partial_fit")
    return [FIT, TRANSFORM]


def _measures(subject: ColumnSelector) -> bool:
    """Whether a selector can measure columns in advance."""
    X, y, _ = data_for(subject)
    try:
        clone(subject).begin(y).measure_block(X[:, :1])
    except CapabilityError:
        return False
    return True


def name_of(subject: Any) -> str:
    """Return an object's name and parameters in a line."""
    return " ".join(repr(subject).split())


def takes_sparse(subject: Any) -> bool:
    """Whether an object says that it takes sparse matrices."""
    return bool(subject.__sklearn_tags__().input_tags.sparse)


def data_for(subject: Any, n: int = 60) -> Sample:
    """Return rows that a selector or learner has something to do with."""
    if hasattr(subject, "traits"):
        return sample_for(subject, n=n)
    from sklearn.base import is_regressor  # noqa: PLC0415

    from streamsieve.protocols import Task  # noqa: PLC0415

    return sample(Task.REGRESSION if is_regressor(subject) else Task.BINARY, n=n)


@cache
def fitted(index: int) -> Any:
    """Return subject number ``index`` after it has seen its data."""
    subject = subjects()[index]
    X, y, _ = data_for(subject)
    return clone(subject).fit(sp.csr_array(X) if takes_sparse(subject) else X, y)


def fit_all() -> None:
    """Fit every subject in this process: its children inherit the fits, and wait for no compiler."""
    for index in range(len(subjects())):
        fitted(index)


def prepared(index: int, door: Door) -> Any:
    """Return a new object in front of a door."""
    if not door.fitted:
        return clone(subjects()[index])
    return copy.deepcopy(fitted(index))


def is_finite(value: npt.NDArray[Any] | None) -> bool:
    """Whether an array, if there is one, holds finite numbers only."""
    return value is None or bool(np.all(np.isfinite(np.asarray(value, np.float64))))
