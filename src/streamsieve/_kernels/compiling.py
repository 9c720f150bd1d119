"""How long kernels were compiled, which happens once per machine, and a moment to say so."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from numba.core import event


class _Clock(event.Listener):  # type: ignore[misc]  # numba is untyped
    def __init__(self, begin: Callable[[], object]) -> None:
        self.seconds, self._begin, self._depth, self._since = 0.0, begin, 0, 0.0

    def on_start(self, event: event.Event) -> None:
        del event
        if self._depth == 0:
            self._since = time.perf_counter()
            if self.seconds == 0:
                self._begin()
        self._depth += 1

    def on_end(self, event: event.Event) -> None:
        del event
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._since


@contextmanager
def compile_clock(begin: Callable[[], object]) -> Iterator[Callable[[], float]]:
    """Context: ``begin`` is called when the first kernel has to be compiled; it gives the seconds so far.

    Kernels that are found in the cache cost nothing and are not announced.
    """
    clock = _Clock(begin)
    with event.install_listener("numba:compile", clock):
        yield lambda: clock.seconds
