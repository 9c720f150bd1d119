"""Settled that wait, because a later column may still change them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from streamsieve.decisions import REASONS
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, FloatArray, IntArray
from streamsieve.state import expect, register

_KINDS = {"reason": np.uint8, "statistic": np.float64, "p_value": np.float64, "by": np.int64}
_GONE = {"step": np.int64, "feature": np.int64, "statistic": np.float64}
#: Lines that there is room for at first.
FIRST_ROOM = 256


class Departure(NamedTuple):
    """A column whose verdict was final leaves because of the newcomer ``step``."""

    step: int
    feature: int
    statistic: float


class Lines(NamedTuple):
    """What is known of columns ``start``, start + 1, ..., and who left at them."""

    start: int
    reason: npt.NDArray[np.uint8]
    statistic: FloatArray
    #: NaN where it follows from the statistic.
    p_value: FloatArray
    #: The column that has to do with it, or -1.
    by: IntArray
    departures: list[Departure]


@register
class HeldLines:
    """Lines of a ledger from the first column on whose verdict is not final.

    Lines are added at the end, changed anywhere, and released from the front.  What is final is told column
    by column (``settled``), so that the size of blocks does not matter; lines are released block by block.
    """

    def __init__(self) -> None:
        #: Arrival number of the first column held.
        self.start = 0
        #: Columns before this one have a final verdict, though their lines may be held to the block's end.
        self.settled = 0
        self._count = 0
        self._room: Arrays = {name: np.zeros(FIRST_ROOM, kind) for name, kind in _KINDS.items()}
        self._departures: list[Departure] = []

    def __len__(self) -> int:
        return self._count

    @property
    def named(self) -> IntArray:
        """Columns that lines still tell of: those held, and those that left at them."""
        gone = np.array([departure.feature for departure in self._departures], np.int64)
        return np.concatenate([gone, np.arange(self.start, self.start + self._count)])

    def add(
        self, reason: npt.NDArray[np.uint8], statistic: FloatArray, p_value: FloatArray | None = None
    ) -> None:
        """Add the lines of a block, with which nobody has to do yet."""
        low, high = self._count, self._count + len(reason)
        while len(self._room["reason"]) < high:
            self._room = {name: np.concatenate([a, np.zeros_like(a)]) for name, a in self._room.items()}
        for name, values in (("reason", reason), ("statistic", statistic), ("p_value", p_value), ("by", -1)):
            self._room[name][low:high] = np.nan if values is None else values
        self._count = high

    def change(
        self, feature: int, reason: int, statistic: float, by: int = -1, p_value: float = np.nan
    ) -> None:
        """Change the line of a column that is held."""
        for name, value in (("reason", reason), ("statistic", statistic), ("p_value", p_value), ("by", by)):
            self._room[name][feature - self.start] = value

    def leave(self, step: int, feature: int, reason: int, statistic: float) -> None:
        """Note that a column leaves because of a newcomer: a line of its own, if its verdict was final."""
        if feature >= self.settled:
            self.change(feature, reason, statistic, step)
        else:
            self._departures.append(Departure(step, feature, statistic))

    def view(self) -> Lines:
        """Return copies of all lines."""
        tables = {name: table[: self._count].copy() for name, table in self._room.items()}
        return Lines(self.start, **tables, departures=sorted(self._departures, key=lambda d: d.step))

    def release(self) -> Lines:
        """Return the lines that are settled, and keep the others."""
        lines, done = self.view(), max(self.settled - self.start, 0)
        left = self._count - done
        for table in self._room.values():
            table[:left] = table[done : self._count].copy()
        self.start, self._count = self.start + done, left
        self._departures = [d for d in lines.departures if d.step >= self.start]
        gone = [d for d in lines.departures if d.step < self.start]
        _, reason, statistic, p_value, by, _ = lines
        return Lines(lines.start, reason[:done], statistic[:done], p_value[:done], by[:done], gone)

    def state(self) -> Arrays:
        """Return the lines and who left at them."""
        gone = {
            f"gone_{name}": np.array([getattr(d, name) for d in self._departures], kind)
            for name, kind in _GONE.items()
        }
        lines = {name: table[: self._count] for name, table in self._room.items()}
        return {"start": np.array([self.start], np.int64), **lines, **gone}

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild."""
        held = cls()
        held.start = held.settled = int(expect(arrays, "start", np.int64, (1,))[0])
        m = len(expect(arrays, "reason", np.uint8, (None,)))
        tables = {name: expect(arrays, name, kind, (m,)) for name, kind in _KINDS.items()}
        if held.start < 0 or np.any(tables["reason"] >= len(REASONS)) or np.any(tables["by"] < -1):
            raise StateError("the state's lines that wait do not fit together")
        held.add(tables["reason"], tables["statistic"], tables["p_value"])
        held._room["by"][:m] = tables["by"]
        count = len(expect(arrays, "gone_step", np.int64, (None,)))
        gone = [expect(arrays, f"gone_{name}", kind, (count,)).tolist() for name, kind in _GONE.items()]
        held._departures = [Departure(*parts) for parts in zip(*gone, strict=True)]
        for departure in held._departures:
            inside = held.start <= departure.step < held.start + m
            if not inside or not 0 <= departure.feature < held.start:
                raise StateError("the state's lines that wait do not fit together")
        return held
