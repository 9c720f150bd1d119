"""Selectors by name or as objects, and their selections at every size."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone

from streamsieve import registry
from streamsieve._parameters import did_you_mean
from streamsieve.base import ColumnSelector, Selector
from streamsieve.evaluation.candidates.learners import by_name
from streamsieve.evaluation.engine.copies import seeds_for, unfitted
from streamsieve.evaluation.engine.problem import Problem
from streamsieve.exceptions import CapabilityError, ParameterError
from streamsieve.protocols import BoolArray, IntArray, Matrix, Task
from streamsieve.rows import Screen

#: Names of the parameter for the number of features to keep, in other libraries.
SIZE_PARAMETERS = ("n_features", "n_features_to_select", "max_features", "k")


class Choice(NamedTuple):
    """A selection of a selector.

    ``size`` is the requested number of features, 0 if the selector decides itself; ``nested``: whether its
    smaller selections are the first entries of ``order``.
    """

    size: int
    order: IntArray
    seconds: float
    nested: bool


class RandomChoice(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Random selection: the baseline that every selector must beat."""

    def __init__(self, k: int = 10, random_state: int | None = None) -> None:
        self.k = k
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - it does not look
        """Draw a random selection."""
        self.scores_ = np.random.default_rng(self.random_state).random(X.shape[1])
        self.ranked_ = np.argsort(-self.scores_)[: self.k]
        return self


def selector_names() -> list[str]:
    """Return every name of a selector: methods, criteria of a screen, "none" and "random"."""
    return [*_known(), "none", "random"]


def _known() -> dict[str, Any]:
    screens = {name: lambda name=name: Screen(name) for name in registry.criteria()}
    return screens | dict(registry.selectors())


def as_selectors(selectors: Any, task: Task) -> dict[str, Any]:
    """Return selectors by name, with the type of target set; None stands for all features."""
    named = by_name(selectors, _label, "selectors is empty: give a name such as 'saola', or a selector")
    made = {name: _selector(each) for name, each in named.items()}
    return {name: _for_task(name, each, task) for name, each in made.items()}


def _label(selector: Any) -> str:
    if selector is None:
        return "none"
    if isinstance(selector, str):
        return selector
    if isinstance(selector, Screen):
        return str(getattr(selector.criterion, "name", selector.criterion))
    return selector.method_name() if isinstance(selector, Selector) else type(selector).__name__


def _selector(selector: Any) -> Any:
    if selector is None or (isinstance(selector, str) and selector == "none"):
        return None
    if isinstance(selector, str):
        if selector == "random":
            return RandomChoice()
        known = _known()
        if selector not in known:
            raise ParameterError(
                f"there is no selector {selector!r}{did_you_mean(selector, [*known, 'none', 'random'])}; "
                "streamsieve.evaluation.selector_names() lists them"
            )
        return known[selector]()
    if isinstance(selector, type) or not hasattr(selector, "fit"):
        raise ParameterError(
            f"a selector is a name, None for all features, or an object with fit; got {selector!r}"
        )
    transforms = hasattr(selector, "transform")
    says = any(hasattr(type(selector), name) for name in ("get_support", "ranked_", "selected_"))
    if not hasattr(selector, "get_params") or (transforms and not says):  # as PCA, or a pipeline
        raise CapabilityError(
            f"{type(selector).__name__} does not say which features it keeps: a selector has get_params, fit "
            "and get_support, as those of scikit-learn and of this library"
        )
    return selector


def _for_task(name: str, selector: Any, task: Task) -> Any:
    """Return a copy with the type of target set; refuse a selector that does not support it."""
    if selector is None:
        return None
    tasks = selector.traits.tasks if isinstance(selector, Selector) else ()
    if tasks and task not in tasks:
        raise CapabilityError(
            f"selector {name!r} ({type(selector).__name__}) is made for a {' or '.join(sorted(tasks))} "
            f"target, but y is {task}: leave it out"
        )
    selector = clone(selector)
    if selector.get_params(deep=False).get("task") == "auto":
        selector.set_params(task="regression" if task is Task.REGRESSION else "classification")
    return selector


