"""The Markov-blanket rule for columns of mixed types.

Levels given levels are tested by contingency tables, everything else by Wilks' lambda of the embedded
columns; see `independence.degenerate_gaussian`.  Products of embedded columns are computed once, so that a
test costs a few small matrices, however many rows there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Self

import numpy as np

from streamsieve.column_types import TYPES
from streamsieve.columns.redundancy.contract import Candidates
from streamsieve.columns.redundancy.markov_blanket.rule import (
    CONFIG_FIELDS,
    Kept,
    MarkovBlanket,
    MarkovBlanketConfig,
)
from streamsieve.decisions import Outcome
from streamsieve.independence.by_type import RelevanceByType
from streamsieve.independence.degenerate_gaussian import Embedded, compared, embedded
from streamsieve.protocols import FloatArray, IntArray
from streamsieve.state import Array, Nested, register

#: Takes the place of an arrival number for the target.
TARGET = -1


@register
class MarkovBlanketMixed(MarkovBlanket):
    """Kept columns with their types, and the products of their embeddings."""

    fields = {
        "test": Nested(RelevanceByType, shares=("rows",)),
        "columns": Array("f8", "kept", "rows", finite=True),
        "types": Array("u1", "kept", high=len(TYPES) - 1),
        "feature": MarkovBlanket.fields["feature"],
        **CONFIG_FIELDS,
    }

    def __init__(self, test: RelevanceByType, config: MarkovBlanketConfig) -> None:
        self.n, self.test, self._alpha, self._config = test.n, test, test.correlation.level, config
        self._kept: list[Kept] = []
        #: Kept columns and the present candidate.
        self._embedded: dict[int, Embedded] = {}
        self._products: dict[tuple[int, int], FloatArray] = {}

    def keep(self, feature: int, values: FloatArray, kind: int) -> None:
        """Add a column that another rule has kept."""
        self._embedded[feature] = embedded(values, kind)
        self._kept.append(Kept(feature, values))

    def settle(self, candidates: Candidates) -> Outcome:
        """Let candidates compete with the kept columns, one after the other."""
        outcome = super().settle(candidates)
        left = {kept.feature for kept in self._kept}
        self._embedded = {feature: column for feature, column in self._embedded.items() if feature in left}
        self._products = {pair: block for pair, block in self._products.items() if left | {TARGET} >= {*pair}}
        return outcome

    def _arrived(self, candidates: Candidates, j: int) -> Kept:
        new = super()._arrived(candidates, j)
        (types,) = candidates.relevance.columns
        self._embedded[new.feature] = embedded(new.column, int(types[j]))
        return new

    def _tested(self, column: Kept, given: tuple[Kept, ...]) -> tuple[float, float]:
        """Return statistic and p-value; a set with too few rows for a test is skipped, or separates."""
        unreliable = 0.0 if self._config.skip_unreliable else 1.0
        of = [self._embedded[kept.feature] for kept in (column, *given)]
        if self.test.tables is not None and all(each.discrete for each in of):
            columns = np.column_stack([kept.column for kept in given])
            found = self.test.tables.given(column.column, columns)
            return found.statistic, found.p_value if found.reliable else unreliable
        features = column.feature, TARGET, *(kept.feature for kept in given)
        blocks = [[self._product(a, b) for b in features] for a in features]
        ends = np.cumsum([0, *(block.shape[1] for block in blocks[0])])
        x, y, *_ = (np.arange(low, high) for low, high in pairwise(ends))
        tested = compared(np.block(blocks), self.n, x, y, np.arange(ends[2], ends[-1]))
        return (0.0, unreliable) if tested is None else (tested.strength, tested.p_value)

    def _product(self, a: int, b: int) -> FloatArray:
        """Return the products of two embedded columns, or of one and the target."""
        if (a, b) not in self._products:
            block = self._basis(a).T @ self._basis(b)
            self._products[a, b], self._products[b, a] = block, block.T
        return self._products[a, b]

    def _basis(self, feature: int) -> FloatArray:
        return self.test.correlation.basis if feature == TARGET else self._embedded[feature].basis

    def _record(self) -> Mapping[str, Any]:
        types: IntArray = np.array([self._embedded[kept.feature].kind for kept in self._kept], np.int64)
        own = {"test": self.test, "types": types.astype(np.uint8), **self._config._asdict()}
        return {**own, "columns": self._values(), "feature": self.features}

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        rule = cls(record["test"], MarkovBlanketConfig.of(record))
        for feature, values, kind in zip(record["feature"], record["columns"], record["types"], strict=True):
            rule.keep(int(feature), values, int(kind))
        return rule
