"""Kept columns that judge newcomers by correlation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._kernels import dominance
from streamsieve._kernels.dominance import LANES
from streamsieve.independence.fisher_z import Relevance
from streamsieve.protocols import FloatArray, IntArray
from streamsieve.state import Array, Part, register

if TYPE_CHECKING:
    from streamsieve.protocols import Matrix

#: Equal columns, summed in another order, differ by this much at most.
TIE = 1e-12


#: Tiles of 32 columns that a store has room for at first.
FIRST_TILES = 4


class Dominance(NamedTuple):
    """What became of some candidates, and of the kept columns they met."""

    #: The feature that dominates each candidate, or -1 if the candidate was kept.
    by: IntArray
    #: How strongly the two depend on each other.
    pair: FloatArray
    #: Features evicted, in order, by whom, and how strongly the two depend on each other.
    evicted: IntArray
    evicted_by: IntArray
    evicted_pair: FloatArray


@register
class CorrelatedColumns(Part):
    """Columns centred, of unit length, in tiles of 32; memory grows with the columns kept.

    Parameters
    ----------
    n : number of rows
    """

    fields = {
        "columns": Array("f8", "kept", "rows", low=-1 - 1e-6, high=1 + 1e-6, copy=False),
        "relevance": Array("f8", "kept", low=0, high=1 + 1e-6),
        "feature": Array("i8", "kept", low=0, order="rising"),
    }

    def __init__(self, n: int) -> None:
        self.n = n
        slots = FIRST_TILES * LANES
        # zeros are mapped, not written: a tile costs nothing until a column moves in
        self._tiles = np.zeros((FIRST_TILES, n, LANES))
        self._relevance = np.zeros(slots)
        self._feature = np.zeros(slots, np.int64)
        self._order = np.zeros(slots, np.int64)
        self._free = np.arange(slots)[::-1].copy()
        self._kept = 0

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns kept, in order."""
        return self._feature[self._order[: self._kept]]

    @property
    def nbytes(self) -> int:
        """Memory of the tiles in use, in bytes; the others are mapped but never written."""
        tiles = -(-self._kept // LANES)
        return tiles * LANES * self.n * self._tiles.itemsize

    def settle(
        self, X: Matrix, chosen: IntArray, measured: Relevance, start: int,
        *, two_phase: bool, use_max: bool,
    ) -> Dominance:  # fmt: skip
        """Let the chosen columns of a block compete with the kept ones, in order.

        ``start`` is the arrival number of the block's first column.
        """
        m = len(chosen)
        pointers, rows, values = _pieces(X, chosen)
        mean, norm = measured.mean[chosen], measured.norm[chosen]
        relevance, feature = np.abs(measured.r[chosen]), chosen + start
        by, pair = np.full(m, -1, np.int64), np.zeros(m)
        room = self._kept + m
        evicted, evicted_by, evicted_pair = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room)
        done = n_evicted = 0
        while True:
            done, self._kept, n_evicted = dominance.decide(
                pointers, rows, values, sp.issparse(X), mean, norm, relevance, feature, done,
                two_phase, use_max, TIE,
                self._tiles, self._relevance, self._feature, self._order, self._free, self._kept,
                by, pair, evicted, evicted_by, evicted_pair, n_evicted,
            )  # fmt: skip
            if done == m:
                return Dominance(
                    by, pair, evicted[:n_evicted], evicted_by[:n_evicted], evicted_pair[:n_evicted]
                )
            self._double()

    def _double(self) -> None:
        """Add as many slots as there are; the stack of free ones is empty, so they fill it."""
        slots = len(self._order)
        tiles = np.zeros((2 * len(self._tiles), *self._tiles.shape[1:]))
        tiles[: len(self._tiles)] = self._tiles
        self._tiles = tiles
        self._relevance, self._feature, self._order = (
            np.concatenate([a, np.zeros_like(a)]) for a in (self._relevance, self._feature, self._order)
        )
        self._free = np.concatenate([np.arange(slots, 2 * slots)[::-1], np.zeros(slots, np.int64)])

    def _record(self) -> Mapping[str, Any]:
        slots = self._order[: self._kept]
        return {
            "columns": self._tiles[slots // LANES, :, slots % LANES],
            "relevance": self._relevance[slots],
            "feature": self._feature[slots],
        }

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        q, n = record["columns"].shape
        kept, slots = cls(n), np.arange(q)
        while len(kept._order) < q:
            kept._double()
        capacity = len(kept._order)
        kept._tiles[slots // LANES, :, slots % LANES] = record["columns"]
        kept._relevance[:q], kept._feature[:q], kept._order[:q] = (
            record["relevance"],
            record["feature"],
            slots,
        )
        kept._free[: capacity - q] = np.arange(q, capacity)[::-1]
        kept._kept = q
        return kept


def _pieces(X: Matrix, chosen: IntArray) -> tuple[IntArray, npt.NDArray[np.int32], FloatArray]:
    """Return pointers, rows and values of the chosen columns; no rows for a dense block."""
    if not sp.issparse(X):
        n = X.shape[0]
        values = np.ascontiguousarray(X.T[chosen], np.float64).reshape(-1)
        return np.arange(len(chosen) + 1) * n, np.zeros(0, np.int32), values
    low, high = X.indptr[chosen].astype(np.int64), X.indptr[chosen + 1].astype(np.int64)
    pointers = np.concatenate([[0], np.cumsum(high - low)])
    # entry t of the pieces is entry t + (low - pointer) of the block, piece by piece
    at = np.arange(pointers[-1]) + np.repeat(low - pointers[:-1], high - low)
    return pointers, X.indices[at], X.data[at]
