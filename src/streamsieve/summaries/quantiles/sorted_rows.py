"""Buffered rows in sorted order, kept between queries so that only new rows are sorted."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve._kernels import quantiles_weighted as kernel
from streamsieve.protocols import FloatArray

#: Rows sorted together before they are merged with the others.
RUN_ROWS = 64
#: New rows from which on a SIMD sort of all rows is faster than an insertion of the new ones.
MANY_ROWS = 2 * RUN_ROWS
#: Bytes of one class up to which sorted rows are kept.
MOST_BYTES = 2**26


class SortedRows:
    """The values of buffered rows, feature by feature in order, and the row of each.

    The order is that of `weighted.ordered`, to the last of equal values, so that sums are equal bit by bit.
    Features may be read in blocks, each by a thread of its own.
    """

    def __init__(self, n_features: int, dtype: np.dtype[Any]) -> None:
        self._values = np.empty((n_features, 0), dtype)
        self._place = np.empty((n_features, 0), np.int32)
        #: Number of sorted rows of every feature.
        self._done = np.zeros(n_features, np.int64)
        #: Number of rows at the last query.
        self._queried = 0

    @property
    def nbytes(self) -> int:
        """Memory used, in bytes."""
        return self._values.nbytes + self._place.nbytes + self._done.nbytes

    def few_new(self, filled: int) -> bool:
        """Whether few rows have come since the last query; if they are many, sorting all again is faster."""
        new, self._queried = filled - self._queried, filled
        return new <= MANY_ROWS

    def make_room(self, capacity: int) -> bool:
        """Allocate room for the rows of a buffer; return False if there are too many."""
        p, room = self._values.shape
        if p * capacity * (self._values.itemsize + 4) > MOST_BYTES:
            return False
        if room < capacity:
            more = ((0, 0), (0, capacity - room))
            self._values, self._place = np.pad(self._values, more), np.pad(self._place, more)
        return True

    def read(
        self, rows: npt.NDArray[Any], u: FloatArray, low: int, high: int, missing: FloatArray
    ) -> tuple[npt.NDArray[Any], FloatArray]:
        """Return the sorted values of features low..high and the mass up to each, as `ordered` does."""
        part, m = slice(low, high), len(rows)
        done = self._done[part]
        first = int(done.min()) if len(done) and done.min() == done.max() <= m else 0
        values, place = self._values[part], self._place[part]
        kernel.insert(rows[:, part], first, m, values, place, RUN_ROWS)
        self._done[part] = m
        cumulative = np.empty((high - low, m))
        kernel.accumulate(values[:, :m], place[:, :m], rows[:, part], u, cumulative, missing)
        return values[:, :m], cumulative
