"""Threads that share an object, threads with objects of their own, and forks after use."""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from campaigns.outcome import Outcome
from campaigns.subjects import data_for, name_of, subjects
from streamsieve import _threads as pool
from streamsieve.base import ColumnSelector, RowSelector
from streamsieve.exceptions import ConcurrentUseError, StreamSieveError

GOAL = "0 signals, 0 hangs, 0 errors but ConcurrentUseError; results as in one thread"
PATIENCE = 60.0
THREADS = 3
#: Longest time that threads spend on one object, in seconds, and the most calls of a thread.
SECONDS, CALLS = 0.4, 150
#: Rows of a batch, columns of a block.
SIZE = 8
#: Random orders of the same calls, to see whether the order matters.
ORDERS = 5
Call = Callable[[Any], object]


class Case(NamedTuple):
    """What threads or children do with an object."""

    subject: int
    plan: str
    seed: int

    def __str__(self) -> str:
        return f"{name_of(subjects()[self.subject])}, {self.plan}, {self.seed}"


def cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield every object with every plan, in random order, again and again."""
    places = [(i, plan) for i in range(len(subjects())) for plan in PLANS]
    while True:
        for at in rng.permutation(len(places)):
            yield Case(*places[at], int(rng.integers(2**32)))


def prepare() -> None:
    """Load kernels before the first case: a case has a time limit, a compiler has not."""
    for subject in subjects():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _after(subject, _learns(subject))


def attempt(case: Case) -> Outcome:
    """Carry out a plan; threads take turns so often that calls overlap."""
    warnings.simplefilter("ignore")
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        return PLANS[case.plan](case)
    finally:
        sys.setswitchinterval(before)


# ------------------------------------------------------------------------------------ calls


def _batches(subject: Any) -> list[tuple[Any, Any]]:
    X, y, _ = data_for(subject)
    return [(X[i : i + SIZE], y[i : i + SIZE]) for i in range(0, len(y) - SIZE + 1, SIZE)]


def _fits(subject: Any) -> list[Call]:
    X, y, _ = data_for(subject)
    return [lambda one: one.fit(X, y)]


def _learns(subject: Any) -> list[Call]:
    """Return calls that take more in; each may come any number of times after ``fit``."""
    X, _, _ = data_for(subject)
    if isinstance(subject, ColumnSelector):
        return [lambda one: one.offer(X[:, :SIZE]), lambda one: one.offer(X[:, 0])]
    if hasattr(subject, "partial_fit"):
        return [lambda one, batch=batch: one.partial_fit(*batch) for batch in _batches(subject)]
    return _fits(subject)


def _reads(subject: Any) -> list[Call]:
    """Return calls that succeed on any object that was fitted."""
    X, _, _ = data_for(subject)
    names = ("selected_", "ranked_", "scores_", "coef_", "inclusion_", "groups_", "pairs_")
    own = [name for name in names if isinstance(getattr(type(subject), name, None), property)]
    calls: list[Call] = [lambda one, name=name: getattr(one, name) for name in own]
    calls += [lambda one: one.to_bytes(), lambda one: one.get_support(), lambda one: one.predict(X)]
    if not isinstance(subject, ColumnSelector):  # which are as wide as the columns so far
        calls += [lambda one: one.transform(X)]
    calls += [lambda one: one.get_feature_names_out()]
    return [call for call in calls if _succeeds(call, subject)]


def _succeeds(call: Call, subject: Any) -> bool:
    one = _fitted(subject)
    try:
        call(one)
    except (AttributeError, StreamSieveError):
        return False
    return True


def _fitted(subject: Any) -> Any:
    X, y, _ = data_for(subject)
    return clone(subject).fit(X, y)


# ------------------------------------------------------------------------------------ threads


@dataclass
class Log:
    """What a thread did: the numbers of its successful calls, refusals, other errors, and times."""

    done: list[int] = field(default_factory=list)
    refused: int = 0
    errors: list[str] = field(default_factory=list)
    times: list[tuple[float, float]] = field(default_factory=list)

    def work(self, one: Any, calls: list[Call], seed: int, start: threading.Barrier) -> None:
        """Make random calls."""
        rng = np.random.default_rng(seed)
        start.wait()
        end = time.monotonic() + SECONDS
        for number in rng.integers(len(calls), size=CALLS).tolist():
            began = time.monotonic()
            if began > end or self.errors:
                return
            try:
                calls[number](one)
                self.done.append(number)
            except ConcurrentUseError:
                self.refused += 1
            except Exception as error:  # noqa: BLE001 - whatever it is, it is the outcome
                self.errors.append(f"call {number}: {type(error).__name__}: {error}")
            self.times.append((began, time.monotonic()))


def _run(objects: list[Any], calls: list[Call], seed: int) -> list[Log]:
    start = threading.Barrier(len(objects))
    logs = [Log() for _ in objects]
    workers = [
        threading.Thread(target=log.work, args=(one, calls, seed + i, start))
        for i, (log, one) in enumerate(zip(logs, objects, strict=True))
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return logs


def _overlapped(logs: list[Log]) -> bool:
    """Whether calls of two threads ran at the same time."""
    times = sorted((*span, i) for i, log in enumerate(logs) for span in log.times)
    return any(b[0] < a[1] and a[2] != b[2] for a, b in pairwise(times))


def _outcome(logs: list[Log], problem: str, *, progress: bool) -> Outcome:
    amount = sum(len(log.times) for log in logs)
    errors = [error for log in logs for error in log.errors]
    if errors:
        return Outcome("unclear", errors[0][:400], amount=amount)
    return Outcome("lost" if problem else "held", problem, progress=progress, amount=amount)


# ------------------------------------------------------------------------------------ plans


def _share(case: Case, learn: Callable[[Any], list[Call]]) -> Outcome:
    """Let threads call one object; what succeeded must add up."""
    subject = subjects()[case.subject]
    taking = learn(subject)
    one = _fitted(subject)
    logs = _run([one] * THREADS, taking * 4 + _reads(subject), case.seed)
    done = [number % len(taking) for log in logs for number in log.done if number < 4 * len(taking)]
    progress = any(log.refused for log in logs) or _overlapped(logs)
    problem = ""
    if not any(log.errors for log in logs):
        problem = _differs(one, subject, [taking[i] for i in done])
        if _succeeds(lambda one: one.to_bytes(), subject):
            one = type(one).from_bytes(one.to_bytes())
        taking[0](one)
    return _outcome(logs, problem, progress=progress)


def _differs(one: Any, subject: Any, calls: list[Call]) -> str:
    """Compare an object with one that heard the same calls in a row; say what differs."""
    twin = _after(subject, calls)
    for name in ("n_samples_seen_", "n_features_in_"):
        if getattr(one, name, None) != getattr(twin, name, None):
            return f"{name} is {getattr(one, name)}, not {getattr(twin, name)}, after {len(calls)} calls"
    if _alike(one, twin, subject):
        return ""
    rng = np.random.default_rng(len(calls))
    orders = [calls[::-1], *([calls[i] for i in rng.permutation(len(calls))] for _ in range(ORDERS))]
    if not all(_alike(_after(subject, order), twin, subject) for order in orders):
        return ""  # the order of calls matters, and that of the threads is not known
    return "the result is not that of the same calls"


def _after(subject: Any, calls: list[Call]) -> Any:
    one = _fitted(subject)
    for call in calls:
        call(one)
    return one


def _alike(one: Any, twin: Any, subject: Any) -> bool:
    X, _, _ = data_for(subject)
    if hasattr(one, "predict"):
        return np.array_equal(one.predict(X), twin.predict(X))
    if isinstance(one, RowSelector):
        return np.allclose(one.scores_, twin.scores_, rtol=1e-6, atol=1e-9, equal_nan=True)
    return np.array_equal(one.get_support(), twin.get_support())


def _shared_learning(case: Case) -> Outcome:
    return _share(case, _learns)


def _shared_fit(case: Case) -> Outcome:
    return _share(case, _fits)


def _shared_reading(case: Case) -> Outcome:
    """Let threads read an object that none changes: refused only where reading computes something."""
    subject = subjects()[case.subject]
    X, _, _ = data_for(subject)
    one = _fitted(subject)
    call: Call = (lambda one: one.predict(X)) if hasattr(one, "predict") else (lambda one: one.transform(X))
    call(one)
    logs = _run([one] * THREADS, [call], case.seed)
    refused = sum(log.refused for log in logs)
    return _outcome(logs, f"{refused} readers were refused" * bool(refused), progress=_overlapped(logs))


def _own(case: Case) -> Outcome:
    """Give every thread its own object: no call is refused, and results are those of one thread."""
    subject = subjects()[case.subject]
    calls = _learns(subject)
    objects = [_fitted(subject) for _ in range(THREADS)]
    logs = _run(objects, calls, case.seed)
    refused = sum(log.refused for log in logs)
    problem = f"{refused} calls were refused" * bool(refused)
    for one, log in zip(objects, logs, strict=True):
        twin = _fitted(subject)
        for number in log.done:
            calls[number](twin)
        problem = problem or "another result" * (_digest(one, subject) != _digest(twin, subject))
    return _outcome(logs, problem, progress=_overlapped(logs))


def _digest(one: Any, subject: Any) -> bytes:
    """Return what an object has come to."""
    X, _, _ = data_for(subject)
    found = one.predict(X) if hasattr(one, "predict") else one.get_support()
    scores = getattr(one, "scores_", ())
    return bytes(np.asarray(found).tobytes() + np.asarray(scores).tobytes())


def _fork(case: Case) -> Outcome:
    """Fork after use, while another thread is at work; the child goes on with the object and the pool."""
    subject = subjects()[case.subject]
    one, busy = _fitted(subject), _fitted(subject)
    _use_pool()
    log, start = Log(), threading.Barrier(2)
    worker = threading.Thread(target=log.work, args=(busy, _learns(subject), case.seed, start))
    worker.start()
    start.wait()
    readable, writable = os.pipe()
    child = os.fork()
    if not child:
        _use_pool()
        answer = _digest(_went_on(one, subject), subject)
        os.write(writable, len(answer).to_bytes(8, "little") + answer[: 2**15])
        os._exit(0)
    os.close(writable)
    overlapped = worker.is_alive()
    with os.fdopen(readable, "rb") as pipe:
        heard = pipe.read()
    os.waitpid(child, 0)
    worker.join()
    answer = _digest(_went_on(one, subject), subject)
    same = heard == len(answer).to_bytes(8, "little") + answer[: 2**15]
    problem = "" if same else "the child came to another result" if heard else "the child died"
    return _outcome([log], problem, progress=overlapped)


def _went_on(one: Any, subject: Any) -> Any:
    for call in _learns(subject):
        call(one)
    return one


def _use_pool() -> None:
    """Let the pool of threads do something."""
    touched = np.zeros(64, int)

    def work(low: int, high: int) -> None:
        touched[low:high] += 1

    pool.over_features(64, pool.SMALL, work)
    if not np.all(touched == 1):
        raise RuntimeError("the pool of threads left something out")


PLANS: dict[str, Callable[[Case], Outcome]] = {
    "shared, learning": _shared_learning,
    "shared, fit": _shared_fit,
    "shared, reading": _shared_reading,
    "own objects": _own,
    "fork after use": _fork,
}
