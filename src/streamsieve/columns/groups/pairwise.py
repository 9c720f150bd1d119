"""Pairwise redundancy inside and between groups, by correlation or by information of discretized columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._kernels import discrete as coding
from streamsieve._kernels import groups as kernel
from streamsieve.columns.deferred import DeferredColumns, eviction_of
from streamsieve.columns.groups.store import GroupCandidates, GroupStore
from streamsieve.columns.redundancy.slots import SLOT, Shape
from streamsieve.decisions import CONSTANT, IRRELEVANT, KEPT, REDUNDANT
from streamsieve.dependence.blocks import DENSE_VALUES, TIE, unit_columns
from streamsieve.dependence.information import c_log_c
from streamsieve.independence import FisherZ
from streamsieve.independence.online_fdr import OnlineFDRProcedure
from streamsieve.lazy_p_values import ReplacedPValues
from streamsieve.protocols import FloatArray, IntArray, Matrix
from streamsieve.state import Array, Bool, Float, Int, Nested, register


class Eliminated(NamedTuple):
    """Columns eliminated between the open group and the closed ones, as positions."""

    #: For each column of the open group, the kept column that eliminates it, or -1; and their dependence.
    by: IntArray
    pair: FloatArray
    #: For each kept column, the column of the open group that eliminates it, or -1; and their dependence.
    kept_by: IntArray
    kept_pair: FloatArray


class PairwiseGroups(GroupStore[Eliminated]):
    """Groups that compete pair by pair: of two redundant columns the less relevant one is eliminated.

    ``literal``: a column that was eliminated between groups still eliminates others.
    """

    fields = {**GroupStore.fields, "literal": Bool()}

    def __init__(self, n: int, *, literal: bool) -> None:
        self.literal = literal
        super().__init__(n)

    @abstractmethod
    def _pairs(self, some: IntArray, others: IntArray) -> FloatArray:
        """Return the dependences of columns in slots."""

    def _enter(
        self, features: IntArray, relevance: FloatArray, entries: Mapping[str, npt.NDArray[Any]],
        deferred: DeferredColumns,
    ) -> None:  # fmt: skip
        """Let candidates into the open group; each competes with the members before it."""
        slots = self._put(features, relevance, entries)
        members = np.concatenate([self.open, slots])
        if len(members) > 1:
            by, pair = kernel.inside(self._pairs(slots, members), self.slots["relevance"][members], TIE)
            lost = by >= 0
            if lost.any():
                feature = self.slots["feature"][members]
                deferred.change(feature[lost], REDUNDANT, pair[lost], feature[by[lost]])
                self.slots.release(members[lost])
                members = members[~lost]
        self.open = members

    def _judge(self) -> Eliminated:
        relevance = self.slots["relevance"]
        return Eliminated(
            *kernel.between(
                self._pairs(self.open, self.kept), relevance[self.open], relevance[self.kept],
                self.slots["group"][self.kept], self.literal, TIE,
            )
        )  # fmt: skip

    def _write(self, outcome: Eliminated, deferred: DeferredColumns) -> None:
        new, kept = (self.slots["feature"][slots] for slots in (self.open, self.kept))
        lost, gone = outcome.by >= 0, outcome.kept_by >= 0
        deferred.change(new[lost], REDUNDANT, outcome.pair[lost], kept[outcome.by[lost]])
        by = new[outcome.kept_by[gone]].tolist()
        deferred.evictions += map(eviction_of, by, kept[gone].tolist(), outcome.kept_pair[gone].tolist(), by)

    def _survivors(self, outcome: Eliminated) -> IntArray:
        return np.concatenate([self.kept[outcome.kept_by < 0], self.open[outcome.by < 0]])

    def _record(self) -> Mapping[str, Any]:
        return {**super()._record(), "literal": self.literal}


@register
class PairwiseCorrelationGroups(PairwiseGroups):
    """Groups that compete by absolute correlation; columns centered and of unit length."""

    fields = {
        **PairwiseGroups.fields,
        "test": Nested(FisherZ, shares=("rows",)),
        "fdr": Nested(OnlineFDRProcedure, optional=True),
        "columns": Array("f8", "columns", "rows", low=-1 - 1e-6, high=1 + 1e-6, copy=False),
    }
    test: FisherZ

    def __init__(self, test: FisherZ, fdr: OnlineFDRProcedure | None = None, *, literal: bool) -> None:
        self.test, self.fdr = test, fdr
        super().__init__(test.n, literal=literal)

    def _entries(self) -> dict[str, tuple[str, Shape]]:
        return {"columns": ("f8", (SLOT, self.n))}

    def _candidates(
        self, X: Matrix, reason: npt.NDArray[np.uint8], statistic: FloatArray, p_value: FloatArray
    ) -> Iterator[GroupCandidates]:
        measured = self.test.measure(X)
        if self.fdr is not None and measured.p_value is not None:
            self.fdr.retest(measured.reason, measured.p_value, measured.discrete)
        reason[:], statistic[:] = measured.reason, measured.statistic
        if isinstance(measured.p_value, ReplacedPValues):
            measured.p_value.write_to(p_value)
        for some, Z in unit_columns(X, np.flatnonzero(reason == KEPT), *measured.columns):
            yield GroupCandidates(some, np.abs(statistic[some]), {"columns": Z})

    def _pairs(self, some: IntArray, others: IntArray) -> FloatArray:
        pairs: FloatArray = kernel.correlations(self.slots["columns"], some, others)
        return pairs

    def _record(self) -> Mapping[str, Any]:
        return {**super()._record(), "test": self.test, "fdr": self.fdr}

    @classmethod
    def _empty(cls, record: Mapping[str, Any]) -> Self:
        return cls(record["test"], record["fdr"], literal=record["literal"])


@register
class PairwiseDiscreteGroups(PairwiseGroups):
    """Groups that compete by mutual information, or symmetric uncertainty, of discretized columns.

    The target is given as codes 0, 1, 2, ...  A column whose dependence on it is at most ``delta`` is
    irrelevant.
    """

    fields = {
        **PairwiseGroups.fields,
        "y": Array("u2", "rows", codes=True),
        "bins": Int(2, 1024),
        "normalized": Bool(),
        "delta": Float(0),
        "codes": Array("u2", "columns", "rows", copy=False),
        "levels": Array("i8", "columns", low=1),
        "entropy": Array("f8", "columns", low=0, finite=True),
    }

    def __init__(
        self, y: npt.NDArray[np.uint16], bins: int, *, normalized: bool, delta: float, literal: bool
    ) -> None:
        self.y, self.bins, self.normalized, self.delta = y, bins, normalized, delta
        n = len(y)
        self._c_log_c = c_log_c(n)
        levels = np.array([int(y.max(initial=0)) + 1])
        self._target = y[None, :], levels, kernel.entropies(y[None, :], levels, self._c_log_c)
        super().__init__(n, literal=literal)

    def _entries(self) -> dict[str, tuple[str, Shape]]:
        return {"codes": ("u2", (SLOT, self.n)), "levels": ("i8", (SLOT,)), "entropy": ("f8", (SLOT,))}

    def _candidates(
        self,
        X: Matrix,
        reason: npt.NDArray[np.uint8],
        statistic: FloatArray,
        p_value: FloatArray,  # noqa: ARG002
    ) -> Iterator[GroupCandidates]:
        size = max(1, DENSE_VALUES // self.n)
        for low in range(0, X.shape[1], size):
            rows = self._discretized(X[:, low : low + size])
            part = slice(low, low + len(rows["levels"]))
            every, only = np.arange(len(rows["levels"])), np.zeros(1, np.int64)
            found = kernel.informations(
                *rows.values(), every, *self._target, only, self._c_log_c, self.normalized
            )
            constant = rows["entropy"] <= TIE * self.n
            statistic[part] = np.where(constant, 0.0, found[:, 0])
            irrelevant = statistic[part] <= self.delta + TIE
            reason[part] = np.where(constant, CONSTANT, np.where(irrelevant, IRRELEVANT, KEPT))
            chosen = np.flatnonzero(~(constant | irrelevant))
            some = {name: array[chosen] for name, array in rows.items()}
            yield GroupCandidates(chosen + low, statistic[part][chosen], some)

    def _discretized(self, X: Matrix) -> dict[str, npt.NDArray[Any]]:
        """Return codes, numbers of categories and entropies, in the order of the kernel's arguments."""
        X = sp.csc_array(X)
        n, m = X.shape
        codes, levels = np.zeros((m, n), np.uint16), np.zeros(m, np.int64)
        rows, some, counts = np.empty(n, np.int32), np.empty(n, np.uint16), np.empty(self._widest, np.int64)
        data, indices, ends = X.data, X.indices, X.indptr.tolist()
        for j in range(m):
            low, high = ends[j], ends[j + 1]
            length, levels[j] = coding.encode(
                data[low:high], indices[low:high], high - low, n, self.bins, rows, some, counts
            )
            codes[j, rows[:length]] = some[:length]
        return {"codes": codes, "levels": levels, "entropy": kernel.entropies(codes, levels, self._c_log_c)}

    @property
    def _widest(self) -> int:
        """Largest number of categories of a discretized column."""
        return max(int(coding.most_levels(self.n)) + 1, self.bins)

    def _pairs(self, some: IntArray, others: IntArray) -> FloatArray:
        entries = self.slots.of("codes", "levels", "entropy")
        pairs: FloatArray = kernel.informations(
            *entries, some, *entries, others, self._c_log_c, self.normalized
        )
        return pairs

    def _record(self) -> Mapping[str, Any]:
        own = {"y": self.y, "bins": self.bins, "normalized": self.normalized, "delta": self.delta}
        return {**super()._record(), **own}

    @classmethod
    def _empty(cls, record: Mapping[str, Any]) -> Self:
        return cls(**{name: record[name] for name in ("y", "bins", "normalized", "delta", "literal")})

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        levels, codes = self.slots["levels"][self.members], self.slots["codes"][self.members]
        if not self.n:
            yield "the target has no rows"
        elif np.any((levels > self._widest) | (codes.max(axis=1, initial=0) >= levels)):
            yield "a column has a category that it should not have"
