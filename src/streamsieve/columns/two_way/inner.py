"""The selectors inside a TwoWay: requirements, fresh clones, and checks of their targets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import numpy.typing as npt
from sklearn.base import clone

from streamsieve._validation import mixed_labels
from streamsieve.base import ColumnSelector, RowSelector, Selector
from streamsieve.columns.saola import SAOLA
from streamsieve.decisions import Decisions, Outcome
from streamsieve.exceptions import ParameterError, TargetError
from streamsieve.protocols import Matrix, Task
from streamsieve.state import encode


def column_part(column_selector: Any) -> ColumnSelector:
    """Return the column selector to clone; refuse one that cannot be used here."""
    inner = SAOLA() if column_selector is None else column_selector
    if not isinstance(inner, ColumnSelector):
        raise ParameterError(
            f"column_selector must be a selector over columns, such as FastOSFS(), or None; got {inner!r}"
        )
    revises = getattr(inner, "spouses", 0) != 0
    if inner.traits.defers or revises or hasattr(inner, "learn_rows"):  # a TwoWay
        raise ParameterError(
            f"column_selector must decide on every column at once, which {type(inner).__name__} does "
            "not: use SAOLA or FastOSFS, without spouses"
        )
    if inner.stop is not None:
        raise ParameterError(f"give stop to TwoWay, not to its column_selector; got {inner!r}")
    return inner


def check_row_screen(row_screen: Any) -> None:
    """Refuse anything but a row selector."""
    if row_screen is not None and not isinstance(row_screen, RowSelector):
        raise ParameterError(
            "row_screen must be a selector over rows, such as Screen('f', alpha=0.01), or None; "
            f"got {row_screen!r}"
        )


def check_target_of_screen(screen: RowSelector | None, y: npt.NDArray[Any], task: Task) -> None:
    """Refuse a screen that does not support the target."""
    if screen is not None and screen.traits.tasks and task not in screen.traits.tasks:
        known = " or ".join(sorted(screen.traits.tasks))
        raise ParameterError(
            f"row_screen needs a {known} target, but y is {task}: choose another one; got {screen!r}"
        )
    if getattr(screen, "_target", None) == "numeric" and y.dtype.kind == "U":
        raise ParameterError(
            f"row_screen needs numbers, but y holds text such as {y[0].item()!r}: choose another one; "
            f"got {screen!r}"
        )


def check_labels(
    target: npt.NDArray[Any], labels: npt.NDArray[Any], new: list[Any], takers: Iterable[Selector | None]
) -> None:
    """Refuse labels of another type, and new labels if a selector supports two classes only."""
    if len(target) and (target.dtype.kind == "U") != (labels.dtype.kind == "U"):
        raise mixed_labels(labels[0].item(), target[0].item())
    for taker in takers:
        if taker is not None and new and taker.traits.tasks and Task.MULTICLASS not in taker.traits.tasks:
            raise TargetError(
                f"y holds a label that was not there before, {new[0]!r}, and {type(taker).__name__} "
                "takes two classes only: give rows of those two"
            )


def fresh_screen(row_screen: RowSelector | None, width: int) -> RowSelector | None:
    """Return a clone of the row screen for this number of columns; None without columns or screen."""
    if row_screen is None or width == 0:
        return None
    screen: RowSelector = clone(row_screen)
    k = screen.get_params(deep=False).get("k")
    if isinstance(k, int) and k > width:
        screen.set_params(k=width)
    return screen


def alike(one: Selector, other: Selector | None) -> bool:
    """Whether two selectors have one class and equal parameters."""
    mine, theirs = (
        {name: encode(name, value) for name, value in each.get_params(deep=False).items()} if each else None
        for each in (one, other)
    )
    return type(one) is type(other) and mine == theirs


def offered(selector: ColumnSelector, X: Matrix) -> Outcome:
    """Offer a block to a selector, and return what it decides."""
    return cast(Decisions, selector.offer(X)).outcome
