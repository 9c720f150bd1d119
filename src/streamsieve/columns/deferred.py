"""Columns with deferred decisions: those that a later column may still change."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from operator import attrgetter
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve.columns.redundancy.slots import SLOT, Slots
from streamsieve.decisions import REASONS, REDUNDANT, Eviction, Outcome
from streamsieve.independence import FisherZ
from streamsieve.independence.correlation_p_values import p_value_given
from streamsieve.lazy_p_values import PValues
from streamsieve.protocols import FloatArray, IntArray, Reason
from streamsieve.state import Array, Int, Part, register


def eviction_of(step: int, feature: int, statistic: float, by: int) -> Eviction:
    """Return the eviction of a column, whose decision was final, by the new column ``step``.

    The statistic is its dependence on ``by``, the column responsible, or on the target if there is none (-1).
    """
    if by < 0:
        return Eviction(step, feature, Reason.IRRELEVANT, statistic, math.nan, ())
    return Eviction(step, feature, Reason.REDUNDANT, statistic, math.nan, (by,))


@register
class DeferredColumns(Part):
    """A buffer of columns ``start, start + 1, ...``: provisional decisions, and evictions that they cause.

    Columns are appended at the end, their decisions changed anywhere, and released from the front, up to the
    column ``settled``.
    """

    fields = {
        "start": Int(0, 2**31 - 1),
        "reason": Array("u1", "deferred", high=len(REASONS) - 1),
        "statistic": Array("f8", "deferred"),
        "p_value": Array("f8", "deferred"),
        "by": Array("i8", "deferred", low=-1),
        "left_step": Array("i8", "left", low=0),
        "left_feature": Array("i8", "left", low=0),
        "left_statistic": Array("f8", "left"),
        "left_by": Array("i8", "left", low=-1),
    }

    def __init__(self, start: int = 0) -> None:
        self.start = start
        #: Decisions on columns before this one are final, whether or not they were released.
        self.settled = start
        self.evictions: list[Eviction] = []
        self._count = 0
        self._slots = Slots(
            reason=("u1", (SLOT,)), statistic=("f8", (SLOT,)), p_value=("f8", (SLOT,)), by=("i8", (SLOT,))
        )

    def __len__(self) -> int:
        return self._count

    @property
    def end(self) -> int:
        """Arrival number after the last column."""
        return self.start + self._count

    @property
    def reason(self) -> npt.NDArray[np.uint8]:
        """Reason codes; a view."""
        return self._slots["reason"][: self._count]

    @property
    def statistic(self) -> FloatArray:
        """Statistics; a view."""
        return self._slots["statistic"][: self._count]

    @property
    def p_value(self) -> FloatArray:
        """P-values, NaN where they follow from the statistic; a view."""
        return self._slots["p_value"][: self._count]

    @property
    def by(self) -> IntArray:
        """Arrival number of the column responsible for each decision, or -1; a view."""
        return self._slots["by"][: self._count]

    @property
    def named(self) -> IntArray:
        """Arrival numbers of the columns with deferred decisions, and of those to be evicted."""
        left = np.array([eviction.feature for eviction in self.evictions], np.int64)
        return np.concatenate([left, np.arange(self.start, self.end)])

    def resume(self, start: int) -> None:
        """Continue at column ``start`` if nothing is deferred; columns after a stop were not seen."""
        if not self._count:
            self.start = self.settled = start

    def append(
        self, reason: npt.NDArray[np.uint8], statistic: FloatArray, p_value: FloatArray | None = None
    ) -> None:
        """Append provisional decisions for a block; none is attributed to another column yet."""
        low, high = self._count, self._count + len(reason)
        if high > len(self._slots):
            self._slots.double(high)
        self._count = high
        self.reason[low:], self.statistic[low:], self.by[low:] = reason, statistic, -1
        self.p_value[low:] = np.nan if p_value is None else p_value

    def change(self, feature: Any, reason: Any, statistic: Any, by: Any = -1, p_value: Any = np.nan) -> None:
        """Change the decision on one or several columns, with one value each or one for all."""
        at = feature - self.start
        self.reason[at], self.statistic[at], self.by[at], self.p_value[at] = reason, statistic, by, p_value

    def _first(self, m: int) -> Self:
        """Return a copy of the first m decisions."""
        some = type(self)(self.start)
        some.append(self.reason[:m], self.statistic[:m], self.p_value[:m])
        some.by[:] = self.by[:m]
        return some

    def copy(self) -> Self:
        """Return a deep copy."""
        twin = self._first(self._count)
        twin.settled, twin.evictions = self.settled, [*self.evictions]
        return twin

    def release(self) -> Self:
        """Return the final decisions, and keep the others."""
        done = max(self.settled - self.start, 0)
        final, left = self._first(done), self._count - done
        for table in self._slots.arrays.values():
            table[:left] = table[done : self._count].copy()
        self.start, self._count = self.start + done, left
        final.evictions = [e for e in self.evictions if e.step < self.start]
        self.evictions = [e for e in self.evictions if e.step >= self.start]
        return final

    def _record(self) -> Mapping[str, Any]:
        return {
            "start": self.start,
            **self._slots.record(np.arange(self._count)),
            "left_step": np.array([e.step for e in self.evictions], np.int64),
            "left_feature": np.array([e.feature for e in self.evictions], np.int64),
            "left_statistic": np.array([e.statistic for e in self.evictions], np.float64),
            "left_by": np.array([_cause(e) for e in self.evictions], np.int64),
        }

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        made = cls(record["start"])
        made.append(record["reason"], record["statistic"], record["p_value"])
        made.by[:] = record["by"]
        left = (record[f"left_{name}"].tolist() for name in ("step", "feature", "statistic", "by"))
        made.evictions = [eviction_of(*numbers) for numbers in zip(*left, strict=True)]
        return made

    def problems(self, offered: int) -> Iterator[str]:
        """Yield the inconsistencies with a selector that was offered this number of columns."""
        if self.end > offered or (self._count and self.end < offered):
            yield "the deferred columns are not the last ones offered"

    def _consistent(self) -> Iterator[str]:
        if np.any(self.by >= self.end) or any(_cause(e) >= self.end for e in self.evictions):
            yield "a decision is due to a column that was never offered"
        if any(not e.feature < self.start <= e.step < self.end for e in self.evictions):
            yield "a column leaves that is deferred, or at a column that is not"


def _cause(eviction: Eviction) -> int:
    return eviction.by[0] if eviction.by else -1


def outcome_of(
    decided: DeferredColumns, p_value: PValues | FloatArray | None, test: FisherZ | None = None
) -> Outcome:
    """Return decisions as an outcome; ``test`` gives the p-values of evicted columns."""
    evictions = sorted(decided.evictions, key=attrgetter("step"))
    if test is not None and evictions:
        statistic = np.array([eviction.statistic for eviction in evictions])
        alone = np.array([not eviction.by for eviction in evictions])
        p_left = p_value_given(statistic, np.array(test.n - 2))
        if alone.any():
            p_left = np.where(alone, test.p_values(statistic), p_left)
        evictions = [e._replace(p_value=p) for e, p in zip(evictions, p_left.tolist(), strict=True)]
    attributed = np.flatnonzero(decided.by >= 0)
    pairs = zip((decided.start + attributed).tolist(), decided.by[attributed].tolist(), strict=True)
    by = {feature: (cause,) for feature, cause in pairs}
    return Outcome(decided.reason, decided.statistic, p_value, by, evictions, decided.start)


def correlation_p_values(decided: DeferredColumns, test: FisherZ) -> PValues:
    """Return p-values of correlations with the target, or, for redundant columns, with another column."""
    function = partial(_p_values, test=test.p_values, rows=test.n)
    return PValues(function, decided.statistic, decided.reason, decided.p_value)


def _p_values(
    statistic: FloatArray,
    reason: npt.NDArray[np.uint8],
    known: FloatArray,
    *,
    test: Callable[[FloatArray], FloatArray],
    rows: int,
) -> FloatArray:
    # two columns have a correlation even if the target needs a correlation ratio
    pairs = p_value_given(statistic, np.array(rows - 2))
    p_value = np.where(reason == REDUNDANT, pairs, test(statistic))
    p_values: FloatArray = np.where(np.isnan(known), p_value, known)
    return p_values
