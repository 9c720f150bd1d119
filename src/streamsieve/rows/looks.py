"""Alpha spending: when a selection may be revised so that it can be read at any time, and at what level."""

from __future__ import annotations

from typing import NamedTuple

#: Rows before the first look.
FIRST_LOOK = 64
#: Looks while the rows double, at equal distances.
LOOKS = 4


class Look(NamedTuple):
    """A row at which p-values are compared with a level."""

    #: How often rows have doubled since the first look, plus 1.
    doubling: int
    #: Number of rows learned by then.
    row: int

    def level(self, alpha: float) -> float:
        """Return the part of alpha that is spent; over all looks it sums to alpha.

        Doubling d has alpha / (d (d + 1)), in equal parts.
        """
        return alpha / (LOOKS * self.doubling * (self.doubling + 1))


def next_look(rows: int) -> Look:
    """Return the first look at or after a number of rows: at 64, 80, 96, 112, 128, 160, 192, ... rows."""
    doubling, first = 1, FIRST_LOOK
    while rows > first + (LOOKS - 1) * first // LOOKS:
        doubling, first = doubling + 1, 2 * first
    step = first // LOOKS
    return Look(doubling, first + max(0, -((first - rows) // step)) * step)
