"""Discretized columns and the pools of partners with which new ones are paired (InteractionScan)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from streamsieve._kernels import interaction_scan as kernel
from streamsieve._kernels.interaction_scan import LEVELS
from streamsieve.columns.redundancy.slots import SLOT, Slots
from streamsieve.dependence.information import c_log_c
from streamsieve.exceptions import StateError
from streamsieve.protocols import FloatArray, IntArray
from streamsieve.state import Array, Int, Part, register

#: Minimum number of rows per degree of freedom of a test.
ROWS_PER_FREEDOM = 5
#: Initial number of slots.
FIRST_SLOTS = 64
LARGEST_POOL = 2**16
#: Memory for both pools if their size is not given, in bytes.
POOL_BYTES = 2**28
#: Entries of the counters that the kernel keeps: columns in each pool, free slots, pairs tested, columns that
#: have left a full pool, and the pairs that they would have made with later columns.
IN_POOL, IN_CHOSEN, FREE, PAIRS, LEFT, MISSED = range(6)


class Coded(NamedTuple):
    """Discretized columns."""

    #: Planes of bits, one per category but the first.
    planes: npt.NDArray[np.uint64]
    #: Counts by category and class.
    counts: IntArray
    #: Numbers of categories.
    levels: IntArray
    #: n times the mutual information with the target, up to a constant.
    information: FloatArray
    #: Arrival numbers.
    feature: IntArray


class Pairs(NamedTuple):
    """Tests of a column with its partners, up to column ``at`` of a block."""

    at: int
    slots: IntArray
    #: Likelihood ratio statistics (G), where the test might be significant.
    statistic: FloatArray
    #: Chi-squared statistics and their degrees of freedom; without them the p-value, 1.
    tested: FloatArray
    freedom: FloatArray


@register
class PartnerPools(Part):
    """Two FIFO pools of up to ``size`` interaction partners: marginally irrelevant and kept columns."""

    fields = {
        "y": Array("u2", "rows", codes=True),
        "size": Int(1, LARGEST_POOL),
        "planes": Array("u8", "columns", LEVELS - 1, "words"),
        "feature": Array("i8", "columns", low=0, unique=True),
        "kept": Array("i8", "kept", low=0, unique=True),
        "pairs": Array("i8", "pairs", 2, low=0),
        "n_pairs": Int(0),
        "n_left": Int(0),
        "n_missed": Int(0),
        "tests": Int(0),
    }

    def __init__(self, y: npt.NDArray[np.uint16], size: int | None) -> None:
        self.y, self.n = y.astype(np.int64), len(y)
        self.class_counts = np.bincount(self.y)
        #: First word of each class, and the bit of each row.
        self.edges = np.concatenate([[0], np.cumsum(-(-self.class_counts // 64))])
        order = np.argsort(self.y, kind="stable")
        before = np.repeat(np.cumsum(self.class_counts) - self.class_counts, self.class_counts)
        self.place = np.empty(self.n, np.int64)
        self.place[order] = 64 * np.repeat(self.edges[:-1], self.class_counts) + np.arange(self.n) - before
        self.g = c_log_c(self.n)
        #: 1 / c of every count, 0 for 0.
        self.inverse = np.concatenate([[0.0], 1.0 / np.arange(1.0, self.n + 1)])
        self.slots = self._room(FIRST_SLOTS)
        self.size = size = self.affordable if size is None else size
        #: Slots of both pools, first in first out.
        self._pools = np.zeros((2, size), np.int64)
        self._free = np.arange(FIRST_SLOTS)
        self._counters = np.array([0, 0, FIRST_SLOTS, 0, 0, 0])
        #: Number of columns tested.
        self.tests = 0
        #: Arrival numbers of the columns kept, and of those kept together.
        self.kept: list[int] = []
        self.pairs: list[tuple[int, int]] = []

    def _room(self, columns: int) -> Slots:
        return Slots(
            columns, planes=("u8", (SLOT, LEVELS - 1, int(self.edges[-1]))),
            counts=("i8", (SLOT, LEVELS, len(self.class_counts))), levels=("i8", (SLOT,)),
            information=("f8", (SLOT,)), feature=("i8", (SLOT,)),
        )  # fmt: skip

    @property
    def affordable(self) -> int:
        """Size at which both pools take ``POOL_BYTES`` if they are full."""
        each = sum(array.nbytes for array in self.slots.arrays.values()) // len(self.slots["feature"])
        return max(1, min(POOL_BYTES // (2 * each), LARGEST_POOL))

    @property
    def n_pairs(self) -> int:
        """Number of pairs tested."""
        return int(self._counters[PAIRS])

    @property
    def n_left(self) -> int:
        """Number of columns that have left a full pool."""
        return int(self._counters[LEFT])

    @property
    def n_missed(self) -> int:
        """Number of pairs not tested because one column had left its pool before the other arrived."""
        return int(self._counters[MISSED])

    @property
    def pooled(self) -> IntArray:
        """Arrival numbers of the marginally irrelevant partners, in order."""
        return self.slots["feature"][self._pools[IN_POOL, : self._counters[IN_POOL]]]

    def encode(self, columns: FloatArray, bins: int, features: IntArray) -> Coded:
        """Discretize columns, one per row.

        A column with more than 8 values is cut: cut i is the i * floor(n / bins)-th smallest value.
        """
        m, many = len(columns), np.zeros(len(columns), bool)
        kernel.many(columns, many)
        cuts, highest = np.zeros((m, bins - 1)), np.zeros(m)
        ordered = np.sort(columns[many], axis=1)
        cuts[many], highest[many] = ordered[:, np.arange(1, bins) * (self.n // bins) - 1], ordered[:, -1]
        coded = Coded(**self._room(m).arrays)
        kernel.encode(columns, cuts, highest, self.place, self.y, coded.planes, coded.counts, coded.levels)
        kernel.columns_information(coded.counts, self.g, coded.information)
        return coded._replace(feature=features)

    def alone(self, coded: Coded) -> tuple[FloatArray, IntArray]:
        """Return the likelihood ratio statistics (G) of columns and target, and their degrees of freedom."""
        nothing = float(self.g[self.class_counts].sum() - self.g[self.n])
        freedom = (coded.levels - 1) * (len(self.class_counts) - 1)
        return np.maximum(2.0 * (coded.information - nothing), 0.0), freedom

    def scan(
        self, coded: Coded, way: npt.NDArray[np.uint8], bound: FloatArray, first: int, *, moments: bool
    ) -> Pairs:
        """Pair columns of a block with both pools, until a pair exceeds its bound; see the kernel."""
        self._make_room(len(way) - first)
        partners = int(self._counters[IN_POOL] + self._counters[IN_CHOSEN]) + len(way) - first
        most = min(partners, 2 * self.size)
        slots, numbers = np.empty(most, np.int64), np.empty((3, most))
        at, done = kernel.scan(
            *coded, way, bound, first, *self.slots.arrays.values(), *self._pools, self._free, self._counters,
            self.edges, self.g, self.inverse, ROWS_PER_FREEDOM, moments, slots, *numbers,
        )  # fmt: skip
        return Pairs(at, slots[:done], *numbers[:, :done])

    def given(self, slot: int, coded: Coded, at: int) -> tuple[IntArray, IntArray]:
        """Return the categories, row by row, of the worse column of a pair and of the better one."""
        both = self._codes(self.slots["planes"][slot]), self._codes(coded.planes[at])
        better = self.slots["information"][slot] >= coded.information[at] - 1e-9  # as in the kernel
        return both[::-1] if better else both

    def _codes(self, planes: npt.NDArray[np.uint64]) -> IntArray:
        word, bit = self.place >> 6, (self.place & 63).astype(np.uint64)
        inside = planes[:, word] >> bit & np.uint64(1)
        codes: IntArray = np.arange(1, LEVELS) @ inside.astype(np.int64)
        return codes

    def join(self, coded: Coded, at: int, *, chosen: bool) -> None:
        """Append a column to one of the pools."""
        kernel.join(at, chosen, *coded, *self.slots.arrays.values(), *self._pools, self._free, self._counters)

    def features(self, slots: IntArray) -> IntArray:
        """Return arrival numbers."""
        found: IntArray = self.slots["feature"][slots]
        return found

    def promote(self, slot: int) -> bool:
        """Move a column to the end of the kept partners; return whether it was marginally irrelevant."""
        pool, chosen = self._pools
        count = int(self._counters[IN_POOL])
        at = np.flatnonzero(pool[:count] == slot)
        if not len(at):
            return False
        pool[at[0] : count - 1] = pool[at[0] + 1 : count].copy()
        self._counters[IN_POOL] -= 1
        if self._counters[IN_CHOSEN] == self.size:
            self._release(int(chosen[0]))
            self._counters[LEFT] += 1
            chosen[:-1] = chosen[1:].copy()
            self._counters[IN_CHOSEN] -= 1
        chosen[self._counters[IN_CHOSEN]] = slot
        self._counters[IN_CHOSEN] += 1
        return True

    def clear(self) -> None:
        """Empty the pool of marginally irrelevant columns."""
        for slot in self._pools[IN_POOL, : self._counters[IN_POOL]].tolist():
            self._release(slot)
        self._counters[LEFT] += self._counters[IN_POOL]
        self._counters[IN_POOL] = 0

    def _release(self, slot: int) -> None:
        self._free[self._counters[FREE]] = slot
        self._counters[FREE] += 1

    def _make_room(self, more: int) -> None:
        """Ensure free slots for the next columns; at most the capacity of both pools plus one is needed."""
        pooled, chosen, free = self._counters[:PAIRS].tolist()
        wanted = min(pooled + chosen + more, 2 * self.size) + 1
        have = len(self._free)
        while have < wanted:
            self.slots.double()
            self._free = np.concatenate(
                [self._free[:free], np.arange(have, 2 * have), np.zeros(have - free, int)]
            )
            free, have = free + have, 2 * have
        self._counters[FREE] = free

    def _record(self) -> Mapping[str, Any]:
        (pool, chosen), (pooled, kept) = self._pools, self._counters[:FREE].tolist()
        slots = np.concatenate([pool[:pooled], chosen[:kept]])
        return {
            "y": self.y.astype(np.uint16), "size": self.size,
            "planes": self.slots["planes"][slots], "feature": self.slots["feature"][slots],
            "kept": np.array(self.kept, np.int64), "pairs": np.array(self.pairs, np.int64).reshape(-1, 2),
            "n_pairs": self.n_pairs, "n_left": self.n_left, "n_missed": self.n_missed, "tests": self.tests,
        }  # fmt: skip

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        made = cls(record["y"], record["size"])
        planes, feature = record["planes"], record["feature"]
        chosen = np.isin(feature, record["kept"])
        if not made.n or planes.shape[2] != made.edges[-1]:
            raise StateError(f"the state's columns are not those of a target of {made.n} rows")
        if max(np.sum(chosen), np.sum(~chosen)) > made.size:
            raise StateError(f"the state has more partners than {made.size} in a pool")
        made._make_room(len(feature))
        coded = made._counted(planes)._replace(feature=feature)
        for at in range(len(feature)):
            made.join(coded, at, chosen=bool(chosen[at]))
        made._counters[[PAIRS, LEFT, MISSED]] = record["n_pairs"], record["n_left"], record["n_missed"]
        made.tests = record["tests"]
        made.kept = record["kept"].tolist()
        made.pairs = [(a, b) for a, b in record["pairs"].tolist()]
        return made

    def _counted(self, planes: npt.NDArray[np.uint64]) -> Coded:
        """Count the bits of planes; refuse those that are not valid for a column."""
        coded = Coded(**self._room(len(planes)).arrays)._replace(planes=planes)
        mask = np.zeros(planes.shape[2], np.uint64)
        np.bitwise_or.at(mask, self.place >> 6, np.uint64(1) << (self.place & 63).astype(np.uint64))
        together = np.bitwise_or.reduce(planes, axis=1)
        bits = np.bitwise_count(planes).astype(np.int64)
        if np.any(together & ~mask) or np.any(bits.sum(axis=1) != np.bitwise_count(together)):
            raise StateError("the state's columns have rows that do not exist, or with two categories")
        counts = coded.counts
        counts[:, 1:] = np.add.reduceat(bits, self.edges[:-1], axis=2)
        counts[:, 0] = self.class_counts - counts.sum(axis=1)
        occurs = counts.sum(axis=2) > 0
        coded.levels[:] = occurs.sum(axis=1)
        if np.any(coded.levels < 2) or np.any(occurs != (np.arange(LEVELS) < coded.levels[:, None])):
            raise StateError("the state's columns have categories that do not occur")
        kernel.columns_information(counts, self.g, coded.information)
        return coded

    def _consistent(self) -> Iterator[str]:
        if np.any(np.diff(self.pooled) <= 0):
            yield "the partners are not in order of arrival"
        if not {feature for pair in self.pairs for feature in pair} <= {*self.kept}:
            yield "a pair is not among the columns kept"
