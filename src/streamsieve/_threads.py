"""A pool of threads for kernels that release the GIL, each thread on its own range of features.

Features are independent, so there is nothing to reduce and the number of threads never changes a bit
of the result.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

MOST = 8
#: Fewer values than this (a few tenths of a millisecond) are done before a second thread has woken up.
SMALL = 2**20

_pool: ThreadPoolExecutor | None = None


def _threads() -> int:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(MOST, usable)


def over_features(n_features: int, n_values: int, work: Callable[[int, int], None]) -> None:
    """Call ``work(low, high)`` on ranges that cover all features, in parallel if it pays."""
    global _pool  # noqa: PLW0603 - one pool a process, made on first use
    threads = _threads()
    if threads < 2 or n_values < SMALL or n_features < 16:
        work(0, n_features)
        return
    if _pool is None:
        _pool = ThreadPoolExecutor(MOST, thread_name_prefix="streamsieve")
    # multiples of 8 float64: two threads never write to one cache line
    edges = [t * n_features // threads // 8 * 8 for t in range(threads)] + [n_features]
    parts = [_pool.submit(work, edges[t], edges[t + 1]) for t in range(1, threads)]
    work(edges[0], edges[1])
    for part in parts:
        part.result()


def _forget_pool() -> None:
    """A forked child has no threads; it makes its own pool when it needs one."""
    global _pool  # noqa: PLW0603
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)
