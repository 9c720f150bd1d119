"""What a worker does: learn a part, or merge some states.  Both are pure, so that a retry is harmless."""

from __future__ import annotations

import os
import pickle
import platform
import traceback
from dataclasses import dataclass
from typing import Any

from streamsieve import exceptions
from streamsieve._threads import threads
from streamsieve.base import RowSelector
from streamsieve.base.covered import CoveredParts
from streamsieve.engines.declared import Declared, versions
from streamsieve.exceptions import SourceError, StreamSieveError
from streamsieve.running.place import bad_values_placed
from streamsieve.sources.parts import SourcePart


@dataclass(frozen=True)
class Failure:
    """Why a part could not be learned; unlike an exception, it travels in one piece."""

    number: int
    shown: str
    kind: str
    message: str
    trace: str

    def error(self) -> StreamSieveError:
        """Return the error to raise, of the kind that the worker met; its cause is the worker's traceback."""
        kind: Any = getattr(exceptions, self.kind, SourceError)
        place = "" if self.shown in self.message else f" ({self.shown})"
        text = f"part {self.number + 1}{place}: {self.message}"
        try:
            error: StreamSieveError = kind(text)
        except TypeError:  # it wants more than a message
            error = exceptions.InputError(text)
        error.__cause__ = RuntimeError(f"on the worker:\n{self.trace}")
        return error


def build(
    part: SourcePart, number: int, declared: Declared, n_threads: int | None = None
) -> RowSelector | Failure:
    """Learn one part.

    Parameters
    ----------
    part : where its rows are
    number : its place among the parts of the run, from 0
    declared : what all parts have in common
    n_threads : threads of the compiled loops; None for the default

    Returns
    -------
    selector or Failure
        A selector that holds this part, or why there is none.
    """
    try:
        check_alike(declared.versions)
        selector = declared.fresh(part)
        with threads(n_threads or 8):
            selector._begin_part()  # noqa: SLF001 - part of the same library
            for batch in part.rows(declared.batch_size):
                with bad_values_placed(part.source, batch):
                    selector.learn(declared.alike(batch))
            selector._end_part()  # noqa: SLF001
        selector._covered_ = CoveredParts.of(declared.run, number)
    except (StreamSieveError, OSError) as error:
        return failure(error, number, part.shown)
    return selector


def failure(error: Exception, number: int, shown: str) -> Failure:
    """Return an error that is being handled as a result, which names the part."""
    text = str(error) or type(error).__name__
    return Failure(number, shown, type(error).__name__, text, traceback.format_exc())


def merge_all(*states: RowSelector | Failure) -> RowSelector | Failure:
    """Merge states of consecutive parts, in order; none of them is changed."""
    selectors: list[RowSelector] = []
    for each in states:
        if isinstance(each, Failure):
            return each
        selectors.append(each)
    if len(selectors) == 1:
        return selectors[0]
    merged: RowSelector = pickle.loads(pickle.dumps(selectors[0]))  # noqa: S301 - our own object, not a file
    try:
        merged.merge_many(selectors[1:])
    except StreamSieveError as error:
        number = merged._covered_.spans[0].low
        text = f"its state does not merge with those of the {len(selectors) - 1} parts after it: {error}"
        return Failure(number, "", type(error).__name__, text, traceback.format_exc())
    return merged


def rows_of(built: RowSelector | Failure) -> int:
    """Return how many rows were learned."""
    return 0 if isinstance(built, Failure) else int(built.n_samples_seen_)


def check_alike(wanted: dict[str, str]) -> None:
    """Refuse to work with other versions than the driver: results would differ in the last bits."""
    for name, found in versions().items():
        if found != wanted[name]:
            worker = f"{platform.node()}, process {os.getpid()}"
            raise SourceError(
                f"worker {worker} has {name} {found}, the process that started the run has {wanted[name]}: "
                "install the same version everywhere"
            )
