"""The ledger: why every feature was kept, rejected or evicted, in order, in little memory."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np

from streamsieve._extras import needs
from streamsieve._files import refuse_foreign
from streamsieve._parameters import did_you_mean
from streamsieve._text import shown, write_csv
from streamsieve.decisions import EVENT_CODE, EVENTS, KEPT, REASON_CODE, REASONS, Decisions
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import Arrays, Decision, Event, FloatArray, Reason
from streamsieve.state import Array, Choice, Part, Texts, register, replacing
from streamsieve.state.tree import pack_texts

if TYPE_CHECKING:
    import os

KEEP = ("all", "kept", "none")
#: Lines at either end of a ledger that a page shows.
PAGE_LINES = 10
#: Lines of a ledger whose names are compared with a name that is not known.
MOST_COMPARED = 100_000
_NUMBERED = re.compile(r"x\d+")


@register
class Ledger(Part, Sequence[Decision]):
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

    fields = {
        "keep": Choice(*KEEP),
        "step": Array("i8", "decisions", low=0),
        "event": Array("u1", "decisions", high=len(EVENTS) - 1),
        "reason": Array("u1", "decisions", high=len(REASONS) - 1),
        "statistic": Array("f8", "decisions"),
        "p_value": Array("f8", "decisions"),
        "by_count": Array("i8", "decisions", low=0, high=2**31),
        "feature": Texts("decisions"),
        "by": Texts("reasons"),
        "timed": Array("i8", "timed", low=0, order="rising", optional=True),
        "seconds": Array("f8", "timed", low=0, optional=True),
    }

    def __init__(self, keep: str = "all") -> None:
        if keep not in KEEP:
            raise ParameterError(f"ledger must be one of {', '.join(map(repr, KEEP))}, got {keep!r}")
        self.keep = keep
        self._chunks: list[Sequence[Decision]] = []
        self._open: list[Decision] = []
        #: The oldest decisions as arrays: they never change, and checkpoints need them often.
        self._packed: Arrays = _columns([])
        #: Columns, by arrival number in order, of which it is known how long they took to compute.
        self._timed, self._seconds = array("q"), array("d")

    # ---------------------------------------------------------------- writing

    def record(self, decisions: Decisions) -> None:
        """Take the decisions on a block; with ``keep="kept"`` only what concerns kept features stays."""
        if self.keep == "none" or not len(decisions):
            return
        chunk: Sequence[Decision] = decisions
        if self.keep == "kept":
            if not decisions.outcome.evictions and not np.any(decisions.outcome.reason == KEPT):
                return
            chunk = list(decisions.changes())
        if self._open:
            self._chunks.append(self._open)
            self._open = []
        self._chunks.append(chunk)

    def note(self, decision: Decision) -> None:
        """Take one decision; the fast way for single columns and for changes of a top set."""
        if self.keep == "all" or (self.keep == "kept" and decision.event is not Event.REJECTED):
            self._open.append(decision)

    def clock(self, columns: Iterable[int], seconds: Iterable[float]) -> None:
        """Note how long columns took to compute, by arrival number; later ones come later."""
        if self.keep != "none":
            self._timed.extend(columns)
            self._seconds.extend(seconds)

    # ---------------------------------------------------------------- reading

    def _parts(self) -> Sequence[Sequence[Decision]]:
        """Return all decisions, in pieces."""
        return (*self._chunks, self._open)

    def __len__(self) -> int:
        return sum(map(len, self._parts()))

    def __iter__(self) -> Iterator[Decision]:
        return chain.from_iterable(self._parts())

    @overload
    def __getitem__(self, index: int) -> Decision: ...
    @overload
    def __getitem__(self, index: slice) -> list[Decision]: ...
    def __getitem__(self, index: int | slice) -> Decision | list[Decision]:
        if isinstance(index, slice):
            return list(self)[index]
        rest = range(len(self))[index]
        for chunk in self._parts():
            if rest < len(chunk):
                return chunk[rest]
            rest -= len(chunk)
        raise IndexError(index)

    def why(self, feature: str) -> Decision:
        """Return the last decision on a feature: why it is in, or why it is out."""
        for chunk in reversed(self._parts()):
            if isinstance(chunk, Decisions):
                found = chunk.last(feature)
            else:
                found = next((d for d in reversed(chunk) if d.feature == feature), None)
            if found is not None:
                return found
        raise KeyError(self._unknown(feature))

    def _unknown(self, feature: str) -> str:
        """Return the message about a feature without a decision."""
        known = list(dict.fromkeys(row.feature for row in islice(self, MOST_COMPARED)))
        if self.keep == "none" or not known:
            return f"no decision on {feature!r}: the ledger (keep={self.keep!r}) is empty"
        near = did_you_mean(feature, known)
        if not near and all(_NUMBERED.fullmatch(name) for name in known):
            near = (
                f"; the features came without names, as {known[0]} to {known[-1]}: in a pipeline, "
                "set_output(transform='pandas') of the steps before keeps names"
            )
        partial = "; ledger='kept' leaves out rejected features" if self.keep == "kept" and not near else ""
        return f"no feature named {feature!r} in the ledger{near}{partial}"

    def counts(self) -> dict[str, int]:
        """Count features by what became of them, as ``{"kept": 4, "irrelevant": 963, "evicted": 2, ...}``.

        ``kept`` are those that are kept now, ``evicted`` those that left, counted each time that they did,
        and the rest are reasons for which features were rejected.
        """
        totals: Counter[str] = Counter()
        for chunk in self._parts():
            if isinstance(chunk, Decisions):
                numbers = np.bincount(chunk.outcome.reason, minlength=len(REASONS)).tolist()
                for reason, number in zip(REASONS, numbers, strict=True):
                    totals[str(Event.KEPT if reason is Reason.RELEVANT else reason)] += number
                totals[str(Event.EVICTED)] += len(chunk.outcome.evictions)
            else:
                totals.update(str(d.reason if d.event is Event.REJECTED else d.event) for d in chunk)
        totals[str(Event.KEPT)] -= totals[str(Event.EVICTED)]
        return {what: number for what, number in totals.items() if number}

    def kept(self) -> Iterator[Decision]:
        """Yield the decisions to keep a feature, evicted later or not, without making all the others."""
        for chunk in self._parts():
            if isinstance(chunk, Decisions):
                yield from chunk.kept()
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
        pa = needs("pyarrow", "an Arrow table")
        text, number = pa.string(), pa.float64()
        kinds = (pa.int64(), text, text, text, number, number, pa.list_(text), number)
        table = self.columns()
        # seconds are there or not
        return pa.table(table, schema=pa.schema(list(zip(table, kinds, strict=False))))

    def to_pandas(self) -> Any:
        """Return the whole ledger as a pandas dataframe."""
        return needs("pandas", "a pandas dataframe").DataFrame(self.columns())

    def to_polars(self) -> Any:
        """Return the whole ledger as a polars dataframe."""
        text = needs("polars", "a polars dataframe")
        return text.DataFrame(self.columns(), schema_overrides={"by": text.List(text.String)})

    def to_csv(self, path: str | os.PathLike[str], *, raw: bool = False, overwrite: bool = False) -> None:
        """Write the whole ledger as CSV; ``by`` is joined with semicolons.

        Parameters
        ----------
        path : the file
        raw : bool, default=False
            Whether names that a spreadsheet would evaluate (those that begin with = + - @, tab or carriage
            return) are written as they are, instead of with a single quote before them.
        overwrite : bool, default=False
            Whether a file that streamsieve did not write may be replaced.
        """
        if not overwrite:
            refuse_foreign([path])
        timed, time_of = bool(self._timed), self._time_of()
        lines = ((*row[:-1], ";".join(row.by), *(time_of(row),) * timed) for row in self)
        with replacing(path) as file:
            write_csv(file, chain([Decision._fields + ("seconds",) * timed], lines), raw=raw)

    def __repr__(self) -> str:
        return f"<ledger of {len(self):,} decisions, keep={self.keep!r}>"

    def _repr_html_(self) -> str:
        """Return the first and the last decisions as a table, for notebooks."""
        n, rows = len(self), self[:]
        some = rows if n <= 2 * PAGE_LINES else [*rows[:PAGE_LINES], None, *rows[-PAGE_LINES:]]
        lines = "".join(map(_html_line, some))
        head = "".join(f"<th>{name}</th>" for name in Decision._fields)
        return f"<p>{escape(repr(self))}</p><table><tr>{head}</tr>{lines}</table>"

    def _record(self) -> Mapping[str, Any]:
        final = chain.from_iterable(Ledger._parts(self))
        fresh = list(islice(final, len(self._packed["step"]), None))
        if fresh:
            self._packed = _appended(self._packed, _columns(fresh))
        record: dict[str, Any] = {
            **self._packed,
            **{
                name: {key: self._packed[f"{name}/{key}"] for key in ("text", "ends")}
                for name in ("feature", "by")
            },
            "keep": self.keep,
        }
        if self._timed:
            record |= {"timed": np.array(self._timed), "seconds": np.array(self._seconds)}
        return record

    @classmethod
    def _misfits(cls, record: Mapping[str, Any]) -> Iterator[str]:
        if (record["timed"] is None) is not (record["seconds"] is None):
            yield "there are times of no columns"
        if record["by_count"].sum() != len(record["by"]):
            yield "there are more features named as reasons, or fewer, than are counted"

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        """Rebuild a ledger; the p-values are those computed when it was saved."""
        ledger, by = cls(record["keep"]), iter(record["by"])
        names = ("step", "event", "reason", "statistic", "p_value", "by_count")
        numbers = zip(*(record[name].tolist() for name in names), record["feature"], strict=True)
        ledger._open = [
            Decision(step, feature, EVENTS[event], REASONS[why], statistic, p, tuple(islice(by, n)))
            for step, event, why, statistic, p, n, feature in numbers
        ]
        if record["timed"] is not None:
            ledger.clock(record["timed"].tolist(), record["seconds"].tolist())
        return ledger


@register
class ProvisionalLedger(Ledger):
    """A ledger whose last lines may still change, because some decisions are deferred.

    Final decisions are recorded once.  The provisional ones are computed on every access, so that reading
    changes nothing; they are not saved.
    """

    #: Returns the provisional decisions, as if no more columns came; None: there are none.
    outlook: Callable[[], Decisions] | None = None
    #: Why they may still change.
    because: str = ""

    def _parts(self) -> Sequence[Sequence[Decision]]:
        final = super()._parts()
        if self.outlook is None or self.keep == "none":
            return final
        provisional = self.outlook()
        return (*final, provisional if self.keep == "all" else list(provisional.changes()))

    def __repr__(self) -> str:
        open_ = 0 if self.outlook is None else len(self.outlook().outcome.reason)
        note = f", the last {open_} columns provisional: {self.because}" if open_ else ""
        return f"<ledger of {len(self):,} decisions, keep={self.keep!r}{note}>"


@register
class RevisedLedger(Ledger):
    """A ledger in which later columns may revise the verdict on an earlier one.

    What was decided is recorded once.  Revisions are computed on every access and take the place of all that
    was said of their features; they are not saved.
    """

    #: Returns the verdicts that hold now, of the features whose recorded ones do not; None: there are none.
    revisions: Callable[[], Sequence[Decision]] | None = None

    def _parts(self) -> Sequence[Sequence[Decision]]:
        recorded = super()._parts()
        revised = () if self.revisions is None or self.keep == "none" else self.revisions()
        if not revised:
            return recorded
        features = {line.feature for line in revised}
        lines = [line for line in chain.from_iterable(recorded) if line.feature not in features]
        # evictions stand before the verdict on their newcomer
        return (sorted([*lines, *revised], key=lambda line: (line.step, line.event is not Event.EVICTED)),)


def _html_line(row: Decision | None) -> str:
    """Return a line of a table; None stands for lines left out."""
    if row is None:
        return f"<tr>{'<td>...</td>' * len(Decision._fields)}</tr>"
    numbers = f"{row.statistic:.4g}", f"{row.p_value:.2g}"
    cells = (str(row.step), row.feature, str(row.event), str(row.reason), *numbers, ", ".join(row.by))
    return f"<tr>{''.join(f'<td>{escape(shown(cell))}</td>' for cell in cells)}</tr>"


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
        **{f"feature/{k}": a for k, a in pack_texts([row.feature for row in rows]).items()},
        **{f"by/{k}": a for k, a in pack_texts(by).items()},
    }


def _appended(before: Arrays, after: Arrays) -> Arrays:
    """Return the arrays of some decisions and of those that followed; texts end after the texts before."""
    return {
        key: np.concatenate([array, after[key] + array[-1:].sum() if key.endswith("/ends") else after[key]])
        for key, array in before.items()
    }
