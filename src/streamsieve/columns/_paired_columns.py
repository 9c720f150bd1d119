"""Kept columns with gaps that judge newcomers by correlation over joint rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from streamsieve._kernels import paired_columns as kernel
from streamsieve.columns._correlated import TIE, Dominance, _pieces
from streamsieve.protocols import FloatArray, IntArray
from streamsieve.state import Array, Part, register

if TYPE_CHECKING:
    from streamsieve.protocols import Matrix

#: Columns that a store has room for at first.
FIRST_SLOTS = 32
#: Values of candidates, row by row, that are made at a time: a few megabytes.
CHUNK_VALUES = 2**20


class PairedDominance(NamedTuple):
    """What became of some candidates, and in how many rows each deciding pair was seen."""

    settled: Dominance
    rows: IntArray
    evicted_rows: IntArray


def standardised(X: Matrix, chosen: IntArray) -> Iterator[tuple[slice, FloatArray, IntArray]]:
    """Yield some of the chosen columns at a time: which, their values (length 1, no mean), and rows seen."""
    n = X.shape[0]
    size = max(1, CHUNK_VALUES // n)
    for low in range(0, len(chosen), size):
        part = slice(low, min(low + size, len(chosen)))
        fresh, seen = np.empty((part.stop - low, n)), np.empty(part.stop - low, np.int64)
        kernel.standardise(*_pieces(X, chosen[part]), sp.issparse(X), fresh, seen)
        yield part, fresh, seen


@register
class PairedColumns(Part):
    """Columns of unit length with NaN for what is missing; memory grows with the columns kept.

    Parameters
    ----------
    n : number of rows
    """

    fields = {
        "columns": Array("f8", "kept", "rows", low=-1 - 1e-6, high=1 + 1e-6, gaps=True, copy=False),
        "relevance": Array("f8", "kept", low=-1 - 1e-6, high=1 + 1e-6),
        "feature": Array("i8", "kept", low=0, order="rising"),
    }

    def __init__(self, n: int) -> None:
        self.n = n
        # zeros are mapped, not written: a slot costs nothing until a column moves in
        self._columns = np.zeros((FIRST_SLOTS, n))
        self._relevance = np.zeros(FIRST_SLOTS)
        self._seen = np.zeros(FIRST_SLOTS, np.int64)
        self._feature = np.zeros(FIRST_SLOTS, np.int64)
        self._order = np.arange(FIRST_SLOTS)
        self._kept = 0

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns kept, in order."""
        return self._feature[self._order[: self._kept]]

    @property
    def nbytes(self) -> int:
        """Memory of the kept columns, in bytes."""
        return 8 * self._kept * (self.n + 4)

    def settle(
        self, X: Matrix, chosen: IntArray, r: FloatArray, start: int, *, two_phase: bool, use_max: bool
    ) -> PairedDominance:
        """Let the chosen columns of a block compete with the kept ones, in order.

        ``r`` is the dependence on the target of every column of the block, and ``start`` the arrival number
        of its first.
        """
        m, room = len(chosen), self._kept + len(chosen)
        by, pair, rows = np.full(m, -1), np.zeros(m), np.zeros(m, np.int64)
        evicted, evicted_by, evicted_rows = np.zeros((3, room), np.int64)
        evicted_pair = np.zeros(room)
        relevance, feature, n_evicted = np.abs(r[chosen]), chosen + start, 0
        for part, fresh, seen in standardised(X, chosen):
            done = 0
            while done < len(fresh):
                if self._kept == len(self._order):
                    self._double()
                done, self._kept, n_evicted = kernel.decide(
                    fresh, seen, relevance[part], feature[part], done, two_phase, use_max, TIE,
                    self._columns, self._seen, self._relevance, self._feature, self._order, self._kept,
                    by[part], pair[part], rows[part],
                    evicted, evicted_by, evicted_pair, evicted_rows, n_evicted,
                )  # fmt: skip
        gone = slice(n_evicted)
        settled = Dominance(by, pair, evicted[gone], evicted_by[gone], evicted_pair[gone])
        return PairedDominance(settled, rows, evicted_rows[gone])

    def _double(self) -> None:
        """Add as many slots as there are."""
        self._columns, self._relevance, self._seen, self._feature = (
            np.concatenate([a, np.zeros_like(a)])
            for a in (self._columns, self._relevance, self._seen, self._feature)
        )
        self._order = np.concatenate([self._order, len(self._order) + np.arange(len(self._order))])

    def _record(self) -> Mapping[str, Any]:
        slots = self._order[: self._kept]
        return {
            "columns": self._columns[slots],
            "relevance": self._relevance[slots],
            "feature": self._feature[slots],
        }

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        q, n = record["columns"].shape
        kept = cls(n)
        while len(kept._order) < q:
            kept._double()
        kept._columns[:q], kept._relevance[:q] = record["columns"], record["relevance"]
        kept._seen[:q] = n - np.isnan(record["columns"]).sum(axis=1)
        kept._feature[:q] = record["feature"]
        kept._kept = q
        return kept
