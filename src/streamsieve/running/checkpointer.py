"""Learns a stream batch by batch, and sees to it that what was learned survives."""

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
    """Takes the state of a selector repeatedly; names of features, which may be millions, are packed once."""

    def __init__(self, selector: RowSelector) -> None:
        self._selector = selector
        #: Names by attribute, as they were and packed.
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
    """Room for one copy of a state, used again and again: memory is slow when it is touched first."""

    def __init__(self) -> None:
        self._room = np.empty(0, np.uint8)

    def of(self, arrays: Arrays) -> Arrays:
        """Return copies of all arrays, popping each to free it early; earlier copies are lost."""
        need = sum(_aligned(array.nbytes) for array in arrays.values())
        if need > len(self._room):
            self._room = np.empty(0, np.uint8)  # lets go of the old room before there is a new one
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


#: States of more bytes are written while the stream waits, instead of being in memory twice.
COPIED_AT_MOST = 2**28


class Checkpointer:
    """Keeps a selector's state in a checkpoint while it learns.

    A checkpoint is a copy of the state, taken between two batches, which one thread writes while the next
    batches are learned.  If the one before is still being written, the next is put off: there is never more
    than one copy.

    Attributes
    ----------
    stream : how far the stream was learned
    safe : how far the latest checkpoint goes, None before the first
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
        """Learn a batch, and make a checkpoint if it is time for one.

        An error of the thread that writes is raised here, at the next batch.
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
        """Write the last checkpoint, unless nothing has changed since the one before."""
        self.stream = replace(self.stream, finished=True)
        self._settle()
        self._save()

    def rescue(self, error: BaseException) -> None:
        """Save the state after the last whole batch although the run has failed, and note where it is."""
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
        """Write a checkpoint and wait for it, if more was learned than the latest holds."""
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
        """Wait for the checkpoint that is being written, and raise what went wrong."""
        if self._writing is not None:
            writing, self._writing = self._writing, None
            self.safe = writing.result()

    def _taken(self) -> tuple[dict[str, Any], Arrays]:
        with self._changing():  # rows that were put off are learned before
            return self._snapshots.take()

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Context: the selector is at work; if it is torn out of it, its state is not that of any batch.

        A refusal is not: what a selector refuses leaves no trace in it.
        """
        self._inconsistent = True
        try:
            yield
        except StreamSieveError:
            self._inconsistent = False
            raise
        self._inconsistent = False
