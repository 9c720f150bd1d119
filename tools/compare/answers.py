"""What an object has learnt, as plain data: every bit of it, or a digest where it is long."""

from __future__ import annotations

import dataclasses
import enum
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from tools.compare import renames

#: Values of an array that are reported one by one; of a longer one there is a digest.
MOST_VALUES = 400
LINE = ("step", "feature", "event", "reason", "statistic", "p_value", "by")
#: What a summary is asked, if it knows the question.
QUESTIONS: dict[str, tuple[Any, ...]] = {
    "blocks": (),
    "tables": (4,),
    "moments": (),
    "rank_error": (),
    "cdf": (0, [-1.0, 0.0, 0.5, 2.0]),
}
FACTS = ("classes", "half_life", "n_rows", "n_features", "overflowed")
DEEPEST = 4


class Answers:
    """Turn what a tree's objects say into plain data.

    Parameters
    ----------
    is_new : whether names are those of the new tree
    """

    def __init__(self, *, is_new: bool) -> None:
        self._is_new = is_new

    def method(self, thing: Any, old: str) -> str:
        """Return the name that a method has in this tree."""
        return renames.method_name(old_class(thing), old) if self._is_new else old

    def lines(self, ledger: Iterable[Any]) -> list[list[Any]]:
        """Return the lines of a ledger, or decisions as they are returned by an offer."""
        names = LINE
        if self._is_new:
            names = tuple(renames.attribute_name("Decision", name) for name in LINE)
        return [self._line([getattr(line, name) for name in names]) for line in ledger]

    def _line(self, fields: list[Any]) -> list[Any]:
        step, feature, event, reason, statistic, p_value, by = fields
        words = [str(event), str(reason)]
        if self._is_new:
            words = [renames.old_word("event", words[0]), renames.old_word("reason", words[1])]
        return [int(step), str(feature), *words, float(statistic), float(p_value), [str(name) for name in by]]

    def of(self, thing: Any, depth: int = 0) -> Any:  # noqa: PLR0911 - one a kind
        """Return anything as plain data."""
        if isinstance(thing, enum.Enum):
            return self.of(thing.value)
        if thing is None or isinstance(thing, (bool, int, float, str)):
            return thing
        if isinstance(thing, np.generic):
            return thing.item()
        if isinstance(thing, np.ndarray):
            return self._array(thing)
        if sp.issparse(thing):
            parts = thing.tocsr()
            parts.sort_indices()
            return {"sparse": thing.format, "shape": list(thing.shape), "digest": digest(parts)}
        if hasattr(thing, "columns") and hasattr(thing, "to_numpy"):
            return {"frame": [str(name) for name in thing.columns], "values": self._array(thing.to_numpy())}
        if depth > DEEPEST:
            return "..."
        return self._compound(thing, depth + 1)

    def _array(self, array: np.ndarray[Any, Any]) -> dict[str, Any]:
        head: dict[str, Any] = {"array": array.dtype.str, "shape": list(array.shape)}
        if array.dtype.kind == "O":
            return {**head, "values": [self.of(value) for value in array.ravel()]}
        if array.size > MOST_VALUES:
            return {**head, "digest": digest(array), "values": array.ravel()[:8].tolist()}
        return {**head, "values": array.ravel().tolist()}

    def _compound(self, thing: Any, depth: int) -> Any:
        if isinstance(thing, Mapping):
            return [[self.of(key, depth), self.of(value, depth)] for key, value in thing.items()]
        if isinstance(thing, tuple) and hasattr(thing, "_fields"):
            return {name: self.of(value, depth) for name, value in thing._asdict().items()}
        if isinstance(thing, (list, tuple, set, frozenset)):
            values = sorted(thing) if isinstance(thing, (set, frozenset)) else thing
            return [self.of(value, depth) for value in values]
        if hasattr(thing, "get_params"):
            return self.learnt(thing, depth)
        if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
            return {f.name: self.of(getattr(thing, f.name), depth) for f in dataclasses.fields(thing)}
        return self.summary(thing, depth)

    def learnt(self, estimator: Any, depth: int = 0) -> dict[str, Any]:
        """Return every public attribute that ends in an underscore."""
        attributes = {}
        for name in sorted(object.__dir__(estimator)):  # scikit-learn's own looks at every property
            if name.startswith("_") or not name.endswith("_"):
                continue
            try:
                value = getattr(estimator, name)
            except AttributeError:  # it is not there yet, or not with these parameters
                continue
            except Exception as error:  # noqa: BLE001 - the error is the answer
                attributes[name] = {"raises": type(error).__name__}
                continue
            is_ledger = old_name(estimator, name, self._is_new) == "ledger_"
            attributes[name] = self.lines(value) if is_ledger else self.of(value, depth)
        return {"class": old_class(estimator, is_new=self._is_new), "attributes": attributes}

    def summary(self, summary: Any, depth: int = 0) -> dict[str, Any]:
        """Return what a summary answers; of an object that is none, that it is there."""
        said: dict[str, Any] = {"object": "there"}
        current = getattr(summary, self.method(summary, "current"), None)
        if callable(current):
            return {"window": self.summary(current(), depth)}
        for fact in FACTS:
            value = getattr(summary, self.method(summary, fact), None)
            if value is not None and not callable(value):
                said[fact] = self.of(value, depth)
        for question, arguments in QUESTIONS.items():
            ask = getattr(summary, self.method(summary, question), None)
            if callable(ask):
                said[question] = self._asked(ask, arguments, depth)
        for question in ("levels", "counts"):
            ask = getattr(summary, self.method(summary, question), None)
            if callable(ask):
                said[question] = [
                    self._asked(ask, (j,), depth) for j in range(min(said.get("n_features", 0), 8))
                ]
        return said

    def _asked(self, ask: Any, arguments: tuple[Any, ...], depth: int) -> Any:
        try:
            answer = ask(*arguments)
            answer = list(answer) if hasattr(answer, "__next__") else answer
        except Exception as error:  # noqa: BLE001 - the error is the answer
            return {"raises": type(error).__name__}
        return self.of(answer, depth)


def old_class(thing: Any, *, is_new: bool = True) -> str:
    """Return the name that the class of an object had in the old tree."""
    name = type(thing).__name__
    if not is_new:
        return name
    return next((old for old, new in renames.RENAMED_CLASSES.items() if new == name), name)


def old_name(thing: Any, attribute: str, is_new: bool) -> str:  # noqa: FBT001 - says which tree it is
    """Return the name that an attribute had in the old tree."""
    if not is_new:
        return attribute
    cls = old_class(thing)
    for key, new in renames.RENAMED_ATTRIBUTES.items():
        of, old = key if isinstance(key, tuple) else (cls, key)
        if of == cls and new == attribute:
            return old
    return attribute


def digest(values: Any) -> str:
    """Return a short text that stands for the values, type and shape of a table."""
    state = hashlib.blake2b(digest_size=12)
    if sp.issparse(values):
        for part in (values.data, values.indices.astype(np.int64), values.indptr.astype(np.int64)):
            state.update(str(part.dtype).encode() + part.tobytes())
        state.update(repr(values.shape).encode())
    elif hasattr(values, "to_numpy"):
        state.update(repr([str(name) for name in values.columns]).encode() + values.to_numpy().tobytes())
    else:
        array = np.ascontiguousarray(values)
        text = repr(array.tolist()).encode() if array.dtype.kind == "O" else array.tobytes()
        state.update(f"{array.dtype.str}{array.shape}".encode() + text)
    return state.hexdigest()
