"""Columns on an engine: blocks are read and measured by workers, and settled here in order of arrival."""

from __future__ import annotations

import importlib
import pickle
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

from streamsieve import exceptions
from streamsieve._parameters import check_number
from streamsieve._threads import threads
from streamsieve.base import ColumnSelector
from streamsieve.dependence import MeasuredBlock
from streamsieve.engines.checks import kind_of
from streamsieve.engines.declared import versions
from streamsieve.engines.local import cores
from streamsieve.engines.task import Failure, check_alike, failure
from streamsieve.exceptions import CapabilityError, InputError, ParameterError, SourceError, StreamSieveError
from streamsieve.running.columns import READ_COLUMNS, begin_with, offer_block
from streamsieve.running.interrupts import Interrupts
from streamsieve.state import untouched_on_error

#: Blocks under way for each worker; a stop rule leaves at most these computed in vain.
AHEAD = 4

Measured = MeasuredBlock | Failure
#: In a worker process: source, selector and versions of the driver, sent once.
_shared: tuple[Any, ...] = ()


def distribute_columns(
    source: Any,
    selector: ColumnSelector,
    engine: Any,
    *,
    workers: int | None = None,
    retries: int = 3,
    block_size: int | None = None,
    start: Any = None,
    progress: Callable[[int], Any] | None = None,
) -> ColumnSelector:
    """Offer all columns of a source; :func:`streamsieve.run` documents the parameters."""
    size = READ_COLUMNS if block_size is None else block_size
    check_number("block_size", size, low=1, integer=True)
    _check(source, kind_of(engine), workers)
    with untouched_on_error(selector):
        begin_with(source, selector)
        # refuses a selector that cannot measure columns on their own, before anything is sent
        selector._measuring()  # noqa: SLF001 - part of the same library
    if _has_stopped(selector):
        return selector
    first = 0 if start is None else int(start["column"])
    lows = list(range(first, source.n_columns, size))
    shared = pickle.dumps((source, selector, versions()))
    notify = progress or (lambda _: None)
    with (
        closing(_measured(engine, shared, lows, size, workers, retries)) as found,
        Interrupts() as interrupts,
    ):
        for low, block in zip(lows, found, strict=True):
            with interrupts.held():
                _settle(source, selector, block, low, size)
            notify(min(size, source.n_columns - low))
            if _has_stopped(selector):
                break
    return selector


def _has_stopped(selector: ColumnSelector) -> bool:
    return selector.stopped_ is not None


def _check(source: Any, engine: str, workers: int | None) -> None:
    if engine == "spark" and workers is not None:
        raise ParameterError("executors are those of the Spark session: leave out workers=")
    if getattr(source, "on_demand", False) or source.n_columns is None:
        raise CapabilityError(
            "columns that are computed on demand have workers of their own: give features(make_columns, y, "
            "workers=2) or open(data, transform=function, workers=2), and leave out engine="
        )


def _settle(source: Any, selector: ColumnSelector, block: Measured, low: int, size: int) -> None:
    if not isinstance(block, Failure):
        selector.offer(block)
        return
    if issubclass(getattr(exceptions, block.kind, SourceError), InputError):
        # a value is refused: offered here, the columns before it are decided as in one process
        with closing(source.columns(size, {"column": low})) as blocks:
            offer_block(source, selector, next(blocks))
    raise block.error()


# ------------------------------------------------------------------------------------ on workers


def measure(shared: tuple[Any, ...], low: int, size: int) -> Measured:
    """Read a block of columns and measure it; pure, so that a retry is harmless."""
    source, selector, wanted = shared
    try:
        check_alike(wanted)
        with threads(1), closing(source.columns(size, {"column": low})) as blocks:
            found: MeasuredBlock = selector.measure_block(next(blocks))
            return found
    except (StreamSieveError, OSError) as error:
        return failure(error, low // size, f"columns {low:,} to {low + size - 1:,}")


def _prepare(shared: bytes) -> None:
    global _shared  # noqa: PLW0603 - one worker, one run
    _shared = pickle.loads(shared)  # noqa: S301 - from our own process


def _measure_shared(low: int, size: int) -> Measured:
    return measure(_shared, low, size)


def _unpacked(shared: bytes) -> Any:
    return pickle.loads(shared)  # noqa: S301 - from our own process


# ------------------------------------------------------------------------------------ in order


def _measured(
    engine: Any, shared: bytes, lows: list[int], size: int, workers: int | None, retries: int
) -> Generator[Measured]:
    """Yield the blocks in order, a bounded number of them under way."""
    n = workers or cores()
    if kind_of(engine) == "local":
        # not the standard library's: loky never forks threads, and runs scripts without a main guard
        from joblib.externals.loky import (  # type: ignore[import-untyped]  # noqa: PLC0415 - seldom needed
            ProcessPoolExecutor,
        )

        pool = ProcessPoolExecutor(n, initializer=_prepare, initargs=(shared,))
        try:
            yield from _in_order(lambda low: pool.submit(_measure_shared, low, size), lows, AHEAD * n)
        finally:
            pool.shutdown(wait=True, kill_workers=True)
        return
    if kind_of(engine) == "spark":
        spark = importlib.import_module("streamsieve.engines.spark")
        session = None if isinstance(engine, str) else engine
        yield from spark.measured_blocks(session, measure, shared, lows, size)
        return
    dask = importlib.import_module("streamsieve.engines.dask")
    client = dask.running_client() if isinstance(engine, str) else engine
    if client is None:
        with ThreadPoolExecutor(n) as threaded:
            # an object of ours is for one thread: each block has its own copy
            yield from _in_order(
                lambda low: threaded.submit(lambda: measure(_unpacked(shared), low, size)), lows, AHEAD * n
            )
        return
    options = {"pure": False, "retries": retries}
    # the result of a task, not scattered data: it can be made again if the worker that has it dies
    held = client.submit(_unpacked, shared, **options)
    under_way = AHEAD * max(1, sum(client.nthreads().values()))
    yield from _in_order(lambda low: client.submit(measure, held, low, size, **options), lows, under_way)


def _in_order(submit: Callable[[int], Any], lows: list[int], ahead: int) -> Iterator[Measured]:
    waiting: deque[Any] = deque()
    coming = iter(lows)
    try:
        for _ in lows:
            while len(waiting) < ahead and (low := next(coming, None)) is not None:
                waiting.append(submit(low))
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()
