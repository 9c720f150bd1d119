"""A printed figure beside ours: do they differ by more than chance?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from studies import _report


@dataclass(frozen=True)
class Cell:
    """Two figures for the same thing.

    Attributes
    ----------
    where : table, data set, method
    theirs, ours : the figures
    noise : by how much they may differ by chance
    digits : to print
    """

    where: tuple[str, str, str]
    theirs: float
    ours: float
    noise: float
    digits: int = 4

    @property
    def apart(self) -> bool:
        """Whether they differ by more than chance, and by more than printing cuts off."""
        return abs(self.ours - self.theirs) > max(self.noise, 0.51 * 10.0**-self.digits)

    @property
    def text(self) -> str:
        """Both figures, with a star if they differ by more than chance."""
        return f"{number(self.theirs, self.digits)} / {number(self.ours, self.digits)}{'*' * self.apart}"


def number(value: float, digits: int) -> str:
    """Return a figure; whole sizes without decimals."""
    return f"{value:,.0f}" if digits <= 1 and value == round(value) else f"{value:,.{digits}f}"


def of_share(share: float, n: int) -> float:
    """Return two standard errors of a share of n rows."""
    return 2 * math.sqrt(share * (1 - share) / n)


def seconds(value: float) -> str:
    """Return a time with two digits that mean something."""
    if value >= 1:
        return f"{value:.{1 if value < 10 else 0}f} s"
    return f"{1000 * value:.{1 if value < 0.01 else 0}f} ms"


def apart(cells: Iterable[Cell], reasons: Mapping[tuple[str, str, str], str]) -> str:
    """Return a list of the figures that differ by more than chance, and why."""
    lines = []
    for cell in cells:
        if cell.apart:
            table, data, method = cell.where
            both = f"{number(cell.theirs, cell.digits)}, ours {number(cell.ours, cell.digits)}"
            lines.append(
                f"- Table {table}, {data}, {method}: {both}. {reasons.get(cell.where, 'Not explained.')}"
            )
    return "\n".join(lines) + "\n" if lines else "None.\n"


def agreement(cells: Sequence[Cell]) -> str:
    """Return in words how many figures are equal, within chance, or apart."""
    equal = sum(abs(cell.ours - cell.theirs) <= 0.51 * 10.0**-cell.digits for cell in cells)
    beyond = sum(cell.apart for cell in cells)
    return (
        f"{len(cells)} figures, {equal} equal to the last digit printed, {len(cells) - equal - beyond} more "
        f"within chance, {beyond} apart (marked *)"
    )


def table(head: str, columns: Sequence[str], rows: Mapping[str, Sequence[str]]) -> str:
    """Return a table with a name before every row."""
    return _report.table([head, *columns], [[name, *cells] for name, cells in rows.items()])
