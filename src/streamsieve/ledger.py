"""The ledger: why every feature was kept, rejected or evicted, in order, in little memory."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
import numpy.typing as npt

from streamsieve.exceptions import ParameterError, StateError
from streamsieve.protocols import Arrays, Decision, Event, FloatArray, Reason
from streamsieve.state import expect, pack_strings, register, replacing, unpack_strings
from streamsieve.verdicts import (
    EVENT_CODE,
    EVENTS,
    KEPT,
    REASON_CODE,
    REASONS,
    Names,
    PValue,
    Verdicts,
)

if TYPE_CHECKING:
    import os

KEEP = ("all", "kept", "none")


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
        #: The first so many decisions as arrays: they never change, and a checkpoint wants them often.
        self._packed: Arrays = _columns([])
        #: Columns, by arrival number in order, of which it is known how long they took to compute.
        self._timed, self._seconds = array("q"), array("d")

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
            chunk = list(verdicts.changes())
        self._close()
        self._chunks.append(chunk)
        self._length += len(chunk)

    def note(self, decision: Decision) -> None:
        """Take one decision; the fast way for single columns and for changes of a top set."""
        if self.keep == "all" or (self.keep == "kept" and decision.event is not Event.REJECTED):
            self._open.append(decision)
            self._length += 1

    def clock(self, columns: Iterable[int], seconds: Iterable[float]) -> None:
        """Note how long columns took to compute, by arrival number; later ones come later."""
        if self.keep != "none":
            self._timed.extend(columns)
            self._seconds.extend(seconds)

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
        totals: Counter[str] = Counter()
        for chunk in (*self._chunks, self._open):
            if isinstance(chunk, Verdicts):
                numbers = np.bincount(chunk.reason, minlength=len(REASONS)).tolist()
                for reason, number in zip(REASONS, numbers, strict=True):
                    totals[str(Event.KEPT if reason is Reason.RELEVANT else reason)] += number
                totals[str(Event.EVICTED)] += len(chunk.evictions)
            else:
                totals.update(str(d.reason if d.event is Event.REJECTED else d.event) for d in chunk)
        return {what: number for what, number in totals.items() if number}

    def kept(self) -> Iterator[Decision]:
        """Yield the decisions to keep a feature, evicted later or not, without making all the others."""
        for chunk in (*self._chunks, self._open):
            if isinstance(chunk, Verdicts):
                yield from chunk.kept_decisions()
            else:
                yield from (d for d in chunk if d.event is Event.KEPT)

    @property
    def seconds(self) -> FloatArray:
        """How long each column took to compute, by arrival number; NaN where that is not known.

        Times are known of columns that were computed on demand (``streamsieve.features``), with
        ``keep="kept"`` of those that were kept.  ``ledger_.seconds[sieve.selected_]`` is what the
        selection costs.
        """
        times = np.full(self.clocked, np.nan)
        times[np.array(self._timed, np.int64)] = self._seconds
        return times

    @property
    def clocked(self) -> int:
        """Length of ``seconds``: one more than the last column of which the time is known."""
        return self._timed[-1] + 1 if self._timed else 0

    def columns(self) -> dict[str, list[Any]]:
        """Return the whole ledger as columns, ready for any dataframe library.

        ``seconds``, where times are known, stands with the verdict on a column, so that it adds up.
        """
        rows = list(self)
        table: dict[str, list[Any]] = {
            name: [getattr(row, name) for row in rows] for name in Decision._fields
        }
        table["event"] = [str(event) for event in table["event"]]
        table["reason"] = [str(reason) for reason in table["reason"]]
        table["by"] = [list(by) for by in table["by"]]
        if self._timed:
            time_of = self._time_of()
            table["seconds"] = [time_of(row) for row in rows]
        return table

    def _time_of(self) -> Callable[[Decision], float]:
        """Return the function that gives the time of a decision's column; an eviction took none."""
        known = dict(zip(self._timed, self._seconds, strict=True))
        unknown = float("nan")
        return lambda row: unknown if row.event is Event.EVICTED else known.get(row.step, unknown)

    def to_arrow(self) -> Any:
        """Return the whole ledger as a pyarrow table (needs the ``cli`` extra)."""
        import pyarrow as pa  # noqa: PLC0415

        text, number = pa.string(), pa.float64()
        kinds = (pa.int64(), text, text, text, number, number, pa.list_(text), number)
        table = self.columns()
        # seconds are there or not
        return pa.table(table, schema=pa.schema(list(zip(table, kinds, strict=False))))

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the whole ledger as CSV; ``by`` is joined with semicolons."""
        import csv  # noqa: PLC0415

        timed, time_of = bool(self._timed), self._time_of()
        with replacing(path) as file:
            writer = csv.writer(file)
            writer.writerow(Decision._fields + ("seconds",) * timed)
            writer.writerows((*row[:-1], ";".join(row.by), *(time_of(row),) * timed) for row in self)

    def __repr__(self) -> str:
        return f"<ledger of {len(self):,} decisions, keep={self.keep!r}>"

    # ---------------------------------------------------------------- state

    def state(self) -> Arrays:
        """Return the ledger as arrays."""
        fresh = list(islice(self, len(self._packed["step"]), None))
        if fresh:
            self._packed = _appended(self._packed, _columns(fresh))
        return {
            "keep": np.array([KEEP.index(self.keep)], np.uint8),
            **self._packed,
            "stretches": np.array(self.names.named, np.int64).reshape(-1, 2),
            "named": np.fromiter(self.names.given, np.int64, len(self.names.given)),
            **{f"name_{k}": a for k, a in pack_strings(list(self.names.given.values())).items()},
            **({"timed": np.array(self._timed), "seconds": np.array(self._seconds)} if self._timed else {}),
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
        ledger._packed = {key: np.array(arrays[key]) for key in ledger._packed}
        given = unpack_strings(_part(arrays, "name_"))
        ledger.names.restore(expect(arrays, "named", np.int64, (len(given),)).tolist(), given)
        stretches = expect(arrays, "stretches", np.int64, (None, 2))
        if np.any(np.diff(stretches.reshape(-1)) < 0):
            raise StateError("the state's names overlap")
        ledger.names.named = stretches.tolist()
        if "timed" in arrays or "seconds" in arrays:  # few streams are timed
            ledger.clock(*_clocked(arrays))
        return ledger


def _columns(rows: list[Decision]) -> Arrays:
    """Return decisions as arrays."""
    by = [name for row in rows for name in row.by]
    return {
        "step": np.array([row.step for row in rows], np.int64),
        "event": np.array([EVENT_CODE[row.event] for row in rows], np.uint8),
        "reason": np.array([REASON_CODE[row.reason] for row in rows], np.uint8),
        "statistic": np.array([row.statistic for row in rows], np.float64),
        "p_value": np.array([row.p_value for row in rows], np.float64),
        "by_count": np.array([len(row.by) for row in rows], np.int64),
        **{f"feature_{k}": a for k, a in pack_strings([row.feature for row in rows]).items()},
        **{f"by_{k}": a for k, a in pack_strings(by).items()},
    }


def _appended(before: Arrays, after: Arrays) -> Arrays:
    """Return the arrays of some decisions and of those that followed; texts end after the texts before."""
    return {
        key: np.concatenate([array, after[key] + array[-1:].sum() if key.endswith("_ends") else after[key]])
        for key, array in before.items()
    }


def _clocked(arrays: Mapping[str, npt.NDArray[Any]]) -> tuple[list[int], list[float]]:
    timed = expect(arrays, "timed", np.int64, (None,))
    seconds = expect(arrays, "seconds", np.float64, (len(timed),))
    if np.any(np.diff(timed, prepend=-1) <= 0) or not np.all(seconds >= 0):
        raise StateError("the state's times belong to no columns")
    return timed.tolist(), seconds.tolist()


def _part(arrays: Mapping[str, npt.NDArray[Any]], prefix: str) -> Arrays:
    return {k.removeprefix(prefix): a for k, a in arrays.items() if k.startswith(prefix)}


def _last(chunk: Sequence[Decision], feature: str, names: Names) -> Decision | None:
    """Find the last decision on a feature in a chunk, without making a Decision of every column."""
    if isinstance(chunk, Verdicts) and not chunk.evictions:
        index = names.index_of(feature)
        inside = index is not None and chunk.start <= index < chunk.start + len(chunk.reason)
        return chunk[index - chunk.start] if index is not None and inside else None
    return next((d for d in reversed(list(chunk)) if d.feature == feature), None)
