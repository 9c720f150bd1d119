"""Progress bars with rate and time left, on standard error, and only on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text


class _Rate(ProgressColumn):
    """Rate per second."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self.unit = unit

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        if speed is None:
            return Text("")
        return Text(f"{speed:,.0f} {self.unit}/s" if speed >= 10 else f"{speed:.2g} {self.unit}/s")


@contextmanager
def progress(what: str, total: int | None, unit: str, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """Show a bar while the body runs; it gets a function that moves the bar forward."""
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Rate(unit),
        TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
        console=console, disable=quiet or not console.is_terminal, transient=True,
    )  # fmt: skip
    with bar:
        task = bar.add_task(what, total=total)
        yield lambda n: bar.advance(task, n)
