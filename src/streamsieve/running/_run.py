"""Run a stream of rows through a selector, so that nothing short of a broken disk can lose it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

from streamsieve import state
from streamsieve._parameters import check_number
from streamsieve.base import RowSelector
from streamsieve.exceptions import CapabilityError, ParameterError, SourceError
from streamsieve.protocols import RowSource
from streamsieve.running._checkpoint import CheckpointFile, Stream
from streamsieve.running._interrupts import Interrupts
from streamsieve.running._keeper import Keeper
from streamsieve.running._lock import alone
from streamsieve.running._resume import resumed
from streamsieve.running._timetable import Timetable

S = TypeVar("S", bound=RowSelector)


def run(
    source: RowSource,
    selector: S,
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    every: str | int = "10s",
    resume: bool = False,
    batch_size: int = 4096,
    progress: Callable[[int], Any] | None = None,
) -> S:
    """Learn all rows of a source; with a checkpoint, ``kill -9`` at any moment costs nothing but time.

    Parameters
    ----------
    source : source of rows
        What :func:`streamsieve.open` returns.
    selector : row selector
        Fresh, or fitted on other rows before.
    checkpoint : path, default=None
        A file for the selector's state together with its place in the stream.  It is written now and then,
        and at the end; the one before is kept as ``PATH.previous``.  ``streamsieve.load`` reads both.
    every : str or int, default="10s"
        How often: a time ("500ms", "10s", "2min", "1h") or a number of rows.  Checkpoints are made between
        batches, and written while the stream goes on; one that takes longer puts off the next.
    resume : bool, default=False
        Go on from the checkpoint, if there is one.  Selector and source must be those it was made with;
        the source may have grown at its end.  Without ``resume`` an existing checkpoint is refused.
    batch_size : int, default=4096
        Rows in a batch, at least 1.
    progress : function of a number, default=None
        Called after each batch with the number of its rows, and at first with the rows of the checkpoint.

    Returns
    -------
    selector : the one that was given, which has learnt the whole stream, whether resumed or not

    Raises
    ------
    StateError : the checkpoint is damaged, of another selector, in use or there already, or could not be
        written (checked at every batch; whatever was written before stays).
    SourceError : the source is not the one of the checkpoint, or cannot be read.

    Notes
    -----
    A run that ends by an error or by Ctrl-C saves the state after the last whole batch first.  States of
    up to 256 MB are copied and written by a thread beside the stream; larger ones are written while the
    stream waits, so that they are not in memory twice.

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 1000)
    >>> source = ss.open(np.c_[rng.normal(size=1000), y + rng.normal(size=1000)], target=y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "clicks.sieve")
    ...     screen = ss.run(source, ss.Screen("f", k=1), checkpoint=path, resume=True, batch_size=100)
    ...     ss.load(path).n_rows_seen_
    1000
    >>> screen.selected_
    array([1])
    """
    _check(source, selector, checkpoint, resume=resume)
    check_number("batch_size", batch_size, low=1, integer=True)
    Timetable(every)  # checked now, not after the checkpoint was read
    notify = progress or (lambda _: None)
    if checkpoint is None:
        for batch in source.rows(batch_size):
            selector.learn(batch)
            notify(batch.X.shape[0])
        return selector
    file = CheckpointFile(checkpoint)
    with alone(file.path) as locked:
        if locked:
            state.sweep(file.path)
        stream = _where(file, source, selector, batch_size, resume=resume)
        with Keeper(file, selector, stream, every) as keeper:
            _learn(source, keeper, notify)
    return selector


def _where(
    file: CheckpointFile, source: RowSource, selector: RowSelector, batch_size: int, *, resume: bool
) -> Stream:
    """Return where to begin, with the selector as it was there."""
    if not resume:
        file.refuse_existing()
    found = file.read() if resume else None
    if found is None:
        return Stream(source.identity(), batch_size)
    stream = resumed(found, source, selector, batch_size)
    # asked for again: the stream may have grown, and a source may have taken names from the checkpoint
    return Stream(source.identity(), batch_size, stream.position, stream.rows, stream.number, stream.finished)


def _learn(source: RowSource, keeper: Keeper, notify: Callable[[int], Any]) -> None:
    stream = keeper.stream
    try:
        if stream.rows:
            notify(stream.rows)
        with Interrupts() as interrupts:
            for batch in source.rows(stream.batch_size, stream.position):
                with interrupts.held():
                    keeper.learn(batch)
                notify(batch.X.shape[0])
        keeper.finish()
    except BaseException as error:
        keeper.rescue(error)
        raise


def _check(source: Any, selector: Any, checkpoint: Any, *, resume: bool) -> None:
    if not isinstance(selector, RowSelector):
        raise CapabilityError(
            f"run streams rows into a row selector, got {type(selector).__name__}; for columns, offer the "
            "blocks of source.columns() to a column selector"
        )
    # a polars frame has a method rows, too
    if not callable(getattr(source, "rows", None)) or not hasattr(source, "n_rows"):
        raise SourceError(
            f"run wants a source of rows, got {type(source).__name__}: use streamsieve.open(data, target=...)"
        )
    if checkpoint is None:
        if resume:
            raise ParameterError("resume=True goes on from a checkpoint: give checkpoint=PATH")
    elif not callable(getattr(source, "check_identity", None)):
        raise CapabilityError(
            f"a {type(source).__name__} cannot be resumed: a source needs identity() and check_identity() "
            "to have a checkpoint, see streamsieve.protocols.RowSource"
        )
