"""Encode mixed cells as float64 keys: numbers map to themselves, text to reserved keys from 2^400 on."""

from __future__ import annotations

import numbers
import sys
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve._values import LIMIT, bad_value, feature_label
from streamsieve.exceptions import BadValueError, InputTypeError
from streamsieve.protocols import FloatArray
from streamsieve.state import Array, Int, Part, Texts

#: The key of text number i is (1 + i) times this: exact, and above every number that is accepted.
TEXT_UNIT = 2.0**400
#: Maximum number of texts: a float64 distinguishes no more whole numbers.
MOST_TEXTS = 2**52
#: Number of texts stored before those no longer needed are dropped.
FEW_TEXTS = 1024


class CategoryEncoder(Part):
    """Texts by number, in order of appearance; numbers are never used again.

    Texts that only ever counted as "any other value" need no number.  They are dropped whenever the number of
    texts has doubled since the last time.
    """

    fields = {
        "texts": Texts("texts", unique=True),
        "numbers": Array("i8", "texts", low=0, high=MOST_TEXTS, order="rising"),
        "next": Int(0, MOST_TEXTS),
        "enough": Int(1, 2 * MOST_TEXTS),
    }

    def __init__(self) -> None:
        self._keys: dict[str, float] = {}
        self._texts: dict[float, str] = {}
        self._next = 0
        self._enough = FEW_TEXTS

    @property
    def nbytes(self) -> int:
        """Memory used, in bytes."""
        if not self._keys:
            return 0
        return sum(map(sys.getsizeof, (self._keys, self._texts, *self._keys, *self._texts)))

    def encode(self, X: npt.NDArray[Any]) -> tuple[FloatArray, list[str]]:
        """Return cells as keys (NaN where missing), and the new texts, which :meth:`add` registers."""
        cells = X.ravel().tolist()
        reader = _Reader(self._keys, self._next)
        try:
            keys = np.fromiter(map(reader.__getitem__, cells), np.float64, len(cells))
        except (TypeError, ValueError):
            _name_first_misfit(reader, cells, X.shape[1])
            raise
        return keys.reshape(X.shape), reader.new

    def add(self, new: list[str]) -> None:
        """Assign the next numbers to texts."""
        for text in new:
            key = TEXT_UNIT * (1 + self._next)
            self._keys[text], self._texts[key] = key, text
            self._next += 1

    def value(self, key: float) -> float | str:
        """Return the value of a key."""
        return self._texts[key] if key > LIMIT else key

    def translated(self, keys: FloatArray, other: CategoryEncoder) -> FloatArray:
        """Translate keys of another encoder, after registering its texts."""
        text = (keys > LIMIT) & (keys < np.inf)
        theirs, places = np.unique(keys[text], return_inverse=True)
        texts = [other._texts[key] for key in theirs.tolist()]
        self.add([t for t in texts if t not in self._keys])
        ours = keys.copy()
        ours[text] = np.array([self._keys[t] for t in texts], np.float64)[places]
        return ours

    @property
    def is_full(self) -> bool:
        """Whether :meth:`keep_only` is due."""
        return len(self._keys) > self._enough

    def keep_only(self, keys: FloatArray) -> None:
        """Drop the texts whose keys are not among these."""
        needed = set(keys.tolist())
        self._texts = {key: text for key, text in self._texts.items() if key in needed}
        self._keys = {text: key for key, text in self._texts.items()}
        self._enough = max(FEW_TEXTS, 2 * len(self._keys))

    def knows(self, keys: FloatArray) -> bool:
        """Whether every text key among these belongs to a known text."""
        return {*keys[(keys > LIMIT) & (keys < np.inf)].tolist()} <= self._texts.keys()

    def _record(self) -> Mapping[str, Any]:
        numbers_ = np.array([int(key / TEXT_UNIT) - 1 for key in self._texts], np.int64)
        return {"texts": list(self._keys), "numbers": numbers_, "next": self._next, "enough": self._enough}

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        encoder = cls()
        encoder._texts = dict(
            zip((TEXT_UNIT * (1.0 + record["numbers"])).tolist(), record["texts"], strict=True)
        )
        encoder._keys = {text: key for key, text in encoder._texts.items()}
        encoder._next, encoder._enough = record["next"], record["enough"]
        return encoder

    def _consistent(self) -> Iterator[str]:
        if self._texts and max(self._texts) > TEXT_UNIT * self._next:
            yield "a text has a number that was not given out yet"


class _Reader(dict[Any, float]):
    """Cache of the keys of cells: each distinct cell is encoded once."""

    def __init__(self, known: Mapping[str, float], following: int) -> None:
        super().__init__()
        self._known, self._following = known, following
        self.new: list[str] = []

    def __missing__(self, cell: Any) -> float:
        key = self._key(cell)
        self[cell] = key
        return key

    def _key(self, cell: Any) -> float:
        if isinstance(cell, str):
            if cell in self._known:
                return self._known[cell]
            self.new.append(cell)
            return TEXT_UNIT * (self._following + len(self.new))
        if cell is None:
            return np.nan
        if not isinstance(cell, (numbers.Real, Decimal, np.bool_)):
            raise InputTypeError(
                f"a {type(cell).__name__}, but a category must be text, a number or None: convert it"
            )
        try:
            value = float(cell)
        except OverflowError:
            value = np.inf
        if abs(value) >= LIMIT:
            raise bad_value(0, value)
        if isinstance(cell, numbers.Integral) and int(value) != int(cell):
            raise InputTypeError(f"{cell}, which a float cannot tell from its neighbors: give it as text")
        return value


def _name_first_misfit(reader: _Reader, cells: list[Any], width: int) -> None:
    """Name the column of the first cell that cannot be encoded."""
    for place, cell in enumerate(cells):
        try:
            reader[cell]
        except BadValueError as error:
            raise bad_value(place % width, error.value) from None
        except (TypeError, ValueError) as error:
            name = feature_label(place % width, None)
            raise InputTypeError(f"feature {name!r} holds {error}") from None
