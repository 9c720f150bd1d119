"""Tasks on blocks of columns for the workers of an engine, with results in order."""

from __future__ import annotations

import importlib
import pickle
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any

from streamsieve._threads import wait_until_taken_up
from streamsieve.engines.checks import kind_of
from streamsieve.engines.local import cores
from streamsieve.exceptions import SourceError, StreamSieveError

#: Blocks submitted per worker; after a stop, at most these were computed in vain.
AHEAD = 4

#: In a worker process: data that the parent process sent once.
_shared: Any = None


@dataclass(frozen=True)
class Work:
    """Work for workers: ``function(shared, *task)`` for each task; pure, so that a retry is harmless.

    ``shared`` is pickled, and sent to each worker once; ``shown(task)`` is the name of a task in errors.
    """

    function: Callable[..., Any]
    shared: bytes
    shown: Callable[[Any], str]

    def done(
        self, engine: Any, tasks: Iterator[Any], workers: int | None, retries: int
    ) -> Generator[Any, None, None]:
        """Yield the results in the order of the tasks, of which a bounded number is submitted at a time."""
        n, kind = workers or cores(), kind_of(engine)
        given = None if isinstance(engine, str) else engine
        if kind == "local":
            yield from self._by_processes(tasks, n, retries)
        elif kind == "spark":
            spark = importlib.import_module("streamsieve.engines.spark")
            yield from spark.in_jobs(given, self.function, self.shared, tasks)
        else:
            dask = importlib.import_module("streamsieve.engines.dask")
            client = given or dask.running_client()
            yield from self._by_threads(tasks, n) if client is None else self._by_dask(client, tasks, retries)

    def _by_threads(self, tasks: Iterator[Any], n: int) -> Iterator[Any]:
        own = threading.local()  # an object is for one thread at a time, so each has a copy

        def run(task: Any) -> Any:
            if not hasattr(own, "shared"):
                own.shared = unpacked(self.shared)
            return self.function(own.shared, *task)

        with ThreadPoolExecutor(n) as pool:
            yield from self._in_order(lambda task: pool.submit(run, task), tasks, AHEAD * n)

    def _by_dask(self, client: Any, tasks: Iterator[Any], retries: int) -> Iterator[Any]:
        options = {"pure": False, "retries": retries}
        # the result of a task instead of scattered data: it can be recomputed if its worker dies
        held = client.submit(unpacked, self.shared, **options)
        under_way = AHEAD * max(1, sum(client.nthreads().values()))
        yield from self._in_order(
            lambda task: client.submit(self.function, held, *task, **options), tasks, under_way
        )

    def _in_order(self, submit: Callable[[Any], Any], tasks: Iterator[Any], ahead: int) -> Iterator[Any]:
        waiting: deque[tuple[Any, Any]] = deque((task, submit(task)) for task in islice(tasks, ahead))
        try:
            while waiting:
                task, future = waiting.popleft()
                try:
                    found = future.result()
                except StreamSieveError:
                    raise
                except Exception as error:
                    raise self._lost(task, error) from error
                yield found
                waiting.extend((more, submit(more)) for more in islice(tasks, 1))
        finally:
            for _, future in waiting:
                future.cancel()

    def _by_processes(self, tasks: Iterator[Any], n: int, retries: int) -> Iterator[Any]:
        waiting: deque[list[Any]] = deque()
        pool, crashes = _pool(n, self.shared), 0
        try:
            while True:
                waiting.extend([task, None] for task in islice(tasks, AHEAD * n - len(waiting)))
                if not waiting:
                    return
                try:
                    for entry in waiting:
                        entry[1] = entry[1] or pool.submit(_with_shared, self.function, *entry[0])
                    found = waiting[0][1].result()
                except BrokenExecutor as error:  # a worker died, with one of these tasks
                    crashes += 1
                    if crashes > retries:
                        raise self._lost(waiting[0][0], error) from error
                    pool.shutdown(wait=True, kill_workers=True)
                    pool = _pool(n, self.shared)
                    for entry in waiting:
                        entry[1] = None
                    continue
                except Exception as error:
                    raise self._lost(waiting[0][0], error) from error
                waiting.popleft()
                crashes = 0
                yield found
        finally:
            wait_until_taken_up([future for _, future in waiting if future is not None])
            pool.shutdown(wait=True, kill_workers=True)

    def _lost(self, task: Any, error: Exception) -> SourceError:
        if isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker":
            return SourceError(
                f"a worker died each time {self.shown(task)} were under way: they may not fit into memory; "
                "give a smaller block_size, or fewer workers"
            )
        text = f"{type(error).__name__}: {' '.join(str(error).split())[:500]}"
        return SourceError(f"{self.shown(task)} did not come through from a worker: {text}")


def unpacked(shared: bytes) -> Any:
    """Return the data pickled by the parent process."""
    return pickle.loads(shared)  # noqa: S301 - from our own process


def _pool(n: int, shared: bytes) -> Any:
    # not the standard library's: loky never forks threads, and runs scripts without a main guard
    from joblib.externals.loky import (  # type: ignore[import-untyped]  # noqa: PLC0415 - seldom needed
        ProcessPoolExecutor,
    )

    return ProcessPoolExecutor(n, initializer=_prepare, initargs=(shared,))


def _prepare(shared: bytes) -> None:
    global _shared  # noqa: PLW0603 - one worker, one run
    _shared = unpacked(shared)


def _with_shared(function: Callable[..., Any], *task: Any) -> Any:
    return function(_shared, *task)
