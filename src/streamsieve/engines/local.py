"""Engine of this machine, the reference for the others: processes, or threads if there are few values."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Any, Self

from streamsieve._threads import end_with
from streamsieve.base import RowSelector
from streamsieve.engines.declared import Declared
from streamsieve.engines.plan import Plan
from streamsieve.engines.task import Failure, build, merge_all, rows_of
from streamsieve.exceptions import SourceError
from streamsieve.running.place import files_of
from streamsieve.sources.parts import SourcePart

#: Parts submitted per worker: one that it learns, and one that waits.
AHEAD = 2
#: Values (rows x features; of a sparse matrix, those it stores) below which workers are threads: to start, a
#: process takes the processor time of a hundred million of them, and compiled loops release the GIL.
FEW_VALUES = 500_000_000

_log = logging.getLogger(__name__)
State = RowSelector | Failure


def run_local(
    plan: Plan, declared: Declared, workers: int | None, retries: int, notify: Callable[[int], Any]
) -> State:
    """Learn all parts in workers, and merge their states here, in the order of the plan."""
    n = min(workers or cores(), len(plan.parts))
    values = sum(_values(part, declared.head.X.shape[1]) for part in plan.parts)
    processes = values >= FEW_VALUES
    if not processes:
        _log.info("%d values are few for processes, which take seconds to start: threads", values)
    merging = Merging(plan)
    crashes = [0] * len(plan.parts)
    waiting = list(range(len(plan.parts)))
    while waiting:
        with _Pool(n, max(1, cores() // n), processes=processes) as pool:
            waiting = pool.work(plan, declared, waiting, merging, notify)
        if merging.failed is not None:
            return merging.failed
        for number in waiting[: AHEAD * n]:  # a worker died, with one of these parts
            crashes[number] += 1
            if crashes[number] > retries:
                part = plan.parts[number]
                raise SourceError(
                    f"part {number + 1} ({part.shown}) was under way each of the {crashes[number]} times a "
                    "worker process died: it may not fit into memory; give smaller parts with "
                    "rows_per_task, or fewer workers"
                )
    return merging.root()


def _values(part: SourcePart, width: int) -> int:
    """Return the number of values to learn; in text, whose rows are not counted, one per two bytes."""
    stored = getattr(part.source, "n_stored", None)
    if stored is not None:
        return int(stored)
    if part.n_rows is not None:
        return part.n_rows * width
    with suppress(OSError):  # a file that vanished is an error of its part
        return sum(Path(file).stat().st_size for file in files_of(part.source)) // 2
    return 0


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Merging:
    """The tree of merges: a node is merged as soon as all nodes below it are complete."""

    def __init__(self, plan: Plan) -> None:
        self._levels = plan.tree
        self._found: list[dict[int, State]] = [{} for _ in range(len(self._levels) + 1)]
        #: The failure of the part with the lowest number, so far.
        self.failed: Failure | None = None

    def add(self, number: int, state: State) -> None:
        """Add the state of a part, and merge complete nodes."""
        if isinstance(state, Failure):
            if self.failed is None or state.number < self.failed.number:
                self.failed = state
            return
        self._found[0][number] = state
        for level, nodes in enumerate(self._levels):
            number = next(k for k, node in enumerate(nodes) if number in node)
            below = self._found[level]
            if any(child not in below for child in nodes[number]):
                return
            merged = merge_all(*(below.pop(child) for child in nodes[number]))
            if isinstance(merged, Failure):
                self.failed = merged
                return
            self._found[level + 1][number] = merged

    def root(self) -> State:
        """Return the state of all parts."""
        return self.failed or self._found[-1][0]


def _limit_arrow(n_threads: int) -> None:
    """Limit the threads of Arrow to those of the kernels; by default it uses all cores."""
    with suppress(ImportError):
        import pyarrow as pa  # noqa: PLC0415 - not all sources need it

        pa.set_cpu_count(n_threads)


class _Pool:
    """Workers of one run; none is left when it ends."""

    def __init__(self, workers: int, n_threads: int, *, processes: bool = True) -> None:
        self._workers, self._threads = workers, n_threads
        self._ended = Event()
        self._pool: Any = (
            self._processes() if processes else ThreadPoolExecutor(workers, "", end_with, (self._ended,))
        )

    def _processes(self) -> Any:
        # not the standard library's: loky never forks threads, and runs scripts without a main guard
        from joblib.externals.loky import (  # type: ignore[import-untyped]  # noqa: PLC0415 - seldom needed
            ProcessPoolExecutor,
        )

        # not loky's reusable one either: joblib has it, and would find it without what joblib needs
        return ProcessPoolExecutor(self._workers, initializer=_limit_arrow, initargs=(self._threads,))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._end(now=kind is not None)

    def _end(self, *, now: bool) -> None:
        """End all workers; threads end between two batches or ranges of features."""
        if isinstance(self._pool, ThreadPoolExecutor):
            if now:
                self._ended.set()
            self._pool.shutdown(wait=True, cancel_futures=now)
        else:
            self._pool.shutdown(wait=True, kill_workers=now)

    def work(
        self,
        plan: Plan,
        declared: Declared,
        numbers: list[int],
        merging: Merging,
        notify: Callable[[int], Any],
    ) -> list[int]:
        """Learn some parts; return those that remain when a worker has died or a part has failed."""
        left, queue = list(numbers), list(numbers)
        under_way: dict[Future[State], int] = {}
        while left:
            try:
                while queue and len(under_way) < AHEAD * self._workers:
                    number = queue.pop(0)
                    part = plan.parts[number]
                    under_way[self._pool.submit(build, part, number, declared, self._threads)] = number
                done, _ = wait(under_way, return_when=FIRST_COMPLETED)
                for future in sorted(done, key=under_way.__getitem__):
                    state = future.result()
                    number = under_way.pop(future)
                    left.remove(number)
                    merging.add(number, state)
                    notify(rows_of(state))
            except BrokenExecutor:
                return left
            if merging.failed is not None:
                self._end(now=True)
                return []
        return left
