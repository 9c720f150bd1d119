"""The top-k rule: a buffer of k members, filled and then improved by swaps.

While there is room, a candidate enters.  Then the candidate and the k members are scored by their dependence
on the target minus ``weight`` times their mean dependence on the k others; the one with the least score
leaves, of equals the last to arrive.  With a weight above 0, a copy of a member is redundant at once, even
while there is room.  Without a weight no column is compared and none is stored: this is the exact top k.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from streamsieve.columns.redundancy.contract import Candidates
from streamsieve.columns.redundancy.slots import SLOT, Shape
from streamsieve.columns.redundancy.top_k.correlation import KERNEL_OUTSCORED, Entries, Fates, TopKBuffer
from streamsieve.dependence.blocks import dense_column
from streamsieve.dependence.contract import Measure, dependence_of
from streamsieve.protocols import FloatArray
from streamsieve.state import Array, Encoded, register


@register
class TopKMeasured(TopKBuffer):
    """Top-k rule for a user-defined measure; stores the members and their values."""

    fields = {**TopKBuffer.fields, "measure": Encoded("dependence"), "columns": Array("f8", "kept", "rows")}

    def __init__(self, n: int, k: int, weight: float, measure: Measure) -> None:
        self._measure = measure
        super().__init__(n, k, weight)

    def _columns(self) -> dict[str, tuple[str, Shape]]:
        return {"columns": ("f8", (SLOT, self.n))}

    def _record(self) -> Mapping[str, Any]:
        return {**super()._record(), "measure": self._measure}

    @classmethod
    def _empty(cls, record: Mapping[str, Any]) -> Self:
        return cls(record["n"], record["k"], record["weight"], record["measure"])

    def _decide(self, candidates: Candidates, new: Entries) -> Fates:
        fates = Fates.of(len(new.feature))
        for j, at in enumerate(candidates.at.tolist()):
            if new.values[0, j] <= self.limit:
                fates.fate[j] = KERNEL_OUTSCORED
                continue
            column, shared = dense_column(candidates.X, at), np.zeros(len(self.slots) + 1)
            members = self.slots["columns"][: self._kept]
            shared[: self._kept] = self._shared(candidates, j, column)
            copied = self._first((members == column).all(axis=1))
            slot = self._place(j, shared, copied, new, fates)
            if slot >= 0:
                self._store(candidates, j, column, slot)
        return fates

    def _shared(self, candidates: Candidates, j: int, column: FloatArray) -> FloatArray:  # noqa: ARG002
        """Return the dependence of a candidate and each member."""
        members = self.slots["columns"][: self._kept]
        return np.array([dependence_of(self._measure, column, other) for other in members])

    def _store(self, candidates: Candidates, j: int, column: FloatArray, slot: int) -> None:  # noqa: ARG002
        """Put a candidate into a slot."""
        self.slots["columns"][slot] = column
