"""``run``: stream a source into a selector, with checkpoints."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal, TypeVar, cast

from streamsieve import state
from streamsieve._files import check_outputs
from streamsieve._parameters import check_choice, check_number
from streamsieve.base import ColumnSelector, RowSelector
from streamsieve.exceptions import CapabilityError, ParameterError, SourceError
from streamsieve.protocols import ColumnSource, Position, RowSource
from streamsieve.running.checkpoint import CheckpointFile, Stream
from streamsieve.running.checkpointer import Checkpointer
from streamsieve.running.columns import offer_all
from streamsieve.running.interrupts import Interrupts
from streamsieve.running.lock import exclusive_lock
from streamsieve.running.place import bad_values_placed, files_of
from streamsieve.running.resume import resumed
from streamsieve.running.schedule import Schedule
from streamsieve.running.verify import RowDigest
from streamsieve.sources import open as open_source

S = TypeVar("S", bound=RowSelector | ColumnSelector)


def run(
    source: RowSource | ColumnSource | str | os.PathLike[str],
    selector: S,
    *,
    target: Any = None,
    weight: Any = None,
    checkpoint: str | os.PathLike[str] | None = None,
    every: str | int = "10s",
    resume: bool = False,
    verify: Literal["sample", "full"] = "sample",
    batch_size: int = 4096,
    block_size: int | None = None,
    start: Position | None = None,
    progress: Callable[[int], Any] | None = None,
    engine: Any = None,
    workers: int | None = None,
    rows_per_task: int | None = None,
    retries: int = 3,
) -> S:
    """Stream a source into a selector, by rows or by columns, as the selector needs it.

    A row selector learns all rows; with a checkpoint, the run can be resumed even after ``kill -9`` at any
    moment.  A column selector is offered all columns, or those up to its ``stop`` rules; columns after the
    stop are not read, nor computed if they are computed on demand.

    Parameters
    ----------
    source : source of rows or columns
        What :func:`streamsieve.open` and :func:`streamsieve.features` return; or a path, a pattern or a
        dataframe, which is opened with ``target``.  Dask frames and arrays are learned by Dask, Spark frames
        by Spark.
    selector : selector over rows or over columns
        Unfitted, or fitted on other rows or columns before, in which case it continues.  An unfitted column
        selector begins with the target of the source; otherwise the target must be the same.
    target : str or array, default=None
        The target of data to be opened; see :func:`streamsieve.open`.
    weight : str or array, default=None
        The weights of rows of data to be opened, or the column that holds them.
    checkpoint : path, default=None
        File for the state of the selector and its position in the stream.  It is written at regular intervals
        (``every``) and at the end; the previous one is kept as ``PATH.previous``.  ``streamsieve.load`` reads
        both.
    every : str or int, default="10s"
        Interval between checkpoints: a time ("500ms", "10s", "2min", "1h") or a number of rows.  Checkpoints
        are made between batches, and written in the background; if writing takes longer than the interval,
        the next one is postponed.
    resume : bool, default=False
        Whether to continue from the checkpoint, if there is one.  Selector and source must be those of the
        checkpoint; rows may have been appended to the source.  Without ``resume`` an existing checkpoint is
        an error.
    verify : {"sample", "full"}, default="sample"
        How a resumed run verifies its data.  "sample": columns and target, of files their names, order and
        sizes, 64 KiB at either end and 16 pieces of 4 KiB in between, of arrays 64 rows and 16,384 labels.
        This detects data that were replaced, reordered or truncated, but not a change outside the sample.
        "full":
        the checkpoint keeps a digest of every value that was learned; to resume, all of them are read again.
    batch_size : int, default=4096
        Rows in a batch, at least 1.
    block_size : int or None, default=None
        Number of columns per block, at least 1.  If None, 1024, or 1 if columns are computed on demand, so
        that none is computed after a stop.
    start : position, default=None
        Position in the source after which to continue, as given by ``selector.position_``, if an earlier run
        failed or was interrupted; ``{"column": 7}`` leaves out the first seven.
    progress : function of a number, default=None
        Called after each batch or block with the number of its rows or columns, and at first with the rows
        of the checkpoint.
    engine : {None, "local", "dask", "spark"}, dask.distributed.Client or SparkSession, default=None
        Where rows are learned.  None: in this process, or where a distributed frame is.  "local": by workers
        of this machine, which are threads, or processes from 500 million values on.  "dask": by the workers
        of the running Dask client, or of the given one, or by Dask's threads if there is none.  "spark": by
        the executors of the active session, or of the given one.  Engines take selectors that merge, and
        sources that can be cut: files, arrays and dataframes.  Columns are measured by the workers, for
        selectors that measure each on its own.
    workers : int or None, default=None
        With an engine of this machine: number of processes or threads, at least 1.  None: one per core.
    rows_per_task : int or None, default=None
        With an engine: rows that a worker learns at a time.  None: a sixteenth of all rows, but at least
        62,500 and at most a million; a file that does not say how many rows it has is one task.
    retries : int, default=3
        With an engine: how often a part may crash a worker before the run fails.  Spark has its
        own limit, ``spark.task.maxFailures``.

    Returns
    -------
    selector
        The one that was given, which has learned the whole stream, whether resumed or not.

    Raises
    ------
    StateError : the checkpoint is damaged, of another selector, in use or there already, or could not be
        written (checked at every batch; whatever was written before stays).
    SourceError : the source is not the one of the checkpoint, or cannot be read, or a feature cannot be
        computed; the message names it.

    Notes
    -----
    Checkpoints are made of streams of rows.  A selector over columns keeps ``position_`` in its state:
    ``save`` it, also now and then from ``progress``, and go on with ``start``.  If a column is refused or
    cannot be computed, those before it have been offered, whatever the size of blocks.

    On an engine, parts are consecutive pieces of the stream, whose states merge in a tree that depends on
    nothing but their number: the result is the same, bit for bit, for any number of workers and after any
    retries.  Compared with one process, counts are equal, moments differ by rounding, and quantiles are
    within their certified error.  The result knows its parts, so that none is merged twice.  If a part
    fails, the error names it, and the selector is as it was.

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
    ...     ss.load(path).n_samples_seen_
    1000
    >>> screen.selected_
    array([1])

    Columns that are computed one by one, until three were kept:

    >>> powers = ss.features(((f"t^{k}", lambda k=k: (np.arange(1000) / 1000) ** k) for k in range(99)), y)
    >>> sieve = ss.run(powers, ss.SAOLA(stop=ss.Stop(max_offers=3)))
    >>> sieve.stopped_, [str(decision.reason) for decision in sieve.ledger_], sieve.position_
    ('max_offers=3', ['constant', 'irrelevant', 'irrelevant'], {'column': 3})
    """
    notify = progress or (lambda _: None)
    options: dict[str, Any] = {} if weight is None else {"weight": weight}
    if target is not None or options or isinstance(source, (str, os.PathLike)):
        source = open_source(source, target=target, **options)
    engine = (
        getattr(source, "engine", None) if engine is None else engine
    )  # a distributed frame has an engine of its own
    _check(source, selector, checkpoint, engine, resume=resume)
    if engine is None:
        _refuse_engine_options(workers, rows_per_task)
    if isinstance(selector, ColumnSelector):
        _refuse_options(selector, "rows", "columns", rows_per_task=rows_per_task)
    else:
        _refuse_options(selector, "columns", "rows", block_size=block_size, start=start)
    if engine is not None:
        engines = importlib.import_module("streamsieve.engines")  # the layer above: nothing else imports it
        options = {"workers": workers, "retries": retries, "progress": progress}
        if isinstance(selector, ColumnSelector):
            options |= {"block_size": block_size, "start": start}
            return cast(S, engines.distribute_columns(source, selector, engine, **options))
        check_number("batch_size", batch_size, low=1, integer=True)
        options |= {"batch_size": batch_size, "rows_per_task": rows_per_task}
        return cast(S, engines.distribute(source, selector, engine, **options))
    if isinstance(selector, ColumnSelector):
        offer_all(cast(ColumnSource, source), selector, start, block_size, notify)
        return selector
    check_number("batch_size", batch_size, low=1, integer=True)
    check_choice("verify", verify, ("sample", "full"))
    Schedule(every)  # checked now, not after the checkpoint was read
    by_rows = cast(RowSource, source)
    if checkpoint is None:
        for batch in by_rows.rows(batch_size):
            with bad_values_placed(by_rows, batch):
                selector.learn(batch)
            notify(batch.X.shape[0])
        return selector
    file = CheckpointFile(checkpoint)
    check_outputs({"checkpoint": file.files}, {"source": files_of(source)})
    with exclusive_lock(file.path) as locked:
        if locked:
            state.sweep(file.path)
        stream, digest = _where(file, by_rows, selector, batch_size, resume=resume, full=verify == "full")
        with Checkpointer(file, selector, stream, every, digest) as keeper:
            _learn(by_rows, keeper, notify)
    return selector


def _refuse_engine_options(workers: int | None, rows_per_task: int | None) -> None:
    for name, value in (("workers", workers), ("rows_per_task", rows_per_task)):
        if value is not None:
            raise ParameterError(f"{name}={value!r} is about engines: give engine='local', or leave it out")


def _refuse_options(selector: Any, about: str, streamed: str, **options: Any) -> None:
    for name, value in options.items():
        if value is not None:
            raise ParameterError(
                f"{name} is about {about}, and {type(selector).__name__} streams {streamed}: leave it out"
            )


def _where(
    file: CheckpointFile,
    source: RowSource,
    selector: RowSelector,
    batch_size: int,
    *,
    resume: bool,
    full: bool,
) -> tuple[Stream, RowDigest | None]:
    """Return the position to begin at, with the selector restored, and with ``full`` the digest so far."""
    if not resume:
        file.refuse_existing()
    found = file.read() if resume else None
    if found is None:
        return Stream(source.identity(), batch_size), RowDigest() if full else None
    stream, digest = resumed(found, source, selector, batch_size, full=full)
    # read again: the stream may have grown, and the source may have adopted names from the checkpoint
    return replace(stream, identity=source.identity(), batch_size=batch_size), digest


def _learn(source: RowSource, keeper: Checkpointer, notify: Callable[[int], Any]) -> None:
    stream = keeper.stream
    try:
        if stream.rows:
            notify(stream.rows)
        with Interrupts() as interrupts:
            for batch in source.rows(stream.batch_size, stream.position):
                with interrupts.held(), bad_values_placed(source, batch):
                    keeper.learn(batch)
                notify(batch.X.shape[0])
        _look_again(source, keeper)
        keeper.finish()
    except BaseException as error:
        _look_again(source, keeper)
        keeper.rescue(error)
        raise


def _look_again(source: RowSource, keeper: Checkpointer) -> None:
    """Update the identity of files: an incomplete last line may have been left out."""
    with suppress(SourceError):
        if files_of(source):
            keeper.stream = replace(keeper.stream, identity=source.identity())


def _check(source: Any, selector: Any, checkpoint: Any, engine: Any, *, resume: bool) -> None:
    name = type(selector).__name__
    if engine is not None and checkpoint is not None:
        raise ParameterError("an engine learns all parts at once, without checkpoints: leave out one of them")
    if not isinstance(selector, (RowSelector, ColumnSelector)):
        if isinstance(selector, type):
            name = f"the class {selector.__name__}: pass {selector.__name__}()"
        raise CapabilityError(f"run streams rows or columns into a selector over rows or columns, got {name}")
    if isinstance(selector, ColumnSelector):
        more = " or streamsieve.features(make_columns, y)"
        _check_axis(source, "columns", "block_size", "y", "the target", more)
        if checkpoint is not None or resume:
            raise CapabilityError(
                f"{name} streams columns, and checkpoints are made of streams of rows: save the selector, "
                "and go on with start=selector.position_"
            )
        return
    # a polars frame has a method rows, too
    _check_axis(source, "rows", "batch_size", "n_rows", "None if it is not known")
    if checkpoint is None and resume:
        raise ParameterError("resume=True goes on from a checkpoint: give checkpoint=PATH")
    if checkpoint is not None and not callable(getattr(source, "check_identity", None)):
        raise CapabilityError(
            f"a {type(source).__name__} cannot be resumed: a source needs identity() and check_identity() "
            "to have a checkpoint, see streamsieve.protocols.RowSource"
        )


def _check_axis(source: Any, axis: str, size: str, member: str, meaning: str, more: str = "") -> None:
    has = callable(getattr(source, axis, None))
    home = getattr(source, "engine", None)
    if axis == "columns" and home is not None:
        raise SourceError(
            f"a {home.title()} frame streams rows, and this selector streams columns: write the frame to "
            "Parquet files and open those"
        )
    if not has or not hasattr(source, member):
        missing = f"{member} ({meaning})" if has else f"{axis}({size}, start)"
        raise SourceError(
            f"run needs a source of {axis}, got {type(source).__name__}, which has no {missing}: use "
            f"streamsieve.open(data, target=...){more}"
        )
