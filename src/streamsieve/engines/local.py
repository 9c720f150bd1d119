"""Processes of this machine: the reference engine."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from contextlib import suppress
from typing import Any, Self

from streamsieve.base import RowSelector
from streamsieve.engines.declared import Declared
from streamsieve.engines.plan import Plan
from streamsieve.engines.task import Failure, build, merge_all, rows_of
from streamsieve.exceptions import SourceError

#: Parts under way for each worker: one that it learns, and one that waits for it.
AHEAD = 2
#: Values (rows x features) below which one process is about as fast: to start, a worker takes the processor
#: time of a hundred million of them, and one process has threads for decoding and for kernels.
FEW_VALUES = 500_000_000

_log = logging.getLogger(__name__)
State = RowSelector | Failure


def run_local(
    plan: Plan, declared: Declared, workers: int | None, retries: int, notify: Callable[[int], Any]
) -> State:
    """Learn all parts in worker processes, and merge their states here, in the order of the plan."""
    n = min(workers or cores(), len(plan.parts))
    # a part that does not say how many rows it has may be long
    rows = sum(FEW_VALUES if part.n_rows is None else part.n_rows for part in plan.parts)
    if rows * (width := declared.head.X.shape[1]) < FEW_VALUES:
        _log.info(
            "%d rows x %d features are few for processes, which take seconds to start: one process, without "
            "engine='local', is about as fast",
            rows,
            width,
        )
    merging = Merging(plan)
    crashes = [0] * len(plan.parts)
    waiting = list(range(len(plan.parts)))
    while waiting:
        with _Pool(n, max(1, cores() // n)) as pool:
            waiting = pool.work(plan, declared, waiting, merging, notify)
        if merging.failed is not None:
            return merging.failed
        for number in waiting[: AHEAD * n]:  # a worker died, and one of these parts was with it
            crashes[number] += 1
            if crashes[number] > retries:
                part = plan.parts[number]
                raise SourceError(
                    f"part {number + 1} ({part.shown}) was under way each of the {crashes[number]} times a "
                    "worker process died: it may not fit into memory; give smaller parts with "
                    "rows_per_task, or fewer workers"
                )
    return merging.root()


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Merging:
    """The tree of merges: a node is merged as soon as all nodes below it are there."""

    def __init__(self, plan: Plan) -> None:
        self._levels = plan.tree
        self._found: list[dict[int, State]] = [{} for _ in range(len(self._levels) + 1)]
        #: The failure of the part with the lowest number, so far.
        self.failed: Failure | None = None

    def add(self, number: int, state: State) -> None:
        """Take the state of a part, and merge what is complete."""
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
    """Let a worker decode files with as many threads as its kernels have; Arrow would take all cores."""
    with suppress(ImportError):
        import pyarrow as pa  # noqa: PLC0415 - not all sources need it

        pa.set_cpu_count(n_threads)


class _Pool:
    """Worker processes of one run; none is left when it ends."""

    def __init__(self, workers: int, n_threads: int) -> None:
        # not the standard library's: loky never forks threads, and runs scripts without a main guard
        from joblib.externals.loky import (  # type: ignore[import-untyped]  # noqa: PLC0415 - seldom needed
            ProcessPoolExecutor,
        )

        self._workers, self._threads = workers, n_threads
        # not loky's reusable one either: joblib has it, and would find it without what joblib needs
        self._pool = ProcessPoolExecutor(max_workers=workers, initializer=_limit_arrow, initargs=(n_threads,))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._pool.shutdown(wait=True, kill_workers=kind is not None)

    def work(
        self,
        plan: Plan,
        declared: Declared,
        numbers: list[int],
        merging: Merging,
        notify: Callable[[int], Any],
    ) -> list[int]:
        """Learn some parts; return those that are left when a worker has died or a part has failed."""
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
                self._pool.shutdown(wait=True, kill_workers=True)
                return []
        return left
