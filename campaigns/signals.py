"""Ctrl-C and SIGTERM during runs, in Python and on the command line; saves in which a system call fails."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import streamsieve as ss
from campaigns import answering, faults
from campaigns.lives import BATCH, Run, difference, sources_of, strike
from campaigns.outcome import Outcome
from campaigns.subjects import name_of, subjects
from streamsieve import state
from streamsieve.base import ColumnSelector, RowSelector

GOAL = (
    "0 lost; Ctrl-C ends a run with a checkpoint of the last whole batch and nothing left behind, the "
    "command line with a line and exit code 130; stretches without an answer at most 1 s; after a failed "
    "call the old state or the new one is there, whole"
)
PATIENCE = 300.0
SIGNALS = (signal.SIGINT, signal.SIGTERM)
#: Checkpoints before a signal, and seconds after them.
CHECKPOINTS, PAUSE = (1, 4), 0.01
MOST_SIGNALS = 200
#: Of this number of cases one is on the command line, and one on large data.
RARE = 20
#: Rows and columns of large data, and the longest stretch without an answer, in seconds of computation.
LARGE, LONGEST = ((100_000, 40), (1_000, 4_000)), 1.0


class Case(NamedTuple):
    """What is interrupted, how, and the seed of the moments."""

    what: str
    how: str
    subject: int
    seed: int

    def __str__(self) -> str:
        of = f" of {name_of(subjects()[self.subject])}" if self.subject >= 0 else ""
        return f"{self.what}{of}, {self.how}, {self.seed}"


def cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield runs with both signals and saves with every fault in turn, and now and then what takes long."""
    streams = [i for i, s in enumerate(subjects()) if isinstance(s, (RowSelector, ColumnSelector))]
    failures = [
        Case("save", f"{way}, {how}", -1, 0) for way in faults.SAVINGS for how in (*faults.CODES, "short")
    ]
    number = 0
    while True:
        for subject in rng.permutation(streams).tolist():
            yield Case("run", SIGNALS[number % 2].name, subject, int(rng.integers(2**32)))
            if number < len(failures):
                yield failures[number]
            if number % RARE == RARE // 4:
                yield Case("command", SIGNALS[number // RARE % 2].name, -1, int(rng.integers(2**32)))
            if number % RARE == RARE // 2:
                n, p = LARGE[number // RARE % 2]
                yield Case("large", f"{n} x {p}", int(rng.choice(streams)), 0)
            number += 1


def attempt(case: Case) -> Outcome:
    """Interrupt a run until it comes to its end, or try one of the other cases."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's job in the background ignores it
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ATTEMPTS[case.what](case, Path(folder))


def _run(case: Case, folder: Path) -> Outcome:
    rng = np.random.default_rng(case.seed)
    run = Run(subjects()[case.subject], str(rng.choice(sources_of(subjects()[case.subject]))), folder)
    number = signal.Signals[case.how]
    reference = run.undisturbed()
    struck = known = 0
    expected = 130 if number is signal.SIGINT else -number
    for _ in range(MOST_SIGNALS):
        end = strike(run.fork(), run.path, number, int(rng.integers(*CHECKPOINTS)), rng.uniform(0, PAUSE))
        if end.status is None:
            return Outcome("hung", "no end", amount=struck)
        if end.status == 0:
            break
        if end.status != expected:
            return Outcome("lost", f"{struck} signals, status {end.status}: {run.error()}", amount=struck)
        before, known = known, run.saved()
        if known < before:
            return Outcome("lost", f"went back from {before} to {known}", amount=struck)
        if number is signal.SIGINT and (left := run.leftovers()):
            return Outcome("lost", f"left behind after Ctrl-C: {left}", amount=struck)
        struck += known > 0
    wrong = difference(run.path, reference)
    if not wrong and run.by_rows and run.leftovers():
        wrong = f"left behind: {run.leftovers()}"
    return Outcome("lost" if wrong else "held", wrong, progress=struck > 0, amount=struck)


def _save(case: Case, folder: Path) -> Outcome:
    way, _, how = case.how.partition(", ")
    if how == "short":
        return faults.short_writes(way, folder)
    return faults.every_call(way, int(how), folder)


def _large(case: Case, _: Path) -> Outcome:
    subject = subjects()[case.subject]
    n, p = map(int, case.how.split(" x "))
    answering.call_of(subject, 200, 20)()  # loads the kernels
    with answering.one_processor():
        found = answering.longest_stretch(answering.call_of(subject, n, p))
    return Outcome("lost" if found.seconds > LONGEST else "held", f"{found.seconds:.2f} s, {found.where}")


# ------------------------------------------------------------------------------------ the command line

PROGRAM = "from streamsieve.cli import main; main()"
ROWS = 150_000


def _command(case: Case, folder: Path) -> Outcome:
    """Interrupt the command line after a checkpoint; resume it here, and compare."""
    table, path, number = folder / "table.parquet", folder / "run.sieve", signal.Signals[case.how]
    rng = np.random.default_rng(case.seed)
    y = rng.integers(0, 2, ROWS)
    X = rng.normal(size=(ROWS, 6)) + y[:, np.newaxis] * np.linspace(0, 0.1, 6)
    pq.write_table(pa.table({"y": y, **{f"c{j}": X[:, j] for j in range(6)}}), table, row_group_size=1_000)
    options = ["--target", "y", "--criterion", "mutual_info", "--k", "2", "--quiet"]
    keeping = ["--batch", str(BATCH), "--checkpoint", str(path), "--every", str(BATCH)]
    command = [sys.executable, "-c", PROGRAM, "screen", str(table), *options, *keeping]
    with (folder / "said").open("w+") as said:
        child = subprocess.Popen(
            command, stderr=said, stdout=said, env=os.environ | {"PYTHONWARNINGS": "ignore"}
        )
        end = strike(child.pid, path, number, int(rng.integers(1, 4)), rng.uniform(0, PAUSE))
        said.seek(0)
        lines = said.read().splitlines()
    if not end.struck:
        return Outcome("held", f"it ended with status {end.status}: {lines}", progress=False)
    known = state.read_header(path)["stream"]["rows"]
    left = {p.name for p in folder.iterdir()} - {"table.parquet", "said", "run.sieve", "run.sieve.previous"}
    if number is signal.SIGTERM:  # the system's own end: nothing is said, and the next run sweeps
        right = end.status == -signal.SIGTERM and not lines
    else:
        right = end.status == 130 and len(lines) in (1, 2) and "interrupted" in lines[-1] and not left
    if not right:
        return Outcome("lost", f"status {end.status}, left {sorted(left)}, said {lines}"[:400])
    source, make = ss.open(table, target="y"), lambda: ss.Screen("mutual_info", k=2)
    reference = ss.run(source, make(), batch_size=BATCH)
    ss.run(source, make(), checkpoint=path, resume=True, batch_size=BATCH)
    wrong = difference(path, reference)
    return Outcome("lost" if wrong else "held", wrong, progress=0 < known < ROWS)


ATTEMPTS: dict[str, Callable[[Case, Path], Outcome]] = {
    "run": _run,
    "save": _save,
    "large": _large,
    "command": _command,
}
