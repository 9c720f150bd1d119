"""No redundancy rule: every relevant column is kept."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from streamsieve.columns.redundancy.contract import Candidates, RedundancyRule
from streamsieve.decisions import Outcome
from streamsieve.protocols import IntArray
from streamsieve.state import Array, Int, register


@register
class KeepAll(RedundancyRule):
    """Arrival numbers of the columns kept; their values are not needed."""

    fields = {"n": Int(1, 2**31, size="rows"), "features": Array("i8", "kept", low=0, order="rising")}

    def __init__(self, n: int) -> None:
        self.n = n
        self._kept: list[IntArray] = []

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns kept, in order."""
        return np.concatenate([np.zeros(0, np.int64), *self._kept])

    def settle(self, candidates: Candidates) -> Outcome:
        """Keep every candidate."""
        self._kept.append(candidates.feature)
        return Outcome(candidates.relevance.reason, candidates.relevance.statistic)

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        rule = cls(record["n"])
        rule._kept.append(record["features"])
        return rule
