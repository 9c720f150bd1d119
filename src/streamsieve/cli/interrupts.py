"""Ctrl-C: one line and exit code 130 within a second, even while compiled code runs."""

from __future__ import annotations

import atexit
import io
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
#: Seconds that a run has to end between two batches and to write its checkpoint.
GRACE = 0.7

#: Returns what remains of the command if it is interrupted.
_left: Callable[[], str]
_said = threading.Lock()


def leave(what: Callable[[], str] = lambda: "no file was half-written") -> None:
    """Set the end of the line about an interruption."""
    global _left  # noqa: PLW0603 - a process runs one command
    _left = what


def say_interrupted() -> None:
    """Print the line about an interruption, once."""
    if _said.acquire(blocking=False):
        show_cursor = "\x1b[?25h" if sys.stderr.isatty() else ""  # a progress bar has hidden it
        print(f"{show_cursor}interrupted; {_left()}", file=sys.stderr, flush=True)  # noqa: T201


def begin() -> None:
    """Reset the state of an earlier command."""
    leave()
    if _said.locked():
        _said.release()


def open_streams() -> None:
    """Give a process that was started without output or errors (``>&-``) streams that discard text.

    The next file to be opened would otherwise take the number of one, and what a library prints with it.
    A terminal whose encoding lacks a character shows its escape.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def end_in_time() -> None:
    """End this process soon after Ctrl-C, even if its main thread is busy in compiled code.

    The signal wakes a thread, from which ending the process is safe: files get their names when they are
    complete, and a checkpoint that is being written is waited for.
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
    """End the process without the usual teardown of modules.

    Teardown takes seconds after Ctrl-C, and after an error it may abort: a thread of Arrow that reads ahead
    from a Python file must not need the interpreter during teardown.
    """
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output left
        pass
    except OSError as error:  # such as a full disk
        print(f"error: the output could not be written: {error}", file=sys.stderr, flush=True)  # noqa: T201
        code = 2
    # As at any end, in this order: the first releases idle workers, which the second would wait for.
    threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001
    atexit._run_exitfuncs()  # noqa: SLF001
    os._exit(code)
