"""A table that grows both ways: rows at its end, and columns as they are kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, FloatArray, IntArray, Matrix
from streamsieve.state import expect, pack_strings, register, unpack_strings

#: Rows that there is room for beyond those held, at least.
SPARE_ROWS = 16


@register
class GrowingTable:
    """The latest rows of a stream: their targets, and their values in the columns that are kept.

    There is room for as many rows more: memory is at most about twice that of the values held.

    Parameters
    ----------
    y : labels or numbers, one a row
    classes : whether they are labels
    """

    def __init__(self, y: npt.NDArray[Any], *, classes: bool) -> None:
        #: Labels in order of appearance; None for numbers.
        self.labels: npt.NDArray[Any] | None = y[:0] if classes else None
        self._target = self._coded(y)
        #: By arrival number, in order; all as long as the targets, with room at their end.
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
        """Return the labels among these that were never seen."""
        if self.labels is None:
            return []
        known = set(self.labels.tolist())
        return [label for label in np.unique(y).tolist() if label not in known]

    def append(self, X: FloatArray, y: npt.NDArray[Any], most: int | None) -> None:
        """Add rows, and let the oldest go if there are more than ``most``."""
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
        """Keep the columns wanted, new ones taken from a block that begins with number ``start``."""
        if wanted.tolist() == list(self._columns):
            return
        columns: dict[int, FloatArray] = {}
        for feature in wanted.tolist():
            if feature in self._columns or X is None:
                columns[feature] = self._columns[feature]
            else:
                column = X[:, [feature - start]]
                columns[feature] = np.zeros(len(self._target))
                columns[feature][self._held] = (column.toarray() if sp.issparse(column) else column)[:, 0]
        self._columns = columns

    def _coded(self, y: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return targets as they are stored: labels as their numbers."""
        if self.labels is None:
            return np.array(y, np.float64)
        new = self.news(y)
        if new:
            self.labels = np.array([*self.labels.tolist(), *new])
        number = {label: code for code, label in enumerate(self.labels.tolist())}
        labels, where = np.unique(y, return_inverse=True)
        return np.array([number[label] for label in labels.tolist()], np.int64)[where]

    # ---------------------------------------------------------------- state

    def state(self) -> Arrays:
        """Return the rows held."""
        target = self._target[self._held]
        arrays = {"features": self.features, "values": np.ascontiguousarray(self.values().T)}
        if self.labels is None:
            return {**arrays, "target": target}
        if self.labels.dtype.kind == "U":
            text = pack_strings(self.labels.tolist())
            return {**arrays, "codes": target, **{f"label_{key}": array for key, array in text.items()}}
        return {**arrays, "codes": target, "labels": self.labels}

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild."""
        table = cls(np.zeros(0), classes=False)
        if "target" in arrays:
            target = expect(arrays, "target", np.float64, (None,))
        else:
            target = expect(arrays, "codes", np.int64, (None,))
            table.labels = _labels(arrays)
            if np.any((target < 0) | (target >= len(table.labels))):
                raise StateError("the state's rows have labels that there are not")
        features = expect(arrays, "features", np.int64, (None,))
        values = expect(arrays, "values", np.float64, (len(features), len(target)))
        if len(target) < 1 or np.any(np.diff(features, prepend=-1) <= 0):
            raise StateError("the state's table holds no rows, or columns that were never offered")
        table.n, table._target = len(target), np.array(target)
        table._columns = dict(zip(features.tolist(), np.array(values), strict=True))
        return table


def _labels(arrays: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
    if "labels" not in arrays:
        text = {key.removeprefix("label_"): a for key, a in arrays.items() if key.startswith("label_")}
        labels = np.array(unpack_strings(text), dtype=np.str_)
    else:
        labels = np.array(arrays["labels"])
    if labels.ndim != 1 or labels.dtype.kind not in "Ufiub" or len(np.unique(labels)) != len(labels):
        raise StateError("the state's labels are no labels, or some of them are equal")
    return labels
