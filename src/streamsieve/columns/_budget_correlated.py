"""A buffer of k columns that share what they are correlated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._kernels.budget import LANES
from streamsieve.columns._budget import Budget, Candidates, Outcome
from streamsieve.columns._correlated import _pieces
from streamsieve.protocols import Arrays
from streamsieve.state import expect, register

if TYPE_CHECKING:
    from streamsieve.protocols import Matrix


@register
class CorrelatedBudget(Budget):
    """Members as columns centred, of unit length, in tiles of 16."""

    def _grow(self, slots: int) -> None:
        super()._grow(slots)
        # zeros are mapped, not written: a tile costs nothing until a column moves in
        tiles = np.zeros((slots // LANES, self.n, LANES))
        tiles[: len(self._tiles)] = self._tiles
        self._tiles = tiles

    def settle(self, X: Matrix, new: Candidates) -> Outcome:
        """Let candidates compete with the members, in order."""
        return self._decide(_pieces(X, new.chosen), new, sparse=sp.issparse(X))

    def state(self) -> Arrays:
        """Return the members and their columns, slot by slot."""
        slots = np.arange(self._q)
        columns = np.ascontiguousarray(self._tiles[slots // LANES, :, slots % LANES])
        return super().state() | {"columns": columns}

    def _fill(self, q: int, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        slots = np.arange(q)
        columns = expect(arrays, "columns", np.float64, (q, self.n))
        self._tiles[slots // LANES, :, slots % LANES] = columns
