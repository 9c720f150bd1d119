"""Several threads that look ahead, and one at a time that decides, in order."""

from __future__ import annotations

import threading
from collections.abc import Callable

#: Does something for piece i.
Measure = Callable[[int], None]
#: Does something for piece i, and says whether to go on.
Commit = Callable[[int], bool]


class InOrder:
    """Call ``measure(i)`` for all i in several threads, and ``commit(i)`` one after the other, in order.

    A thread measures piece i while others commit the pieces before it, so that what it sees is at most so
    many pieces old as there are other threads.  A ``commit`` that returns False ends the run, and so does an
    error, which is raised.
    """

    def __init__(self, n_pieces: int, measure: Measure, commit: Commit) -> None:
        self._n_pieces, self._measure, self._commit = n_pieces, measure, commit
        self._changed = threading.Condition()
        self._next = self._committed = 0
        self._over = False
        self._error: BaseException | None = None

    def run(self, n_threads: int) -> None:
        """Do all of it; the calling thread is one of the threads, and the last to leave."""
        others = [threading.Thread(target=self._work, daemon=True) for _ in range(n_threads - 1)]
        try:
            for thread in others:
                thread.start()
            self._work()
            _join(others)
        except BaseException:  # Ctrl-C while waiting: nobody may go on behind the caller's back
            self._pass_on(0, over=True)
            _join(others)
            raise
        if self._error is not None:
            raise self._error

    def _work(self) -> None:
        go_on = True
        try:
            while go_on and (piece := self._take()) is not None:
                self._measure(piece)
                if self._my_turn(piece):
                    go_on = self._commit(piece)
                    self._pass_on(piece + 1, over=not go_on)
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that began
            self._error = self._error or error
            self._pass_on(0, over=True)

    def _take(self) -> int | None:
        with self._changed:
            if self._next == self._n_pieces or self._over:
                return None
            self._next += 1
            return self._next - 1

    def _my_turn(self, piece: int) -> bool:
        """Wait for all pieces before; return whether it is still worth while."""
        with self._changed:
            self._changed.wait_for(lambda: self._committed == piece or self._over)
            return not self._over

    def _pass_on(self, committed: int, *, over: bool) -> None:
        with self._changed:
            self._committed, self._over = committed, self._over or over
            self._changed.notify_all()


def _join(threads: list[threading.Thread]) -> None:
    """Wait for those that were started."""
    for thread in threads:
        if thread.ident is not None:
            thread.join()
