"""Summaries inside other parts: checks of empty ones, the current one, and their field in a state."""

from __future__ import annotations

from typing import Any

from streamsieve.exceptions import ParameterError
from streamsieve.protocols import Summary
from streamsieve.state import Field, Part
from streamsieve.state.part import KIND
from streamsieve.state.registry import lookup, registered_name
from streamsieve.state.tree import Node, Place, text, untext

#: Maximum depth of a summary in a state.  Real states have at most six levels; without a limit, a forged one
#: could nest windows until the stack overflows.
DEEPEST = 12


class AnySummary(Field):
    """A summary of any registered class, as a field of another part; the state names the class."""

    def __init__(self, *, optional: bool = False) -> None:
        self.optional = optional

    def write(self, value: Part) -> Node:
        """Return the summary's fields and the name of its class."""
        return {**value.tree(), KIND: text(registered_name(value))}

    def check(self, node: Node, place: Place) -> None:
        """Check the class and its fields."""
        kind, own = self._kind(node, place)
        kind.check_tree(own, place.within(()))

    def read(self, node: Any, path: str) -> Any:
        """Return the summary."""
        kind, own = self._kind(node, Place(path))
        return kind.from_tree(own, path)

    def _kind(self, node: Node, place: Place) -> tuple[type[Part], dict[str, Node]]:
        if not isinstance(node, dict) or KIND not in node:
            place.refuse("should be a summary and name its class")
        if place.path.count("/") > DEEPEST:
            place.refuse("is nested too deeply")
        kind = lookup(untext(node[KIND], place.at(KIND)))
        if not (issubclass(kind, Part) and lacks(kind) is None):
            place.refuse(f"names {kind.__name__}, which is not a summary")
        return kind, {key: value for key, value in node.items() if key != KIND}


def lacks(part: Any) -> str | None:
    """Return the first member of :class:`~streamsieve.protocols.Summary` that is missing, or None.

    ``part`` is a summary or its class, whose declared fields are members as well.
    """
    declared = getattr(part, "fields", {})
    members = (name for name in dir(Summary) if not name.startswith("_"))
    return next((name for name in members if not hasattr(part, name) and name not in declared), None)


def takes_missing(summary: Any) -> bool:
    """Whether a summary accepts missing values; those that do not have ``missing = False``."""
    return bool(getattr(summary, "missing", True))


def check_empty(owner: str, inner: Any, targets: tuple[str, ...]) -> None:
    """Refuse anything but a summary without rows whose target is one of ``targets``."""
    is_part, missing = isinstance(inner, Part), lacks(inner)
    if not is_part or missing is not None:
        why = f": it has no `{missing}`" if is_part else ""
        raise ParameterError(f"{owner} needs a summary, for example Moments(); got {inner!r}{why}")
    if inner.n_rows:
        raise ParameterError(f"{owner} needs an empty summary; this one has {inner.n_rows} rows")
    if inner.target not in targets:
        raise ParameterError(
            f"{owner} needs a summary whose target is {' or '.join(targets)}; "
            f"that of {type(inner).__name__} is {inner.target}"
        )


def innermost(summary: Any) -> Any:
    """Return the summary that a criterion can read: the current one of a window or of a binned target."""
    while hasattr(summary, "current"):
        summary = summary.current()
    return summary


def same_state(a: Part, b: Any) -> bool:
    """Whether two summaries have the same class and equal states; for empty ones, equal parameters."""
    if type(a) is not type(b):
        return False
    mine, theirs = a.state(), b.state()
    return mine.keys() == theirs.keys() and all(
        array.dtype == theirs[name].dtype
        and array.shape == theirs[name].shape
        and array.tobytes() == theirs[name].tobytes()
        for name, array in mine.items()
    )
