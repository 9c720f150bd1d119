"""Decisions as columns: names, reasons and numbers of a whole block, without an object a column.

A block of a million columns is decided in a fraction of a second; a million Python objects would take
longer than the decisions.  So the verdicts on a block are arrays, a :class:`Decision` is made when somebody
looks at it, and p-values are computed when they are read.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import merge
from operator import attrgetter
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
    """Names of the columns in order of arrival; made up as x0, x1, ... for those that came without."""

    def __init__(self) -> None:
        #: Names remembered, by arrival number.
        self.given: dict[int, str] = {}
        self._index: dict[str, int] = {}
        #: Arrival numbers that were given a name, forgotten or not, as [first, last + 1) in order.
        self.named: list[list[int]] = []

    def __getitem__(self, index: int) -> str:
        name = self.given.get(index)
        if name is not None:
            return name
        name = f"x{index}"
        return f"column {index}" if name in self._index else name  # somebody gave it to another column

    def check(self, names: Sequence[str], start: int) -> None:
        """Refuse names that are no names, or are taken, for columns ``start, start + 1, ...``."""
        seen: set[str] = set()
        for name in names:
            if not isinstance(name, str) or not name:
                raise SchemaError(f"a feature name is text, got {name!r}: pass names as strings")
            if len(name) > LONGEST_NAME:
                raise SchemaError(
                    f"the feature name {name[:40]!r}... has {len(name):,} characters; "
                    f"at most {LONGEST_NAME:,} are allowed: shorten it"
                )
            taken = self.index_of(name)
            if name in seen or (taken is not None and taken < start):
                raise SchemaError(
                    f"the feature name {name!r} came twice; names must differ: rename or drop one"
                )
            seen.add(name)

    def claim(self, names: Sequence[str], start: int) -> None:
        """Note the names of columns ``start, start + 1, ...``; refuse all of them if one is taken."""
        self.check(names, start)
        self.restore(range(start, start + len(names)), names)
        if self.named and self.named[-1][1] == start:
            self.named[-1][1] = start + len(names)
        elif names:
            self.named.append([start, start + len(names)])

    def restore(self, indices: Iterable[int], names: Iterable[str]) -> None:
        """Remember names without asking."""
        for index, name in zip(indices, names, strict=True):
            self.given[index] = name
            self._index[name] = index

    def forget(self, indices: Iterable[int], *, for_good: bool = False) -> None:
        """Drop names that nothing refers to any more; ``for_good``: as if they had never been given."""
        indices = list(indices)
        for index in indices:
            name = self.given.pop(index, None)
            if name is not None:
                del self._index[name]
        if for_good and indices and self.named and self.named[-1][1] > indices[0]:
            self.named[-1][1] = max(indices[0], self.named[-1][0])

    def index_of(self, name: str) -> int | None:
        """Arrival number of a feature by its name, given or made up; None if there is no such name."""
        found = self._index.get(name)
        if found is None:
            made_up = re.fullmatch(r"(?:x|column )(0|[1-9][0-9]{0,17})", name)
            if made_up and not self._was_named(int(made_up[1])):
                found = int(made_up[1])
        return found

    def _was_named(self, index: int) -> bool:
        place = bisect_right(self.named, index, key=lambda stretch: stretch[0]) - 1
        return place >= 0 and index < self.named[place][1]


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
        #: Names of the features evicted, likewise.
        self.departed: Mapping[int, str] = {}
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

    def changes(self) -> Iterator[Decision]:
        """Yield the decisions to keep and to evict a column, in order; of millions rejected none is made."""
        evictions = map(self._eviction, self.evictions)  # first: they stand before the verdict on a newcomer
        return merge(evictions, self.kept_decisions(), key=attrgetter("step"))

    @overload
    def __getitem__(self, index: int) -> Decision: ...
    @overload
    def __getitem__(self, index: slice) -> list[Decision]: ...
    def __getitem__(self, index: int | slice) -> Decision | list[Decision]:
        if isinstance(index, slice):
            return list(self)[index]
        flat = range(len(self))[index]
        # eviction k stands before the verdict on its newcomer, after k other evictions
        places = [eviction.step - self.start + k for k, eviction in enumerate(self.evictions)]
        before = bisect_left(places, flat)
        if before < len(places) and places[before] == flat:
            return self._eviction(self.evictions[before])
        position = flat - before
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

    def _name(self, index: int) -> str:
        if index in self.departed:
            return self.departed[index]
        position = index - self.start
        inside = self.given is not None and 0 <= position < len(self.given)
        return self.given[position] if self.given is not None and inside else self.names[index]

    def _verdict(self, position: int, p_value: float) -> Decision:
        index = self.start + position
        reason = REASONS[self.reason[position]]
        return Decision(
            index,
            self._name(index),
            Event.KEPT if reason is Reason.RELEVANT else Event.REJECTED,
            reason,
            float(self.statistic[position]),
            float(p_value),
            tuple(self._name(i) for i in self.by.get(index, ())),
        )

    def _eviction(self, eviction: Eviction) -> Decision:
        by = tuple(self._name(i) for i in eviction.by)
        return Decision(
            eviction.step, self._name(eviction.feature), Event.EVICTED, eviction.reason,
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
