"""Composition of a Markov-blanket rule with the search for spouses, which the rule rejects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np

from streamsieve.columns.composition import Composition
from streamsieve.columns.redundancy.contract import RedundancyRule
from streamsieve.columns.redundancy.markov_blanket.spouses import SpousePool
from streamsieve.decisions import Outcome
from streamsieve.dependence.contract import RelevanceTest
from streamsieve.protocols import ColumnBlock, FloatArray, IntArray
from streamsieve.state import Nested, register


@register
class BlanketComposition(Composition):
    """A composition that selects the Markov blanket with spouses; its outcomes are those of the rule."""

    fields = {**Composition.fields, "pool": Nested(SpousePool, shares=("rows",))}

    def __init__(self, test: RelevanceTest, rule: RedundancyRule, pool: SpousePool) -> None:
        super().__init__(test, rule)
        self.pool = pool

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the members of the blanket, in order."""
        return np.array(self.pool.blanket().members, np.int64)

    @property
    def named(self) -> IntArray:
        """Arrival numbers of the columns kept, and of the rejected ones that may still be kept."""
        return self.pool.features

    @property
    def _holds_all(self) -> bool:
        return True  # an irrelevant column may be a spouse

    def offer(self, block: ColumnBlock, start: int) -> Outcome:
        """Decide on a block by the rule, and store the values of its columns."""
        outcome = super().offer(block, start)
        self.pool.follow(block.X, [*block.arrived(start)], block.types, outcome, start)
        return outcome

    def offer_one(self, x: FloatArray) -> None:
        """Return None: single columns need `offer`, which stores their values."""

    def _record(self) -> Mapping[str, Any]:
        return {**super()._record(), "pool": self.pool}

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        test = record["test"] or getattr(record["rule"], "test", record["pool"].test)
        return cls(test, record["rule"], record["pool"])

    def _consistent(self) -> Iterator[str]:
        if self.pool.n != self.n:
            yield f"the test has {self.n} rows, the pool of rejected columns {self.pool.n}"
        elif self.rule.features.tolist() != self.pool.children:
            yield "the pool of rejected columns knows other kept columns than the rule"
        else:
            yield from super()._consistent()
