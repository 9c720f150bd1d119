"""Random programs of operations on every summary and selector, compared with their twins."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from campaigns.outcome import Outcome
from streamsieve import registry
from streamsieve.testing.programs import Program, SummaryProgram, program_for, run
from tests.summaries.test_contract import VARIANTS as SUMMARIES

GOAL = "0 states that do not load, 0 differences from the twin"
#: Of a program, in seconds: its first one may compile kernels.
PATIENCE = 300.0
STEPS = 40


class Case(NamedTuple):
    """A program: of which object, and its seed."""

    name: str
    seed: int
    program: Any

    def __str__(self) -> str:
        return f"{self.name}, program {self.seed}"


def cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield programs of every summary, dense and sparse, and every variant of every selector, in turn."""
    makers: dict[str, Any] = {}
    for name, make in SUMMARIES.items():
        for form in ("dense", "sparse"):
            makers[f"{name}, {form}"] = lambda make=make, form=form: SummaryProgram(make, form=form)
    for cls in registry.selectors().values():
        for selector in cls.variants():
            makers[" ".join(repr(selector).split())] = lambda selector=selector: program_for(selector)
    while True:
        for name, make in makers.items():
            yield Case(name, int(rng.integers(2**32)), make)


def attempt(case: Case) -> Outcome:
    """Run a program."""
    program: Program | None = case.program()
    if program is None:
        return Outcome("held", "an offline selector", amount=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            done = run(program, STEPS, case.seed)
        except AssertionError as error:
            return Outcome("lost", str(error)[-400:])
    return Outcome("held", progress=len({*done}) > 2, amount=len(done))
