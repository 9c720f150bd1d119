"""The k features of largest weight, found by their id at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve._kernels import sketch as kernels
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, FloatArray, IntArray
from streamsieve.state import expect

#: So many features are no selection any more.
MOST = 2**24


class HeavyHitters:
    """A heap of features, the worst on top, and a hash table from ids to slots.

    A feature keeps its slot as long as it stays; one that comes in takes the slot of the one that goes.

    Parameters
    ----------
    capacity : how many features there may be, at most 2**24
    """

    def __init__(self, capacity: int) -> None:
        self.ids = np.zeros(capacity, np.int64)
        self.keys = np.zeros(capacity)
        self.heap = np.zeros(capacity, np.int64)
        self.place = np.zeros(capacity, np.int64)
        # at most a quarter full, so that most strangers are known as such at first sight
        self.table = np.zeros(1 << (4 * capacity - 1).bit_length(), np.int64)
        self.count = np.zeros(1, np.int64)

    @property
    def capacity(self) -> int:
        """How many features there may be."""
        return len(self.ids)

    @property
    def features(self) -> IntArray:
        """Their ids, by slot."""
        return self.ids[: int(self.count[0])]

    @property
    def is_full(self) -> bool:
        """Whether a newcomer has to replace another."""
        return int(self.count[0]) == len(self.ids)

    def fill(self, ids: IntArray, keys: FloatArray) -> None:
        """Hold these features and no others."""
        self.count[0] = len(ids)
        self.ids[: len(ids)] = ids
        self.keys[: len(ids)] = keys
        kernels.build(self.ids, self.keys, self.heap, self.place, self.table, self.count)

    def refresh(self, cells: FloatArray, models: int, seeds: npt.NDArray[np.uint64]) -> None:
        """Read all keys anew from a sketch."""
        kernels.refresh(cells, models, seeds, self.ids, self.keys, self.heap, self.place, self.count)

    def state(self) -> Arrays:
        """Return ids and keys; the order inside the heap follows from them."""
        n = int(self.count[0])
        return {
            "ids": self.ids[:n].copy(),
            "keys": self.keys[:n].copy(),
            "capacity": np.array([self.capacity], np.int64),
        }

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild."""
        capacity = int(expect(arrays, "capacity", np.int64, (1,))[0])
        ids = expect(arrays, "ids", np.int64, (None,))
        keys = expect(arrays, "keys", np.float64, ids.shape)
        if not 1 <= capacity <= MOST or len(ids) > capacity:
            raise StateError(f"the state claims {len(ids)} top features of {capacity} at most")
        if np.any(ids < 0) or len(np.unique(ids)) != len(ids):
            raise StateError("the state's top features are not different ids")
        if not np.all(np.isfinite(keys)) or np.any(keys < 0):
            raise StateError("the state's top features have impossible weights")
        hitters = cls(capacity)
        hitters.fill(ids, keys)
        return hitters
