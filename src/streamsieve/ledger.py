"""The ledger: why every feature was kept, rejected or evicted, in order, in little memory.

A block of a million columns is decided in a fraction of a second; a million Python objects would take
longer than the decisions.  So the verdicts on a block are columns (:class:`Verdicts`), a
:class:`Decision` is made when somebody looks at it, and p-values are computed when they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self, overload

import numpy as np
import numpy.typing as npt

from streamsieve.exceptions import ParameterError, SchemaError, StateError
from streamsieve.protocols import Arrays, Decision, Event, FloatArray, Reason
from streamsieve.state import expect, pack_strings, register, unpack_strings

if TYPE_CHECKING:
    import os

KEEP = ("all", "kept", "none")
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

    def _p_values(self, part: slice) -> FloatArray:
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


@register
class Ledger(Sequence[Decision]):
    """Every decision of a selector, in order; a table to export and a memory to ask.

    Parameters
    ----------
    keep : "all" decisions, only those on features that were "kept" at some time, or "none".

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> sieve = ss.SAOLA().begin(y)
    >>> _ = sieve.offer(np.c_[rng.normal(size=200), y + rng.normal(size=200)], names=["noise", "dose"])
    >>> [(d.feature, str(d.event), str(d.reason)) for d in sieve.ledger_]
    [('noise', 'rejected', 'irrelevant'), ('dose', 'kept', 'relevant')]
    >>> sieve.ledger_.why("noise").reason
    <Reason.IRRELEVANT: 'irrelevant'>
    """

    def __init__(self, keep: str = "all", p_value_of: PValue | None = None) -> None:
        if keep not in KEEP:
            raise ParameterError(f"ledger must be one of {', '.join(map(repr, KEEP))}, got {keep!r}")
        self.keep = keep
        self.names = Names()
        self.p_value_of = p_value_of
        self._chunks: list[Sequence[Decision]] = []
        self._open: list[Decision] = []
        self._length = 0

    # ---------------------------------------------------------------- writing

    def record(self, verdicts: Verdicts) -> None:
        """Take the verdicts on a block; with ``keep="kept"`` only what concerns kept features stays."""
        verdicts.names, verdicts.p_value_of = self.names, self.p_value_of
        if self.keep == "none" or not len(verdicts):
            return
        chunk: Sequence[Decision] = verdicts
        if self.keep == "kept":
            if not verdicts.evictions and not np.any(verdicts.reason == KEPT):
                return
            chunk = [d for d in verdicts if d.event is not Event.REJECTED]
        self._close()
        self._chunks.append(chunk)
        self._length += len(chunk)

    def note(self, decision: Decision) -> None:
        """Take one decision; the fast way for single columns and for changes of a top set."""
        if self.keep == "all" or (self.keep == "kept" and decision.event is not Event.REJECTED):
            self._open.append(decision)
            self._length += 1

    def _close(self) -> None:
        if self._open:
            self._chunks.append(self._open)
            self._open = []

    # ---------------------------------------------------------------- reading

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Decision]:
        for chunk in (*self._chunks, self._open):
            yield from chunk

    @overload
    def __getitem__(self, index: int) -> Decision: ...
    @overload
    def __getitem__(self, index: slice) -> list[Decision]: ...
    def __getitem__(self, index: int | slice) -> Decision | list[Decision]:
        if isinstance(index, slice):
            return list(self)[index]
        rest = range(self._length)[index]
        for chunk in (*self._chunks, self._open):
            if rest < len(chunk):
                return chunk[rest]
            rest -= len(chunk)
        raise IndexError(index)

    def why(self, feature: str) -> Decision:
        """Return the last decision on a feature: why it is in, or why it is out."""
        for chunk in reversed((*self._chunks, self._open)):
            found = _last(chunk, feature, self.names)
            if found is not None:
                return found
        raise KeyError(
            f"the ledger (keep={self.keep!r}) has no decision on {feature!r}: "
            "was it offered, and was it spelt so?"
        )

    def counts(self) -> dict[str, int]:
        """Count the decisions by what happened and why, as ``{"kept": 4, "irrelevant": 963, ...}``."""
        totals: dict[str, int] = {}
        for decision in self:
            key = decision.reason if decision.event is Event.REJECTED else decision.event
            totals[str(key)] = totals.get(str(key), 0) + 1
        return totals

    def columns(self) -> dict[str, list[Any]]:
        """Return the whole ledger as columns, ready for any dataframe library."""
        rows = list(self)
        table: dict[str, list[Any]] = {
            name: [getattr(row, name) for row in rows] for name in Decision._fields
        }
        table["event"] = [str(event) for event in table["event"]]
        table["reason"] = [str(reason) for reason in table["reason"]]
        table["by"] = [list(by) for by in table["by"]]
        return table

    def to_arrow(self) -> Any:
        """Return the whole ledger as a pyarrow table (needs the ``cli`` extra)."""
        import pyarrow as pa  # noqa: PLC0415

        text, number = pa.string(), pa.float64()
        kinds = (pa.int64(), text, text, text, number, number, pa.list_(text))
        return pa.table(self.columns(), schema=pa.schema(list(zip(Decision._fields, kinds, strict=True))))

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the whole ledger as CSV; ``by`` is joined with semicolons."""
        import csv  # noqa: PLC0415

        from streamsieve.state import replacing  # noqa: PLC0415

        with replacing(path) as file:
            writer = csv.writer(file)
            writer.writerow(Decision._fields)
            writer.writerows((*row[:-1], ";".join(row.by)) for row in self)

    def __repr__(self) -> str:
        return f"<ledger of {len(self):,} decisions, keep={self.keep!r}>"

    # ---------------------------------------------------------------- state

    def state(self) -> Arrays:
        """Return the ledger as arrays."""
        rows = list(self)
        by = [name for row in rows for name in row.by]
        return {
            "keep": np.array([KEEP.index(self.keep)], np.uint8),
            "step": np.array([row.step for row in rows], np.int64),
            "event": np.array([EVENT_CODE[row.event] for row in rows], np.uint8),
            "reason": np.array([REASON_CODE[row.reason] for row in rows], np.uint8),
            "statistic": np.array([row.statistic for row in rows], np.float64),
            "p_value": np.array([row.p_value for row in rows], np.float64),
            "by_count": np.array([len(row.by) for row in rows], np.int64),
            **{f"feature_{k}": a for k, a in pack_strings([row.feature for row in rows]).items()},
            **{f"by_{k}": a for k, a in pack_strings(by).items()},
            "named": np.fromiter(self.names.given, np.int64, len(self.names.given)),
            **{f"name_{k}": a for k, a in pack_strings(list(self.names.given.values())).items()},
        }

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild a ledger; the p-values are those computed when it was saved."""
        keep = int(expect(arrays, "keep", np.uint8, (1,))[0])
        if keep >= len(KEEP):
            raise StateError(f"the state's ledger has an unknown mode {keep}")
        ledger = cls(KEEP[keep])
        features = unpack_strings(_part(arrays, "feature_"))
        n = len(features)
        step, by_count = (expect(arrays, key, np.int64, (n,)) for key in ("step", "by_count"))
        event, reason = (expect(arrays, key, np.uint8, (n,)) for key in ("event", "reason"))
        statistic, p_value = (expect(arrays, key, np.float64, (n,)) for key in ("statistic", "p_value"))
        if n and (event.max() >= len(EVENTS) or reason.max() >= len(REASONS)):
            raise StateError("the state's ledger has events or reasons that this version does not know")
        by = iter(unpack_strings(_part(arrays, "by_")))
        for i in range(n):
            names = tuple(name for _, name in zip(range(int(by_count[i])), by, strict=False))
            what, why = EVENTS[event[i]], REASONS[reason[i]]
            numbers = float(statistic[i]), float(p_value[i])
            ledger._open.append(Decision(int(step[i]), features[i], what, why, *numbers, names))
        ledger._length = n
        given = unpack_strings(_part(arrays, "name_"))
        for index, name in zip(expect(arrays, "named", np.int64, (len(given),)), given, strict=True):
            ledger.names.claim([name], int(index))
        return ledger


def _part(arrays: Mapping[str, npt.NDArray[Any]], prefix: str) -> Arrays:
    return {k.removeprefix(prefix): a for k, a in arrays.items() if k.startswith(prefix)}


def _last(chunk: Sequence[Decision], feature: str, names: Names) -> Decision | None:
    """Find the last decision on a feature in a chunk, without making a Decision of every column."""
    if isinstance(chunk, Verdicts) and not chunk.evictions:
        index = names.index_of(feature)
        inside = index is not None and chunk.start <= index < chunk.start + len(chunk.reason)
        return chunk[index - chunk.start] if index is not None and inside else None
    return next((d for d in reversed(list(chunk)) if d.feature == feature), None)
