"""Members, and columns that wait for a partner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from streamsieve._kernels import ossfs_dd as kernel
from streamsieve.columns._held_lines import HeldLines
from streamsieve.decisions import KEPT, REASON_CODE
from streamsieve.dependence.blocks import TIE
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, FloatArray, IntArray, Reason
from streamsieve.state import expect, register

IRRELEVANT, REDUNDANT = REASON_CODE[Reason.IRRELEVANT], REASON_CODE[Reason.REDUNDANT]
#: Columns that there is room for at first.
FIRST_SLOTS = 32


class Rules(NamedTuple):
    """What the parameters of the selector say."""

    #: Columns that wait at most.
    pool: int
    #: The authors' code instead of their text.
    as_coded: bool
    #: Share of a column's variance that the target must leave for independence given another one.
    share: float
    #: Members of which none is evicted any more.
    floor: int


class Column(NamedTuple):
    """A column of unit length, its products with the target, and its dependence on it, also with its sign."""

    feature: int
    values: FloatArray
    products: FloatArray
    score: float
    shown: float


@register
class ThreeWayColumns:
    """Columns in slots, some of them members, some waiting, and the moments of all scores.

    Parameters
    ----------
    n : number of rows
    contrasts : what the target can say has so many dimensions
    """

    def __init__(self, n: int, contrasts: int) -> None:
        self.n = n
        self.tables: Arrays = {
            "columns": np.zeros((FIRST_SLOTS, n)),
            "products": np.zeros((FIRST_SLOTS, contrasts)),
            "score": np.zeros(FIRST_SLOTS),
            "shown": np.zeros(FIRST_SLOTS),
            "feature": np.zeros(FIRST_SLOTS, np.int64),
        }
        self._free = list(range(FIRST_SLOTS))
        #: Slots in order of arrival.
        self.members: list[int] = []
        self.waiting: list[int] = []
        #: Number, mean and sum of squares about it of all scores.
        self.moments = np.zeros(3)
        #: The threshold above which a column is a candidate, as of the last column.
        self.upper = 0.0
        #: Whether there were as many members as the floor wants.
        self.met = False

    def features(self, slots: list[int]) -> IntArray:
        """Return arrival numbers."""
        found: IntArray = self.tables["feature"][np.array(slots, np.int64)]
        return found

    def thresholds(
        self, score: FloatArray, counted: npt.NDArray[np.bool_], low: float, high: float
    ) -> tuple[FloatArray, FloatArray]:
        """Count scores, and return the thresholds of each column."""
        lower, upper = kernel.thresholds(score, counted, self.moments, low, high)
        self.upper = float(upper[-1]) if len(upper) else self.upper
        return lower, upper

    # ---------------------------------------------------------------- deciding

    def admit(self, column: Column) -> None:
        """Make a column a member without asking."""
        self.members.append(self._store(column))

    def challenge(self, column: Column, upper: float, rules: Rules, lines: HeldLines) -> None:
        """Let a candidate meet every member; the weaker of two that are redundant goes."""
        slot, members = self._store(column), np.array(self.members, np.int64)
        pair, given, share = kernel.given(self.tables["columns"], self.tables["products"], members, slot)
        pair, score = np.abs(pair), self.tables["score"][members]
        copies = pair >= 1.0 - TIE
        redundant = score + given < 2.0 * upper - TIE
        if rules.as_coded:  # where the test finds independence, the code does not look for redundancy
            redundant &= share <= rules.share
        lost = copies | (redundant & (score >= column.score - TIE))
        weaker = np.flatnonzero(redundant & ~lost)
        if lost.any():
            first = int(np.argmax(lost))
            by = int(self.tables["feature"][members[first]])
            lines.change(column.feature, REDUNDANT, float(pair[first]), by)
            self._free.append(slot)
            # the text has driven out those before; the code forgets them
            weaker = weaker[:0] if rules.as_coded else weaker[weaker < first]
        else:
            self.members.append(slot)
        if self.met:
            weaker = weaker[: max(len(members) - rules.floor, 0)]
        for i in weaker.tolist():
            gone = int(self.tables["feature"][members[i]])
            lines.leave(column.feature, gone, REDUNDANT, float(pair[i]))
            self.members.remove(int(members[i]))
            self._free.append(int(members[i]))

    def wait(self, column: Column, upper: float, rules: Rules, lines: HeldLines) -> None:
        """Let a column wait for a partner; a pool that is full is emptied."""
        self.waiting.append(self._store(column))
        if len(self.waiting) >= rules.pool:
            self.flush(upper, lines)

    def pairs(self, upper: float) -> dict[int, int]:
        """Return the slots of waiting columns that have a partner, and who that is."""
        slots = np.array(self.waiting, np.int64)
        tables = self.tables
        found = kernel.partners(
            tables["columns"], tables["products"], tables["score"], slots, 2.0 * upper + TIE
        )
        return {self.waiting[i]: self.waiting[j] for i, j in enumerate(found.tolist()) if j >= 0}

    def flush(self, upper: float, lines: HeldLines) -> None:
        """Make members of waiting columns that have a partner, and drop the others."""
        pairs = self.pairs(upper)
        for slot, partner in pairs.items():
            feature, by = self.features([slot, partner]).tolist()
            lines.change(feature, KEPT, float(self.tables["shown"][slot]), by)
        self._free += [slot for slot in self.waiting if slot not in pairs]
        self.members = sorted([*self.members, *pairs], key=lambda slot: int(self.tables["feature"][slot]))
        self.waiting = []

    def replace(self, columns: list[Column]) -> None:
        """Have other members, and nobody waiting."""
        self._free += [*self.members, *self.waiting]
        self.waiting = []
        self.members = [self._store(column) for column in columns]

    def _store(self, column: Column) -> int:
        if not self._free:
            have = len(self.tables["score"])
            self._free = list(range(have, 2 * have))
            self.tables = {name: np.concatenate([a, np.zeros_like(a)]) for name, a in self.tables.items()}
        slot = self._free.pop()
        for name, value in zip(("feature", "columns", "products", "score", "shown"), column, strict=True):
            self.tables[name][slot] = value
        return slot

    # ---------------------------------------------------------------- state

    def state(self) -> Arrays:
        """Return members, then those that wait, and the moments."""
        slots = np.array([*self.members, *self.waiting], np.int64)
        return {
            **{name: table[slots] for name, table in self.tables.items()},
            "numbers": np.array([self.n, len(self.members), self.met], np.int64),
            "moments": self.moments,
            "upper": np.array([self.upper]),
        }

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild."""
        n, members, met = expect(arrays, "numbers", np.int64, (3,)).tolist()
        moments = expect(arrays, "moments", np.float64, (3,))
        upper = float(expect(arrays, "upper", np.float64, (1,))[0])
        feature = expect(arrays, "feature", np.int64, (None,))
        contrasts = expect(arrays, "products", np.float64, (len(feature), None)).shape[1]
        order = np.diff(feature[:members]), np.diff(feature[members:])
        if (
            not 0 < n < 2**31
            or not 0 <= members <= len(feature)
            or met not in (0, 1)
            or contrasts < 1
            or not np.all(np.isfinite(moments) & (moments >= 0))
            or not np.isfinite(upper)
            or any(np.any(steps <= 0) for steps in order)
        ):
            raise StateError("the state's members, moments and columns that wait do not fit together")
        expect(arrays, "columns", np.float64, (len(feature), n))
        self = cls(n, contrasts)
        kinds = {name: table.dtype for name, table in self.tables.items()}
        shapes = {name: table.shape[1:] for name, table in self.tables.items()}
        tables = {name: expect(arrays, name, kinds[name], (len(feature), *shapes[name])) for name in kinds}
        for i in range(len(feature)):
            row = {name: table[i] for name, table in tables.items()}
            slot = self._store(Column(**{"values": row.pop("columns"), **row}))
            (self.members if i < members else self.waiting).append(slot)
        self.moments, self.upper, self.met = np.array(moments), upper, bool(met)
        return self
