"""The ledger: why every feature was kept, rejected or evicted, in order, in little memory."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import chain, islice, repeat
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
#: Columns of every ledger as a table; ``type`` and ``seconds`` follow where they are known.
COLUMNS = Decision._fields[: Decision._fields.index("type")]
#: Number of lines shown in HTML at either end of a ledger.
PAGE_LINES = 10
#: Number of lines searched for names similar to an unknown one.
MOST_COMPARED = 100_000
_NUMBERED = re.compile(r"x\d+")


@register
class Ledger(Part, Sequence[Decision]):
    """The log of all decisions of a selector, in order: why each feature was kept, rejected or evicted.

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

    #: Returns the type of a column by name, None if it is not on record; None: types are not known.
    type_of: Callable[[str], str | None] | None = None
    #: Returns what the statistic of a decision is, in the words of the field; None: not known.
    effect_of: Callable[[Decision], str] | None = None

    def __init__(self, keep: str = "all") -> None:
        if keep not in KEEP:
            raise ParameterError(f"ledger must be one of {', '.join(map(repr, KEEP))}, got {keep!r}")
        self.keep = keep
        self._chunks: list[Sequence[Decision]] = []
        self._open: list[Decision] = []
        #: The oldest decisions as arrays, cached because checkpoints save them often.
        self._packed: Arrays = _columns([])
        #: Arrival numbers of the columns whose computing time is known, in order.
        self._timed, self._seconds = array("q"), array("d")

    # ---------------------------------------------------------------- writing

    def record(self, decisions: Decisions) -> None:
        """Record the decisions on a block; with ``keep="kept"``, only those on features that were kept."""
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
        """Record one decision; the fast path for single columns and for changes of the selected set."""
        if self.keep == "all" or (self.keep == "kept" and decision.event is not Event.REJECTED):
            self._open.append(decision)

    def clock(self, columns: Iterable[int], seconds: Iterable[float]) -> None:
        """Record how long columns took to compute, by increasing arrival number."""
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
        """Return the last decision on a feature: why it is selected, or why not.

        It says what its statistic is (``effect``), and the ``type`` of the feature, if they are known.
        """
        for chunk in reversed(self._parts()):
            if isinstance(chunk, Decisions):
                found = chunk.last(feature)
            else:
                found = next((d for d in reversed(chunk) if d.feature == feature), None)
            if found is not None:
                if self.type_of is not None:
                    found = found._replace(type=self.type_of(feature))
                return found if self.effect_of is None else found._replace(effect=self.effect_of(found))
        raise KeyError(self._unknown(feature))

    def _types(self, rows: Iterable[Decision]) -> list[str]:
        """Return the type of the column of each decision; nothing if all known ones are numeric."""
        if self.type_of is None:
            return []
        types = [self.type_of(row.feature) or "" for row in rows]
        return types if {*types} - {"", "numeric"} else []

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
        made = [repr(name) for name in known if name.startswith(f"{feature}=")][:8]
        if made:
            near = f"; its categories are features: {', '.join(made)}"
        partial = "; ledger='kept' leaves out rejected features" if self.keep == "kept" and not near else ""
        return f"no feature named {feature!r} in the ledger{near}{partial}"

    def counts(self) -> dict[str, int]:
        """Count features by outcome, as ``{"kept": 4, "irrelevant": 963, "evicted": 2, ...}``.

        ``kept`` counts the features kept now, ``evicted`` the evictions (a feature may be evicted
        repeatedly), and the other entries the rejected features by reason.
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
        """Yield the decisions to keep a feature, evicted later or not, without creating the others."""
        for chunk in self._parts():
            if isinstance(chunk, Decisions):
                yield from chunk.kept()
            else:
                yield from (d for d in chunk if d.event is Event.KEPT)

    @property
    def seconds(self) -> FloatArray:
        """Computing time of each column in seconds, by arrival number; NaN if not known.

        Times are known for columns computed on demand (``streamsieve.features``); with ``keep="kept"``, for
        those that were kept.  ``ledger_.seconds[sieve.selected_]`` is the cost of computing the selection.
        """
        times = np.full(self.clocked, np.nan)
        times[np.array(self._timed, np.int64)] = self._seconds
        return times

    @property
    def clocked(self) -> int:
        """Length of ``seconds``: one more than the last column whose time is known."""
        return self._timed[-1] + 1 if self._timed else 0

    def columns(self) -> dict[str, list[Any]]:
        """Return the whole ledger as columns, ready for any dataframe library.

        ``type`` is present if some column is not numeric.  ``seconds``, if times are known, is in the line of
        the decision to keep or reject a column, not of its eviction, so that sums are correct.
        """
        rows = list(self)
        table: dict[str, list[Any]] = {name: [getattr(row, name) for row in rows] for name in COLUMNS}
        table["event"] = [str(event) for event in table["event"]]
        table["reason"] = [str(reason) for reason in table["reason"]]
        table["by"] = [list(by) for by in table["by"]]
        types = self._types(rows)
        if types:
            table["type"] = types
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
        kinds = {"step": pa.int64(), "statistic": number, "p_value": number, "seconds": number}
        kinds["by"] = pa.list_(text)
        table = self.columns()
        return pa.table(table, schema=pa.schema([(name, kinds.get(name, text)) for name in table]))

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
        refuse_foreign([path], overwrite=overwrite)
        timed, time_of, types = bool(self._timed), self._time_of(), self._types(self)
        head = COLUMNS + ("type",) * bool(types) + ("seconds",) * timed
        kinds = ((kind,) for kind in types) if types else repeat(())
        lines = (
            (*row[: len(COLUMNS) - 1], ";".join(row.by), *kind, *(time_of(row),) * timed)
            for row, kind in zip(self, kinds, strict=False)
        )
        with replacing(path) as file:
            write_csv(file, chain([head], lines), raw=raw)

    def __repr__(self) -> str:
        return f"<ledger of {len(self):,} decisions, keep={self.keep!r}>"

    def _repr_html_(self) -> str:
        """Return the first and the last decisions as a table, for notebooks."""
        n, rows = len(self), self[:]
        some = rows if n <= 2 * PAGE_LINES else [*rows[:PAGE_LINES], None, *rows[-PAGE_LINES:]]
        lines = "".join(map(_html_line, some))
        head = "".join(f"<th>{name}</th>" for name in COLUMNS)
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


def _html_line(row: Decision | None) -> str:
    """Return a line of a table; None stands for lines left out."""
    if row is None:
        return f"<tr>{'<td>...</td>' * len(COLUMNS)}</tr>"
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
    """Concatenate the arrays of earlier and later decisions; the ends of texts are shifted."""
    joined = {}
    for key, earlier in before.items():
        later = after[key]
        if key.endswith("/ends"):
            later = later + earlier[-1:].sum()  # the last end, or 0 without texts
        joined[key] = np.concatenate([earlier, later])
    return joined
