"""The Markov-blanket rule by contingency tables (G squared, chi-squared) of discretized columns.

While every relevant column has two categories, columns are stored as bits.  With the first that has more, all
are converted to codes for good.  Both representations give the same tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve._kernels import tables_search as kernel
from streamsieve.columns.redundancy.contract import Candidates
from streamsieve.columns.redundancy.markov_blanket.rule import (
    CONFIG_FIELDS,
    LARGEST_SET,
    MarkovBlanketConfig,
    tests_of_three,
)
from streamsieve.columns.redundancy.slots import SLOT, Slots, SlottedRule
from streamsieve.decisions import COLLINEAR, KEPT, REDUNDANT, UNRELIABLE, Outcome, evictions_of, redundant_by
from streamsieve.exceptions import StateError
from streamsieve.independence.chi_square import ChiSquareTest
from streamsieve.independence.contingency_test import TableTest
from streamsieve.independence.g_squared import GSquared
from streamsieve.independence.table_p_values import p_value
from streamsieve.lazy_p_values import PValues
from streamsieve.protocols import FloatArray, IntArray
from streamsieve.state import Array, Nested, register

TABLE_TESTS: dict[str, type[TableTest]] = {"g2": GSquared, "chi2": ChiSquareTest}
#: Number of codes of candidates that are computed at a time: 8 MB.
CHUNK_VALUES = 2**22
#: Rows, or words of bits, that the tests of one kernel call read at most, unless one candidate needs more:
#: Ctrl-C is handled between calls.
CHUNK_READS = 2**28
#: Reason codes for the results of the search: kept, independent, function of the set, too few rows.
_CODES = np.array([KEPT, REDUNDANT, COLLINEAR, UNRELIABLE], np.uint8)


@register
class MarkovBlanketDiscrete(SlottedRule):
    """Kept columns as categories: a bit or two bytes per row.

    With ``skip_unreliable``, a column that is a function of a single kept one is redundant all the same.
    """

    fields = {
        "test": Nested(*TABLE_TESTS.values(), shares=("rows",)),
        "bits": Array("u8", "kept", "words", optional=True),
        "numbers": Array("u2", "kept", "rows", optional=True),
        "levels": Array("i8", "kept", low=2, high=2**16),
        "feature": Array("i8", "kept", low=0, order="rising"),
        **CONFIG_FIELDS,
    }

    def __init__(self, test: TableTest, config: MarkovBlanketConfig) -> None:
        self.n, self.test, self._config = test.n, test, config
        words = -(-test.class_counts // 64)
        #: First word of each class, and the bit of each row.
        self._edges = np.concatenate([[0], np.cumsum(words)])
        order = np.argsort(test.y, kind="stable")
        before = np.repeat(np.cumsum(test.class_counts) - test.class_counts, test.class_counts)
        self._place = np.empty(self.n, np.int64)
        self._place[order] = 64 * self._edges[test.y[order]] + np.arange(self.n) - before
        width = int(self._edges[-1])
        self._packed = True
        self.slots = Slots(bits=("u8", (SLOT, width)), levels=("i8", (SLOT,)), feature=("i8", (SLOT,)))
        self._bit_room = (
            np.zeros((width, 8), np.uint64),
            np.zeros((test.n_classes, 8), np.int64),
            np.zeros((test.n_classes, 16), np.int64),
        )
        self._most_levels = 2
        self._room = tuple(np.zeros((0,) * a.ndim, a.dtype) for a in test.room(1))

    def settle(self, candidates: Candidates) -> Outcome:
        """Decide on candidates in order, given the kept columns."""
        (levels,) = candidates.relevance.columns
        m = len(candidates.at)
        out = _Room(m, self._kept + m)
        pieces = self.test.pieces(candidates.X)
        low = 0
        while low < m:
            if self._packed and levels[low] > 2:
                self._unpack()
            high = min(m, low + self._at_a_time())
            if self._packed and np.any(levels[low:high] > 2):
                high = low + int(np.argmax(levels[low:high] > 2))
            self._settle_some(candidates, slice(low, high), pieces, out)
            low = high
        return out.outcome(candidates.feature, candidates.relevance.statistic)

    @property
    def _reads(self) -> int:
        """Rows that a test reads, or words of bits: both take about as long."""
        return int(self._edges[-1]) if self._packed else self.n

    @property
    def many_kept(self) -> int:
        """Number of kept columns from which on sets are smaller."""
        return self._config.many_for(self._reads)

    def testable(self, columns: int) -> tuple[int, int]:
        """Return how many kept columns have enough rows for a test given the column kept before them.

        Parameters
        ----------
        columns : number of columns to look at, at most; those kept last

        Returns
        -------
        tuple
            number of columns that can be tested, and number looked at
        """
        last = range(max(1, self._kept - columns), self._kept)
        codes = self._codes()
        tested = [self.test.given(codes[i], codes[[i - 1]].T, confirm=False) for i in last]
        return sum(each.reliable for each in tested), len(last)

    def _at_a_time(self) -> int:
        """Return the number of candidates for one call of the kernel."""
        more = 16  # columns that may be kept by then
        tests = tests_of_three(min(self._kept, self.many_kept) + more)
        return max(1, min(CHUNK_VALUES // self.n, CHUNK_READS // (self._reads * tests)))

    def _settle_some(self, candidates: Candidates, part: slice, pieces: tuple[Any, ...], out: _Room) -> None:
        """Decide on some candidates, all bits or all numbers; ``pieces`` is the block in the test's form."""
        at, feature, levels = (
            a[part] for a in (candidates.at, candidates.feature, *candidates.relevance.columns)
        )
        test = self.test
        bits = numbers = None
        if self._packed:
            width = 64 * self.slots["bits"].shape[1]
            apart = test.encode_two(pieces, at, self._place, width)
            bits = np.packbits(apart, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)
        else:
            numbers = test.encode(pieces, at, np.arange(self.n), self.n)
        self._make_room(int(levels.max()))
        ratio, occupied, *how = test.rules
        size, skip, newcomer_first, _ = self._config
        critical = test.bounds(self._most_levels, size)
        done = 0
        while True:
            done, self._kept, out.n_evicted = kernel.decide(
                bits, numbers, levels, feature, done,
                *self._columns(), *self.slots.of("levels", "feature"), self._kept,
                newcomer_first, size, self.many_kept, ratio, skip, occupied, *how,
                test.y, test.class_counts, self._edges, test.g, test.log, test.inverse, critical,
                *self._work_space(), *out.of(part), *out.evicted, out.n_evicted,
            )  # fmt: skip
            if done == len(at):
                return
            self.slots.double()

    def _columns(self) -> tuple[npt.NDArray[Any] | None, npt.NDArray[Any] | None]:
        """Return the kept columns as bits and as codes; one of the two is None, and compiled away."""
        return (self.slots["bits"], None) if self._packed else (None, self.slots["numbers"])

    def _work_space(self) -> tuple[npt.NDArray[Any] | None, ...]:
        none = (None,)
        bits, numbers = self._bit_room, self._room
        return (*bits, *none * len(numbers)) if self._packed else (*none * len(bits), *numbers)

    def _make_room(self, levels: int) -> None:
        """Allocate work space for columns of up to ``levels`` categories."""
        if not self._packed and (levels > self._most_levels or not self._room[0].size):
            self._most_levels = max(levels, self._most_levels)
            self._room = self.test.room(self._most_levels)

    def _unpack(self) -> None:
        """Turn bits into numbers."""
        kept, numbers = self.slots.record(np.arange(self._kept)), self._codes()
        self.slots = Slots(
            len(self.slots), numbers=("u2", (SLOT, self.n)), levels=("i8", (SLOT,)), feature=("i8", (SLOT,))
        )
        self.slots.restore({**kept, "numbers": numbers})
        self._packed = False

    def _codes(self) -> npt.NDArray[np.uint16]:
        """Return the categories of the kept columns, a row per column."""
        if not self._packed:
            return self.slots["numbers"][: self._kept]
        bits = self.slots["bits"]
        word, bit = self._place >> 6, (self._place & 63).astype(np.uint64)
        codes = np.zeros((self._kept, self.n), np.uint16)
        for slot in range(self._kept):
            codes[slot] = bits[slot, word] >> bit & np.uint64(1)
        return codes

    def _record(self) -> Mapping[str, Any]:
        return {"test": self.test, **super()._record(), **self._config._asdict()}

    @classmethod
    def _empty(cls, record: Mapping[str, Any]) -> Self:
        rule = cls(record["test"], MarkovBlanketConfig.of(record))
        if (record["bits"] is None) is (record["numbers"] is None):
            raise StateError("the state's columns should be bits or numbers")
        if record["bits"] is None:
            rule._unpack()
        return rule

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        rule = super()._rebuilt(record)
        if not rule._fits():  # noqa: SLF001 - its own class
            raise StateError("the state's columns have categories that do not fit together")
        rule._make_room(int(rule.slots["levels"].max()))  # noqa: SLF001 - by categories that the rows support
        return rule

    def _fits(self) -> bool:
        """Whether the kernels can index their tables by the categories of the columns."""
        q, levels = self._kept, self.slots["levels"][: self._kept]
        enough = self.n >= self.test.rows_per_freedom * (levels - 1) * (self.test.n_classes - 1)
        fits = bool(np.all((levels <= max(self.test.most_levels, 2)) & enough))
        if not self._packed:
            return fits and bool(np.all(self.slots["numbers"][:q] < levels[:, None]))
        bits = self.slots["bits"]
        used = np.zeros(bits.shape[1], np.uint64)
        np.bitwise_or.at(used, self._place >> 6, np.uint64(1) << (self._place & 63).astype(np.uint64))
        return fits and bool(np.all(levels == 2)) and not np.any(bits[:q] & ~used)


