"""Parallel measurement ahead of the calling thread, which commits in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor


def in_order(
    n_pieces: int, measure: Callable[[int], None], commit: Callable[[int], bool], n_threads: int
) -> None:
    """Call ``measure(i)`` for all i in several threads, and ``commit(i)`` in the calling one, in order.

    Pieces are measured while earlier ones are committed, so a measurement may miss the last commits: at most
    as many as there are threads.  A ``commit`` that returns False ends the run; so does an error, which is
    raised.  Only the calling thread changes anything, so an interrupt leaves no piece half committed; it
    waits for measurements in progress.
    """
    pool = ThreadPoolExecutor(n_threads)
    ahead: deque[Future[None]] = deque()
    try:
        for piece in range(n_pieces):
            first = piece + len(ahead)
            ahead.extend(pool.submit(measure, i) for i in range(first, min(piece + n_threads + 1, n_pieces)))
            ahead.popleft().result()
            if not commit(piece):
                return
    finally:
        pool.shutdown(cancel_futures=True)
