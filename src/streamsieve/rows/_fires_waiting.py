"""Rows that wait until there are enough of them for a step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from streamsieve._validation import LIMIT
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, FloatArray, Matrix
from streamsieve.rows._row_entries import RowEntries, row_entries
from streamsieve.state import expect, register

#: Rows as the kernels take them: a float64 array, or entries.
Rows: TypeAlias = FloatArray | RowEntries


@register
class FiresWaiting:
    """Rows with their signs, in the order they came; dense as long as all of them are."""

    def __init__(self) -> None:
        self._pieces: list[tuple[Rows, FloatArray]] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def portions(self, rows: Rows, signs: FloatArray, size: int) -> Iterator[tuple[Rows, FloatArray]]:
        """Yield rows in multiples of ``size``, those that waited first; what is left over waits."""
        waiting = self._count
        done = 0
        if waiting and waiting + len(signs) >= size:
            done = size - waiting
            self._pieces.append((_part(rows, 0, done), signs[:done]))
            yield self._joined()
            self._pieces, self._count = [], 0
        whole = done + (len(signs) - done) // size * size
        if whole > done:
            yield _part(rows, done, whole), signs[done:whole]
            done = whole
        if done < len(signs):  # whoever gave the rows may change them
            self._pieces.append((_copy(_part(rows, done, len(signs))), signs[done:].copy()))
            self._count += len(signs) - done

    def _joined(self) -> tuple[Rows, FloatArray]:
        pieces = [rows for rows, _ in self._pieces]
        signs = np.concatenate([signs for _, signs in self._pieces])
        dense = [rows for rows in pieces if isinstance(rows, np.ndarray)]
        if len(dense) == len(pieces):
            return np.concatenate(dense), signs
        entries = [row_entries(rows) if isinstance(rows, np.ndarray) else rows for rows in pieces]
        lengths = np.concatenate([np.diff(rows.indptr) for rows in entries])
        return (
            RowEntries(
                np.concatenate([rows.data for rows in entries]),
                np.concatenate([rows.indices for rows in entries]),
                np.concatenate([[0], np.cumsum(lengths)]),
            ),
            signs,
        )

    def state(self) -> Arrays:
        """Return the rows and their signs."""
        if not self._pieces:
            return {"signs": np.zeros(0)}
        rows, signs = self._joined()
        self._pieces = [(rows, signs)]
        if isinstance(rows, np.ndarray):
            return {"signs": signs, "rows": rows}
        return {"signs": signs, **rows._asdict()}

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild."""
        waiting = cls()
        signs = expect(arrays, "signs", np.float64, (None,))
        if not np.all(np.abs(signs) == 1):
            raise StateError("the state's waiting rows have signs other than -1 and 1")
        if not len(signs):
            return waiting
        rows: Rows
        if "rows" in arrays:
            rows = values = expect(arrays, "rows", np.float64, (len(signs), None))
        else:
            values = expect(arrays, "data", np.float64, (None,))
            indices = expect(arrays, "indices", np.int32, values.shape)
            indptr = expect(arrays, "indptr", np.int64, (len(signs) + 1,))
            rows = RowEntries(values, indices, indptr)
            if indptr[0] != 0 or indptr[-1] != len(values) or np.any(np.diff(indptr) < 0):
                raise StateError("the state's waiting rows do not fit together")
        if not np.all(np.abs(values) <= LIMIT):
            raise StateError("the state's waiting rows hold values that are refused")
        waiting._pieces, waiting._count = [(rows, signs)], len(signs)
        return waiting

    def check(self, n_features: int) -> None:
        """Refuse (``StateError``) rows that have other features."""
        for rows, _ in self._pieces:
            if isinstance(rows, np.ndarray):
                fits = rows.shape[1] == n_features
            else:
                fits = not len(rows.indices) or (rows.indices.min() >= 0 and rows.indices.max() < n_features)
            if not fits:
                raise StateError("the state's waiting rows have other features")


def rows_of(X: Matrix) -> Rows:
    """Return a batch as the kernels take it."""
    return np.ascontiguousarray(X, np.float64) if isinstance(X, np.ndarray) else row_entries(X)


def _part(rows: Rows, low: int, high: int) -> Rows:
    if isinstance(rows, np.ndarray):
        return rows[low:high]
    first, last = rows.indptr[low], rows.indptr[high]
    return RowEntries(rows.data[first:last], rows.indices[first:last], rows.indptr[low : high + 1] - first)


def _copy(rows: Rows) -> Rows:
    if isinstance(rows, np.ndarray):
        return rows.copy()
    return RowEntries(rows.data.copy(), rows.indices.copy(), rows.indptr.copy())
