"""Members and waiting columns of three-way decisions (OSSFS-DD), in slots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from streamsieve._kernels import ossfs_dd as kernel
from streamsieve.columns.redundancy.slots import SLOT, Slots
from streamsieve.dependence.blocks import TIE
from streamsieve.protocols import FloatArray, IntArray
from streamsieve.state import Array, Int, Part, register


class Column(NamedTuple):
    """A column of unit length."""

    feature: int
    columns: FloatArray
    #: Products with the target.
    products: FloatArray
    #: Dependence on the target, and the same with its sign.
    score: float
    statistic: float


@register
class ThreeWayColumns(Part):
    """Members and waiting columns over n rows, in slots, and their products with the target's contrasts."""

    fields = {
        "columns": Array("f8", "columns", "rows", low=-1 - 1e-6, high=1 + 1e-6, copy=False),
        "products": Array("f8", "columns", "contrasts", low=-1 - 1e-6, high=1 + 1e-6, copy=False),
        "score": Array("f8", "columns", low=0, finite=True),
        "statistic": Array("f8", "columns", finite=True),
        "feature": Array("i8", "columns", low=0, unique=True),
        "n": Int(1, 2**31 - 1, size="rows"),
        "contrasts": Int(1, 2**31 - 1, size="contrasts"),
        "n_members": Int(0),
    }

    def __init__(self, n: int, contrasts: int) -> None:
        self.n, self.contrasts = n, contrasts
        self.slots = Slots(
            columns=("f8", (SLOT, n)), products=("f8", (SLOT, contrasts)), score=("f8", (SLOT,)),
            statistic=("f8", (SLOT,)), feature=("i8", (SLOT,)),
        )  # fmt: skip
        #: Slots in order of arrival.
        self.members: list[int] = []
        self.waiting: list[int] = []

    def features(self, slots: list[int]) -> IntArray:
        """Return arrival numbers."""
        found: IntArray = self.slots["feature"][np.array(slots, np.int64)]
        return found

    def put(self, column: Column) -> int:
        """Put a column into a free slot, and return it."""
        slot = int(self.slots.take(1)[0])
        for name, value in column._asdict().items():
            self.slots[name][slot] = value
        return slot

    def drop(self, *slots: int) -> None:
        """Free slots."""
        self.slots.release(np.array(slots, np.int64))

    def pairs(self, upper: float) -> dict[int, int]:
        """Return the slots of waiting columns that have a partner, and the slots of their partners."""
        found = kernel.partners(
            *self.slots.of("columns", "products", "score"), np.array(self.waiting, np.int64),
            2.0 * upper + TIE,
        )  # fmt: skip
        return {self.waiting[i]: self.waiting[j] for i, j in enumerate(found.tolist()) if j >= 0}

    def _record(self) -> Mapping[str, Any]:
        sizes = {"n": self.n, "contrasts": self.contrasts, "n_members": len(self.members)}
        return {**self.slots.record(np.array([*self.members, *self.waiting], np.int64)), **sizes}

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        made = cls(record["n"], record["contrasts"])
        q, members = made.slots.restore(record), record["n_members"]
        made.members, made.waiting = list(range(min(members, q))), list(range(members, q))
        return made

    def _consistent(self) -> Iterator[str]:
        if any(np.any(np.diff(self.features(slots)) <= 0) for slots in (self.members, self.waiting)):
            yield "members or waiting columns are not in order of arrival"
