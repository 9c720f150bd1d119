"""Protocol of the part of a column selector that decides on columns."""

from __future__ import annotations

from typing import Protocol

from streamsieve.decisions import Outcome
from streamsieve.protocols import ColumnBlock, FloatArray, IntArray, Reason


class ColumnProcess(Protocol):
    """The part of a column selector that decides on columns, such as a `columns.composition`.

    A process that defers decisions until later columns have arrived (``Traits.defers``) also has:

    named : arrival numbers of the columns that are kept, may still be kept, or are mentioned by deferred
        decisions
    because : why a provisional decision may still change
    outlook() : the deferred decisions as they would be if no more columns arrived; changes nothing
    finish(coming) : makes all decisions final; ``coming`` is the arrival number of the next column

    The outcome of its `offer` starts at the first undecided column, and may end before the last column of the
    block.
    """

    @property
    def n(self) -> int:
        """Number of rows."""

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns kept, in order."""

    def offer(self, block: ColumnBlock, start: int) -> Outcome:
        """Decide on a block whose first column has arrival number ``start``."""

    def offer_one(self, x: FloatArray) -> tuple[Reason, float, float] | None:
        """Reject a single column at once, or leave it to `offer`."""
