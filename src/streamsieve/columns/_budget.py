"""A buffer of k columns: the rule, and members without their columns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from streamsieve._kernels import budget
from streamsieve._kernels.budget import LANES
from streamsieve.columns._correlated import TIE
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, FloatArray, IntArray
from streamsieve.state import expect, register

if TYPE_CHECKING:
    from streamsieve.protocols import Matrix

REDUNDANT, OUTSCORED = 1, 2


class Candidates(NamedTuple):
    """Columns of a block that want to enter, in order of arrival."""

    #: Their places in the block.
    chosen: IntArray
    #: Arrival numbers.
    feature: IntArray
    #: Dependence on the target, statistic and p-value, a row each.
    values: FloatArray
    #: Means and lengths of all columns of the block, where they are compared by correlation.
    mean: FloatArray
    norm: FloatArray


class Outcome(NamedTuple):
    """What became of candidates, one entry each."""

    #: 0 (kept), ``REDUNDANT`` or ``OUTSCORED``.
    fate: npt.NDArray[np.uint8]
    #: The member that made it redundant, or -1.
    by: IntArray
    #: The member that left for it, or -1; why; and its statistic and p-value.
    gone: IntArray
    gone_fate: npt.NDArray[np.uint8]
    gone_values: FloatArray


def unsettled(m: int) -> Outcome:
    """Return the outcome of m candidates before anything happened."""
    return Outcome(
        np.zeros(m, np.uint8), np.full(m, -1, np.int64), np.full(m, -1, np.int64),
        np.zeros(m, np.uint8), np.zeros((2, m)),
    )  # fmt: skip


@register
class Budget:
    """Members by their dependence on the target alone: redundancy weighs nothing, no column is held.

    Subclasses hold columns and weigh what they share.  Memory grows with the members, up to k.

    Parameters
    ----------
    n : number of rows
    k : most members
    weight : weight of redundancy, 0 to 1
    """

    def __init__(self, n: int, k: int, weight: float = 0.0) -> None:
        self.n, self.k, self.weight = n, k, weight
        self._q = 0
        self._kept = np.zeros((3, 0))
        self._feature = np.zeros(0, np.int64)
        self._sums = np.zeros(0)
        self._pairs = np.zeros((0, 0))
        self._tiles = np.zeros((0, n, LANES))
        self._grow(LANES)

    def _grow(self, slots: int) -> None:
        """Make room for so many members."""
        more = slots - len(self._feature)
        self._kept = np.pad(self._kept, ((0, 0), (0, more)))
        self._feature = np.pad(self._feature, (0, more))
        self._sums = np.pad(self._sums, (0, more))
        if self.weight > 0:
            self._pairs = np.pad(self._pairs, ((0, more), (0, more)))

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the members, in order."""
        return np.sort(self._feature[: self._q])

    @property
    def members(self) -> Candidates:
        """The members as candidates of another buffer, in order of arrival."""
        order = np.argsort(self._feature[: self._q])
        nothing = np.zeros(0)
        return Candidates(order, self._feature[order], self._kept[:, order], nothing, nothing)

    @property
    def limit(self) -> float:
        """A candidate with so little dependence on the target is outscored for certain."""
        return float(budget.limit(self._kept, self._sums, self._q, self.k, self.weight, TIE))

    def settle(self, X: Matrix, new: Candidates) -> Outcome:  # noqa: ARG002 - subclasses look at columns
        """Let candidates compete with the members, in order."""
        pieces = np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0)
        return self._decide(pieces, new, sparse=False)

    def _decide(
        self, pieces: tuple[IntArray, npt.NDArray[np.int32], FloatArray], new: Candidates, *, sparse: bool
    ) -> Outcome:
        mean, norm = (part[new.chosen] if len(part) else part for part in (new.mean, new.norm))
        outcome, done = unsettled(len(new.feature)), 0
        while True:
            done, self._q = budget.decide(
                *pieces, sparse, mean, norm, done, self.k, self.weight, TIE, new.values, new.feature,
                self._tiles, self._kept, self._feature, self._pairs, self._sums, self._q, *outcome,
            )  # fmt: skip
            if done == len(new.feature):
                return outcome
            self._grow(2 * len(self._feature))

    def _place(self, j: int, shared: FloatArray, copied: int, new: Candidates, outcome: Outcome) -> int:
        """Let one candidate in or not, given what it shares with members; return its slot or -1."""
        if self._q == len(self._feature) < self.k:
            self._grow(2 * len(self._feature))
        slot = int(
            budget.place(
                j, shared, copied, self.k, self.weight, TIE, new.values, new.feature,
                self._kept, self._feature, self._pairs, self._sums, self._q, *outcome,
            )
        )  # fmt: skip
        self._q = max(self._q, slot + 1)
        return slot

    def _first(self, slots: npt.NDArray[np.bool_]) -> int:
        """Return the slot, among some, of the member that arrived first; -1 if there is none."""
        some = np.flatnonzero(slots)
        return int(some[np.argmin(self._feature[some])]) if len(some) else -1

    # ---------------------------------------------------------------- state

    def state(self) -> Arrays:
        """Return the members, slot by slot."""
        q = self._q
        return {
            "size": np.array([self.n, self.k], np.int64),
            "weight": np.array([self.weight]),
            "kept": self._kept[:, :q],
            "feature": self._feature[:q],
            "pairs": self._pairs[:q, :q],
            "sums": self._sums[:q],
        }

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild."""
        n, k = (int(v) for v in expect(arrays, "size", np.int64, (2,)))
        weight = float(expect(arrays, "weight", np.float64, (1,))[0])
        feature = expect(arrays, "feature", np.int64, (None,))
        q = len(feature)
        if not (0 < n < 2**31 and 0 <= weight <= 1 and 0 <= q <= k) or len(set(feature.tolist())) < q:
            raise StateError(f"the state claims {q} members of {k} over {n} rows, redundancy {weight}")
        self = cls._empty(n, k, weight, arrays)
        while len(self._feature) < q:
            self._grow(2 * len(self._feature))
        self._q = q
        self._feature[:q] = feature
        self._kept[:, :q] = expect(arrays, "kept", np.float64, (3, q))
        dependence = self._kept[0, :q]
        # kernels index by nothing of this, but a NaN would never leave a buffer
        if not np.all(dependence >= 0) or not np.all(dependence < math.inf):
            raise StateError("the state has a member whose dependence on the target is no number")
        if weight > 0:
            pairs = expect(arrays, "pairs", np.float64, (q, q))
            if not np.array_equal(pairs, pairs.T) or np.any(pairs.diagonal() != 0) or np.any(pairs < 0):
                raise StateError("the state's members do not share with each other what they share")
            self._pairs[:q, :q] = pairs
            self._sums[:q] = expect(arrays, "sums", np.float64, (q,))  # to the last bit
            if not np.allclose(self._sums[:q], pairs.sum(axis=1)):
                raise StateError("the state's members share another sum than the sum of what they share")
        self._fill(q, arrays)
        return self

    @classmethod
    def _empty(cls, n: int, k: int, weight: float, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:  # noqa: ARG003
        """Return a buffer without members; subclasses read what else they were made with."""
        if cls is Budget and weight > 0:
            raise StateError(f"the state claims a redundancy of {weight} without columns")
        return cls(n, k, weight)

    def _fill(self, q: int, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Put q columns back."""
