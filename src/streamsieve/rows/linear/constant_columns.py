"""Columns that have had the same value in every row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import numpy as np

from streamsieve.protocols import BoolArray, FloatArray, IntArray
from streamsieve.rows.linear.entries import RowEntries
from streamsieve.state import Array, Int, Part, register


@register
class ConstantColumns(Part):
    """The columns that are constant so far, and not 0: a linear model without intercept uses them as one.

    Only columns of the first row can be constant, because a column that appears later was 0 before.  So there
    are never more candidates than values in one row, and their number only falls.

    Attributes
    ----------
    rows : number of rows seen; a single one proves nothing
    candidates, values : the columns whose value has not changed, in order, and their values
    """

    fields = {
        "rows": Int(),
        "candidates": Array("i8", "candidates", low=0, order="rising"),
        "values": Array("f8", "candidates", finite=True),
    }

    def __init__(self) -> None:
        self.rows = 0
        self.candidates: IntArray = np.zeros(0, np.int64)
        self.values: FloatArray = np.zeros(0)

    def update(self, entries: RowEntries, ids: IntArray | None = None) -> None:
        """Add rows; column i has the id ``ids[i]`` (increasing), or i if that is None."""
        rows = len(entries.indptr) - 1
        if self.rows and not len(self.candidates):  # fast path for nearly all batches
            self.rows += rows
            return
        names = entries.indices.astype(np.int64) if ids is None else ids[entries.indices]
        if self.rows == 0 and rows:
            first = slice(0, int(entries.indptr[1]))
            there = entries.data[first] != 0
            self.candidates = names[first][there]
            self.values = entries.data[first][there]
        self.rows += rows
        if len(self.candidates) and rows:
            place = np.searchsorted(self.candidates, names)
            place[place == len(self.candidates)] = 0
            same = self.candidates[place] == names
            same &= self.values[place] == entries.data
            self._keep(np.bincount(place[same], minlength=len(self.candidates)) == rows)

    def merge(self, other: Self) -> None:
        """Add the rows of another one."""
        if self.rows == 0:
            self.candidates, self.values = other.candidates, other.values
        elif other.rows:
            theirs = dict(zip(other.candidates.tolist(), other.values.tolist(), strict=True))
            mine = zip(self.candidates.tolist(), self.values.tolist(), strict=True)
            self._keep(np.array([theirs.get(column) == value for column, value in mine], bool))
        self.rows += other.rows

    def _keep(self, mask: BoolArray) -> None:
        if not mask.all():
            self.candidates, self.values = self.candidates[mask], self.values[mask]

    @property
    def columns(self) -> IntArray:
        """Columns with the same value in all rows; none before there are two rows."""
        return self.candidates if self.rows > 1 else self.candidates[:0]

    def _consistent(self) -> Iterator[str]:
        if not np.all(self.values) or (self.rows == 0 and len(self.candidates)):
            yield "a column without a value counts as constant"
