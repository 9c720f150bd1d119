"""Stores of columns that arrive in groups: kept columns, the open group, and its deferred decisions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt

from streamsieve.columns.deferred import DeferredColumns, correlation_p_values
from streamsieve.columns.redundancy.slots import SLOT, Shape, Slots
from streamsieve.lazy_p_values import PValues
from streamsieve.protocols import FloatArray, IntArray
from streamsieve.state import Array, Field, Int, Nested, Part

if TYPE_CHECKING:
    from streamsieve.independence import FisherZ
    from streamsieve.protocols import Matrix

Judged = TypeVar("Judged")


class GroupCandidates(NamedTuple):
    """Columns of a block that may enter their group."""

    #: Positions in the block.
    at: IntArray
    #: Dependence on the target.
    relevance: FloatArray
    #: Their entries in the other slots of the store.
    entries: Mapping[str, npt.NDArray[Any]]


class GroupStore(Part, ABC, Generic[Judged]):
    """Slots for the kept columns of closed groups, in order of arrival, and for members of the open group.

    Of a rejected column of the open group, only the deferred decision is stored.  A subclass computes the
    outcome as if the open group ended now (:meth:`_judge`), which :meth:`outlook` and :meth:`close` share,
    and applies it.
    """

    fields: ClassVar[Mapping[str, Field]] = {
        "closed": Int(0, 2**31 - 1),
        "feature": Array("i8", "columns", low=0, order="rising"),
        "group": Array("i8", "columns", low=0, order="sorted"),
        "relevance": Array("f8", "columns", low=0, finite=True),
        "deferred": Nested(DeferredColumns),
    }

    #: Correlation with the target, for stores that measure it.
    test: FisherZ | None = None

    def __init__(self, n: int) -> None:
        self.n = n
        self.slots = Slots(
            **self._entries(), relevance=("f8", (SLOT,)), feature=("i8", (SLOT,)), group=("i8", (SLOT,))
        )
        #: Slots in order of arrival.
        self.kept = np.zeros(0, np.int64)
        self.open = np.zeros(0, np.int64)
        #: Number of complete groups, which is also the number of the open one.
        self.closed = 0
        self.deferred = DeferredColumns()

    @abstractmethod
    def _entries(self) -> dict[str, tuple[str, Shape]]:
        """Return the slot arrays of this kind of store."""

    @abstractmethod
    def _candidates(
        self, X: Matrix, reason: npt.NDArray[np.uint8], statistic: FloatArray, p_value: FloatArray
    ) -> Iterator[GroupCandidates]:
        """Measure every column of a block, set its reason and statistic, and yield candidates in order.

        P-values are set where they do not follow from the statistic.
        """

    @abstractmethod
    def _judge(self) -> Judged:
        """Return the outcome for the open group and the kept columns if it ended now; changes nothing."""

    @abstractmethod
    def _write(self, outcome: Judged, deferred: DeferredColumns) -> None:
        """Write the decisions on the open group, and the evictions of kept columns."""

    @abstractmethod
    def _survivors(self, outcome: Judged) -> IntArray:
        """Return the slots of the columns that stay, in order."""

    def _adopt(self, outcome: Judged) -> None:
        """Apply the rest of an outcome when the group has ended; slots are still the old ones."""

    def p_values(self, decided: DeferredColumns) -> PValues | FloatArray | None:
        """Return the p-values of decisions; None without a test."""
        return None if self.test is None else correlation_p_values(decided, self.test)

    @property
    def members(self) -> IntArray:
        """Slots of the kept columns, then of the open group."""
        return np.concatenate([self.kept, self.open])

    def take(self, X: Matrix, ends: IntArray, start: int) -> DeferredColumns:
        """Add columns ``start, start + 1, ...`` and return the decisions on all groups that they complete.

        Groups end after the first ``ends[0]``, ``ends[1]``, ... columns of the block; the remaining columns
        stay in the open group.
        """
        width, before = X.shape[1], self.closed
        deferred = self.deferred.copy()  # an error while measuring changes nothing
        deferred.resume(start)
        low = len(deferred)
        deferred.append(np.zeros(width, np.uint8), np.zeros(width))
        measured = self._candidates(
            X, deferred.reason[low:], deferred.statistic[low:], deferred.p_value[low:]
        )
        for at, relevance, entries in measured:
            group = before + np.searchsorted(ends, at, side="right")
            cuts = np.flatnonzero(np.diff(group, prepend=-1, append=-1)).tolist()
            for first, last in pairwise(cuts):
                self._close_until(int(group[first]), deferred)
                some = {name: array[first:last] for name, array in entries.items()}
                self._enter(at[first:last] + start, relevance[first:last], some, deferred)
        self._close_until(before + len(ends), deferred)
        deferred.settled = deferred.start + (low + int(ends[-1]) if len(ends) else 0)
        self.deferred = deferred
        return deferred.release()

    def close(self, coming: int) -> DeferredColumns:
        """Decide the open group as it is; ``coming`` is the arrival number of the next column."""
        self.deferred.resume(coming)
        if len(self.deferred):
            self._close_until(self.closed + 1, self.deferred)
        self.deferred.settled = self.deferred.end
        return self.deferred.release()

    def outlook(self) -> DeferredColumns:
        """Return what :meth:`close` would; changes nothing."""
        deferred = self.deferred.copy()
        if len(self.open):
            self._write(self._judge(), deferred)
        return deferred

    def selection(self) -> tuple[IntArray, IntArray]:
        """Return the columns kept and their groups, as if the open group were complete."""
        slots = self._survivors(self._judge()) if len(self.open) else self.kept
        return self.slots["feature"][slots], self.slots["group"][slots]

    def _enter(
        self, features: IntArray, relevance: FloatArray, entries: Mapping[str, npt.NDArray[Any]],
        deferred: DeferredColumns,
    ) -> None:  # fmt: skip
        """Add candidates to the open group; a subclass may decide on them at once."""
        del deferred
        self.open = np.concatenate([self.open, self._put(features, relevance, entries)])

    def _put(
        self, features: IntArray, relevance: FloatArray, entries: Mapping[str, npt.NDArray[Any]]
    ) -> IntArray:
        """Put columns of the open group into free slots, and return these."""
        slots = self.slots.take(len(features))
        own = {"relevance": relevance, "feature": features, "group": self.closed}
        for name, values in {**entries, **own}.items():
            self.slots[name][slots] = values
        return slots

    def _close_until(self, group: int, deferred: DeferredColumns) -> None:
        """Make ``group`` the open group; if it is a new one, close the previous group."""
        if group == self.closed:
            return
        if len(self.open):
            outcome = self._judge()
            self._write(outcome, deferred)
            self._adopt(outcome)
            stay, members = self._survivors(outcome), self.members
            stays = np.zeros(len(self.slots), bool)
            stays[stay] = True
            self.slots.release(members[~stays[members]])
            self.kept, self.open = stay, self.open[:0]
        self.closed = group

    def _record(self) -> Mapping[str, Any]:
        return {**self.slots.record(self.members), "closed": self.closed, "deferred": self.deferred}

    @classmethod
    @abstractmethod
    def _empty(cls, record: Mapping[str, Any]) -> Self:
        """Return a store without columns, configured by the record."""

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        store = cls._empty(record)
        store.closed, store.deferred = record["closed"], record["deferred"]
        store.slots.restore(record)
        is_open = record["group"] >= store.closed
        store.kept, store.open = np.flatnonzero(~is_open), np.flatnonzero(is_open)
        return store

    def _consistent(self) -> Iterator[str]:
        feature, deferred = self.slots["feature"], self.deferred
        if np.any(self.slots["group"][self.open] > self.closed):
            yield "a column belongs to a group that has not begun"
        if np.any(feature[self.kept] >= deferred.start) or np.any(feature[self.open] >= deferred.end):
            yield "a column is kept that was not offered, or whose group is open"
        if np.any(feature[self.open] < deferred.start):
            yield "a column of the open group has a final decision"
        if len(deferred.evictions):
            yield "columns leave before their group is complete"
