"""Parsing of messages into rows of numbers, with a reason for every invalid one, and rows into batches."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import did_you_mean
from streamsieve._text import in_a_line
from streamsieve.protocols import FloatArray, Position, RowBatch
from streamsieve.sources.weights import WHAT

#: Function from the bytes of a message to its fields.
Decoder: TypeAlias = Callable[[bytes], Mapping[str, Any]]
Cells: TypeAlias = tuple[Any, ...]

_quickly: Callable[[bytes], Any]
try:
    from orjson import loads as _quickly  # the extra "kafka" brings it
except ModuleNotFoundError:

    def _quickly(value: bytes) -> Any:
        return json.loads(value.decode())


_NUMBERS = {int, float, bool, type(None)}


class BadMessageError(Exception):
    """A message that is not a valid row; the text says why, and what to do."""


class Rows(NamedTuple):
    """Some rows, their target, and their weights if they have any."""

    X: FloatArray
    y: npt.NDArray[Any]
    weight: FloatArray | None

    def head(self, n: int) -> Rows:
        """Return the first n of them."""
        return Rows(self.X[:n], self.y[:n], None if self.weight is None else self.weight[:n])


class Parsed(NamedTuple):
    """The rows among some messages, and the reasons why the others, by position, are invalid."""

    rows: Rows
    bad: dict[int, str]


def decode_json(value: bytes) -> Mapping[str, Any]:
    """Return the fields of a JSON object."""
    try:
        fields = _parsed(value)
    except UnicodeDecodeError as error:
        raise BadMessageError(f"it is not UTF-8 text, so it is no JSON; got {_shown(value)}") from error
    except (ValueError, RecursionError) as error:
        raise BadMessageError(f"it is no valid JSON ({error}); got {_shown(value)}") from error
    if type(fields) is not dict:
        raise BadMessageError(f"wanted a JSON object {{feature: number, ...}}; got {_shown(value)}")
    return fields


def _parsed(value: bytes) -> Any:
    try:
        return _quickly(value)
    except ValueError:  # NaN and numbers out of range, which only Python's parser accepts, or invalid JSON
        return json.loads(value.decode())


def decode_by(function: Callable[[bytes], Any]) -> Decoder:
    """Return a decoder that calls a user's function; any exception marks the message as invalid."""

    def decode(value: bytes) -> Mapping[str, Any]:
        try:
            fields = function(value)
        except Exception as error:
            what = f"{type(error).__name__}: {in_a_line(error)}"
            raise BadMessageError(f"the function given as value raised {what}") from error
        if not isinstance(fields, Mapping):
            raise BadMessageError(
                f"the function given as value must return a dict; got {type(fields).__name__}"
            )
        return dict(fields)

    return decode


def names_of(decode: Decoder, value: bytes | None, target: str, weight: str | None = None) -> list[str]:
    """Return the names of the features in a message."""
    fields = _fields(decode, value)
    names = [name for name in fields if name not in (target, weight)]
    for name in names:
        if type(fields[name]) not in _NUMBERS:
            raise BadMessageError(
                f"its field {name!r} holds {_kind(fields[name])}, not a number: say which fields are "
                "features by names=[...], and leave out the rest with extra='ignore'"
            )
    if target not in fields:
        raise BadMessageError(_no_target(target) + did_you_mean(target, fields))
    if not names:
        beside = "the target" if weight is None else "the target and the weight"
        raise BadMessageError(f"it has no field besides {beside}: say which features there are by names")
    return names


def _no_target(target: str) -> str:
    return f"it has no target {target!r}: every message needs one"


def _fields(decode: Decoder, value: bytes | None) -> Mapping[str, Any]:
    if value is None:
        raise BadMessageError("it has no value (a tombstone)")
    return decode(value)


