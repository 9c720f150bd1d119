"""The top-k rule by absolute correlation, and the buffer shared by all top-k rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._kernels import top_k as kernel
from streamsieve._kernels.top_k import LANES
from streamsieve.columns.redundancy.contract import Candidates
from streamsieve.columns.redundancy.slots import SLOT, TILE, Shape, Slots, SlottedRule
from streamsieve.decisions import OUTSCORED, REDUNDANT, RELEVANT, Outcome, evictions_of, redundant_by
from streamsieve.dependence.blocks import TIE
from streamsieve.protocols import FloatArray, IntArray, Reason
from streamsieve.state import Array, Float, Int, register

#: Reasons for the result codes of the kernel: kept, redundant, outscored.
KERNEL_OUTSCORED = 2
_CODES = np.array([RELEVANT, REDUNDANT, OUTSCORED], np.uint8)


class Entries(NamedTuple):
    """Candidates in the form of the kernel's arguments."""

    #: Dependence on the target, statistic and p-value, a row each.
    values: FloatArray
    feature: IntArray


class Fates(NamedTuple):
    """Results of the kernel, one per candidate."""

    #: 0 (kept), 1 (redundant) or 2 (outscored).
    fate: npt.NDArray[np.uint8]
    #: The member that made it redundant, or -1.
    by: IntArray
    #: The member that left for it, or -1; why; and its statistic and p-value.
    gone: IntArray
    gone_fate: npt.NDArray[np.uint8]
    gone_values: FloatArray

    @classmethod
    def of(cls, m: int) -> Self:
        """Return empty results for m candidates."""
        return cls(
            np.zeros(m, np.uint8), np.full(m, -1, np.int64), np.full(m, -1, np.int64),
            np.zeros(m, np.uint8), np.zeros((2, m)),
        )  # fmt: skip


