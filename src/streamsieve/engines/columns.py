"""Columns on an engine: blocks are measured by workers, and decided here in order of arrival."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from contextlib import closing
from typing import Any

from streamsieve import exceptions
from streamsieve._parameters import check_number
from streamsieve._threads import threads
from streamsieve.base import ColumnSelector
from streamsieve.dependence import MeasuredBlock
from streamsieve.engines.checks import kind_of
from streamsieve.engines.declared import versions
from streamsieve.engines.factories import distribute_candidates
from streamsieve.engines.ordered import Work
from streamsieve.engines.task import Failure, check_alike, failure
from streamsieve.exceptions import CapabilityError, InputError, ParameterError, SourceError, StreamSieveError
from streamsieve.running.columns import READ_COLUMNS, begin_with, offer_block
from streamsieve.running.interrupts import Interrupts
from streamsieve.state import untouched_on_error

Measured = MeasuredBlock | Failure


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
    on_demand = bool(getattr(source, "on_demand", False))
    size = (1 if on_demand else READ_COLUMNS) if block_size is None else block_size
    check_number("block_size", size, low=1, integer=True)
    check_number("retries", retries, low=0, integer=True)
    _check(source, kind_of(engine), workers)
    with untouched_on_error(selector):
        begin_with(source, selector)
        # refuses a selector that cannot measure columns on their own, before any work
        selector._measuring()  # noqa: SLF001 - part of the same library
        candidates = source.candidates(start) if on_demand else None
    if _has_stopped(selector):
        return selector
    notify = progress or (lambda _: None)
    if candidates is not None:
        distribute_candidates(
            source, candidates, selector, engine, workers=workers, retries=retries, block_size=size,
            start=start, notify=notify,
        )  # fmt: skip
        return selector
    first = 0 if start is None else int(start["column"])
    lows = range(first, source.n_columns, size)
    work = Work(measure, pickle.dumps((source, selector, versions())), _shown)
    tasks = ((low, size) for low in lows)
    with closing(work.done(engine, tasks, workers, retries)) as found, Interrupts() as interrupts:
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
    if workers is not None:
        check_number("workers", workers, low=1, integer=True)
    on_demand = getattr(source, "on_demand", False)
    if not callable(getattr(source, "candidates", None)) if on_demand else source.n_columns is None:
        raise CapabilityError(
            f"a {type(source).__name__} does not say which columns workers could read or compute: leave out "
            "engine="
        )


def _settle(source: Any, selector: ColumnSelector, block: Measured, low: int, size: int) -> None:
    if not isinstance(block, Failure):
        selector.offer(block)
        return
    if issubclass(getattr(exceptions, block.kind, SourceError), InputError):
        # for a refused value: offered here, the columns before it are decided as in one process
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
        return failure(error, low // size, _shown((low, size)))


def _shown(task: tuple[int, int]) -> str:
    return f"columns {task[0]:,} to {sum(task) - 1:,}"
