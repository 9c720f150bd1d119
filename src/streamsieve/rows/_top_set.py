"""The features on top right now, and the memory of how they changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve.ledger import Ledger
from streamsieve.protocols import Arrays, BoolArray, Decision, Event, FloatArray, IntArray, Reason
from streamsieve.state import expect, register


@register
class TopSet:
    """Columns that a changing selection holds, for the ledger and for output that must not change.

    Parameters
    ----------
    columns : the columns on top when somebody last asked
    frozen : the columns that ``output="frozen"`` stays with, or None as long as nothing was put out
    """

    def __init__(self, columns: IntArray | None = None, frozen: IntArray | None = None) -> None:
        self.columns = np.zeros(0, np.int64) if columns is None else columns
        self.frozen = frozen

    def change(
        self, mask: BoolArray, scores: FloatArray, names: Callable[[], Any], rows: int, ledger: Ledger
    ) -> None:
        """Take the present selection, and write to the ledger which features left and which entered.

        ``names`` is asked for names (None: there are none) only if there is something to write.
        """
        before = np.zeros(len(mask), bool)
        before[self.columns] = True
        if np.array_equal(before, mask):
            return
        self.columns = np.flatnonzero(mask)
        known = names()
        for event, reason, changed in (
            (Event.EVICTED, Reason.LEFT_TOP, before & ~mask),
            (Event.KEPT, Reason.ENTERED_TOP, mask & ~before),
        ):
            for j in np.flatnonzero(changed).tolist():
                name = f"x{j}" if known is None else str(known[j])
                ledger.note(Decision(rows, name, event, reason, float(scores[j]), float("nan")))

    def freeze(self) -> IntArray:
        """Return the columns that were on top when this was first called."""
        if self.frozen is None:
            self.frozen = self.columns
        return self.frozen

    def state(self) -> Arrays:
        """Return the columns."""
        return {"columns": self.columns} | ({} if self.frozen is None else {"frozen": self.frozen})

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild."""
        columns, frozen = (
            np.array(expect(arrays, name, np.int64, (None,))) if name in arrays else None
            for name in ("columns", "frozen")
        )
        return cls(columns, frozen)
