"""The top-k rule for columns of mixed types, and the rule chosen by the types of the columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np

from streamsieve.column_types import TYPES
from streamsieve.columns.redundancy.by_type import KeptColumns, RuleByType
from streamsieve.columns.redundancy.contract import Candidates, RedundancyRule
from streamsieve.columns.redundancy.mixed_columns import MixedColumns
from streamsieve.columns.redundancy.slots import SLOT, Shape
from streamsieve.columns.redundancy.top_k.correlation import TopKBuffer, TopKCorrelation
from streamsieve.columns.redundancy.top_k.rule import TopKMeasured
from streamsieve.independence.by_type import RelevanceByType
from streamsieve.independence.degenerate_gaussian import Embedded, embedded
from streamsieve.protocols import FloatArray, IntArray
from streamsieve.state import Array, Float, Int, register


@register
class TopKMixed(TopKMeasured):
    """Members with their types, compared on the scale of a correlation."""

    fields = {
        **TopKBuffer.fields,
        "columns": Array("f8", "kept", "rows", finite=True),
        "types": Array("i8", "kept", low=0, high=len(TYPES) - 1),
    }

    #: The present candidate.
    _new: Embedded

    def __init__(self, n: int, k: int, weight: float) -> None:
        super(TopKMeasured, self).__init__(n, k, weight)  # without a measure
        #: Members as they are compared, in the slots of their values.
        self._members = MixedColumns(n)

    def _columns(self) -> dict[str, tuple[str, Shape]]:
        return {**super()._columns(), "types": ("i8", (SLOT,))}

    def _shared(self, candidates: Candidates, j: int, column: FloatArray) -> FloatArray:
        (types,) = candidates.relevance.columns
        self._new = embedded(column, int(types[j]))
        return self._members.strengths(self._new, np.arange(self._kept))

    def _store(self, candidates: Candidates, j: int, column: FloatArray, slot: int) -> None:
        super()._store(candidates, j, column, slot)
        self.slots["types"][slot] = self._new.kind
        self._members.put(slot, self._new._replace(values=column.copy()))  # it may be a view of the block

    def _record(self) -> Mapping[str, Any]:
        return super(TopKMeasured, self)._record()  # without a measure

    @classmethod
    def of(cls, record: Mapping[str, Any], columns: FloatArray, types: IntArray) -> Self:
        """Return a rule with the members of another one."""
        return cls._rebuilt({**record, "columns": columns, "types": types})

    @classmethod
    def _empty(cls, record: Mapping[str, Any]) -> Self:
        return cls(record["n"], record["k"], record["weight"])

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        rule = super()._rebuilt(record)
        for slot in range(rule._kept):  # noqa: SLF001 - its own class
            values, kind = (array[slot] for array in rule.slots.of("columns", "types"))
            rule._members.put(slot, embedded(values.copy(), int(kind)))  # noqa: SLF001 - its own class
        return rule


@register
class TopKByType(RuleByType):
    """Top-k rule by correlation while all columns are numeric, then on the scale of a correlation."""

    fields = {**RuleByType.fields, "k": Int(1), "weight": Float(0, 1)}

    def __init__(self, test: RelevanceByType, k: int, weight: float) -> None:
        super().__init__(test)
        self.k, self.weight = k, weight

    def _new_rule(self, mode: str) -> RedundancyRule:
        return (TopKCorrelation if mode == "numbers" else TopKMixed)(self.n, self.k, self.weight)

    def _moved(self, mode: str, kept: KeptColumns) -> RedundancyRule:  # noqa: ARG002 - from numbers to mixed
        return TopKMixed.of(kept.record, kept.values, kept.types)

    def _settings(self) -> Mapping[str, Any]:
        return {"k": self.k, "weight": self.weight}

    @classmethod
    def _empty(cls, record: Mapping[str, Any]) -> Self:
        return cls(record["test"], record["k"], record["weight"])

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        if isinstance(self.rule, TopKBuffer) and (self.rule.k, self.rule.weight) != (self.k, self.weight):
            yield "the rule has another k or redundancy_weight"
