"""Learning of a stream batch by batch, with checkpoints in the background."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self

import numpy as np

from streamsieve.base import RowSelector
from streamsieve.exceptions import StreamSieveError
from streamsieve.protocols import Arrays, RowBatch
from streamsieve.running.checkpoint import CheckpointFile, Stream
from streamsieve.running.interrupts import saving
from streamsieve.running.schedule import Schedule
from streamsieve.running.verify import RowDigest
from streamsieve.state import Texts
from streamsieve.state.tree import pack_texts


class Snapshots:
    """Repeated snapshots of a selector; names of features, which may be millions, are packed once."""

    def __init__(self, selector: RowSelector) -> None:
        self._selector = selector
        #: Names by attribute: the list, and the packed arrays.
        self._names: dict[str, tuple[Any, Arrays]] = {}

    def take(self) -> tuple[dict[str, Any], Arrays]:
        """Return header and arrays as :meth:`Selector.save` writes them; the arrays may be live ones."""
        selector = self._selector
        selector._flush_buffer()  # noqa: SLF001 - part of the same library
        for name, field in selector.fields.items():
            value = selector.__dict__.get(name)
            if isinstance(field, Texts) and value is not None:
                if name not in self._names or self._names[name][0] is not value:
                    self._names[name] = value, pack_texts(value.tolist())
            else:
                self._names.pop(name, None)
        return selector._saved({name: packed for name, (_, packed) in self._names.items()})  # noqa: SLF001


class Copies:
    """Memory for one copy of a state, reused for every copy: the first access to new memory is slow."""

    def __init__(self) -> None:
        self._room = np.empty(0, np.uint8)

    def of(self, arrays: Arrays) -> Arrays:
        """Return copies of all arrays, popping each to free it early; earlier copies are lost."""
        need = sum(_aligned(array.nbytes) for array in arrays.values())
        if need > len(self._room):
            self._room = np.empty(0, np.uint8)  # frees the old memory before new memory is allocated
            self._room = np.empty(need + need // 4, np.uint8)
        copies: Arrays = {}
        place = 0
        while arrays:
            name, array = arrays.popitem()
            room = self._room[place : place + array.nbytes]
            copies[name] = room.view(array.dtype).reshape(array.shape)
            copies[name][...] = array
            place += _aligned(array.nbytes)
        return copies


def _aligned(n_bytes: int) -> int:
    """Round up to whole cache lines."""
    return -(-n_bytes // 64) * 64


#: Larger states, in bytes, are written while the stream waits, so that they are not in memory twice.
COPIED_AT_MOST = 2**28


class Checkpointer:
    """Learns batches, and keeps the state of the selector in a checkpoint.

    A checkpoint is a copy of the state, made between two batches, which a thread writes while the next
    batches are learned.  If the one before is still being written, the next is postponed: there is never
    more than one copy.

    Attributes
    ----------
    stream : progress in the stream
    safe : progress in the latest checkpoint; None before the first
    """

    def __init__(
        self,
        file: CheckpointFile,
        selector: RowSelector,
        stream: Stream,
        every: str | int,
        digest: RowDigest | None = None,
    ) -> None:
        self.stream = stream
        self.safe = stream if stream.number else None
        self._file, self._selector, self._digest = file, selector, digest
        self._snapshots, self._copies = Snapshots(selector), Copies()
        self._schedule = Schedule(every, stream.rows)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="streamsieve-checkpoint")
        self._writing: Future[Stream] | None = None
        self._inconsistent = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown()

    def learn(self, batch: RowBatch) -> None:
        """Learn a batch, and make a checkpoint if one is due.

        An error of the writing thread is raised here, at the next batch.
        """
        with self._changing():
            self._selector.learn(batch)
            rows, digest = self.stream.rows + batch.X.shape[0], None
            if self._digest is not None:
                self._digest.add(batch)
                digest = self._digest.text()
            place = dict(batch.position)
            self.stream = replace(self.stream, position=place, rows=rows, finished=False, digest=digest)
        if self._writing is not None and self._writing.done():
            self._settle()
        if self._writing is None and self._schedule.due(self.stream.rows):
            self._keep()

    def _keep(self) -> None:
        header, arrays = self._taken()
        if sum(array.nbytes for array in arrays.values()) > COPIED_AT_MOST:
            self.safe = self._write(self._next(), header, arrays)
        else:
            self._writing = self._thread.submit(self._write, self._next(), header, self._copies.of(arrays))
        self._schedule.note(self.stream.rows)

    def finish(self) -> None:
        """Write the last checkpoint, unless nothing has changed since the previous one."""
        self.stream = replace(self.stream, finished=True)
        self._settle()
        self._save()

    def rescue(self, error: BaseException) -> None:
        """Save the state after the last whole batch of a failed run, and add its path to the error."""
        saving.set()
        try:
            for attempt in (self._settle, self._save):
                try:
                    attempt()
                except Exception as failure:  # noqa: BLE001 - the one that ended the run is to be raised
                    error.add_note(str(failure))
        finally:
            saving.clear()
        if self.safe is not None:
            error.add_note(
                f"{self._file.path} holds the state after {self.safe.rows:,} rows: "
                "the same run with resume=True goes on from there"
            )

    def _save(self) -> None:
        """Write a checkpoint, and wait for it, if there is progress since the latest one."""
        done = self.stream.rows, self.stream.finished
        ahead = self.safe is None or done != (self.safe.rows, self.safe.finished)
        if ahead and not self._inconsistent and self.stream.position is not None:
            self.safe = self._write(self._next(), *self._taken())

    def _next(self) -> Stream:
        return replace(self.stream, number=(0 if self.safe is None else self.safe.number) + 1)

    def _write(self, stream: Stream, header: dict[str, Any], arrays: Arrays) -> Stream:
        self._file.write({**header, "stream": stream.as_header()}, arrays)
        return stream

    def _settle(self) -> None:
        """Wait for the checkpoint that is being written, and raise its error, if any."""
        if self._writing is not None:
            writing, self._writing = self._writing, None
            self.safe = writing.result()

    def _taken(self) -> tuple[dict[str, Any], Arrays]:
        with self._changing():  # buffered rows are learned first
            return self._snapshots.take()

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Context manager for changes of the selector; if one is interrupted, its state cannot be saved.

        An error raised by the selector is no interruption: a failed call changes nothing.
        """
        self._inconsistent = True
        try:
            yield
        except StreamSieveError:
            self._inconsistent = False
            raise
        self._inconsistent = False
