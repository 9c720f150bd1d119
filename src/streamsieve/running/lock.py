"""Lock of a checkpoint: two runs that write the same file would overwrite each other."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from streamsieve.exceptions import StateError
from streamsieve.state import as_state_error

if sys.platform != "win32":
    import fcntl

#: Number of attempts; a lock file may vanish between opening and locking it, if another run ends just then.
TRIES = 100


def lock_of(path: Path) -> Path:
    """Return the lock file of a checkpoint, which exists while a run uses it."""
    return path.with_name(f".{path.name}.lock")


@contextmanager
def exclusive_lock(path: Path) -> Iterator[bool]:
    """Context: no other run uses this checkpoint; False where the system has no such locks.

    The system releases a lock when its process ends, for whatever reason.
    """
    if sys.platform == "win32":  # the user must avoid two runs of one checkpoint there
        yield False
        return
    lock = lock_of(path)
    handle, locked = _acquired(lock, path)
    try:
        yield locked
    finally:
        with suppress(OSError):
            lock.unlink()
        with suppress(OSError):
            os.close(handle)


def _acquired(lock: Path, path: Path) -> tuple[int, bool]:
    for _ in range(TRIES):
        with as_state_error(f"write {path}"):
            foreign = _is_foreign(lock)
        if foreign:
            raise StateError(f"{lock}, which would lock the checkpoint {path}, is another file: move it away")
        with as_state_error(f"write {path}"):
            handle = os.open(lock, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(handle)
            raise StateError(
                f"another run is using the checkpoint {path}: wait for its end, or choose another name"
            ) from error
        except OSError:
            return handle, False
        locked = False
        try:
            with as_state_error(f"write {path}"):
                locked = _is_there(lock, handle)
        finally:
            if not locked:  # the previous run removed it between opening and locking
                os.close(handle)
        if locked:
            return handle, True
    raise StateError(f"the lock {lock} of the checkpoint {path} vanishes whenever it is taken: remove it")


def _is_foreign(lock: Path) -> bool:
    """Whether there is a file that holds anything; locks are empty."""
    try:
        return lock.stat().st_size > 0
    except FileNotFoundError:
        return False


def _is_there(lock: Path, handle: int) -> bool:
    try:
        return lock.stat().st_ino == os.fstat(handle).st_ino
    except FileNotFoundError:
        return False
