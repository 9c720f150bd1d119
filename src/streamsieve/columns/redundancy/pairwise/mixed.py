"""The pairwise rule for columns of mixed types, and the rule chosen by the types of the columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Self

import numpy as np

from streamsieve.column_types import TYPES
from streamsieve.columns.redundancy.by_type import KeptColumns, RuleByType
from streamsieve.columns.redundancy.contract import Candidates, RedundancyRule
from streamsieve.columns.redundancy.mixed_columns import MixedColumns
from streamsieve.columns.redundancy.pairwise.correlation import PairwiseCorrelation
from streamsieve.columns.redundancy.pairwise.rule import CONFIG_FIELDS, Kept, Pair, Pairwise, PairwiseConfig
from streamsieve.independence.by_type import RelevanceByType
from streamsieve.independence.degenerate_gaussian import Embedded, dependence, embedded
from streamsieve.protocols import FloatArray
from streamsieve.state import Array, register

#: Number of kept columns compared at a time; once a candidate is rejected, the rest are skipped.
CHUNK = 64
#: Bound on differences by the order of summation; pairs closer than this are compared again exactly.
ROUNDING = 1e-9


@register
class PairwiseMixed(Pairwise):
    """Kept columns with their types, compared on the scale of a correlation."""

    fields = {
        "columns": Array("f8", "kept", "rows", finite=True),
        "types": Array("u1", "kept", high=len(TYPES) - 1),
        "relevance": Pairwise.fields["relevance"],
        "feature": Pairwise.fields["feature"],
        **CONFIG_FIELDS,
    }

    def __init__(self, n: int, config: PairwiseConfig) -> None:
        self.n, self._config = n, config
        self._kept: list[Kept] = []
        self._columns = MixedColumns(n)
        #: Slots of the kept columns.
        self._slot: dict[int, int] = {}
        #: The current candidate.
        self._new: Embedded | None = None

    def keep(self, kept: Kept, kind: int) -> None:
        """Add a column that another rule has kept."""
        self._slot[kept.feature] = self._columns.add(embedded(kept.column, kind))
        self._kept.append(kept)

    def _arrived(self, candidates: Candidates, j: int) -> Kept:
        new = super()._arrived(candidates, j)
        (types,) = candidates.relevance.columns
        self._new = embedded(new.column, int(types[j]))
        return new

    def _join(self, new: Kept) -> None:
        super()._join(new)
        self._slot[new.feature] = self._columns.add(self._candidate)

    def _leave(self, features: Collection[int]) -> None:
        super()._leave(features)
        for feature in features:
            self._columns.drop(self._slot.pop(feature))

    @property
    def _candidate(self) -> Embedded:
        if self._new is None:
            raise RuntimeError("there is no candidate")
        return self._new

    def _rivals(self, new: Kept) -> Iterator[Kept]:
        pick = np.maximum if self._config.use_max else np.minimum
        for low in range(0, len(self._kept), CHUNK):
            some = self._kept[low : low + CHUNK]
            slots = np.array([self._slot[kept.feature] for kept in some], np.int64)
            bound = pick(np.array([kept.relevance for kept in some]), new.relevance)
            near = self._columns.strengths(self._candidate, slots) >= bound - ROUNDING
            for i in np.flatnonzero(near).tolist():
                yield some[i]

    def _compared(self, new: Kept, kept: Kept) -> Pair:  # noqa: ARG002 - it is the present candidate
        found = dependence(self._candidate, self._columns[self._slot[kept.feature]])
        return Pair(found.strength, found.p_value)

    def _record(self) -> Mapping[str, Any]:
        types = [self._columns[self._slot[kept.feature]].kind for kept in self._kept]
        return {
            "columns": np.array([kept.column for kept in self._kept]).reshape(-1, self.n),
            "types": np.array(types, np.uint8),
            "relevance": np.array([kept.relevance for kept in self._kept]),
            "feature": self.features,
            **self._config._asdict(),
        }

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        rule = cls(record["columns"].shape[1], PairwiseConfig.of(record))
        names = ("feature", "relevance", "columns", "types")
        for feature, relevance, column, kind in zip(*(record[name] for name in names), strict=True):
            rule.keep(Kept(int(feature), float(relevance), column), int(kind))
        return rule


@register
class PairwiseByType(RuleByType):
    """Pairwise rule by correlation while all columns are numeric, then on the scale of a correlation."""

    fields = {**RuleByType.fields, **CONFIG_FIELDS}

    def __init__(self, test: RelevanceByType, config: PairwiseConfig) -> None:
        super().__init__(test)
        self._config = config

    def _new_rule(self, mode: str) -> RedundancyRule:
        return (PairwiseCorrelation if mode == "numbers" else PairwiseMixed)(self.n, self._config)

    def _moved(self, mode: str, kept: KeptColumns) -> RedundancyRule:  # noqa: ARG002 - from numbers to mixed
        mixed = PairwiseMixed(self.n, self._config)
        relevance: FloatArray = kept.record["relevance"]
        rows = zip(kept.feature.tolist(), relevance.tolist(), kept.values, kept.types.tolist(), strict=True)
        for feature, strength, values, kind in rows:
            mixed.keep(Kept(feature, strength, values), kind)
        return mixed

    def _settings(self) -> Mapping[str, Any]:
        return self._config._asdict()

    @classmethod
    def _empty(cls, record: Mapping[str, Any]) -> Self:
        return cls(record["test"], PairwiseConfig.of(record))
