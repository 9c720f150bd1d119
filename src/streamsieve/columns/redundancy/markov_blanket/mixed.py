"""The Markov-blanket rule for columns of mixed types; its tests are those of `ConditionalByType`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from streamsieve.independence.conditional_by_type import ConditionalByType
from streamsieve.protocols import FloatArray, IntArray
from streamsieve.state import Array, Nested, register


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
        self._tests = ConditionalByType(test)

    @property
    def many_kept(self) -> int:
        """Number of kept columns from which on sets are smaller."""
        return self._config.many_for(self.n)

    def keep(self, feature: int, values: FloatArray, kind: int) -> None:
        """Add a column that another rule has kept."""
        self._tests.add(feature, values, kind)
        self._kept.append(Kept(feature, values))

    def settle(self, candidates: Candidates) -> Outcome:
        """Decide on candidates in order, given the kept columns."""
        outcome = super().settle(candidates)
        self._tests.keep_only({kept.feature for kept in self._kept})
        return outcome

    def _arrived(self, candidates: Candidates, j: int) -> Kept:
        if j and (not self._kept or self._kept[-1].feature != candidates.feature[j - 1]):
            self._tests.drop(int(candidates.feature[j - 1]))
        new = super()._arrived(candidates, j)
        (types,) = candidates.relevance.columns
        self._tests.add(new.feature, new.column, int(types[j]))
        return new

    def _sets(self, column: Kept, others: Sequence[Kept], new: Kept | None) -> Iterator[tuple[Kept, ...]]:
        names, newcomer = [kept.feature for kept in others], None if new is None else new.feature
        fixed = () if new is None else (new,)
        for members in self._tests.open_sets(column.feature, names, self._largest, newcomer):
            yield (*(others[i] for i in members), *fixed)

    def _tested(self, column: Kept, given: tuple[Kept, ...]) -> tuple[float, float]:
        """Return statistic and p-value; with too few rows for a test, the set is skipped, or separates."""
        found = self._tests.given(column.feature, [kept.feature for kept in given])
        unreliable = 0.0 if self._config.skip_unreliable else 1.0
        return found.statistic, found.p_value if found.reliable else unreliable

    def _record(self) -> Mapping[str, Any]:
        types: IntArray = np.array([self._tests.kind(kept.feature) for kept in self._kept], np.int64)
        own = {"test": self.test, "types": types.astype(np.uint8), **self._config._asdict()}
        return {**own, "columns": self._values(), "feature": self.features}

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        rule = cls(record["test"], MarkovBlanketConfig.of(record))
        for feature, values, kind in zip(record["feature"], record["columns"], record["types"], strict=True):
            rule.keep(int(feature), values, int(kind))
        return rule
