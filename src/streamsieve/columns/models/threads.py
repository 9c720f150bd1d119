"""Threads that measure ahead, and one that commits in order."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

#: Measures piece i.
Measure = Callable[[int], None]
#: Commits piece i; False ends the run.
Commit = Callable[[int], bool]


class InOrder:
    """Call ``measure(i)`` for all i in several threads, and ``commit(i)`` in the calling one, in order.

    Pieces are measured while earlier ones are committed, so a measurement may miss the last commits: at most
    as many as there are threads.  A ``commit`` that returns False ends the run; so does an error, which is
    raised.  Only the calling thread changes anything, so an interrupt leaves no piece half committed.
    """

    def __init__(self, n_pieces: int, measure: Measure, commit: Commit) -> None:
        self._n_pieces, self._measure, self._commit = n_pieces, measure, commit
        self._changed = threading.Condition()
        self._measured = [False] * n_pieces
        self._next = self._committed = self._window = 0
        self._over = False
        self._error: BaseException | None = None

    def run(self, n_threads: int) -> None:
        """Measure and commit everything; the calling thread is one of the threads, and the last to finish."""
        self._window = n_threads + 1
        others = [threading.Thread(target=self._follow, daemon=True) for _ in range(n_threads - 1)]
        try:
            for thread in others:
                thread.start()
            self._lead()
        finally:
            self._end()
            for thread in others:
                if thread.ident is not None:
                    thread.join()
        if self._error is not None:
            raise self._error

    def _lead(self) -> None:
        """Commit what is measured, and measure while nothing is ready."""
        for piece in range(self._n_pieces):
            while not self._measured[piece] and not self._over:
                ahead = self._take(wait=False)
                if ahead is None:
                    with self._changed:
                        self._changed.wait_for(partial(self._is_ready, piece))
                else:
                    self._look(ahead)
            if self._over or not self._commit(piece):
                return
            with self._changed:
                self._committed = piece + 1
                self._changed.notify_all()

    def _follow(self) -> None:
        try:
            while (piece := self._take(wait=True)) is not None:
                self._look(piece)
        except BaseException as error:  # noqa: BLE001 - raised again by the calling thread
            self._error = error
            self._end()

    def _look(self, piece: int) -> None:
        self._measure(piece)
        with self._changed:
            self._measured[piece] = True
            self._changed.notify_all()

    def _take(self, *, wait: bool) -> int | None:
        """Return the next piece to measure; None if there is none, or (without waiting) not now."""
        with self._changed:
            if wait:
                self._changed.wait_for(lambda: self._is_near() or self._over or self._next == self._n_pieces)
            if self._over or not self._is_near():
                return None
            self._next += 1
            return self._next - 1

    def _is_near(self) -> bool:
        return self._next < min(self._n_pieces, self._committed + self._window)

    def _is_ready(self, piece: int) -> bool:
        return self._measured[piece] or self._over

    def _end(self) -> None:
        with self._changed:
            self._over = True
            self._changed.notify_all()