class _Room:
    """Output arrays of the kernel for some candidates."""

    def __init__(self, m: int, most: int) -> None:
        self.candidates = _results(m)
        self.evicted = (*np.zeros((2, most), np.int64), *_results(most))
        self.n_evicted = 0

    def of(self, part: slice) -> tuple[npt.NDArray[Any], ...]:
        """Return the places of some candidates."""
        return tuple(array[part] for array in self.candidates)

    def outcome(self, feature: IntArray, own: FloatArray) -> Outcome:
        """Return everything with the ledger's codes."""
        found, statistic, tested, freedom, by = self.candidates
        gone, newcomer, why, gone_statistic, gone_tested, gone_freedom, gone_by = (
            a[: self.n_evicted] for a in self.evicted
        )
        gone_p = p_value(gone_tested, gone_freedom)
        left = evictions_of(gone, newcomer, _CODES[why], gone_statistic, gone_p, gone_by)
        decided = np.where(found == 0, own, statistic)
        return Outcome(
            _CODES[found], decided, PValues(p_value, tested, freedom), redundant_by(feature, by), left
        )


def _results(m: int) -> tuple[npt.NDArray[Any], ...]:
    """Return arrays for result, statistic, test statistic, degrees of freedom, and set."""
    return np.zeros(m, np.int64), *np.zeros((3, m)), np.full((m, LARGEST_SET), -1)
