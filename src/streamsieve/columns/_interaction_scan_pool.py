"""The last columns that told nothing alone, and the last ones kept: partners for whatever comes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy

from streamsieve._kernels import interaction_scan as kernel
from streamsieve._kernels.interaction_scan import LEVELS
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, FloatArray, IntArray
from streamsieve.state import expect, register

#: Rows that a degree of freedom needs.
ROWS_PER_FREEDOM = 5
#: Columns that there is room for at first.
FIRST_SLOTS = 64
LARGEST_POOL = 2**16
POOLED, CHOSEN, FREE, PAIRS = range(4)
_TABLES = ("planes", "counts", "levels", "tells", "feature")


class Coded(NamedTuple):
    """Columns as planes of bits, counts, numbers of levels, what they tell, and their arrival numbers."""

    planes: npt.NDArray[np.uint64]
    counts: IntArray
    levels: IntArray
    tells: FloatArray
    feature: IntArray


class Pairs(NamedTuple):
    """Tests of a column with partners, up to column ``at`` of a block."""

    at: int
    slots: IntArray
    statistic: FloatArray
    freedom: IntArray


@register
class PairPool:
    """Two lines of columns, first in first out: those irrelevant alone, and those kept.

    Parameters
    ----------
    y : codes of the target, 0, 1, 2, ...
    size : columns in each line at most
    """

    def __init__(self, y: npt.NDArray[np.uint16], size: int) -> None:
        self.y, self.n, self.size = y.astype(np.int64), len(y), size
        self.class_counts = np.bincount(self.y)
        #: Where the words of each class begin, and the bit of each row.
        self.edges = np.concatenate([[0], np.cumsum(-(-self.class_counts // 64))])
        order = np.argsort(self.y, kind="stable")
        before = np.repeat(np.cumsum(self.class_counts) - self.class_counts, self.class_counts)
        self.place = np.empty(self.n, np.int64)
        self.place[order] = 64 * np.repeat(self.edges[:-1], self.class_counts) + np.arange(self.n) - before
        self.g: FloatArray = xlogy(np.arange(self.n + 1.0), np.arange(self.n + 1.0))
        self._tables = self._zeros(FIRST_SLOTS)
        self._lines = np.zeros((2, size), np.int64)
        self._free = np.arange(FIRST_SLOTS)
        self._numbers = np.array([0, 0, FIRST_SLOTS, 0])
        #: Columns that were tested at all.
        self.tests = 0
        #: Arrival numbers of the columns kept, and of those kept together.
        self.kept: list[int] = []
        self.pairs: list[tuple[int, int]] = []

    def _zeros(self, slots: int) -> Coded:
        planes = np.zeros((slots, LEVELS - 1, int(self.edges[-1])), np.uint64)
        counts = np.zeros((slots, LEVELS, len(self.class_counts)), np.int64)
        levels, feature = np.zeros((2, slots), np.int64)
        return Coded(planes, counts, levels, np.zeros(slots), feature)

    @property
    def n_pairs(self) -> int:
        """Pairs tested."""
        return int(self._numbers[PAIRS])

    @property
    def pooled(self) -> IntArray:
        """Arrival numbers of the columns that are irrelevant alone, in order."""
        return self._tables.feature[self._lines[POOLED, : self._numbers[POOLED]]]

    # ---------------------------------------------------------------- coding

    def encode(self, columns: FloatArray, bins: int, features: IntArray) -> Coded:
        """Turn columns, one a row, into bits.

        Columns with more values than levels are cut: cut i is the i * floor(n / bins)-th smallest value.
        """
        m, many = len(columns), np.zeros(len(columns), bool)
        kernel.many(columns, many)
        cuts, highest = np.zeros((m, bins - 1)), np.zeros(m)
        ordered = np.sort(columns[many], axis=1)
        cuts[many], highest[many] = ordered[:, np.arange(1, bins) * (self.n // bins) - 1], ordered[:, -1]
        coded = self._zeros(m)
        kernel.encode(columns, cuts, highest, self.place, self.y, coded.planes, coded.counts, coded.levels)
        kernel.tell(coded.counts, self.g, coded.tells)
        return coded._replace(feature=features)

    def alone(self, coded: Coded) -> tuple[FloatArray, IntArray]:
        """Return the likelihood ratios of columns and target, and their freedom."""
        nothing = float(self.g[self.class_counts].sum() - self.g[self.n])
        freedom = (coded.levels - 1) * (len(self.class_counts) - 1)
        return np.maximum(2.0 * (coded.tells - nothing), 0.0), freedom

    # ---------------------------------------------------------------- pairing

    def scan(self, coded: Coded, way: npt.NDArray[np.uint8], bound: FloatArray, first: int) -> Pairs:
        """Pair columns of a block with both lines, until a pair exceeds its bound; see the kernel."""
        self._make_room(len(way) - first)
        most = 2 * self.size
        slots, statistic, freedom = np.empty(most, np.int64), np.empty(most), np.empty(most, np.int64)
        at, tested = kernel.scan(
            *coded, way, bound, first, *self._tables, *self._lines, self._free, self._numbers,
            self.edges, self.g, ROWS_PER_FREEDOM, slots, statistic, freedom,
        )  # fmt: skip
        return Pairs(at, slots[:tested], statistic[:tested], freedom[:tested])

    def join(self, coded: Coded, at: int, *, chosen: bool) -> None:
        """Put a column into one of the lines."""
        kernel.join(at, chosen, *coded, *self._tables, *self._lines, self._free, self._numbers)

    def features(self, slots: IntArray) -> IntArray:
        """Return arrival numbers."""
        found: IntArray = self._tables.feature[slots]
        return found

    def promote(self, slot: int) -> bool:
        """Move a column from one line to the end of the other; whether it was in the first."""
        pool, chosen = self._lines
        count = int(self._numbers[POOLED])
        at = np.flatnonzero(pool[:count] == slot)
        if not len(at):
            return False
        pool[at[0] : count - 1] = pool[at[0] + 1 : count].copy()
        self._numbers[POOLED] -= 1
        if self._numbers[CHOSEN] == self.size:
            self._release(int(chosen[0]))
            chosen[:-1] = chosen[1:].copy()
            self._numbers[CHOSEN] -= 1
        chosen[self._numbers[CHOSEN]] = slot
        self._numbers[CHOSEN] += 1
        return True

    def clear(self) -> None:
        """Forget the columns that are irrelevant alone."""
        for slot in self._lines[POOLED, : self._numbers[POOLED]].tolist():
            self._release(slot)
        self._numbers[POOLED] = 0

    def _release(self, slot: int) -> None:
        self._free[self._numbers[FREE]] = slot
        self._numbers[FREE] += 1

    def _make_room(self, more: int) -> None:
        """Have a free slot for each column to come, or for all that the lines hold and one more."""
        pooled, chosen, free, _ = self._numbers.tolist()
        wanted = min(pooled + chosen + more, 2 * self.size) + 1
        have = len(self._free)
        while have < wanted:
            self._tables = Coded(*(np.concatenate([a, np.zeros_like(a)]) for a in self._tables))
            self._free = np.concatenate(
                [self._free[:free], np.arange(have, 2 * have), np.zeros(have - free, int)]
            )
            free, have = free + have, 2 * have
        self._numbers[FREE] = free

    # ---------------------------------------------------------------- state

    def state(self) -> Arrays:
        """Return both lines, what was kept, and the target."""
        (pool, chosen), (pooled, kept, _, pairs) = self._lines, self._numbers.tolist()
        slots = np.concatenate([pool[:pooled], chosen[:kept]])
        return {
            "y": self.y.astype(np.uint16),
            "numbers": np.array([self.size, pooled, pairs, self.tests], np.int64),
            "planes": self._tables.planes[slots],
            "feature": self._tables.feature[slots],
            "kept": np.array(self.kept, np.int64),
            "pairs": np.array(self.pairs, np.int64).reshape(-1, 2),
        }

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild; what can be counted is counted again."""
        y = expect(arrays, "y", np.uint16, (None,))
        size, pooled, pairs, tests = expect(arrays, "numbers", np.int64, (4,)).tolist()
        feature = np.array(expect(arrays, "feature", np.int64, (None,)))
        q = len(feature)
        if (
            len(y) == 0
            or np.any(np.bincount(y) == 0)
            or not 1 <= size <= LARGEST_POOL
            or not 0 <= pooled <= min(q, size)
            or q - pooled > size
            or min(pairs, tests) < 0
            or len(np.unique(feature)) < q
            or np.any(np.diff(feature[:pooled]) <= 0)
        ):
            raise StateError(
                f"the state claims {pooled} of {q} columns in a pool of {size} over {len(y)} rows"
            )
        self = cls(np.array(y), size)
        self._make_room(q)
        planes = np.array(expect(arrays, "planes", np.uint64, (q, LEVELS - 1, int(self.edges[-1]))))
        coded = self._counted(planes)._replace(feature=feature)
        for at in range(q):
            self.join(coded, at, chosen=at >= pooled)
        self._numbers[PAIRS], self.tests = pairs, tests
        kept, found = expect(arrays, "kept", np.int64, (None,)), expect(arrays, "pairs", np.int64, (None, 2))
        self.kept, self.pairs = kept.tolist(), [(a, b) for a, b in found.tolist()]
        if len(set(self.kept)) < len(self.kept) or not {j for pair in self.pairs for j in pair} <= {
            *self.kept
        }:
            raise StateError("the state's pairs are not among the columns kept")
        return self

    def _counted(self, planes: npt.NDArray[np.uint64]) -> Coded:
        """Count planes of bits; refuse those that no column has."""
        coded = self._zeros(len(planes))._replace(planes=planes)
        mask = np.zeros(planes.shape[2], np.uint64)
        np.bitwise_or.at(mask, self.place >> 6, np.uint64(1) << (self.place & 63).astype(np.uint64))
        together = np.bitwise_or.reduce(planes, axis=1)
        bits = np.bitwise_count(planes).astype(np.int64)
        if np.any(together & ~mask) or np.any(bits.sum(axis=1) != np.bitwise_count(together)):
            raise StateError("the state's columns have rows that are not there, or with two levels")
        counts = coded.counts
        counts[:, 1:] = np.add.reduceat(bits, self.edges[:-1], axis=2)
        counts[:, 0] = self.class_counts - counts.sum(axis=1)
        occurs = counts.sum(axis=2) > 0
        coded.levels[:] = occurs.sum(axis=1)
        if np.any(coded.levels < 2) or np.any(occurs != (np.arange(LEVELS) < coded.levels[:, None])):
            raise StateError("the state's columns have levels that do not occur")
        kernel.tell(counts, self.g, coded.tells)
        return coded
