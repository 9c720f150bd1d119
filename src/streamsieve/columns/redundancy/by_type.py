"""Redundancy rules for streams of mixed types, which use the fast rule of one type while there is only one.

Candidates are numbers, compared by correlation, or levels, compared by contingency tables.  While all
candidates are of one kind, the rule of that kind decides, exactly as if it had been requested.  With the
first candidate of the other kind, the kept columns move to the rule for mixed types, which decides from then
on.  The result depends on the order of candidates, but not on the size of blocks.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from streamsieve.column_types import BINARY, TYPES
from streamsieve.columns.redundancy.contract import Candidates, RedundancyRule
from streamsieve.decisions import Eviction, Outcome
from streamsieve.dependence.blocks import column_products, dense_column
from streamsieve.independence.by_type import NUMBER, RelevanceByType
from streamsieve.protocols import FloatArray, IntArray, Reason
from streamsieve.state import Array, Choice, Nested

#: Which rule decides: none yet, that of numbers, that of levels, or that of mixed types.
MODES = ("empty", "numbers", "levels", "mixed")


class KeptColumns(NamedTuple):
    """The columns that move from one rule to another, in the order of its record."""

    feature: IntArray
    #: Positions in ``column_types.TYPES``.
    types: IntArray
    #: One row per column; of numbers centered and scaled, which changes no test.
    values: FloatArray
    #: All that the rule has on record.
    record: Mapping[str, Any]


class RuleByType(RedundancyRule):
    """A rule that starts as that of one kind of columns, and switches to mixed types when needed."""

    fields = {
        "test": Nested(RelevanceByType, shares=("rows",)),
        "mode": Choice(*MODES),
        "rule": Nested(RedundancyRule, derived=True, shares=("rows",), optional=True),
        "types": Array("u1", "kept", high=len(TYPES) - 1),
        "values": Array("f8", "held", "rows", finite=True, optional=True),
    }
    #: Whether there is a rule for levels; otherwise they go to the rule for mixed types.
    has_levels: ClassVar[bool] = False

    def __init__(self, test: RelevanceByType) -> None:
        self.n, self.test, self.mode = test.n, test, "empty"
        self.rule: RedundancyRule | None = None
        self._types: dict[int, int] = {}
        #: Values of the columns that the rule of levels keeps: as levels they have lost their order.
        self._values: dict[int, FloatArray] = {}

    @abstractmethod
    def _new_rule(self, mode: str) -> RedundancyRule:
        """Return the rule of a mode without columns."""

    @abstractmethod
    def _moved(self, mode: str, kept: KeptColumns) -> RedundancyRule:
        """Return the rule of a mode with the columns that another one has kept."""

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns kept, in order."""
        return np.zeros(0, np.int64) if self.rule is None else self.rule.features

    def rejects(self, dependence: float) -> Reason | None:
        """Return why the current rule rejects any column with this dependence on y, or None."""
        return None if self.rule is None else self.rule.rejects(dependence)

    def settle(self, candidates: Candidates) -> Outcome:
        """Decide on candidates in order, given the kept columns."""
        types = candidates.relevance.columns[3]
        done, parts = 0, []
        while done < len(types):
            mode = self._next_mode(int(types[done]))
            high = done + 1
            while high < len(types) and self._stays(mode, int(types[high])):
                high += 1
            if mode != self.mode:
                self._switch(mode)
            parts.append(self._settle_some(candidates, np.arange(done, high)))
            done = high
        return parts[0] if len(parts) == 1 else _joined(parts)

    def _kinds(self, of_type: int) -> tuple[bool, bool]:
        """Return whether a type may be a number, and whether it may be levels, for this target."""
        number = int(self.test.ways(np.array([of_type]))[0]) == NUMBER
        either = of_type == BINARY and self.test.tables is not None
        return number or either, not number

    def _next_mode(self, of_type: int) -> str:
        """Return the mode that the next candidate requires."""
        number, levels = self._kinds(of_type)
        if self.mode == "mixed" or (self.mode == "numbers" and number):
            return self.mode
        if self.has_levels and self.test.tables is not None and levels and self.mode != "numbers":
            return "levels"
        if number and all(kind == BINARY for kind in self._types.values()) and self.mode != "numbers":
            return "numbers"
        return "mixed"

    def _stays(self, mode: str, of_type: int) -> bool:
        """Whether a candidate can be decided on in the current mode."""
        number, levels = self._kinds(of_type)
        return mode == "mixed" or (number if mode == "numbers" else levels)

    def _switch(self, mode: str) -> None:
        """Move the kept columns to the rule of another mode."""
        feature = self.features
        self.rule = self._moved(mode, self._kept_columns()) if len(feature) else self._new_rule(mode)
        self.mode = mode
        self._values = {}

    def _kept_columns(self) -> KeptColumns:
        record: Mapping[str, Any] = {} if self.rule is None else self.rule._record()  # noqa: SLF001 - a part of it
        feature = record["feature"]
        types = np.array([self._types[j] for j in feature.tolist()], np.int64)
        levels = self.mode == "levels"
        values = np.array([self._values[j] for j in feature.tolist()]) if levels else record["columns"]
        return KeptColumns(feature, types, values, record)

    def _settle_some(self, candidates: Candidates, some: IntArray) -> Outcome:
        X, at, feature, relevance = candidates
        if self.rule is None:
            raise RuntimeError("a mode was chosen without a rule")
        chosen = relevance if len(some) == len(at) else relevance.at(some)
        at, feature = at[some], feature[some]
        mean, norm, levels, types = chosen.columns
        if self.mode == "numbers":
            unmeasured = np.flatnonzero(norm == 0)  # binary columns, whose tables were tested
            if len(unmeasured):
                mean, norm = mean.copy(), norm.copy()
                mean[unmeasured], norm[unmeasured] = self._products(X, at[unmeasured])
            columns: tuple[Any, ...] = mean, norm
        else:
            columns = (levels,) if self.mode == "levels" else (types,)
        outcome = self.rule.settle(Candidates(X, at, feature, chosen._replace(columns=columns)))
        arrived = dict(zip(feature.tolist(), zip(at.tolist(), types.tolist(), strict=True), strict=True))
        kept = {int(j) for j in self.rule.features}
        self._types = {j: t for j, t in self._types.items() if j in kept} | {
            j: t for j, (_, t) in arrived.items() if j in kept
        }
        if self.mode == "levels":
            self._values = {j: x for j, x in self._values.items() if j in kept} | {
                j: dense_column(X, i) for j, (i, _) in arrived.items() if j in kept
            }
        return outcome

    def _products(self, X: Any, at: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return means and norms of some columns."""
        block = sp.csc_array(X)[:, at] if sp.issparse(X) else X[:, at]
        mean, squares, _ = column_products(block, np.ascontiguousarray(self.test.correlation.basis[:, 0]))
        return mean, np.sqrt(squares)

    def _record(self) -> Mapping[str, Any]:
        feature = self.features.tolist()
        return {
            "test": self.test,
            "mode": self.mode,
            "rule": self.rule,
            "types": np.array([self._types[j] for j in feature], np.uint8),
            "values": np.array([self._values[j] for j in feature]).reshape(-1, self.n)
            if self.mode == "levels"
            else None,
            **self._settings(),
        }

    @abstractmethod
    def _settings(self) -> Mapping[str, Any]:
        """Return the fields of a derived class."""

    @classmethod
    @abstractmethod
    def _empty(cls, record: Mapping[str, Any]) -> Self:
        """Return a rule without columns, configured by the record."""

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        made = cls._empty(record)
        made.mode, made.rule = record["mode"], record["rule"]
        feature = made.features.tolist()
        made.remember(feature, record["types"].tolist(), record["values"])
        return made

    def remember(self, feature: list[int], types: list[int], values: FloatArray | None) -> None:
        """Record types and values of the columns that the rule keeps."""
        self._types = dict(zip(feature, types, strict=False))
        self._values = {} if values is None else dict(zip(feature, values, strict=False))

    def _consistent(self) -> Iterator[str]:
        wanted = self._new_rule(self.mode) if self.mode != "empty" else None
        if type(self.rule) is not type(wanted):
            yield f"the rule is not that of the mode {self.mode!r}"
        elif len(self._types) != len(self.features):
            yield "there is not one type per column kept"
        elif self.mode == "levels" and len(self._values) != len(self.features):
            yield "the values of the columns kept are missing"
        elif self.rule is not None and self.rule.n != self.n:
            yield f"the test has {self.n} rows, the rule {self.rule.n}"


def _joined(parts: list[Outcome]) -> Outcome:
    """Concatenate the outcomes of successive candidates."""
    by: dict[int, tuple[int, ...]] = {}
    left: list[Eviction] = []
    for part in parts:
        by |= part.by
        left += list(part.evictions)
    return Outcome(
        np.concatenate([part.reason for part in parts]),
        np.concatenate([part.statistic for part in parts]),
        None if parts[0].p_value is None else np.concatenate([part.p_values() for part in parts]),
        by,
        left,
    )
