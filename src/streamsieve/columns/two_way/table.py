"""Growing table of rows and kept columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve.dependence.blocks import dense_column
from streamsieve.protocols import FloatArray, IntArray, Matrix
from streamsieve.state import Array, Choice, Part, Values, register

#: Minimum spare capacity for rows.
SPARE_ROWS = 16
#: Kinds of dtypes that labels may have, and how a state holds them.
LABEL_KINDS = {"U": "U", "i": "i", "u": "i", "b": "i", "f": "f"}
NUMBERS = "numbers"


@register
class GrowingTable(Part):
    """The latest rows of a stream: their targets, and their values in the kept columns.

    The capacity doubles when needed, so that memory is at most about twice that of the values held.
    """

    fields = {
        "target_kind": Choice(NUMBERS, *LABEL_KINDS),
        "labels": Values("labels"),
        "codes": Array("i8", "rows", below="labels", optional=True),
        "target": Array("f8", "rows", finite=True, optional=True),
        "features": Array("i8", "columns", low=0, order="rising"),
        "values": Array("f8", "columns", "rows"),
    }

    def __init__(self, y: npt.NDArray[Any], *, classes: bool) -> None:
        #: Labels in order of appearance; None for numbers.
        self.labels: npt.NDArray[Any] | None = y[:0] if classes else None
        self._target = self._coded(y)
        #: Columns by arrival number, in order; as long as the array of targets, with room at the end.
        self._columns: dict[int, FloatArray] = {}
        self._first, self.n = 0, len(y)

    @property
    def _held(self) -> slice:
        return slice(self._first, self._first + self.n)

    @property
    def y(self) -> npt.NDArray[Any]:
        """The targets of the rows held."""
        target = self._target[self._held]
        return target.copy() if self.labels is None else self.labels[target]

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns, in order."""
        return np.array(list(self._columns), np.int64)

    def values(self) -> FloatArray:
        """Return the values: rows x columns, the rows oldest first, every column contiguous."""
        columns = [column[self._held] for column in self._columns.values()]
        return np.array(columns).reshape(-1, self.n).T

    def news(self, y: npt.NDArray[Any]) -> list[Any]:
        """Return the labels among these that are new."""
        if self.labels is None:
            return []
        known = set(self.labels.tolist())
        return [label for label in np.unique(y).tolist() if label not in known]

    def append(self, X: FloatArray, y: npt.NDArray[Any], most: int | None) -> None:
        """Append rows, and drop the oldest if there are more than ``most``."""
        target, m = self._coded(y), len(y)
        if self._first + self.n + m > len(self._target):
            self._make_room(2 * (self.n + m) + SPARE_ROWS)
        new = slice(self._first + self.n, self._first + self.n + m)
        for column, values in zip(self._columns.values(), X.T, strict=True):
            column[new] = values
        self._target[new] = target
        self.n += m
        gone = 0 if most is None else max(0, self.n - most)
        self._first, self.n = self._first + gone, self.n - gone

    def _make_room(self, rows: int) -> None:
        def moved(old: npt.NDArray[Any]) -> npt.NDArray[Any]:
            new = np.zeros(rows, old.dtype)
            new[: self.n] = old[self._held]
            return new

        self._columns = {feature: moved(column) for feature, column in self._columns.items()}
        self._target = moved(self._target)
        self._first = 0

    def keep(self, wanted: IntArray, X: Matrix | None = None, start: int = 0) -> None:
        """Keep the given columns; new ones are in a block whose first column has number ``start``."""
        if wanted.tolist() == list(self._columns):
            return
        columns: dict[int, FloatArray] = {}
        for feature in wanted.tolist():
            if feature in self._columns or X is None:
                columns[feature] = self._columns[feature]
            else:
                columns[feature] = np.zeros(len(self._target))
                columns[feature][self._held] = dense_column(X, feature - start)
        self._columns = columns

    def _coded(self, y: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return targets as they are stored: labels as codes."""
        if self.labels is None:
            return np.array(y, np.float64)
        new = self.news(y)
        if new:
            self.labels = np.array([*self.labels.tolist(), *new])
        number = {label: code for code, label in enumerate(self.labels.tolist())}
        labels, where = np.unique(y, return_inverse=True)
        return np.array([number[label] for label in labels.tolist()], np.int64)[where]

    def _record(self) -> Mapping[str, Any]:
        target, classes = self._target[self._held], self.labels is not None
        return {
            "target_kind": NUMBERS if self.labels is None else self.labels.dtype.kind,
            "labels": [] if self.labels is None else self.labels.tolist(),
            "codes": target if classes else None,
            "target": None if classes else target,
            "features": self.features,
            "values": np.ascontiguousarray(self.values().T),
        }

    @classmethod
    def _misfits(cls, record: Mapping[str, Any]) -> Iterator[str]:
        kind = record["target_kind"]
        if (record["codes"] is None) is not (kind == NUMBERS) or (record["target"] is None) is (
            kind == NUMBERS
        ):
            yield "there are no targets, or both labels and numbers"
        elif kind != NUMBERS and np.array(record["labels"]).dtype.kind != LABEL_KINDS[kind]:
            yield f"the labels are not of kind {kind!r}"

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        kind, codes, target = record["target_kind"], record["codes"], record["target"]
        table = cls(np.zeros(0), classes=False)
        if kind != NUMBERS:
            labels = np.array(record["labels"])
            table.labels = labels.astype({"u": "u8", "b": "?"}.get(kind, labels.dtype))
        table._target = target if codes is None else codes
        table.n = len(table._target)
        table._columns = dict(zip(record["features"].tolist(), record["values"], strict=True))
        return table

    def _consistent(self) -> Iterator[str]:
        if self.n < 1:
            yield "the table has no rows"
        if self.labels is not None and len(np.unique(self.labels)) < len(self.labels):
            yield "two labels are equal"
