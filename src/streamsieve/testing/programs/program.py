"""What a program is, and how it runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

Rng = np.random.Generator


class Program(ABC):
    """A subject, its twin, and the operations that they understand."""

    #: Names of the methods that a program may call, each with a random generator.
    operations: ClassVar[tuple[str, ...]] = ()

    def applicable(self) -> list[str]:
        """Return the operations that this subject has."""
        return list(self.operations)

    @abstractmethod
    def check(self) -> None:
        """Raise ``AssertionError`` if subject and twin differ."""


def run(program: Program, steps: int, seed: int = 0) -> list[str]:
    """Run a random program and return the names of its operations; a difference raises ``AssertionError``."""
    rng = np.random.default_rng(seed)
    names = program.applicable()
    done: list[str] = []
    for _ in range(steps):
        done.append(names[rng.integers(len(names))])
        try:
            getattr(program, done[-1])(rng)
            program.check()
        except Exception as error:
            raise AssertionError(f"program {seed} fails after {', '.join(done)}: {error}") from error
    return done


def machine(make: Callable[[], Program]) -> Any:
    """Return a Hypothesis state machine whose rules are the operations of a program.

    Parameters
    ----------
    make : returns a new program

    Examples
    --------
    >>> from streamsieve.summaries import Moments
    >>> from streamsieve.testing.programs import SummaryProgram, machine
    >>> TestMoments = machine(lambda: SummaryProgram(Moments)).TestCase  # pytest and unittest run it
    """
    from hypothesis import stateful, strategies  # noqa: PLC0415 - only tests need it

    def start(self: Any) -> None:
        stateful.RuleBasedStateMachine.__init__(self)
        self.program = make()

    def operation(name: str) -> Any:
        def step(self: Any, seed: int) -> None:
            getattr(self.program, name)(np.random.default_rng(seed))

        step.__name__ = name
        return stateful.rule(seed=strategies.integers(0, 2**32 - 1))(step)

    rules = {name: operation(name) for name in make().applicable()}

    def agrees(self: Any) -> None:
        self.program.check()

    return type(
        "Machine",
        (stateful.RuleBasedStateMachine,),
        {"__init__": start, **rules, "agrees": stateful.invariant()(agrees)},
    )
