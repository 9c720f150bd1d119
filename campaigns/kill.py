"""Runs that are killed again and again, resumed, and compared with a run that nothing disturbed."""

from __future__ import annotations

import signal
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from campaigns.lives import Run, difference, sources_of, strike
from campaigns.outcome import Outcome
from campaigns.subjects import name_of, subjects
from streamsieve.base import ColumnSelector, RowSelector

GOAL = "at least 500 kills after a checkpoint (steps), 0 lost; the result equal bit for bit; no torn file"
PATIENCE = 300.0
#: Checkpoints that a life writes before it is killed, and seconds until then.
CHECKPOINTS, PAUSE = (1, 4), 0.01
#: Deaths between two checkpoints after which something is wrong.
MOST_KILLS = 200


class Case(NamedTuple):
    """A selector over a source, and the seed of the moments at which it is killed."""

    subject: int
    source: str
    seed: int

    def __str__(self) -> str:
        return f"{name_of(subjects()[self.subject])}, {self.source}, {self.seed}"


def cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield selectors over rows and over columns in turn, in random order, each with a random source."""
    streams = [_endless(kind, rng) for kind in (RowSelector, ColumnSelector)]
    while True:
        for stream in streams:
            subject = next(stream)
            kind = str(rng.choice(sources_of(subjects()[subject])))
            yield Case(subject, kind, int(rng.integers(2**32)))


def _endless(kind: type, rng: np.random.Generator) -> Iterator[int]:
    numbers = [i for i, subject in enumerate(subjects()) if isinstance(subject, kind)]
    while True:
        yield from rng.permutation(numbers).tolist()


def attempt(case: Case) -> Outcome:
    """Kill a run until one life comes to the end of the stream."""
    rng = np.random.default_rng(case.seed)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = Run(subjects()[case.subject], case.source, Path(folder))
        reference = run.undisturbed()  # and every kernel is loaded before the first fork
        kills = known = 0
        for _ in range(MOST_KILLS):
            checkpoints, pause = int(rng.integers(*CHECKPOINTS)), rng.uniform(0, PAUSE)
            end = strike(run.fork(), run.path, signal.SIGKILL, checkpoints, pause)
            if end.status is None:
                return Outcome("hung", "neither an end nor a checkpoint", amount=kills)
            if end.status == 0:
                break
            if end.status != -signal.SIGKILL:
                return Outcome("lost", f"after {kills} kills: {run.error()}", amount=kills)
            before, known = known, run.saved()
            if known < before:
                return Outcome("lost", f"a kill went back from {before} to {known}", amount=kills)
            kills += known > 0
        else:
            return Outcome("hung", f"{MOST_KILLS} kills, and no end", amount=kills)
        wrong = difference(run.path, reference)
        if not wrong and run.by_rows and run.leftovers():
            wrong = f"left behind: {run.leftovers()}"
    return Outcome("lost" if wrong else "held", wrong, progress=kills > 0, amount=kills)
