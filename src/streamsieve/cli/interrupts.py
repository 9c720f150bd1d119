"""Ctrl-C: one line and exit code 130 within a second, also while compiled code computes."""

from __future__ import annotations

import atexit
import os
import signal
import socket
import sys
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

INTERRUPTED = 130
#: Seconds for a run to end by itself between two batches and to write its checkpoint.
GRACE = 0.7

#: Says what the command leaves behind if it is interrupted.
_left: Callable[[], str]
_said = threading.Lock()


def leave(what: Callable[[], str] = lambda: "no file was half-written") -> None:
    """Let the line about an interruption end so from now on."""
    global _left  # noqa: PLW0603 - a process runs one command
    _left = what


def say_interrupted() -> None:
    """Print the line about an interruption, unless that was done."""
    if _said.acquire(blocking=False):
        show_cursor = "\x1b[?25h" if sys.stderr.isatty() else ""  # a progress bar has hidden it
        print(f"{show_cursor}interrupted; {_left()}", file=sys.stderr, flush=True)  # noqa: T201


def begin() -> None:
    """Forget the command before."""
    leave()
    if _said.locked():
        _said.release()


def end_in_time() -> None:
    """End this process soon after Ctrl-C, even if its main thread is busy in compiled code.

    A thread is woken by the signal itself.  Ending there is safe: files take their names when they are
    complete, and a checkpoint that is just being written is waited for.
    """
    reading, writing = socket.socketpair()
    writing.setblocking(False)
    signal.set_wakeup_fd(writing.detach(), warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reading,), daemon=True).start()


def _watch(reading: socket.socket) -> None:
    while reading.recv(1) != bytes([signal.SIGINT]):
        pass
    time.sleep(GRACE)
    running = sys.modules.get("streamsieve.running.interrupts")
    while running is not None and running.saving.is_set():
        time.sleep(0.02)
    say_interrupted()
    with suppress(Exception):
        weakref.finalize._exitfunc()  # type: ignore[attr-defined]  # noqa: SLF001 - temporary folders
    os._exit(INTERRUPTED)


def end(code: int) -> NoReturn:
    """End the process without taking down all modules.

    That takes seconds after Ctrl-C, and after an error it may abort: a thread of Arrow that reads ahead from
    a file of Python must not ask for the interpreter while it is taken down.
    """
    with suppress(BrokenPipeError):  # the reader of our output left
        sys.stdout.flush()
    atexit._run_exitfuncs()  # noqa: SLF001 - as at any end
    os._exit(code)
