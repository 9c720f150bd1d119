"""Columns computed by worker processes, in the order of their items."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import BrokenExecutor, Future
from typing import Any

from streamsieve._threads import wait_until_taken_up
from streamsieve.exceptions import SourceError
from streamsieve.sources.computed.compute import Computed, Failed, Maker, error_line, portable

#: Items submitted per worker: one that it computes, and one that waits.
AHEAD = 2
#: Each worker uses one thread, because workers share the machine.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)

#: In a worker: computes columns from items.  Sent once, because it may hold much data.
_maker: Maker | bytes = b""


def parcel(content: Any) -> bytes:
    """Serialize what a worker needs to compute an item, in its present state.

    A function made by a generator refers to its variables, which change when the generator advances.
    """
    from joblib.externals.loky.backend.reduction import (  # type: ignore[import-untyped]  # noqa: PLC0415
        dumps,
    )

    return bytes(dumps(content))


def in_order(
    maker: Maker, items: Iterator[tuple[str | None, bytes]], workers: int
) -> Generator[list[Computed | Failed]]:
    """Yield the outcomes of each item; at most ``AHEAD`` items per worker are submitted at a time.

    When the iterator is closed, pending items are cancelled.
    """
    # not the standard library's: loky takes functions from scripts and notebooks, and never forks threads
    from joblib.externals.loky import (  # type: ignore[import-untyped]  # noqa: PLC0415 - seldom needed
        ProcessPoolExecutor,
    )

    try:
        content = parcel(maker)
    except Exception as error:
        raise SourceError(f"compute could not be sent to a worker process: {error_line(error)}") from error
    pool = ProcessPoolExecutor(workers, initializer=_prepare, initargs=(content,), env=ONE_THREAD)
    waiting: deque[tuple[str | None, Future[list[Computed | Failed]]]] = deque()
    going = True
    try:
        while going or waiting:
            while going and len(waiting) < AHEAD * workers:
                item = next(items, None)
                if item is None:
                    going = False
                else:
                    waiting.append((item[0], pool.submit(_compute, *item)))
            if waiting:
                name, future = waiting.popleft()
                yield _result(name, future)
    finally:
        wait_until_taken_up([future for _, future in waiting])
        pool.shutdown(wait=True, kill_workers=True)


def _result(name: str | None, future: Future[list[Computed | Failed]]) -> list[Computed | Failed]:
    try:
        return future.result()
    except BrokenExecutor as error:
        text = "or one after it could not be computed: a worker process died, perhaps for want of memory"
        return [Failed(name, text, error)]
    except Exception as error:  # noqa: BLE001 - whatever a worker cannot read or send
        return [Failed(name, f"did not come through from a worker process: {error_line(error)}", error)]


def _prepare(maker: bytes) -> None:
    """In a worker: store the maker, leave Ctrl-C to the parent process, and do not outlive it."""
    global _maker  # noqa: PLW0603 - one worker, one maker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow, args=(os.getppid(),), daemon=True).start()
    _maker = maker


def _follow(parent: int) -> None:
    """In a worker: exit when the parent does; if it was killed, nothing else would end the worker."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _compute(name: str | None, content: bytes) -> list[Computed | Failed]:
    """In a worker: compute all outcomes of an item."""
    global _maker  # noqa: PLW0603
    made = _maker
    if isinstance(made, bytes):
        made = _maker = pickle.loads(made)  # noqa: S301 - from our own process
    item = pickle.loads(content)  # noqa: S301
    return [portable(result) for result in made(name, item)]
