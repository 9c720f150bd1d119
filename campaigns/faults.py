"""System calls that fail: the first of a save, then the second, and so on, each once."""

from __future__ import annotations

import errno
import io
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import safetensors.numpy

import streamsieve as ss
from campaigns.lives import BATCH, difference
from campaigns.outcome import Outcome
from streamsieve import state
from streamsieve.exceptions import StateError
from streamsieve.running.checkpoint import CheckpointFile
from streamsieve.state import replacing

#: What Python calls on the way to a file; the last ones clean up, and without them nothing can be cleaned.
CALLS = (
    (io, "open"), (os, "open"), (os, "close"), (os, "fsync"), (os, "fstat"), (os, "stat"), (os, "chmod"),
    (os, "mkdir"), (os, "link"), (os, "replace"), (safetensors.numpy, "save_file"),
    (os, "unlink"), (os, "rmdir"), (os, "listdir"),
)  # fmt: skip
CLEANING = frozenset({"unlink", "rmdir", "listdir"})
CODES = (errno.ENOSPC, errno.EIO, errno.EACCES)
#: Bytes up to which a file may grow, for writes that end early.
SHORT = (0, 1, 100, 1_000, 3_000)


class Fault:
    """One call that fails; the calls on other folders are not counted.

    Attributes
    ----------
    failed : name of the call that has failed, None before
    calls : number of calls seen
    """

    def __init__(self, folder: Path, at: int, code: int) -> None:
        self._folder, self._at, self._code = str(folder), at, code
        self.calls = 0
        self.failed: str | None = None

    @contextmanager
    def injected(self) -> Iterator[None]:
        """Context: the calls are counted, and one of them fails."""
        patches = [mock.patch.object(owner, name, self._guarded(owner, name)) for owner, name in CALLS]
        for patch in patches:
            patch.start()
        try:
            yield
        finally:
            for patch in reversed(patches):
                patch.stop()

    def _guarded(self, owner: Any, name: str) -> Callable[..., Any]:
        real = getattr(owner, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            if not any(self._concerns(value) for value in args[:2]):
                return real(*args, **kwargs)
            self.calls += 1
            if self.calls != self._at:
                return real(*args, **kwargs)
            self.failed = name
            if name == "close":
                real(*args, **kwargs)  # a handle is gone even if closing it failed
            if name == "save_file":  # half of the file is there
                Path(args[1]).write_bytes(safetensors.numpy.save(args[0])[: int(self._at)])
            path = () if isinstance(args[0], int) else (str(args[0]),)  # as the system's own errors
            raise OSError(self._code, os.strerror(self._code), *path)

        return call

    def _concerns(self, value: Any) -> bool:
        if isinstance(value, int):
            try:
                value = os.readlink(f"/proc/self/fd/{value}")  # noqa: PTH115
            except OSError:
                return False
        return isinstance(value, (str, os.PathLike)) and os.fspath(value).startswith(self._folder)


@contextmanager
def short_files(size: int) -> Iterator[None]:
    """Context: the system refuses to let a file grow beyond a size."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


# ------------------------------------------------------------------------------------ what is saved


class Saving:
    """A way to write generation after generation of something into a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "run.sieve"

    #: Names that may be there afterwards.
    names = frozenset({"run.sieve"})

    def write(self, number: int) -> None:
        """Write a generation."""
        state.write(self.path, {"number": number}, {"a": np.full(1_000, float(number))})

    def found(self) -> int | None:
        """Return the generation that is there, whole; None if there is nothing, -1 if it is torn."""
        return _number(self.path)

    def wrong(self) -> str:
        """Say what else is wrong."""
        return ""


def _number(path: Path) -> int | None:
    if not path.exists():
        return None
    try:
        header, arrays = state.read(path)
    except StateError:
        return -1
    return int(header["number"]) if np.all(arrays["a"] == header["number"]) else -1


class Checkpoints(Saving):
    """Checkpoints, of which the previous generation is kept."""

    names = frozenset({"run.sieve", "run.sieve.previous"})

    def write(self, number: int) -> None:
        arrays = {"a": np.full(1_000, float(number))}
        CheckpointFile(self.path).write({"number": number}, arrays)

    def found(self) -> int | None:
        found = CheckpointFile(self.path).read()  # as a resumed run does
        return None if found is None else _number(found.path)

    def wrong(self) -> str:
        return "the previous one is torn" if _number(CheckpointFile(self.path).previous) == -1 else ""


class Unlinked(Checkpoints):
    """The same where there are no hard links."""

    def write(self, number: int) -> None:
        def link(*_: Any) -> None:
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))

        with mock.patch.object(os, "link", link):
            super().write(number)


