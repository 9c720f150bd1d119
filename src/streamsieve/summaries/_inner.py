"""A summary inside another part: its empty twin, and its place in a state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from streamsieve.exceptions import ParameterError, StateError
from streamsieve.protocols import Arrays, Stateful
from streamsieve.state import pack, pack_strings, unpack, unpack_strings

S = TypeVar("S", bound=Stateful)

#: Levels of names in a state; honest ones have six at most, and a deeper one would recurse without end.
DEEPEST = 12
#: What a part must have to be taken for a summary.
_FACE = ("update", "merge", "state", "n_rows", "n_features", "nbytes", "target")


def check_empty(owner: str, inner: Any, targets: tuple[str, ...]) -> None:
    """Refuse what is not a summary without rows, or one whose target does not serve here."""
    if not is_summary(inner):
        raise ParameterError(f"{owner} holds a summary; got {inner!r}: give one, for example Moments()")
    if inner.n_rows:
        raise ParameterError(
            f"{owner} wants an empty summary to start from; this one has {inner.n_rows} rows"
        )
    if inner.target not in targets:
        raise ParameterError(
            f"{owner} wants a summary whose target is {' or '.join(targets)}; "
            f"that of {type(inner).__name__} is {inner.target}"
        )


def is_summary(part: Any) -> bool:
    """Whether a part has the face of a summary."""
    return not isinstance(part, type) and all(hasattr(part, name) for name in _FACE)


def fresh(part: S) -> S:
    """Return a twin that shares nothing."""
    return type(part).from_state(part.state())


def innermost(summary: Any) -> Any:
    """Return what a window or bins of a target hold at present: the summary a formula can read."""
    while hasattr(summary, "current"):
        summary = summary.current()
    return summary


def same_state(a: Any, b: Any) -> bool:
    """Whether two summaries are of one class and equal to the last bit; empty ones: made alike."""
    if type(a) is not type(b):
        return False
    mine, theirs = a.state(), b.state()
    return mine.keys() == theirs.keys() and all(
        array.dtype == theirs[name].dtype
        and array.shape == theirs[name].shape
        and array.tobytes() == theirs[name].tobytes()
        for name, array in mine.items()
    )


def pack_summary(name: str, summary: Any) -> Arrays:
    """Turn a summary into arrays that say which class it is; :func:`unpack_summary` undoes it."""
    plain, arrays = pack({name: summary})
    label = pack_strings([plain[name]["$part"]])
    return {f"{name}_class/{key}": array for key, array in label.items()} | arrays


def unpack_summary(name: str, arrays: Mapping[str, npt.NDArray[Any]]) -> Any:
    """Rebuild a summary of any registered class, or refuse the arrays with ``StateError``."""
    if any(key.count("/") > DEEPEST for key in arrays):
        raise StateError("the state holds summaries within summaries, deeper than there are any")
    labels = unpack_strings(under(f"{name}_class", arrays))
    if len(labels) != 1:
        raise StateError(f"the state names {len(labels)} classes for its part {name!r}, not one")
    own = {key: np.asarray(array) for key, array in arrays.items() if key.startswith(f"{name}/")}
    try:
        summary = unpack({name: {"$part": labels[0]}}, own)[name]
    except StateError:
        raise
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise StateError(f"the state's {labels[0]} does not fit: {error}") from error
    if not is_summary(summary):
        raise StateError(f"the state names {labels[0]} as its part {name!r}, which is not a summary")
    return summary


def under(name: str, arrays: Mapping[str, npt.NDArray[Any]]) -> Arrays:
    """Return the arrays whose names begin with ``name/``, without that."""
    start = f"{name}/"
    return {key[len(start) :]: array for key, array in arrays.items() if key.startswith(start)}
