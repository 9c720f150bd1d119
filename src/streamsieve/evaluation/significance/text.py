"""Results as text that is read on a screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def text_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return lines of equal columns: the first is text and stands left, the others are numbers, right."""
    lines = [list(headings), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def p_text(p: float) -> str:
    """Return a p-value in four decimals, or that it is smaller."""
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"
