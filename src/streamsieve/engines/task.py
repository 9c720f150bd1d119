"""Tasks of a worker: learn a part, or merge states.  Both are pure, so that a retry is harmless."""

from __future__ import annotations

import os
import pickle
import platform
import traceback
from dataclasses import dataclass
from typing import Any

from streamsieve import exceptions
from streamsieve._threads import check_ended, threads
from streamsieve.base import RowSelector
from streamsieve.base.covered import CoveredParts
from streamsieve.engines.declared import Declared, versions
from streamsieve.exceptions import SourceError, StreamSieveError
from streamsieve.running.place import bad_values_placed
from streamsieve.sources.parts import SourcePart


@dataclass(frozen=True)
class Failure:
    """Why a part could not be learned; unlike an exception, it can always be pickled."""

    number: int
    shown: str
    kind: str
    message: str
    trace: str

    def error(self) -> StreamSieveError:
        """Return the error to raise, of the class raised by the worker, whose traceback is its cause."""
        kind: Any = getattr(exceptions, self.kind, SourceError)
        place = "" if self.shown in self.message else f" ({self.shown})"
        text = f"part {self.number + 1}{place}: {self.message}"
        try:
            error: StreamSieveError = kind(text)
        except TypeError:  # its constructor needs more than a message
            error = exceptions.InputError(text)
        error.__cause__ = RuntimeError(f"on the worker:\n{self.trace}")
        return error


def build(
    part: SourcePart, number: int, declared: Declared, n_threads: int | None = None
) -> RowSelector | Failure:
    """Learn one part.

    Parameters
    ----------
    part : the rows to learn
    number : number of the part in the run, from 0
    declared : schema and parameters common to all parts
    n_threads : threads of the compiled loops; None for the default

    Returns
    -------
    selector or Failure
        A selector that has learned this part, or the reason why it could not.
    """
    try:
        check_alike(declared.versions)
        selector = declared.fresh(part)
        with threads(n_threads or 8):
            selector._begin_part()  # noqa: SLF001 - part of the same library
            for batch in part.rows(declared.batch_size):
                check_ended()
                with bad_values_placed(part.source, batch):
                    selector.learn(declared.alike(batch))
            selector._end_part()  # noqa: SLF001
        selector._covered_ = CoveredParts.of(declared.run, number)
    except (StreamSieveError, OSError) as error:
        return failure(error, number, part.shown)
    return selector


def failure(error: Exception, number: int, shown: str) -> Failure:
    """Return an error, while it is handled, as a result that names the part."""
    text = str(error) or type(error).__name__
    return Failure(number, shown, type(error).__name__, text, traceback.format_exc())


def merge_all(*states: RowSelector | Failure) -> RowSelector | Failure:
    """Merge states of consecutive parts, in order, without changing them."""
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
    """Return the number of rows learned."""
    return 0 if isinstance(built, Failure) else int(built.n_samples_seen_)


def check_alike(wanted: dict[str, str]) -> None:
    """Raise an error if versions differ from those of the driver: results would differ by rounding."""
    for name, found in versions().items():
        if found != wanted[name]:
            worker = f"{platform.node()}, process {os.getpid()}"
            raise SourceError(
                f"worker {worker} has {name} {found}, the process that started the run has {wanted[name]}: "
                "install the same version everywhere"
            )
