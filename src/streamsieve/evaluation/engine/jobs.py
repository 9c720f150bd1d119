"""Runs of independent cells, in any order and any number of processes; can be interrupted and resumed."""

from __future__ import annotations

import os
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from pickle import PicklingError
from typing import Any, NamedTuple, Protocol

from joblib import Parallel, delayed  # type: ignore[import-untyped]  # they ship no types
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from streamsieve._parameters import check_choice, check_number
from streamsieve.evaluation.engine.store import JobStore
from streamsieve.exceptions import ParameterError, ProtocolError

#: Treatment of failures when all cells are done.
ERRORS = ("raise", "report")
#: Called with the number of finished cells and their total number.
Progress = Callable[[int, int], Any]
Key = Mapping[str, int | str]


class Job(Protocol):
    """Function that computes a cell; must be picklable for other processes."""

    def __call__(self, key: Key, notes: JobLog) -> dict[str, Any]:
        """Return the result of a cell: numbers, text, lists and dicts."""
        ...


class Failure(NamedTuple):
    """A failure of a cell or a part of it."""

    cell: str
    #: The part of the cell that failed, such as "learner nb, size 12"; empty for the whole cell.
    part: str
    message: str

    def __str__(self) -> str:
        part = f", {self.part}" if self.part else ""
        return f"{self.cell}{part}: {self.message}"


@dataclass
class JobLog:
    """Log of the failed parts of a cell."""

    failures: list[tuple[str, str]] = field(default_factory=list)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Context manager that notes a failure, after which the cell continues."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - one learner that fails must not lose the others
            self.failures.append((name, _message(error)))


@dataclass(frozen=True)
class Outcome:
    """Results of all cells, in order; None for a cell that failed."""

    results: list[dict[str, Any] | None]
    failures: list[Failure]
    #: Texts of the warnings, and how often each was given.
    warnings: dict[str, int]


@dataclass(frozen=True)
class RunConfig:
    """Parameters of a run, common to all protocols; see ``screening_protocol``."""

    folder: str | os.PathLike[str] | None = None
    resume: bool = False
    n_jobs: int | None = 1
    progress: Progress | None = None
    errors: str = "raise"

    def __post_init__(self) -> None:
        check_choice("errors", self.errors, ERRORS)
        if self.n_jobs is not None:
            check_number("n_jobs", self.n_jobs, integer=True)
            if self.n_jobs == 0:
                raise ParameterError("n_jobs=0 processes can do nothing: give 1, more, or -1 for all cores")
        if self.progress is not None and not callable(self.progress):
            raise ParameterError(
                f"progress is a function of the number of parts done and of all parts; got {self.progress!r}"
            )
        if self.folder is not None and not isinstance(self.folder, (str, os.PathLike)):
            raise ParameterError(f"folder is a path; got {self.folder!r}")
        if self.resume and self.folder is None:
            raise ParameterError("resume=True goes on from a folder: give folder=PATH")


def name_of(key: Key) -> str:
    """Return a cell's name: the same in every process and every run."""
    return " ".join(f"{part}={value}" for part, value in key.items())


def run_jobs(cells: Sequence[Key], work: Job, settings: Mapping[str, Any], running: RunConfig) -> Outcome:
    """Compute all cells that are not finished yet; their keys differ, and results depend on the settings."""
    names = [name_of(key) for key in cells]
    if running.folder is None:
        entries: dict[str, dict[str, Any]] = {}
        context: Any = nullcontext()
    else:
        store = JobStore(running.folder, settings, resume=running.resume)
        context = store.opened()
    with context as opened:
        if opened is not None:
            known = set(names)
            entries = {
                name: entry
                for name, entry in opened.finished.items()
                if name in known and "result" in entry and not entry.get("failures")
            }
        missing = [key for key, name in zip(cells, names, strict=True) if name not in entries]
        done, total = len(entries), len(names)
        report = running.progress or (lambda _done, _total: None)
        report(done, total)
        with closing(_computed(missing, work, running.n_jobs)) as computed:
            for name, entry in computed:
                entries[name] = entry
                if opened is not None:
                    opened.add(name, entry)
                done += 1
                report(done, total)
    return _outcome(names, entries)


def _computed(
    cells: Sequence[Key], work: Job, n_jobs: int | None
) -> Generator[tuple[str, dict[str, Any]], None, None]:
    if n_jobs in (None, 1) or len(cells) < 2:
        yield from (_guarded(work, key) for key in cells)
        return
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    found = parallel(delayed(_elsewhere)(work, key, os.getpid()) for key in cells)
    try:
        for each in found:  # noqa: UP028 - "yield from" would close it before joblib is silenced
            yield each
    except (BrokenProcessPool, PicklingError) as error:
        raise ProtocolError(
            f"a process of the run could not do its part ({type(error).__name__}: {error}): parts that are "
            "finished are in folder=, if it was given; n_jobs=1 does without processes"
        ) from error
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib warns that it cancels jobs no longer awaited
            found.close()


def _elsewhere(work: Job, key: Key, parent: int) -> tuple[str, dict[str, Any]]:
    """Compute a cell in another process, which leaves Ctrl-C to its parent."""
    if os.getpid() != parent:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return _guarded(work, key)


def _guarded(work: Job, key: Key) -> tuple[str, dict[str, Any]]:
    """Compute a cell, and return its result, warnings and failures.

    Rounding of sums depends on the number of threads, so every cell has one thread: the results are then the
    same for any number of processes.
    """
    notes, started = JobLog(), time.perf_counter()
    entry: dict[str, Any] = {}
    with _libraries(len(sys.modules)).limit(limits=1), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            entry["result"] = work(key, notes)
        except Exception as error:  # noqa: BLE001 - recorded; the other cells go on
            notes.failures.append(("", _message(error)))
    entry["seconds"] = time.perf_counter() - started
    if notes.failures:
        entry["failures"] = [list(failure) for failure in notes.failures]
    if heard:
        entry["warnings"] = dict(Counter(str(warning.message) for warning in heard))
    return name_of(key), entry


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> Any:  # noqa: ARG001 - a key: with new modules, new libraries may have come
    """Return the libraries with thread pools, cached because the search takes milliseconds."""
    return ThreadpoolController()


def _message(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _outcome(names: Sequence[str], entries: Mapping[str, dict[str, Any]]) -> Outcome:
    failures, heard = [], Counter[str]()
    for name in names:
        entry = entries[name]
        failures += [Failure(name, part, message) for part, message in entry.get("failures", ())]
        heard.update(entry.get("warnings", {}))
    return Outcome([entries[name].get("result") for name in names], failures, dict(heard))
