"""What a case is: a function that sets up data and returns what to time against what."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks import suites


class SkipCase(Exception):  # noqa: N818 - not an error: the case cannot run here, and the message says why
    """Raised by a case that needs something this machine does not have."""


@dataclass(frozen=True)
class Size:
    """Chooses between the real size of a case and a tiny one for ``--quick``."""

    quick: bool = False

    def __call__(self, full: int, quick: int) -> int:
        """Return one of the two numbers."""
        return quick if self.quick else full


@dataclass
class Race:
    """Two functions to time in turn, and what to say about them.

    Attributes
    ----------
    ours : does the work through the public API; called many times, so it starts from fresh state each time
    peer : does the peer's work on the same data; None where only an absolute figure makes sense
    peer_name : what the peer is
    work, unit : how much one call does, as ``work=1_600_000, unit="non-zeros"``; gives a rate for the note
    note : text, or a function asked after the race, for what only the run can tell
    rounds : times each is run; the best counts
    warm_up : run ours once untimed first, so that compiling and first touch of memory are not counted
    measured : where the time of a call is not the figure (a stall within a run): returns the seconds of ours
        and of the peer, and nothing else is run
    quantity : what the figures are, "s", "MB" or "bytes"; other than seconds only with ``measured``
    """

    ours: Callable[[], Any]
    peer: Callable[[], Any] | None = None
    peer_name: str | None = None
    work: int = 0
    unit: str = ""
    note: str | Callable[[], str] = ""
    rounds: int = 7
    warm_up: bool = True
    measured: Callable[[], tuple[float, float | None]] | None = None
    quantity: str = "s"


@dataclass(frozen=True)
class Case:
    """A named race with the bar it has to clear."""

    suite: str
    name: str
    build: Callable[[Size], Race] = field(repr=False)
    bar: str | None = None
    memory: bool = False


_declared: list[Callable[[Size], list[Case]]] = []


def case(
    name: str = "",
    *,
    bar: str | None = None,
    memory: bool = False,
    over: Callable[[Size], Mapping[str, Any]] | None = None,
) -> Callable[[Callable[..., Race]], Callable[..., Race]]:
    """Register a function as a case of the suite that its file is.

    Parameters
    ----------
    name : of the case
    bar : what has to be reached, in the words of ``benchmarks._bars``; None if only informative
    memory : whether to measure in a fresh process by how much the resident memory of ours grows
    over : makes several cases of one function: called with the size it returns ``{name: argument}``, and
        the function is called with the size and the argument
    """

    def register(build: Callable[..., Race]) -> Callable[..., Race]:
        suite = build.__module__.rpartition(".")[2]

        def cases(size: Size) -> list[Case]:
            if over is None:
                return [Case(suite, name, build, bar, memory)]
            return [
                Case(suite, f"{name}{key}", lambda size, value=value: build(size, value), bar, memory)
                for key, value in over(size).items()
            ]

        _declared.append(cases)
        return build

    return register


def suite_names() -> list[str]:
    """Return the suites: the files in ``suites/``."""
    return sorted(module.name for module in pkgutil.iter_modules(suites.__path__))


def cases_of(suite: str, size: Size) -> list[Case]:
    """Return the cases of a suite in the order they are written down."""
    importlib.import_module(f"benchmarks.suites.{suite}")
    return [found for cases in _declared for found in cases(size) if found.suite == suite]