class Parser:
    """Parses messages into rows; ``text``: whether the target is text, None to infer it."""

    def __init__(
        self,
        decode: Decoder,
        names: Sequence[str],
        target: str,
        weight: str | None = None,
        *,
        text: bool | None,
        extra: str,
    ) -> None:
        self._decode, self._target, self._weight, self._extra = decode, target, weight, extra
        self.text = text
        #: The fields that hold numbers: the features, and the weight.
        self._names = [*names, *([] if weight is None else [weight])]
        self._absent = dict.fromkeys([*self._names, target])
        self._get: Callable[[Mapping[str, Any]], Cells] = itemgetter(*self._names, target)

    def read(self, values: Sequence[bytes | None]) -> Parsed:
        """Return the rows, and the reasons why other messages are invalid."""
        rows: list[Cells] = []
        bad: dict[int, str] = {}
        for place, value in enumerate(values):
            try:
                rows.append(self._cells(value))
            except BadMessageError as error:
                bad[place] = str(error)
        found = self._arrays(rows) if rows and self.text is not None else None
        if found is None:
            # some message is invalid: parse row by row
            places = [place for place in range(len(values)) if place not in bad]
            whys = [self._why(cells) for cells in rows]
            bad |= {place: why for place, why in zip(places, whys, strict=True) if why}
            found = self._arrays([cells for cells, why in zip(rows, whys, strict=True) if not why])
        return Parsed(self._split(*(found or (np.empty((0, len(self._names))), np.empty(0)))), bad)

    def _split(self, table: FloatArray, y: npt.NDArray[Any]) -> Rows:
        """Split off the weights, the last column of the table of numbers."""
        if self._weight is None:
            return Rows(table, y, None)
        return Rows(np.ascontiguousarray(table[:, :-1]), y, table[:, -1].copy())

    def _cells(self, value: bytes | None) -> Cells:
        """Return the fields in order, the target last; absent ones are None."""
        fields = _fields(self._decode, value)
        if len(fields) == len(self._absent):
            try:
                return self._get(fields)
            except KeyError:
                pass
        whole = {**self._absent, **fields}
        if len(whole) > len(self._absent) and self._extra == "refuse":
            name = next(name for name in fields if name not in self._absent)
            raise BadMessageError(
                f"its field {name!r} is not among the features{did_you_mean(name, self._absent)}: add it to "
                "names, or leave out such fields with extra='ignore'"
            )
        return self._get(whole)

    def _arrays(self, rows: Sequence[Cells]) -> tuple[FloatArray, npt.NDArray[Any]] | None:
        """Return all rows as arrays, or None if a cell is invalid."""
        if not rows:
            return None
        labels = [cells[-1] for cells in rows]
        if self.text:
            if set(map(type, labels)) != {str} or "" in labels:
                return None
            rows = [cells[:-1] for cells in rows]
        if not set(map(type, itertools.chain.from_iterable(rows))) <= _NUMBERS:
            return None
        try:
            table = np.array(rows, np.float64)
        except OverflowError:
            return None
        if self.text:
            return (table, np.array(labels)) if self._weighs(table) else None
        y = table[:, -1].copy()
        table = np.ascontiguousarray(table[:, :-1])
        return None if np.isnan(y).any() or not self._weighs(table) else (table, y)

    def _weighs(self, table: FloatArray) -> bool:
        """Whether every row has a weight, if weights are used."""
        return self._weight is None or bool(((table[:, -1] >= 0) & (table[:, -1] < np.inf)).all())

    def _why(self, cells: Cells) -> str:
        """Return why a row is invalid; an empty text if it is valid."""
        for name, cell in zip(self._names, cells, strict=False):
            if type(cell) not in _NUMBERS or _too_large(cell):
                return f"its feature {name!r} holds {_kind(cell)}, not a number: encode it before it is sent"
        if self._weight is not None and not 0 <= _number(cells[-2]) < np.inf:
            return f"its weight {self._weight!r} is {cells[-2]!r}: {WHAT}"
        label = cells[-1]
        if label is None or label == "" or label != label:  # noqa: PLR0124 - NaN
            return _no_target(self._target)
        is_text = isinstance(label, str)
        if (type(label) not in _NUMBERS and not is_text) or _too_large(label):
            return f"its target {self._target!r} holds {_kind(label)}: a number or a text label is wanted"
        if self.text is None:
            self.text = is_text
        if self.text != is_text:
            return f"its target {self._target!r} is {_kind(label)}, unlike that of the messages before"
        return ""


def _number(cell: Any) -> float:
    return np.nan if cell is None else float(cell)


def _too_large(cell: Any) -> bool:
    try:
        float(cell or 0)
    except OverflowError:
        return True
    except ValueError:  # text, which is checked elsewhere
        return False
    return False


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return f"text ({_short(value)!r})"
    if isinstance(value, int):
        return "a number" if not _too_large(value) else "a number too large for float64"
    return {float: "a number", dict: "an object", list: "a list"}.get(type(value), type(value).__name__)


def _shown(value: bytes) -> str:
    return repr(_short(value.decode("utf-8", "backslashreplace")))


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:60] + "..."


class MessageBuffer:
    """Collects rows in batches of one size; ``row`` and ``skipped`` count rows and skipped messages."""

    def __init__(self, size: int, names: Sequence[str], row: int, skipped: int) -> None:
        self._size, self._names = size, names
        self.row, self._skipped = row, skipped
        self._pieces: list[Rows] = []
        self.count = 0

    @property
    def room(self) -> int:
        """Number of rows missing until the batch is complete."""
        return self._size - self.count

    def add(self, rows: Rows, skipped: int = 0) -> None:
        """Add rows, and count the skipped messages among them."""
        if len(rows.X):
            self._pieces.append(rows)
        self.count += len(rows.X)
        self.row += len(rows.X)
        self._skipped += skipped

    def batch(self, position: Position) -> RowBatch:
        """Return the collected rows as a batch, and begin the next one."""
        X, y, weight = (
            pieces[0] if len(pieces) == 1 or pieces[0] is None else np.concatenate(pieces)
            for pieces in zip(*self._pieces, strict=True)
        )
        self._pieces, self.count = [], 0
        return RowBatch(X, y, weight, self._names, {**position, "row": self.row, "skipped": self._skipped})
