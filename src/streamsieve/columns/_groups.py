"""Columns kept group by group: who stands, who waits in the open group, and what is told of each of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve.decisions import REASON_CODE, REASONS
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, FloatArray, IntArray, Reason
from streamsieve.state import expect

if TYPE_CHECKING:
    from streamsieve.independence import FisherZ
    from streamsieve.independence.fisher_z import Correlations
    from streamsieve.protocols import Matrix

REDUNDANT = REASON_CODE[Reason.REDUNDANT]
#: Columns that a store has room for at first.
FIRST_SLOTS = 32
#: Values of candidates that are made dense at once.
DENSE_VALUES = 2**20

Outcome = TypeVar("Outcome")


class Candidates(NamedTuple):
    """Columns of a block that enter their group: where they stand in it, dependence on y, rows of tables."""

    at: IntArray
    relevance: FloatArray
    rows: Mapping[str, npt.NDArray[Any]]


class Departure(NamedTuple):
    """An earlier column leaves: at which newcomer, which one, how strongly it depends on whom.

    With nobody to blame, ``by`` is -1 and ``pair`` how strongly it depends on the target.
    """

    step: int
    feature: int
    pair: float
    by: int


class Lines:
    """What became of columns ``start, start + 1, ...``, and of earlier ones on the way."""

    #: p-values of those lines where they do not follow from the statistic, NaN elsewhere.
    p_value: FloatArray | None = None

    def __init__(
        self, start: int, reason: npt.NDArray[np.uint8], statistic: FloatArray, by: IntArray
    ) -> None:
        self.start, self.reason, self.statistic, self.by = start, reason, statistic, by
        self.departures: list[Departure] = []

    def reject(self, features: IntArray, reason: int) -> None:
        """Note that some of the columns do not stay, for a reason that names nobody."""
        self.reason[features - self.start] = reason

    def lose(self, features: IntArray, by: IntArray, pair: FloatArray) -> None:
        """Note that some of the columns are redundant."""
        at = features - self.start
        self.reason[at], self.statistic[at], self.by[at] = REDUNDANT, pair, by

    def evict(self, steps: IntArray, features: IntArray, by: IntArray, pair: FloatArray) -> None:
        """Note that earlier columns leave, in order of the newcomers at which they do."""
        order = np.argsort(steps, kind="stable")
        parts = (a[order].tolist() for a in (steps, features, pair, by))
        self.departures += map(Departure, *parts)

    def part(self, part: slice) -> tuple[npt.NDArray[np.uint8], FloatArray, IntArray]:
        """Return copies of some of the lines."""
        return self.reason[part].copy(), self.statistic[part].copy(), self.by[part].copy()


class GroupedColumns(ABC, Generic[Outcome]):
    """Slots for the kept columns of closed groups, in order, and for the members of the open group.

    Columns of the open group that are out already leave nothing but their line.  A subclass says how the open
    group would be decided now (:meth:`_judge`), and what follows from that; looking and closing both ask.
    """

    #: The test of relevance, for stores that measure correlations with the target.
    test: FisherZ | None = None
    #: Names of the tables; row ``slot`` of each belongs to the column in that slot.
    tables: dict[str, npt.NDArray[Any]]

    def __init__(self, n: int) -> None:
        self.n = n
        self.tables = self._empty(FIRST_SLOTS) | {
            "relevance": np.zeros(FIRST_SLOTS),
            "feature": np.zeros(FIRST_SLOTS, np.int64),
            "group": np.zeros(FIRST_SLOTS, np.int64),
        }
        self._free = np.arange(FIRST_SLOTS)[::-1]
        self._kept = np.zeros(0, np.int64)
        self._open = np.zeros(0, np.int64)
        #: Groups that are complete; also the number of the open one.
        self.closed = 0
        self._lines = np.zeros(0, np.uint8), np.zeros(0), np.zeros(0, np.int64)

    @abstractmethod
    def _empty(self, slots: int) -> dict[str, npt.NDArray[Any]]:
        """Return tables of this kind of store."""

    @abstractmethod
    def _candidates(
        self, X: Matrix, reason: npt.NDArray[np.uint8], statistic: FloatArray
    ) -> Iterator[Candidates]:
        """Measure every column of a block, fill its lines, and yield those that may stay, in order."""

    @abstractmethod
    def _judge(self) -> Outcome:
        """Say what becomes of the open group and of the earlier ones if it ends here; change nothing."""

    @abstractmethod
    def _tell(self, outcome: Outcome, lines: Lines) -> None:
        """Write the lines of the open group, and who leaves."""

    @abstractmethod
    def _survivors(self, outcome: Outcome) -> IntArray:
        """Return the slots of the columns that stay, in order."""

    def _adopt(self, outcome: Outcome) -> None:
        """Take over what else follows, because the group has ended; slots are still those of before."""

    # ---------------------------------------------------------------- deciding

    @property
    def held(self) -> int:
        """How many columns the open group has."""
        return len(self._lines[0])

    @property
    def standing(self) -> IntArray:
        """Features of closed groups and members of the open one, whether or not these stay."""
        features: IntArray = self.tables["feature"][np.concatenate([self._kept, self._open])]
        return features

    def take(self, X: Matrix, ends: IntArray, start: int) -> Lines:
        """Take columns ``start, start + 1, ...`` and decide all groups that are complete with them.

        A group ends after the first ``ends[0]``, ``ends[1]``, ... columns of the block; what comes after the
        last of them stays open.
        """
        held, width = self.held, X.shape[1]
        reason, statistic, by = self._lines
        lines = Lines(
            start - held,
            np.concatenate([reason, np.zeros(width, np.uint8)]),
            np.concatenate([statistic, np.zeros(width)]),
            np.concatenate([by, np.full(width, -1)]),
        )
        before = self.closed
        for at, relevance, rows in self._candidates(X, lines.reason[held:], lines.statistic[held:]):
            group = before + np.searchsorted(ends, at, side="right")
            cuts = np.flatnonzero(np.diff(group, prepend=-1, append=-1)).tolist()
            for low, high in pairwise(cuts):
                self._close_until(int(group[low]), lines)
                some = {name: table[low:high] for name, table in rows.items()}
                self._enter(at[low:high] + start, relevance[low:high], some, lines)
        self._close_until(before + len(ends), lines)
        return self._settle(lines, held + int(ends[-1]) if len(ends) else 0)

    def close(self, start: int) -> Lines:
        """Decide the open group as it is; ``start`` is the arrival number of its first column."""
        lines = Lines(start, *self._lines)
        if self.held:
            self._close_until(self.closed + 1, lines)
        return self._settle(lines, self.held)

    def present(self, start: int) -> Lines:
        """Return what :meth:`close` would, and change nothing."""
        reason, statistic, by = self._lines
        lines = Lines(start, reason.copy(), statistic.copy(), by.copy())
        if len(self._open):
            self._tell(self._judge(), lines)
        return lines

    def selection(self) -> tuple[IntArray, IntArray]:
        """Return the columns kept and their groups, as if the open group were complete."""
        slots = self._survivors(self._judge()) if len(self._open) else self._kept
        return self.tables["feature"][slots], self.tables["group"][slots]

    def _settle(self, lines: Lines, done: int) -> Lines:
        """Hold the lines of the open group back."""
        self._lines = lines.part(slice(done, None))
        decided = Lines(lines.start, *lines.part(slice(0, done)))
        decided.departures = lines.departures
        decided.p_value = None if lines.p_value is None else lines.p_value[:done]
        return decided

    def _enter(
        self, features: IntArray, relevance: FloatArray, rows: Mapping[str, npt.NDArray[Any]], lines: Lines
    ) -> None:
        """Let newcomers into the open group."""
        del lines  # for subclasses that have something to say at once
        self._open = np.concatenate([self._open, self._store(features, relevance, rows)])

    def _store(
        self, features: IntArray, relevance: FloatArray, rows: Mapping[str, npt.NDArray[Any]]
    ) -> IntArray:
        """Put columns of the open group into slots."""
        slots = self._reserve(len(features))
        for name, table in rows.items():
            self.tables[name][slots] = table
        self.tables["relevance"][slots] = relevance
        self.tables["feature"][slots] = features
        self.tables["group"][slots] = self.closed
        return slots

    def _reserve(self, count: int) -> IntArray:
        """Return free slots, after doubling the tables as often as it takes."""
        while len(self._free) < count:
            have = len(self.tables["feature"])
            self.tables = {name: np.concatenate([t, np.zeros_like(t)]) for name, t in self.tables.items()}
            self._free = np.concatenate([np.arange(have, 2 * have)[::-1], self._free])
        left = len(self._free) - count
        slots, self._free = self._free[left:][::-1], self._free[:left]
        return slots

    def _close_until(self, group: int, lines: Lines) -> None:
        """Make ``group`` the open one; if that is a new one, the old one is decided."""
        if group == self.closed:
            return
        if len(self._open):
            outcome = self._judge()
            self._tell(outcome, lines)
            self._adopt(outcome)
            stay, members = self._survivors(outcome), np.concatenate([self._kept, self._open])
            stays = np.zeros(len(self.tables["feature"]), bool)
            stays[stay] = True
            self._free = np.concatenate([self._free, members[~stays[members]]])
            self._kept, self._open = stay, self._open[:0]
        self.closed = group

    # ---------------------------------------------------------------- state

    def state(self) -> Arrays:
        """Return the columns in slots, in order of arrival, and the lines of the open group."""
        slots = np.concatenate([self._kept, self._open])
        return {
            **{name: table[slots] for name, table in self.tables.items()},
            "numbers": np.array([self.n, self.closed, len(self._open)], np.int64),
            **dict(zip(("held_reason", "held_statistic", "held_by"), self._lines, strict=True)),
        }

    def _fill(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take over what :meth:`state` returned; refuse what does not fit together."""
        n, closed, members = expect(arrays, "numbers", np.int64, (3,)).tolist()
        q = len(expect(arrays, "feature", np.int64, (None,)))
        if n != self.n or closed < 0 or not 0 <= members <= q:
            raise StateError(f"the state claims {n} rows, {closed} groups and {members} open columns of {q}")
        slots = self._reserve(q)
        for name, table in self.tables.items():
            table[slots] = expect(arrays, name, table.dtype, (q, *table.shape[1:]))
        self._kept, self._open, self.closed = slots[: q - members], slots[q - members :], closed
        held = len(expect(arrays, "held_reason", np.uint8, (None,)))
        kinds = (("reason", np.uint8), ("statistic", np.float64), ("by", np.int64))
        reason, statistic, by = (np.array(expect(arrays, f"held_{k}", t, (held,))) for k, t in kinds)
        feature, group = (self.tables[name][slots] for name in ("feature", "group"))
        if (
            members > held
            or np.any(reason >= len(REASONS))
            or np.any(by < -1)
            or np.any(np.diff(feature, prepend=-1) <= 0)
            or np.any(np.diff(group, prepend=0) < 0)
            or np.any(group[: q - members] >= closed)
            or np.any(group[q - members :] != closed)
        ):
            raise StateError("the state's groups do not fit together")
        self._lines = reason, statistic, by


def unit_columns(
    X: Matrix, chosen: IntArray, measured: Correlations
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Yield chosen columns of a block, centred and of unit length, one per row, a few at a time."""
    size = max(1, DENSE_VALUES // X.shape[0])
    for low in range(0, len(chosen), size):
        some = chosen[low : low + size]
        Z = X[:, some].toarray().T if sp.issparse(X) else X.T[some]
        Z = np.ascontiguousarray(Z, np.float64) - measured.mean[some, None]
        Z -= Z.mean(axis=1, keepdims=True)  # what rounding left of a mean far from 0
        Z /= measured.norm[some, None]
        yield some, Z
