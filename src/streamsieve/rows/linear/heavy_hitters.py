"""A heap of the k features of largest weight, with a hash table from ids to slots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve._kernels import sketch as kernels
from streamsieve.protocols import FloatArray, IntArray
from streamsieve.state import Array, Int, Part

#: Largest number of features.
MOST = 2**24


class HeavyHitters(Part):
    """A heap of features, the smallest weight first, and a hash table from ids to slots.

    A feature keeps its slot as long as it stays; one that comes in takes the slot of the one that goes.

    Parameters
    ----------
    capacity : how many features there may be, at most 2**24
    """

    fields = {
        "ids": Array("i8", "features", low=0, unique=True, copy=False),
        "keys": Array("f8", "features", low=0, finite=True, copy=False),
        "capacity": Int(1, MOST),
    }

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
        """Read all keys again from a sketch."""
        kernels.refresh(cells, models, seeds, self.ids, self.keys, self.heap, self.place, self.count)

    def _record(self) -> Mapping[str, Any]:
        """Return ids and keys; the order inside the heap follows from them."""
        n = int(self.count[0])
        return {"ids": self.ids[:n], "keys": self.keys[:n], "capacity": self.capacity}

    @classmethod
    def _misfits(cls, record: Mapping[str, Any]) -> Iterator[str]:
        if len(record["ids"]) > record["capacity"]:
            yield f"{len(record['ids'])} features are in a heap of {record['capacity']}"

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        hitters = cls(record["capacity"])
        hitters.fill(record["ids"], record["keys"])
        return hitters
