"""Decisions as columns: names, reasons and numbers of a whole block, without an object a column.

A block of a million columns is decided in a fraction of a second; a million Python objects would take
longer than the decisions.  So the verdicts on a block are arrays, a :class:`Decision` is made when somebody
looks at it, and p-values are computed when they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, overload

import numpy as np
import numpy.typing as npt

from streamsieve.exceptions import SchemaError
from streamsieve.protocols import Decision, Event, FloatArray, Reason

LONGEST_NAME = 65_536

EVENTS = tuple(Event)
REASONS = tuple(Reason)
EVENT_CODE = {event: code for code, event in enumerate(EVENTS)}
REASON_CODE = {reason: code for code, reason in enumerate(REASONS)}
KEPT = REASON_CODE[Reason.RELEVANT]

#: From statistics to p-values, for a whole array at once.
PValue = Callable[[FloatArray], FloatArray]


class Names:
    """Names of the columns in order of arrival; made up as x0, x1, ... until some are given."""

    def __init__(self) -> None:
        self.given: dict[int, str] = {}
        self._index: dict[str, int] = {}

    def __getitem__(self, index: int) -> str:
        name = self.given.get(index)
        if name is None:
            name = f"x{index}"
            if name in self._index:  # somebody gave this name to another column
                name = f"column {index}"
        return name

    def claim(self, names: Sequence[str], start: int) -> None:
        """Note the names of columns ``start, start + 1, ...``; refuse all of them if one is taken."""
        seen: set[str] = set()
        for name in names:
            if not isinstance(name, str) or not name:
                raise SchemaError(f"a feature name is text, got {name!r}: pass names as strings")
            if len(name) > LONGEST_NAME:
                raise SchemaError(
                    f"the feature name {name[:40]!r}... has {len(name):,} characters; "
                    f"at most {LONGEST_NAME:,} are allowed: shorten it"
                )
            if name in seen or self._is_taken(name, start):
                raise SchemaError(
                    f"the feature name {name!r} came twice; names must differ: rename or drop one"
                )
            seen.add(name)
        for offset, name in enumerate(names):
            self.given[start + offset] = name
            self._index[name] = start + offset

    def _is_taken(self, name: str, start: int) -> bool:
        if name in self._index:
            return True
        made_up = self.index_of(name)
        return made_up is not None and made_up < start

    def forget(self, indices: Iterable[int]) -> None:
        """Drop names that nothing refers to any more."""
        for index in indices:
            name = self.given.pop(index, None)
            if name is not None:
                del self._index[name]

    def index_of(self, name: str) -> int | None:
        """Arrival number of a feature, by name."""
        found = self._index.get(name)
        if found is None and name[:1] == "x" and name[1:].isdecimal() and int(name[1:]) not in self.given:
            found = int(name[1:])
        return found


class Eviction(NamedTuple):
    """A kept feature leaves because of the newcomer ``step``."""

    step: int
    feature: int
    reason: Reason
    statistic: float
    p_value: float
    by: tuple[int, ...]


class Verdicts(Sequence[Decision]):
    """The decisions on one block, as columns; reads as a sequence of :class:`Decision`.

    Parameters
    ----------
    start : arrival number of the block's first column.
    reason : one code of ``REASON_CODE`` a column; ``RELEVANT`` means kept, anything else rejected.
    statistic : one number a column.
    p_value : one number a column, or None to compute them from the statistics when read.
    by : arrival numbers of the features that made a column redundant, by arrival number of the column.
    evictions : kept features that left, in order; they stand before the verdict on their newcomer.
    """

    def __init__(
        self,
        start: int,
        reason: npt.NDArray[np.uint8],
        statistic: FloatArray,
        p_value: FloatArray | None = None,
        by: Mapping[int, tuple[int, ...]] | None = None,
        evictions: Sequence[Eviction] = (),
    ) -> None:
        self.start, self.reason, self.statistic, self.p_value = start, reason, statistic, p_value
        self.by: Mapping[int, tuple[int, ...]] = by or {}
        self.evictions = evictions
        self.names: Names = Names()
        #: Names of the block's columns; the ledger may forget those of rejected ones.
        self.given: Sequence[str] | None = None
        self.p_value_of: PValue | None = None

    def __len__(self) -> int:
        return len(self.reason) + len(self.evictions)

    def kept(self) -> npt.NDArray[np.int64]:
        """Arrival numbers of the columns kept, whether or not evicted later in the block."""
        return self.start + np.flatnonzero(self.reason == KEPT)

    def kept_decisions(self) -> Iterator[Decision]:
        """Yield the decisions to keep a column."""
        positions = self.kept() - self.start
        for position, p_value in zip(positions.tolist(), self._p_values(positions).tolist(), strict=True):
            yield self._verdict(position, p_value)

    @overload
    def __getitem__(self, index: int) -> Decision: ...
    @overload
    def __getitem__(self, index: slice) -> list[Decision]: ...
    def __getitem__(self, index: int | slice) -> Decision | list[Decision]:
        if isinstance(index, slice):
            return list(self)[index]
        if self.evictions:
            return list(self)[index]
        position = range(len(self.reason))[index]
        return self._verdict(position, self._p_values(slice(position, position + 1))[0])

    def __iter__(self) -> Iterator[Decision]:
        p_values = self._p_values(slice(None))
        evictions = iter(self.evictions)
        eviction = next(evictions, None)
        for position in range(len(self.reason)):
            while eviction is not None and eviction.step == self.start + position:
                yield self._eviction(eviction)
                eviction = next(evictions, None)
            yield self._verdict(position, p_values[position])

    def _verdict(self, position: int, p_value: float) -> Decision:
        index = self.start + position
        reason = REASONS[self.reason[position]]
        return Decision(
            index,
            self.names[index] if self.given is None else self.given[position],
            Event.KEPT if reason is Reason.RELEVANT else Event.REJECTED,
            reason,
            float(self.statistic[position]),
            float(p_value),
            tuple(self.names[i] for i in self.by.get(index, ())),
        )

    def _eviction(self, eviction: Eviction) -> Decision:
        by = tuple(self.names[i] for i in eviction.by)
        return Decision(
            eviction.step, self.names[eviction.feature], Event.EVICTED, eviction.reason,
            eviction.statistic, eviction.p_value, by,
        )  # fmt: skip

    def _p_values(self, part: slice | npt.NDArray[np.int64]) -> FloatArray:
        if self.p_value is not None:
            return self.p_value[part]
        statistic = self.statistic[part]
        return self.p_value_of(statistic) if self.p_value_of else np.full(len(statistic), np.nan)

    def __repr__(self) -> str:
        kept = int((self.reason == KEPT).sum())
        return (
            f"<{len(self.reason):,} columns: {kept} kept, {len(self.reason) - kept} rejected, "
            f"{len(self.evictions)} earlier ones evicted>"
        )