class Text(Saving):
    """A text file, such as a ledger."""

    def write(self, number: int) -> None:
        with replacing(self.path) as file:
            file.write(f"{number}\n" * 5_000)

    def found(self) -> int | None:
        if not self.path.exists():
            return None
        text = self.path.read_text()
        number, _, _ = text.partition("\n")
        return int(number) if text == f"{number}\n" * 5_000 else -1


class WholeRun(Saving):
    """A run with checkpoints; the generation is 2 if it came to its end."""

    #: A lock file without a holder is no obstacle to the next run.
    names = frozenset({"run.sieve", "run.sieve.previous", ".run.sieve.lock"})
    batches = 4

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        rng = np.random.default_rng(0)
        self._y = rng.integers(0, 2, self.batches * BATCH)
        self._X = rng.normal(size=(len(self._y), 4)) + self._y[:, np.newaxis]
        self._reference = ss.run(self._source(), ss.Screen("f"), batch_size=BATCH)

    def _source(self) -> Any:
        return ss.open(self._X, target=self._y)

    def write(self, number: int) -> None:
        if number == 1:  # nothing was there before
            return
        ss.run(
            self._source(), ss.Screen("f"), checkpoint=self.path, every=BATCH, resume=True, batch_size=BATCH
        )

    def found(self) -> int | None:
        found = CheckpointFile(self.path).read()
        return None if found is None else 2 if found.header["stream"]["finished"] else 1

    def wrong(self) -> str:
        self.write(2)  # resumed
        return difference(self.path, self._reference)


SAVINGS: dict[str, type[Saving]] = {
    "save": Saving,
    "checkpoint": Checkpoints,
    "checkpoint without links": Unlinked,
    "text": Text,
    "run": WholeRun,
}


def every_call(way: str, code: int, folder: Path) -> Outcome:
    """Let each call of a save fail, one after the other: the old state or the new one is there, whole."""
    for at in range(1, 10_000):
        place = folder / str(at)
        place.mkdir()
        saving = SAVINGS[way](place)
        saving.write(1)
        fault = Fault(place, at, code)
        with fault.injected():
            error = _tried(saving)
        if fault.failed is None and not error:
            return Outcome("held", amount=at - 1)
        if said := _judged(saving, error, cleaned=fault.failed not in CLEANING):
            return Outcome("lost", f"{fault.failed}, call {at}: {said}", amount=at)
    return Outcome("hung", "there is no end of calls")


def short_writes(way: str, folder: Path) -> Outcome:
    """Let files end early: the old state or the new one is there, whole."""
    for size in SHORT:
        place = folder / str(size)
        place.mkdir()
        saving = SAVINGS[way](place)
        saving.write(1)
        with short_files(size):
            error = _tried(saving)
        said = _judged(saving, error, cleaned=True) or ("" if error else "it claims to have written")
        if said:
            return Outcome("lost", f"{size} bytes: {said}", amount=len(SHORT))
    return Outcome("held", amount=len(SHORT))


def _tried(saving: Saving) -> str:
    """Write the second generation, and return what went wrong."""
    try:
        saving.write(2)
    except StateError as error:
        return str(error)
    except OSError as error:  # from looking at a file, before anything is written
        if error.filename is None:
            raise
        return str(error)
    return ""


def _judged(saving: Saving, error: str, *, cleaned: bool) -> str:
    """Return what is wrong after a write that may have failed; "" if nothing is."""
    left = {path.name for path in saving.folder.iterdir()} - saving.names
    if left and cleaned:
        return f"left behind: {sorted(left)} ({error})"
    found = saving.found()
    if found == -1:
        return f"torn ({error})"
    if not error and found != 2:
        return "it claims to have written"
    if found is None and not isinstance(saving, WholeRun):
        return f"both are gone ({error})"
    return saving.wrong()
