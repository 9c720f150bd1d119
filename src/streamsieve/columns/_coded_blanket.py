"""Kept columns that judge newcomers by contingency tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve._kernels import tables_search as kernel
from streamsieve.columns._blanket import LARGEST_SET, Measured, PValueGiven, Settled
from streamsieve.exceptions import StateError
from streamsieve.independence._tables import ROWS_PER_FREEDOM, TableTest, p_value
from streamsieve.independence.chi_square import ChiSquare
from streamsieve.independence.g_squared import GSquared
from streamsieve.protocols import Arrays, FloatArray, IntArray, Reason
from streamsieve.state import expect, register
from streamsieve.verdicts import REASON_CODE

if TYPE_CHECKING:
    from streamsieve.protocols import Matrix

TABLE_TESTS: dict[str, type[TableTest]] = {"g2": GSquared, "chi2": ChiSquare}
#: Columns that a store has room for at first.
FIRST_SLOTS = 32
#: Levels of candidates, row by row, that are made at a time: a few megabytes.
CHUNK_VALUES = 2**22

#: Codes of the ledger for what the search finds: kept, independent, function of the set, too few rows.
_CODES = np.array(
    [REASON_CODE[r] for r in (Reason.RELEVANT, Reason.REDUNDANT, Reason.COLLINEAR, Reason.UNRELIABLE)],
    np.uint8,
)


@register
class CodedBlanket:
    """Columns as levels; memory grows with the columns kept, by a bit or two bytes a row.

    As long as every relevant column has two levels, columns are bits.  With the first that has more, all
    become numbers, and stay so.  Both ways count the same tables.

    Parameters
    ----------
    test : bound to the target
    most : members that a conditioning set may have, 0 to 3
    skip : pass over sets that the rows do not suffice to test, instead of calling the test independent.  A
        column that is a function of a single kept one is redundant all the same.
    """

    def __init__(self, test: TableTest, *, most: int, skip: bool) -> None:
        self.n = n = test.n
        self._test, self._most, self._skip = test, most, skip
        words = -(-test.class_counts // 64)
        #: Where the words of each class begin, and the bit of each row.
        self._edges = np.concatenate([[0], np.cumsum(words)])
        order = np.argsort(test.y, kind="stable")
        before = np.repeat(np.cumsum(test.class_counts) - test.class_counts, test.class_counts)
        self._place = np.empty(n, np.int64)
        self._place[order] = 64 * self._edges[test.y[order]] + np.arange(n) - before
        self._packed = True
        width = int(self._edges[-1])
        self._bits = np.zeros((FIRST_SLOTS, width), np.uint64)
        self._numbers = np.zeros((0, n), np.uint16)
        self._levels = np.zeros(FIRST_SLOTS, np.int64)
        self._feature = np.zeros(FIRST_SLOTS, np.int64)
        self._kept = 0
        self._bit_room = (
            np.zeros((width, 8), np.uint64),
            np.zeros((test.n_classes, 8), np.int64),
            np.zeros((test.n_classes, 16), np.int64),
        )
        self._most_levels = 2
        self._room = tuple(np.zeros((0,) * a.ndim, np.int32) for a in test.room(1))

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns kept, in order."""
        return self._feature[: self._kept].copy()

    @property
    def nbytes(self) -> int:
        """Memory of the kept columns, in bytes."""
        columns = self._bits if self._packed else self._numbers
        return self._kept * (columns.shape[1] * columns.itemsize + 16)

    def relevance(self, X: Matrix) -> Measured:
        """Test every column of a block against the target, given nothing."""
        return Measured(*self._test.relevance(X))

    def irrelevant_one(self, x: FloatArray) -> tuple[float, float] | None:
        """Return (statistic, p-value) of a single column if it is plainly irrelevant, else None."""
        return self._test.irrelevant_one(x)

    def p_value_of(self) -> PValueGiven:
        """Return the function that gives p-values to statistics and their degrees of freedom."""
        return p_value

    # ---------------------------------------------------------------- settling

    def settle(
        self, X: Matrix, start: int, chosen: IntArray, measured: Measured, *, newcomer_first: bool
    ) -> Settled:
        """Let the chosen columns of a block compete with the kept ones, in order."""
        levels = measured.columns[chosen]
        out = _Outcome(len(chosen), self._kept + len(chosen))
        pieces = self._test.pieces(X)
        low = 0
        while low < len(chosen):
            if self._packed and levels[low] > 2:
                self._unpack()
            high = min(len(chosen), low + max(1, CHUNK_VALUES // self.n))
            if self._packed and np.any(levels[low:high] > 2):
                high = low + int(np.argmax(levels[low:high] > 2))
            part = slice(low, high)
            self._settle_some(pieces, start, chosen[part], levels[part], out, part, newcomer_first)
            low = high
        return out.settled()

    def _settle_some(
        self, pieces: tuple[Any, ...], start: int, chosen: IntArray, levels: IntArray, out: _Outcome,
        part: slice, newcomer_first: bool,  # noqa: FBT001 - a private step of settle
    ) -> None:  # fmt: skip
        test = self._test
        bits = numbers = None
        if self._packed:
            width = 64 * self._bits.shape[1]
            apart = test.encode_two(pieces, chosen, self._place, width)
            bits = np.packbits(apart, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)
        else:
            numbers = test.encode(pieces, chosen, np.arange(self.n), self.n)
        self._make_room(int(levels.max()))
        ratio, occupied, degrees, pearson = test.rules
        critical = test.critical(self._most_levels, self._most)
        done = 0
        while True:
            done, self._kept, out.n_evicted = kernel.decide(
                bits, numbers, levels, chosen + start, done,
                *self._columns(), self._levels, self._feature, self._kept,
                newcomer_first, self._most, ratio, self._skip, occupied, degrees, pearson,
                test.y, test.class_counts, self._edges, test.g, test.log, critical,
                *self._work_space(), *out.of(part), *out.evicted, out.n_evicted,
            )  # fmt: skip
            if done == len(chosen):
                return
            self._double()

    def _columns(self) -> tuple[npt.NDArray[Any] | None, npt.NDArray[Any] | None]:
        """Return the kept columns as bits or as numbers; None is compiled away."""
        return (self._bits, None) if self._packed else (None, self._numbers)

    def _work_space(self) -> tuple[npt.NDArray[Any] | None, ...]:
        none = (None,)
        bits, numbers = self._bit_room, self._room
        return (*bits, *none * len(numbers)) if self._packed else (*none * len(bits), *numbers)

    def _make_room(self, levels: int) -> None:
        """Have work space for columns of so many levels."""
        if not self._packed and (levels > self._most_levels or not self._room[0].size):
            self._most_levels = max(levels, self._most_levels)
            self._room = self._test.room(self._most_levels)

    def _unpack(self) -> None:
        """Turn bits into numbers."""
        self._numbers = np.zeros((len(self._bits), self.n), np.uint16)
        word, bit = self._place >> 6, (self._place & 63).astype(np.uint64)
        for slot in range(self._kept):
            self._numbers[slot] = self._bits[slot, word] >> bit & np.uint64(1)
        self._bits = self._bits[:0]
        self._packed = False

    def _double(self) -> None:
        self._levels, self._feature, self._bits, self._numbers = (
            np.concatenate([a, np.zeros_like(a)])
            for a in (self._levels, self._feature, self._bits, self._numbers)
        )

    # ---------------------------------------------------------------- state

    def state(self) -> Arrays:
        """Return the test, and the kept columns in order of arrival."""
        names = [name for name, cls in TABLE_TESTS.items() if type(self._test) is cls]
        columns = {"bits": self._bits} if self._packed else {"numbers": self._numbers}
        return {
            **{f"test_{name}": array for name, array in self._test.state().items()},
            "rules": np.array([list(TABLE_TESTS).index(names[0]), self._most, self._skip], np.int64),
            **{name: array[: self._kept] for name, array in columns.items()},
            "levels": self._levels[: self._kept],
            "feature": self._feature[: self._kept],
        }

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild, after checking that every level is one that its column has."""
        which, most, skip = expect(arrays, "rules", np.int64, (3,)).tolist()
        if not 0 <= which < len(TABLE_TESTS) or not 0 <= most <= LARGEST_SET or skip not in (0, 1):
            raise StateError(f"the state claims test {which}, sets of {most} columns and a rule {skip}")
        prefix = "test_"
        test = list(TABLE_TESTS.values())[which].from_state(
            {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
        )
        kept = cls(test, most=most, skip=bool(skip))
        feature = expect(arrays, "feature", np.int64, (None,))
        q = len(feature)
        while len(kept._feature) < q:
            kept._double()
        kept._feature[:q] = feature
        kept._levels[:q] = expect(arrays, "levels", np.int64, (q,))
        kept._kept = q
        if "bits" in arrays:
            kept._bits[:q] = expect(arrays, "bits", np.uint64, (q, kept._bits.shape[1]))
        else:
            numbers = expect(arrays, "numbers", np.uint16, (q, kept.n))
            kept._unpack()
            kept._numbers[:q] = numbers
        kept._check()
        kept._make_room(int(kept._levels.max()))
        return kept

    def _check(self) -> None:
        """Refuse columns that the kernels could not index their tables by."""
        q, levels = self._kept, self._levels[: self._kept]
        enough = self.n >= ROWS_PER_FREEDOM * (levels - 1) * (self._test.n_classes - 1)
        fits = bool(np.all((levels >= 2) & (levels <= max(self._test.most_levels, 2)) & enough))
        if self._packed:
            used = np.zeros(self._bits.shape[1], np.uint64)
            np.bitwise_or.at(used, self._place >> 6, np.uint64(1) << (self._place & 63).astype(np.uint64))
            fits = fits and bool(np.all(levels == 2)) and not np.any(self._bits[:q] & ~used)
        else:
            fits = fits and bool(np.all(self._numbers[:q] < levels[:, None]))
        if not fits:
            raise StateError("the state's columns have levels that do not fit together")


class _Outcome:
    """Arrays that the kernel writes the verdicts on some candidates to."""

    def __init__(self, m: int, room: int) -> None:
        self.candidates = _verdicts(m)
        self.evicted = (*np.zeros((2, room), np.int64), *_verdicts(room))
        self.n_evicted = 0

    def of(self, part: slice) -> tuple[npt.NDArray[Any], ...]:
        """Return the places for some of the candidates."""
        return tuple(array[part] for array in self.candidates)

    def settled(self) -> Settled:
        """Return everything with the ledger's codes."""
        found, statistic, freedom, by = self.candidates
        gone, at, why, *rest = (array[: self.n_evicted] for array in self.evicted)
        return Settled(_CODES[found], statistic, freedom, by, gone, at, _CODES[why], *rest)


def _verdicts(m: int) -> tuple[npt.NDArray[Any], ...]:
    """Return empty verdicts: what was found, statistic, freedom, and the set."""
    return np.zeros(m, np.int64), np.zeros(m), np.zeros(m, np.int64), np.full((m, LARGEST_SET), -1)
