"""Delay of Ctrl-C to the end of a batch."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self

#: Set while the state of an interrupted or failed run is being saved.
saving = threading.Event()


class Interrupts:
    """Context manager in which `held` delays the first Ctrl-C; a second one takes effect at once.

    Python raises ``KeyboardInterrupt`` between any two instructions, even between a sum and its count.
    Only the default handler of Python is replaced; a handler set by the caller stays.
    """

    def __init__(self) -> None:
        self._held = self._waiting = False
        self._ours = False

    def __enter__(self) -> Self:
        self._ours = (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )
        if self._ours:
            signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        if self._ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Context manager that delays Ctrl-C until its body ends."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        if self._waiting:
            raise KeyboardInterrupt

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        if self._held and not self._waiting:
            self._waiting = True
            return
        raise KeyboardInterrupt
