"""Feature factories on an engine: candidates are computed and measured by workers, and decided here."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from streamsieve._threads import threads
from streamsieve.base import ColumnSelector
from streamsieve.dependence import MeasuredBlock
from streamsieve.engines.declared import versions
from streamsieve.engines.ordered import Work
from streamsieve.engines.task import Failure, check_alike, failure
from streamsieve.exceptions import InputError, SourceError, StreamSieveError
from streamsieve.protocols import ColumnBlock
from streamsieve.running.columns import offer_block
from streamsieve.running.interrupts import Interrupts
from streamsieve.sources.computed.blocks import Candidate, Growing, error_of, names_from
from streamsieve.sources.computed.compute import Failed, portable
from streamsieve.sources.computed.workers import parcel


class Made(NamedTuple):
    """Columns computed from some candidates."""

    #: Own names of the columns; None for those without.
    names: list[str | None]
    #: The columns, measured; unmeasured if a value is refused, which the driver then reports.
    block: ColumnBlock | None
    #: The last candidate that gave a column, and its number of columns.
    last: int
    inside: int
    #: Why there are no more columns.
    failed: Failed | None


def distribute_candidates(
    source: Any,
    candidates: Iterator[Candidate | Failed],
    selector: ColumnSelector,
    engine: Any,
    *,
    workers: int | None,
    retries: int,
    block_size: int,
    start: Any,
    notify: Callable[[int], Any],
) -> None:
    """Offer the columns of a factory, from a position on, until it ends or a stopping rule is met."""
    start = start or {"column": 0}
    at, (number, dropped) = start["column"], source.place_of(start)
    trouble: list[Failed] = []
    tasks = _tasks(candidates, block_size, dropped, trouble)
    work = Work(make, parcel((source.maker, selector, source.n_rows, versions())), _shown)
    with closing(work.done(engine, tasks, workers, retries)) as results, Interrupts() as interrupts:
        for found in results:
            if isinstance(found, Failure):
                raise found.error()
            made, width = found, len(found.names)
            if made.block is not None:
                position = source.position_after(at + width, number + made.last, made.inside)
                block = replace(made.block, names=names_from(at, made.names), position=position)
                with interrupts.held():
                    if isinstance(block, MeasuredBlock):
                        selector.offer(block)
                    else:
                        offer_block(source, selector, block)
                notify(width)
            at, number = at + width, number + block_size
            if made.failed is not None:
                raise error_of(at, made.failed)
            if selector.stopped_ is not None:
                return
    if trouble:
        raise error_of(at, trouble[0])
    if at == 0:
        raise SourceError(
            f"the {type(source).__name__} has no columns: there is nothing to offer; does its generator "
            "yield any?"
        )


def _tasks(
    candidates: Iterator[Candidate | Failed], size: int, dropped: int, trouble: list[Failed]
) -> Iterator[tuple[list[Candidate], int]]:
    """Yield groups of candidates, and how many of their first columns to leave out."""
    while group := list(islice(candidates, size)):
        whole = [each for each in group if isinstance(each, Candidate)]
        trouble += [each for each in group if isinstance(each, Failed)]  # the last one, if any
        if whole:
            yield whole, dropped
        dropped = 0


def _shown(task: tuple[list[Candidate], int]) -> str:
    names = [repr(each.name) for each in task[0] if each.name is not None]
    return (
        f"the features {', '.join(names[:3])}{' and others' * (len(names) > 3)}" if names else "some features"
    )


# ------------------------------------------------------------------------------------ on workers


def make(shared: tuple[Any, ...], candidates: list[Candidate], dropped: int) -> Made | Failure:
    """Compute some candidates and measure them; pure, so that a retry is harmless."""
    maker, selector, n_rows, wanted = shared
    block, last, inside, left = Growing(n_rows), 0, 0, dropped
    try:
        check_alike(wanted)
        for k, candidate in enumerate(candidates):
            item = pickle.loads(candidate.content)  # noqa: S301 - from our own process
            for place, result in enumerate(maker(candidate.name, item), 1):
                if left:
                    left -= 1
                elif not block.add(portable(result)):
                    break
                else:
                    last, inside = k, place
            if block.failure is not None:
                break
        return Made(block.names, _measured(selector, block), last, inside, block.failure)
    except (StreamSieveError, OSError) as error:
        return failure(error, 0, _shown((candidates, dropped)))


def _measured(selector: ColumnSelector, made: Growing) -> ColumnBlock | None:
    if not made.columns:
        return None
    block = ColumnBlock(np.array(made.columns).T, None, {}, np.array(made.seconds))
    try:
        with threads(1):
            return selector.measure_block(block)
    except InputError:
        return block
