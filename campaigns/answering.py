"""How long Ctrl-C may have to wait: the longest stretch of a call in which Python cannot answer."""

from __future__ import annotations

import os
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

import streamsieve as ss
from streamsieve.base import ColumnSelector, RowSelector
from streamsieve.testing._data import sample_for

#: Seconds of computation between two looks.
TICK = 0.02


class Stretch(NamedTuple):
    """The longest stretch without an answer, in seconds of computation, and what ran before it ended."""

    seconds: float
    where: str


def longest_stretch(work: Callable[[], Any]) -> Stretch:
    """Return the longest time for which a signal that arrives during ``work`` is not answered.

    A signal arrives every few hundredths of a second of the process's own computation, so that other
    processes on the machine do not count; what matters is when Python gets round to answering it.
    """
    longest, last = Stretch(0.0, ""), time.process_time()

    def answer(_number: int, frame: FrameType | None) -> None:
        nonlocal longest, last
        now = time.process_time()
        if now - last > longest.seconds:
            longest = Stretch(now - last, _place(frame))
        last = time.process_time()

    before = signal.signal(signal.SIGPROF, answer)
    signal.setitimer(signal.ITIMER_PROF, TICK, TICK)
    try:
        work()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return longest


def _place(frame: FrameType | None) -> str:
    """Return the innermost lines of this library on a stack."""
    lines = [
        f"{os.path.basename(line.filename)}:{line.lineno}"  # noqa: PTH119
        for line in traceback.extract_stack(frame)
        if "streamsieve" in line.filename
    ]
    return " < ".join(lines[:-4:-1])


@contextmanager
def one_processor() -> Iterator[None]:
    """Context: computation in threads does not count several times."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def large(subject: Any, n: int, p: int) -> tuple[Any, Any]:
    """Return a large matrix and its target: columns of a small one, with noise."""
    data = sample_for(subject, n=n, p=14)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p), np.float32).astype(np.float64)
    width = min(p, 14)
    X[:, :width] = data.X[:, :width]
    return (np.abs(X) if subject.traits.non_negative else X), data.y


def call_of(subject: Any, n: int, p: int) -> Callable[[], Any]:
    """Return a call on large data: a run for selectors over streams, ``fit`` for the others."""
    X, y = large(subject, n, p)
    selector = clone(subject)
    if isinstance(subject, (RowSelector, ColumnSelector)):
        return lambda: ss.run(ss.open(X, target=y), selector).get_support()
    return lambda: selector.fit(X, y)
