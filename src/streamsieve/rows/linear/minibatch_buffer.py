"""Rows that are buffered until there are enough of them for a minibatch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self, TypeAlias

import numpy as np

from streamsieve._values import LIMIT
from streamsieve.protocols import FloatArray, Matrix
from streamsieve.rows.linear.entries import RowEntries, row_entries
from streamsieve.state import Array, Part, register

#: Rows in the form of kernel arguments: a float64 array, or entries.
Rows: TypeAlias = FloatArray | RowEntries


@register
class MinibatchBuffer(Part):
    """Rows and the signs of their labels, in order of arrival; dense as long as all of them are."""

    fields = {
        "signs": Array("f8", "buffered", low=-1, high=1),
        "rows": Array("f8", "buffered", "features", low=-LIMIT, high=LIMIT, optional=True),
        "data": Array("f8", "entries", low=-LIMIT, high=LIMIT, optional=True),
        "indices": Array("i4", "entries", low=0, optional=True),
        "indptr": Array("i8", "buffered+1", low=0, order="sorted", optional=True),
    }

    def __init__(self) -> None:
        self._pieces: list[tuple[Rows, FloatArray]] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def portions(self, rows: Rows, signs: FloatArray, size: int) -> Iterator[tuple[Rows, FloatArray]]:
        """Yield rows in multiples of ``size``, the buffered ones first; the remainder is buffered."""
        done = 0
        if self._count and self._count + len(signs) >= size:
            done = size - self._count
            self._pieces.append((_part(rows, 0, done), signs[:done]))
            yield self.joined()
            self.clear()
        whole = done + (len(signs) - done) // size * size
        if whole > done:
            yield _part(rows, done, whole), signs[done:whole]
            done = whole
        if done < len(signs):
            self.append(_part(rows, done, len(signs)), signs[done:])

    def append(self, rows: Rows, signs: FloatArray) -> None:
        """Buffer copies of some rows, because the caller may change the originals."""
        self._pieces.append((_copy(rows), signs.copy()))
        self._count += len(signs)

    def clear(self) -> None:
        """Drop all rows."""
        self._pieces, self._count = [], 0

    def joined(self) -> tuple[Rows, FloatArray]:
        """Return all rows and their signs; there must be some."""
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

    def _record(self) -> Mapping[str, Any]:
        if not self._pieces:
            return {"signs": np.zeros(0)}
        rows, signs = self.joined()
        self._pieces = [(rows, signs)]
        return {"signs": signs, **({"rows": rows} if isinstance(rows, np.ndarray) else rows._asdict())}

    @classmethod
    def _misfits(cls, record: Mapping[str, Any]) -> Iterator[str]:
        parts = [record[name] is not None for name in ("rows", *RowEntries._fields)]
        if not len(record["signs"]) and any(parts):
            yield "there are values, but no rows"
        elif len(record["signs"]) and parts not in ([True, False, False, False], [False, True, True, True]):
            yield "the rows should be an array or sparse"

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        buffer, signs, rows = cls(), record["signs"], record["rows"]
        if not len(signs):
            return buffer
        if rows is None:
            rows = RowEntries(*(record[name] for name in RowEntries._fields))
        buffer._pieces, buffer._count = [(rows, signs)], len(signs)
        return buffer

    def _consistent(self) -> Iterator[str]:
        for rows, signs in self._pieces:
            if isinstance(rows, RowEntries) and (rows.indptr[0] != 0 or rows.indptr[-1] != len(rows.data)):
                yield "the sparse rows end elsewhere than their values"
            if np.any(np.abs(signs) != 1):
                yield "a sign is neither -1 nor 1"

    def fits(self, n_features: int) -> bool:
        """Whether these can be rows of ``n_features`` features."""
        return all(
            rows.shape[1] == n_features
            if isinstance(rows, np.ndarray)
            else rows.indices.max(initial=-1) < n_features
            for rows, _ in self._pieces
        )


def rows_of(X: Matrix) -> Rows:
    """Return a batch in the form of kernel arguments."""
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
