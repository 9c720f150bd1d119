"""The table on the screen, one line as each case ends; coloured where rich is installed."""

from __future__ import annotations

from typing import Any

from benchmarks._run import Result

try:
    from rich.console import Console
    from rich.table import Table
except ImportError:  # the core package does without rich, and so do its benchmarks
    Console = None

#: Heading and width of each column; the note takes what is left.
COLUMNS = (
    ("case", 44), ("ours", 9), ("peer", 24), ("peer's", 9), ("speedup", 8), ("peak MB", 8), ("bar", 22),
    ("", 4),
)  # fmt: skip


def figure(value: float | None, quantity: str) -> str:
    """Return a time, or a number of another quantity with its unit."""
    if quantity == "s" or value is None:
        return seconds(value)
    return f"{value:,.0f} {quantity}"


def seconds(value: float | None) -> str:
    """Return a time in the unit that suits it."""
    if value is None:
        return ""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e6:.3g} us"


def times(value: float | None) -> str:
    """Return a speedup with as many digits as mean something."""
    if value is None:
        return ""
    return f"{value:,.0f}x" if value >= 100 else f"{value:.3g}x"


def verdict(reached: bool | None) -> str:  # noqa: FBT001 - the one thing it is about
    """Return whether a bar was reached, in a word."""
    return {None: "", True: "yes", False: "no"}[reached]


def cells(result: Result) -> list[str]:
    """Return the figures of a result as text, in the order of ``COLUMNS``, without the note."""
    return [
        result.case,
        figure(result.ours_seconds, result.quantity),
        result.peer or "",
        figure(result.peer_seconds, result.quantity),
        times(result.speedup),
        "" if result.ours_peak_mb is None else f"{result.ours_peak_mb:,.0f}",
        result.bar or "",
        verdict(result.reached),
    ]


class Printer:
    """Prints lines as they come."""

    def __init__(self) -> None:
        self._console: Any = None
        if Console is not None:
            self._console = Console(highlight=False)
            if not self._console.is_terminal:  # a log file has no width: do not fold its lines at 80
                self._console = Console(highlight=False, width=220)

    def suite(self, name: str) -> None:
        """Begin the table of a suite."""
        self.say(f"\n{name}")
        self._row([heading for heading, _ in COLUMNS], "note", "bold")

    def result(self, result: Result) -> None:
        """Print a line of the table."""
        style = {None: "", True: "green", False: "red"}[result.reached]
        self._row(cells(result), result.note, style)

    def say(self, text: str) -> None:
        """Print a line of its own."""
        if self._console is None:
            print(text, flush=True)
        else:
            self._console.print(text, markup=False)

    def _row(self, row: list[str], note: str, style: str) -> None:
        if self._console is None:
            padded = (f"{cell:<{width}}" for cell, (_, width) in zip(row, COLUMNS, strict=True))
            print(" ".join(padded), note, flush=True)
            return
        # a table of one line each time: rich can only draw a table it knows in full
        table = Table(box=None, show_header=False, padding=(0, 1, 0, 0), style=style, expand=True)
        for _, width in COLUMNS:
            table.add_column(width=width, overflow="fold")
        table.add_column(ratio=1)
        table.add_row(*row, note)
        self._console.print(table, markup=False)
