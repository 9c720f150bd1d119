"""Thread pool for kernels that release the GIL, each thread on its own range of features.

Features are independent, so there is no reduction, and the result is bit for bit the same with any number of
threads.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from threading import Event, Thread
from typing import Any, TypeVar

from streamsieve.exceptions import ParameterError

T = TypeVar("T")

MOST_THREADS = 8
#: Below this number of values (a few tenths of a millisecond) a second thread does not pay off.
SMALL = 2**20
#: Values per kernel call, some hundredths of a second; Ctrl-C is handled between calls.
PIECE = 2**26
#: Values that take about half a second.
LONG = 2**30
#: Number of float64 features per cache line.
LINE_FEATURES = 8
#: Polling interval, in seconds, while waiting for a call that cannot be interrupted.
POLL_SECONDS = 0.1
#: Seconds that the end of a run waits for a pool of processes to take up its tasks.
LONGEST_WAIT = 10.0

_pool: ThreadPoolExecutor | None = None


#: The limit of :func:`threads`, for the thread or task that set it.
_limit: ContextVar[int | None] = ContextVar("threads", default=None)
#: Set when the result of this thread is no longer needed; see :func:`end_with`.
_ended: ContextVar[Event | None] = ContextVar("ended", default=None)
#: Environment variable with the limit for the whole process.
VARIABLE = "STREAMSIEVE_THREADS"


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Context manager that limits the number of threads of compiled loops.

    Without it, the limit is the environment variable ``STREAMSIEVE_THREADS`` or, if that is not set, the
    number of cores available to the process; it is never more than 8.  The number of threads never changes a
    result.

    Examples
    --------
    >>> import streamsieve as ss
    >>> with ss.threads(1):
    ...     screen = ss.Screen("f").fit([[0.0, 1.0], [1.0, 3.0], [0.5, 2.0]], [0, 1, 1])
    """
    token = _limit.set(_checked("n", n))
    try:
        yield
    finally:
        _limit.reset(token)


def end_with(event: Event) -> None:
    """Let compiled loops of this thread end when an event is set: Ctrl-C reaches the main thread only."""
    _ended.set(event)


def check_ended() -> None:
    """Raise ``KeyboardInterrupt`` in a thread that is to end."""
    if (event := _ended.get()) is not None and event.is_set():
        raise KeyboardInterrupt


def _checked(name: str, value: int | str) -> int:
    try:
        found = int(value)
    except (TypeError, ValueError):
        found = 0
    if found < 1 or isinstance(value, (bool, float)):
        raise ParameterError(f"{name} must be a number of threads, at least 1; got {value!r}")
    return found


def _threads() -> int:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limit, text = _limit.get(), os.environ.get(VARIABLE)
    if limit is None:
        limit = _checked(VARIABLE, text) if text else MOST_THREADS
    return min(MOST_THREADS, usable, limit)


def over_features(n_features: int, n_values: int, work: Callable[[int, int], None]) -> None:
    """Call ``work(low, high)`` on ranges that cover all features, in parallel if there is enough work.

    Long work is cut into ranges of about ``PIECE`` values.  If an error or Ctrl-C ends it, all calls have
    returned before the exception is raised.
    """
    global _pool  # noqa: PLW0603 - one pool a process, made on first use
    if n_values < SMALL:
        work(0, n_features)
        return
    step = _step(n_features, n_values)
    threads = _threads()
    if threads < 2 or n_features < 2 * LINE_FEATURES:
        for low in range(0, n_features, step):
            check_ended()
            work(low, min(low + step, n_features))
        return
    if _pool is None:
        _pool = ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="streamsieve")
    failed, context = False, copy_context()

    def share(first: int, last: int) -> None:
        for low in range(first, last, step):
            if failed:
                return
            check_ended()
            work(low, min(low + step, last))

    # multiples of a cache line: two threads never write to the same one
    edges = [t * n_features // threads // LINE_FEATURES * LINE_FEATURES for t in range(threads)] + [
        n_features
    ]
    parts: list[Future[None]] = []
    try:
        parts += [_pool.submit(context.copy().run, share, edges[t], edges[t + 1]) for t in range(1, threads)]
        share(edges[0], edges[1])
        for part in parts:
            part.result()
    finally:
        failed = True  # ranges that have not started are cancelled
        while any(not part.done() for part in parts):
            with suppress(KeyboardInterrupt):  # the first exception is already propagating
                wait(parts)


def answering(call: Callable[[], T]) -> T:
    """Return ``call()``, run in a thread of its own so that Ctrl-C is handled meanwhile.

    For a long call into a library that cannot be interrupted but releases the GIL, such as NumPy's LAPACK
    functions (SciPy's hold the GIL).  After Ctrl-C the call runs to its end in the background, so it must not
    write to anything shared.
    """
    ended: Future[T] = Future()
    context = copy_context()  # the context includes NumPy's error state

    def work() -> None:
        try:
            ended.set_result(context.run(call))
        except BaseException as error:  # noqa: BLE001 - raised again where the call was made
            ended.set_exception(error)

    # a daemon thread does not keep the interpreter from exiting
    Thread(target=work, name="streamsieve-answering", daemon=True).start()
    while not ended.done():
        wait([ended], POLL_SECONDS)  # a signal delivered to the other thread does not wake this one
    return ended.result()


def _step(n_features: int, n_values: int) -> int:
    """Return the number of features per range: whole cache lines, unless one line takes too long."""
    step = n_features * PIECE // n_values
    if step >= LINE_FEATURES or LINE_FEATURES * n_values < LONG * n_features:
        return max(step // LINE_FEATURES, 1) * LINE_FEATURES
    return max(step, 1)


def _forget_pool() -> None:
    """Drop the pool in a forked child, which has no threads, and creates its own pool on demand."""
    global _pool  # noqa: PLW0603
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def wait_until_taken_up(futures: Sequence[Future[Any]]) -> None:
    """Wait a bounded time until a pool of processes has taken up its tasks: ended earlier, loky may hang."""
    until = time.monotonic() + LONGEST_WAIT
    while time.monotonic() < until and not all(future.running() or future.done() for future in futures):
        time.sleep(0.001)