def with_types(selector: Any, problem: Problem, columns: IntArray | None = None) -> Any:
    """Return a copy with the declared types, by the names x0, x1, ... that it gives to columns.

    ``columns`` are those offered to it, in order; None stands for all.  A selector with one type for all
    columns, or without types, is unchanged.
    """
    own = selector.types if isinstance(selector, Selector) and "types" in selector.parameters else ""
    declared = problem.types if own is None else own
    if isinstance(declared, str) or not declared:
        return selector
    names = problem.column_names
    order = range(len(names)) if columns is None else columns
    place = {names[j]: f"x{i}" for i, j in enumerate(order)}
    given = {name: kind for name, kind in declared.items() if name in place or name not in names}
    return clone(selector).set_params(types={place.get(name, name): kind for name, kind in given.items()})


def size_parameter(selector: Any) -> str | None:
    """Return the parameter for the number of features to keep, or None if the selector decides itself."""
    if isinstance(selector, Selector):
        return selector.traits.size_parameter
    parameters = selector.get_params(deep=False)
    return next((name for name in SIZE_PARAMETERS if name in parameters), None)


def choices(selector: Any, X: Matrix, y: Any, sizes: Sequence[int], seed: int) -> Iterable[Choice]:
    """Yield the selections of an unfitted selector, for every size or once for all; None keeps all."""
    p = X.shape[1]
    if selector is None:
        yield Choice(0, np.arange(p), 0.0, nested=False)
        return
    wanted = sorted({min(size, p) for size in sizes})
    parameter = size_parameter(selector)
    X = in_layout(selector, X)  # once for all sizes
    if parameter is None or not wanted:
        order, seconds = _fitted(selector, {}, X, y, seed)
        yield Choice(0, order, seconds, nested=False)
        return
    own = isinstance(selector, Selector)
    ranked = None if own else _ranked(selector, parameter, X, y, wanted, seed)
    if ranked is not None:
        yield ranked
        return
    nested = own and selector.traits.nested_sizes
    for size in wanted[-1:] if nested else wanted:
        order, seconds = _fitted(selector, {parameter: size}, X, y, seed)
        yield Choice(size, order, seconds, nested=nested)


def chosen(selector: Any) -> IntArray:
    """Return the columns that a fitted selector keeps, best first if it ranks them."""
    found = getattr(selector, "ranked_", getattr(selector, "selected_", None))
    if found is None:
        found = np.flatnonzero(support_of(selector))
    return np.asarray(found, np.int64)


def support_of(selector: Any) -> BoolArray:
    """Return the mask of the columns that a fitted selector keeps."""
    return np.asarray(selector.get_support(), np.bool_)


def wants_raw(selector: Any) -> bool:
    """Whether a selector gets rows unscaled.

    Selectors that refuse negative values do, and those that guess the types of columns: scaled codes of
    levels look like measurements.
    """
    guesses = isinstance(selector, Selector) and "types" in selector.parameters
    return guesses or bool(getattr(getattr(selector, "traits", None), "non_negative", False))


def in_layout(selector: Any, X: Matrix) -> Matrix:
    """Return rows in the layout that is fastest for a selector: by columns for a column selector."""
    if not isinstance(selector, ColumnSelector):
        return X
    return sp.csc_array(X) if sp.issparse(X) else np.asfortranarray(X)


def seeded(selector: Any, seed: int, parameters: Mapping[str, Any] | None = None) -> Any:
    """Return an unfitted copy with some parameters, and with a seed if it is randomized and has none."""
    return unfitted(selector, seeds_for(selector, seed) | dict(parameters or {}))


def _fitted(
    selector: Any, parameters: Mapping[str, Any], X: Matrix, y: Any, seed: int
) -> tuple[IntArray, float]:
    copy = seeded(selector, seed, parameters)
    started = time.perf_counter()
    copy.fit(X, y)
    order = chosen(copy)
    return order, time.perf_counter() - started


def _ranked(
    selector: Any, parameter: str, X: Matrix, y: Any, sizes: Sequence[int], seed: int
) -> Choice | None:
    """Rank by the scores or ranks of a selector of another library; None if it has neither."""
    copy = seeded(selector, seed, {parameter: sizes[0] if parameter == "n_features_to_select" else sizes[-1]})
    started = time.perf_counter()
    copy.fit(X, y)
    if hasattr(copy, "scores_"):
        scores = np.nan_to_num(np.asarray(copy.scores_, np.float64), nan=-np.inf)
        order = np.argsort(-scores, kind="stable")
    elif hasattr(copy, "ranking_") and getattr(copy, "step", 1) == 1:  # otherwise several share a rank
        order = np.argsort(copy.ranking_, kind="stable")
    else:
        return None
    return Choice(sizes[-1], order[: sizes[-1]].astype(np.int64), time.perf_counter() - started, nested=True)
