"""Contracts of the hooks of a selector: what each returns, and that it leaves its arguments alone.

They come first: a hook that returns the wrong thing breaks other contracts in ways that do not name it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from streamsieve.base import ColumnSelector, RowSelector, WeightedRows
from streamsieve.decisions import REASONS, Outcome
from streamsieve.protocols import Task
from streamsieve.testing._data import named, sample_for, task_for


def check_traits_fit_the_class(selector: Any) -> None:
    """What the traits promise is written."""
    if not isinstance(selector, RowSelector):
        return
    kind, traits, hooks = type(selector), selector.traits, RowSelector.__dict__
    assert not traits.merges or kind._merge is not hooks["_merge"], (  # noqa: SLF001
        f"{kind.__name__} says Traits(merges=True), but has no _merge(other, columns)"
    )
    assert not traits.weights or isinstance(selector, WeightedRows), (
        f"{kind.__name__} says Traits(weights=True), but takes no sample_weight: derive it from both "
        "streamsieve.base.WeightedRows and RowSelector, in this order, and read batch.weight in _learn"
    )
    numeric = bool(traits.tasks) and traits.tasks <= {Task.REGRESSION}
    assert not numeric or selector._target != "classes", (  # noqa: SLF001
        f"{kind.__name__} says Traits(tasks=...) of regression only, but takes class labels: write "
        '_target = "numeric" (or "either", or None if y is not used)'
    )
    assert selector._target != "numeric" or Task.MULTICLASS not in traits.tasks, (  # noqa: SLF001
        f'{kind.__name__} takes numbers (_target = "numeric"), but its traits include Task.MULTICLASS: write '
        "_traits = Traits(tasks=frozenset({Task.REGRESSION}))"
    )


def check_scores_are_numbers(selector: Any) -> None:
    """``_scores`` returns a finite number per feature; ``_learn`` and ``_scores`` change no rows."""
    if not isinstance(selector, RowSelector):
        return
    X, y, _ = sample_for(selector)
    found: list[Any] = []

    def scores(self: Any) -> Any:
        found.append(super(watched, self)._scores())
        return found[-1]

    watched = _watched(selector, "_scores", scores)
    name, before, error = type(selector).__name__, X.copy(), None
    try:
        fitted = watched(**selector.get_params(deep=False)).fit(X, y)
        fitted.get_support()
    except Exception as raised:  # noqa: BLE001 - raised again, if nothing before it says more
        error = raised
    assert np.array_equal(X, before), f"{name}._learn changed the rows of its batch: work on a copy"
    for answer in found:
        assert isinstance(answer, np.ndarray), f"{name}._scores must return an array; got {_short(answer)}"
        assert answer.shape == (X.shape[1],), (
            f"{name}._scores must return one number per feature, shape ({X.shape[1]},); got {answer.shape}"
        )
        assert np.all(np.isfinite(answer)), f"{name}._scores must return finite numbers; got {answer}"
    with named(f"{name} cannot be fitted"):
        if error is not None:
            raise error
    with named(f"{name} cannot go on after its scores were read: _scores must return an array of its own"):
        fitted.partial_fit(X, y)


def check_outcomes_are_whole(selector: Any) -> None:
    """``_offer`` returns an ``Outcome`` with a reason and a statistic per column, and changes no block."""
    if not isinstance(selector, ColumnSelector):
        return
    X, y, _ = sample_for(selector, task=task_for(selector))
    found: list[Any] = []

    def offer(self: Any, block: Any) -> Any:
        found.append((block.X.shape[1], super(watched, self)._offer(block)))
        return found[-1][1]

    watched = _watched(selector, "_offer", offer)
    name, before, error = type(selector).__name__, X.copy(), None
    sieve = watched(**selector.get_params(deep=False))
    with named(f"{name} cannot begin"):
        sieve.begin(y)
    process = sieve.__dict__.get("_process_", sieve)
    assert process is not None, f"{name}._compose returned None: return Composition(test, rule)"
    try:
        sieve.offer(X)
    except Exception as raised:  # noqa: BLE001 - raised again, if nothing before it says more
        error = raised
    assert np.array_equal(X, before), f"{name}._offer changed the values of its block: work on a copy"
    for width, outcome in found:
        _check_outcome(f"{name}._offer", outcome, None if selector.traits.defers else width)
    with named(f"{name} fails with a block of columns"):
        if error is not None:
            raise error
    with named(f"{name}._selected() fails"):
        kept = np.asarray(sieve._selected())  # noqa: SLF001
    assert kept.dtype.kind in "iu" or not kept.size, (
        f"{name}._selected must return arrival numbers of columns; got {_short(kept)}"
    )


def _check_outcome(where: str, outcome: Any, width: int | None) -> None:
    assert isinstance(outcome, Outcome), f"{where} must return an Outcome; got {_short(outcome)}"
    reason, statistic = outcome.reason, np.asarray(outcome.statistic)
    width = len(reason) if width is None else width
    for field, array in (("reason", np.asarray(reason)), ("statistic", statistic)):
        assert array.shape == (width,), (
            f"the Outcome of {where} has one {field} per column; got shape {array.shape} for {width} columns"
        )
    codes = (
        isinstance(reason, np.ndarray) and reason.dtype == np.uint8 and bool(np.all(reason < len(REASONS)))
    )
    assert codes, (
        f"the reasons of {where} must be codes of streamsieve.decisions, such as RELEVANT and IRRELEVANT, "
        f"in an array of uint8; got {_short(reason)}"
    )


def _watched(selector: Any, hook: str, function: Any) -> Any:
    """Return a subclass that notes what a hook returns; it is not registered, and nothing is saved."""
    return type(type(selector).__name__, (type(selector),), {"__module__": "watched", hook: function})


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