@register
class TopKBuffer(SlottedRule):
    """Buffer of the k columns of largest dependence on the target; subclasses add columns and redundancy."""

    fields = {
        "n": Int(1, 2**31 - 1, size="rows"),
        "k": Int(1),
        "weight": Float(0, 1),
        "kept": Array("f8", 3, "kept"),
        "feature": Array("i8", "kept", low=0, unique=True),
        "pairs": Array("f8", "pairs", "pairs", low=0, finite=True),
        "sums": Array("f8", "kept", low=0, finite=True),
    }

    def __init__(self, n: int, k: int, weight: float = 0.0) -> None:
        self.n, self.k, self.weight = n, k, weight
        pairs: Shape = (SLOT, SLOT) if weight > 0 else (0, 0)
        self.slots = Slots(
            kept=("f8", (3, SLOT)), feature=("i8", (SLOT,)), pairs=("f8", pairs), sums=("f8", (SLOT,)),
            **self._columns(),
        )  # fmt: skip

    def _columns(self) -> dict[str, tuple[str, Shape]]:
        """Return the arrays in which columns are stored."""
        return {}

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the members, in order."""
        return np.sort(self.slots["feature"][: self._kept])

    @property
    def members(self) -> Entries:
        """The members as candidates of another buffer, in order of arrival."""
        order = np.argsort(self.slots["feature"][: self._kept])
        return Entries(self.slots["kept"][:, order], self.slots["feature"][order])

    @property
    def limit(self) -> float:
        """Dependence on the target at or below which a candidate is certainly outscored."""
        kept, sums = self.slots.of("kept", "sums")
        return float(kernel.limit(kept, sums, self._kept, self.k, self.weight, TIE))

    def rejects(self, dependence: float) -> Reason | None:
        """Return OUTSCORED if a column cannot enter, whatever its redundancy."""
        return Reason.OUTSCORED if dependence <= self.limit else None

    def settle(self, candidates: Candidates) -> Outcome:
        """Decide on candidates in order, given the members."""
        statistic = candidates.relevance.statistic
        p_value = candidates.relevance.p_value
        p_values = np.full(len(statistic), np.nan) if p_value is None else np.asarray(p_value[:])
        new = Entries(np.stack([np.abs(statistic), statistic, p_values]), candidates.feature)
        return _outcome(new, self._decide(candidates, new))

    def enter(self, new: Entries) -> Fates:
        """Decide on candidates without values, for buffers without a redundancy weight."""
        no_columns = (np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0), False, *np.zeros((2, 0)))
        return self._run(no_columns, np.zeros((0, self.n, LANES)), new)

    def _decide(self, candidates: Candidates, new: Entries) -> Fates:  # noqa: ARG002 - subclasses look at columns
        return self.enter(new)

    def _run(self, columns: tuple[Any, ...], tiles: FloatArray | None, new: Entries) -> Fates:
        """Run the kernel over candidates given as slices of columns, and kept columns in tiles."""
        fates, done = Fates.of(len(new.feature)), 0
        while True:
            done, self._kept = kernel.decide(
                *columns, done, self.k, self.weight, TIE, *new,
                self.slots["columns"] if tiles is None else tiles,
                *self.slots.of("kept", "feature", "pairs", "sums"), self._kept, *fates,
            )  # fmt: skip
            if done == len(new.feature):
                return fates
            self.slots.double()

    def _place(self, j: int, shared: FloatArray, copied: int, new: Entries, fates: Fates) -> int:
        """Decide on one candidate, given its dependence on each member; return its slot or -1."""
        if self._kept == len(self.slots) < self.k:
            self.slots.double()
        slot = int(
            kernel.place(
                j, shared, copied, self.k, self.weight, TIE, *new,
                *self.slots.of("kept", "feature", "pairs", "sums"), self._kept, *fates,
            )
        )  # fmt: skip
        self._kept = max(self._kept, slot + 1)
        return slot

    def _first(self, slots: npt.NDArray[np.bool_]) -> int:
        """Return the slot, among some, of the member that arrived first; -1 if there is none."""
        some = np.flatnonzero(slots)
        return int(some[np.argmin(self.slots["feature"][some])]) if len(some) else -1

    def _record(self) -> Mapping[str, Any]:
        return {"n": self.n, "k": self.k, "weight": self.weight, **super()._record()}

    @classmethod
    def _misfits(cls, record: Mapping[str, Any]) -> Iterator[str]:
        if len(record["feature"]) > record["k"]:
            yield f"there are {len(record['feature'])} members of at most {record['k']}"

    @classmethod
    def _empty(cls, record: Mapping[str, Any]) -> Self:
        return cls(record["n"], record["k"], record["weight"])

    def _consistent(self) -> Iterator[str]:
        # safe for the kernels, but a NaN would stay in the buffer indefinitely
        dependence = self.slots["kept"][0, : self._kept]
        pairs, sums = self.slots["pairs"][: self._kept, : self._kept], self.slots["sums"][: self._kept]
        if not np.all((dependence >= 0) & (dependence < np.inf)):
            yield "a member's dependence on the target is no number"
        if self.weight > 0 and (type(self) is TopKBuffer or not np.array_equal(pairs, pairs.T)):
            yield "the redundancies of members are not symmetric, or there are no columns"
        elif self.weight > 0 and not (np.all(pairs.diagonal() == 0) and np.allclose(sums, pairs.sum(axis=1))):
            yield "the redundancies of members do not add up"


@register
class TopKCorrelation(TopKBuffer):
    """Members centered, of unit length, in tiles of 16."""

    fields = {
        **TopKBuffer.fields,
        "columns": Array("f8", "kept", "rows", low=-1 - 1e-6, high=1 + 1e-6, copy=False),
    }

    def _columns(self) -> dict[str, tuple[str, Shape]]:
        return {"columns": ("f8", (TILE, self.n, LANES))}

    def _decide(self, candidates: Candidates, new: Entries) -> Fates:
        slices = (*candidates.slices(), sp.issparse(candidates.X), *candidates.relevance.columns)
        return self._run(slices, None, new)


def _outcome(new: Entries, fates: Fates) -> Outcome:
    """Return the results as an outcome; the statistic is always the dependence on the target."""
    at = np.flatnonzero(fates.gone >= 0)
    newcomer, (statistic, p_value) = new.feature[at], fates.gone_values[:, at]
    left = evictions_of(
        fates.gone[at], newcomer, _CODES[fates.gone_fate[at]], statistic, p_value, newcomer[:, None]
    )
    return Outcome(
        _CODES[fates.fate], new.values[1], None, redundant_by(new.feature, fates.by[:, None]), left
    )
