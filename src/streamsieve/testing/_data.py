"""Small data sets on which every selector has something to do, and what it does with them compared."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from streamsieve.protocols import FloatArray, Task

RELATIVE = 1e-9


@contextmanager
def named(what: str) -> Iterator[None]:
    """Turn whatever a part raises into an ``AssertionError`` that begins with a sentence on what to do."""
    try:
        yield
    except AssertionError:
        raise
    except Exception as error:
        raise AssertionError(f"{what} ({type(error).__name__}: {error})") from error


def fresh(selector: Any, /, **parameters: Any) -> Any:
    """Return an unfitted copy, with some parameters changed."""
    return clone(selector).set_params(**parameters)


def assert_same(a: Any, b: Any, what: str, *, names: bool = False) -> None:
    """Assert that two fitted selectors chose the same features, by scores equal to rounding."""
    left, right = a.get_support(), b.get_support()
    assert np.array_equal(left, right), (
        f"{what}: the selections differ, {np.flatnonzero(left)} and {np.flatnonzero(right)}"
    )
    for attribute in ("scores_", "wealth_"):
        if hasattr(a, attribute):
            x, y = getattr(a, attribute), getattr(b, attribute)
            assert np.allclose(x, y, rtol=RELATIVE, atol=1e-12), f"{what}: {attribute} differ"
    for attribute in ("selected_", "ranked_"):
        if hasattr(a, attribute):
            x, y = getattr(a, attribute), getattr(b, attribute)
            assert np.array_equal(x, y), f"{what}: {attribute} differ"
    if names:
        assert a.get_feature_names_out().tolist() == b.get_feature_names_out().tolist(), (
            f"{what}: names differ"
        )


def decisions(selector: Any) -> list[tuple[Any, ...]]:
    """Return the ledger without its floating-point columns."""
    return [(d.step, d.feature, d.event, d.reason, d.by) for d in selector.ledger_]


TASKS = (Task.BINARY, Task.MULTICLASS, Task.REGRESSION)


class Sample(NamedTuple):
    """Rows with a target; values are multiples of 1/8, so that float32 holds them exactly."""

    X: FloatArray
    y: npt.NDArray[Any]
    names: list[str]


def sample_for(selector: Any, *, task: Task | None = None, **size: int) -> Sample:
    """Return a sample that the selector takes, of a task that it has a meaning for."""
    data = sample(task_for(selector) if task is None else task, **size)
    return data._replace(X=np.abs(data.X)) if selector.traits.non_negative else data


def sample(task: Task, n: int = 160, p: int = 14, seed: int = 0) -> Sample:
    """Informative, redundant, sparse, constant and noise columns, in that order."""
    rng = np.random.default_rng(seed)
    classes = 4 if task is Task.MULTICLASS else 2
    label = rng.integers(0, classes, n)
    label[:classes] = np.arange(classes)
    X = rng.normal(size=(n, p))
    X[:, 0] += 1.5 * label
    X[:, 1] -= 1.0 * (label == 1)
    X[:, 2] = X[:, 0] + 0.3 * X[:, 2]
    X[:, 3] *= rng.random(n) < 0.2
    X[:, 4] = (rng.random(n) < 0.2 + 0.5 * (label == 0)) * 1.0
    X[:, 5] = 3.0
    X = np.round(X * 8) / 8
    y: npt.NDArray[Any] = label
    if task is Task.REGRESSION:
        y = X[:, 0] - 0.5 * X[:, 6 % p] + rng.normal(size=n) + 0.01
    return Sample(X, y, [f"feature {j}" for j in range(p)])


def task_for(selector: Any) -> Task:
    """Return a kind of target that the selector has a meaning for."""
    return next(task for task in TASKS if task in selector.traits.tasks or not selector.traits.tasks)
