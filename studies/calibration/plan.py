"""What is computed: one job per cell and round, each stored as one line, so that a run can be continued."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from joblib import Parallel, delayed

from studies.calibration import rules, sizes
from studies.calibration.families import DESIGNED
from studies.calibration.held_back import HELD_BACK
from studies.calibration.subjects import SUBJECTS

FAMILIES = {family.name: family for family in (*DESIGNED, *HELD_BACK)}
TESTS = {subject.name: subject for subject in SUBJECTS}
EXPERIMENTS = {experiment.name: experiment for experiment in rules.EXPERIMENTS}
#: Targets of a cell in a round, with few rows and with many (the first number of rows that is many); the
#: quick slice has fewer, and shorter experiments.
TARGETS, TARGETS_OF_MANY, MANY = 40, 20, 150
QUICK_TARGETS, QUICK_STREAMS = 20, 10
#: Rows of the quick slice: the smallest number that is at least this, or the largest there is.
QUICK_ROWS = 50
PROCESSES = 2


class Job(NamedTuple):
    """A cell of the page in one round: a test (or an experiment) and its data."""

    #: A test, or the name of an experiment.
    subject: str
    #: A family and its number of rows, or a situation and 0.
    data: str
    n: int
    #: Forms of the subject.
    form: int
    seed: int
    round: int


def jobs(seed: int, number: int, *, quick: bool = False) -> list[Job]:
    """Return the jobs of a round; the first leaves out the larger numbers of rows of a family."""
    found = []
    for family in FAMILIES.values():
        rows = list(family.sizes)
        if quick:
            rows = [min([n for n in rows if n >= QUICK_ROWS] or [max(rows)])]
        elif number == 0:
            rows = [n for n in rows if n < MANY] or [min(rows)]
        for subject in TESTS.values():
            if subject.takes(family) and (subject.default or not quick):
                some = [n for n in rows if subject.rows[0] <= n <= subject.rows[1]]
                found += [Job(subject.name, family.name, n, subject.form, seed, number) for n in some]
    for experiment in EXPERIMENTS.values():
        for situation in experiment.situations:
            found.append(Job(experiment.name, situation.name, 0, experiment.form, seed, number))
    return found


def compute(job: Job, *, quick: bool = False, targets: int | None = None) -> dict[str, Any]:
    """Return the counts of a job; ``targets``: their number, if not that of a round."""
    seed = (job.seed, job.round)
    if job.subject in TESTS:
        targets = targets or (QUICK_TARGETS if quick else TARGETS if job.n < MANY else TARGETS_OF_MANY)
        return sizes.simulate(FAMILIES[job.data], job.n, TESTS[job.subject], targets, seed)
    experiment = EXPERIMENTS[job.subject]
    if quick:
        experiment = replace(experiment, streams=QUICK_STREAMS)
    situation = next(one for one in experiment.situations if one.name == job.data)
    return rules.simulate(experiment, situation, seed)


class Store:
    """Results by job, in a file of JSON lines to which every result is appended when it is there."""

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self.path = path
        if fresh:
            path.unlink(missing_ok=True)
        lines = path.read_text("utf-8").splitlines(keepends=True) if path.exists() else []
        # a run that was killed may have left half a line
        entries = [json.loads(line) for line in lines if line.endswith("\n")]
        if lines and not lines[-1].endswith("\n"):
            path.write_text("".join(lines[:-1]), "utf-8")
        self.results = {Job(*entry["job"]): entry["result"] for entry in entries}

    def add(self, job: Job, result: dict[str, Any]) -> None:
        """Store a result."""
        self.results[job] = result
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"job": job, "result": result}) + "\n")

    def cells(self, seed: int) -> dict[tuple[str, str, int], list[dict[str, Any]]]:
        """Return the results of all rounds by subject, data and rows, of present forms only."""
        forms = {**{name: s.form for name, s in TESTS.items()}, **{n: e.form for n, e in EXPERIMENTS.items()}}
        found: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
        for job, result in self.results.items():
            if job.seed == seed and forms.get(job.subject) == job.form:
                found.setdefault((job.subject, job.data, job.n), []).append(result)
        return found

    def tidy(self) -> None:
        """Write the file again in a fixed order, without results that do not count any more."""
        known = {(job.subject, job.data, job.n, job.form) for job in jobs(0, 1)}
        kept = sorted(
            (job for job in self.results if job[:4] in known), key=lambda job: (job.round, *job[:3])
        )
        lines = [json.dumps({"job": job, "result": self.results[job]}) + "\n" for job in kept]
        self.path.write_text("".join(lines), "utf-8")


def run(store: Store, some: Iterable[Job], *, until: float, quick: bool, say: Callable[[str], None]) -> bool:
    """Compute the jobs that are not stored, two at a time; return whether the time sufficed."""
    missing = [job for job in some if job not in store.results]
    # taken from when a process is free
    in_time = (delayed(_labelled)(job, quick=quick) for job in missing if time.monotonic() < until)
    began, done = time.monotonic(), 0
    for job, result in Parallel(1 if quick else PROCESSES, return_as="generator_unordered")(in_time):
        store.add(job, result)
        done += 1
        if done % 10 == 0 or done == len(missing):
            say(f"{done} of {len(missing)} cells, {time.monotonic() - began:.0f} s")
    return done == len(missing)


def stale(store: Store, some: Iterable[Job], number: int, say: Callable[[str], None]) -> list[Job]:
    """Compute some cells of every subject again, evenly spread; return those whose stored result differs.

    A subject of which a cell differs was changed without a new ``form``: all its cells must be counted again.
    """
    by_subject: dict[str, list[Job]] = {}
    for job in some:
        if job in store.results:
            by_subject.setdefault(job.subject, []).append(job)
    found = []
    for subject, stored in by_subject.items():
        picked = sorted({round(i * (len(stored) - 1) / max(1, number - 1)) for i in range(number)})
        before = {stored[i]: store.results[stored[i]] for i in picked}
        differ = [job for job, one in before.items() if compute(job, targets=one.get("targets")) != one]
        say(f"{subject}: {len(differ)} of {len(picked)} cells differ, {len(stored)} are stored")
        found += differ
    return found


def _labelled(job: Job, *, quick: bool) -> tuple[Job, dict[str, Any]]:
    return job, compute(job, quick=quick)
