"""Threads share the features out, each exactly once, and pass errors on."""

import signal
import threading
import time
from concurrent.futures import Future

import numpy as np
import pytest

from streamsieve import _threads as threads

LARGE = threads.SMALL


@pytest.mark.parametrize("usable", [1, 2, 3, 8])
@pytest.mark.parametrize("n_features", [1, 15, 16, 17, 64, 1000])
def test_the_ranges_cover_every_feature_once_and_keep_to_cache_lines(monkeypatch, usable, n_features):
    monkeypatch.setattr(threads, "_threads", lambda: usable)
    times, edges = np.zeros(n_features, int), []

    def work(low, high):
        assert low < high
        times[low:high] += 1
        edges.append(low)

    threads.over_features(n_features, LARGE, work)
    assert np.all(times == 1)
    assert all(low % 8 == 0 for low in edges)
    # no range is empty: 16 features have two cache lines, whatever the number of threads
    assert len(edges) == (min(usable, n_features // 8) if n_features >= 16 else 1)


@pytest.mark.parametrize("usable", [1, 2])
@pytest.mark.parametrize(
    ("n_features", "values", "most"), [(1000, 2**20, 64), (40, 2**23, 8), (20, 2**28, 1), (3, 2**25, 8)]
)
def test_long_work_comes_back_to_the_interpreter_often(monkeypatch, usable, n_features, values, most):
    """``values`` are those of a feature.  Ranges are whole cache lines, unless one line takes long."""
    monkeypatch.setattr(threads, "_threads", lambda: usable)
    ranges = []
    threads.over_features(n_features, values * n_features, lambda low, high: ranges.append((low, high)))
    covered = sorted(j for low, high in ranges for j in range(low, high))
    assert covered == list(range(n_features))
    assert max(high - low for low, high in ranges) == min(most, n_features)


def test_ctrl_c_leaves_no_range_under_way(monkeypatch):
    """Ranges that have not begun are left out; the one that another thread is in is waited for."""
    monkeypatch.setattr(threads, "_threads", lambda: 2)
    begun, go, ended = threading.Event(), threading.Event(), []

    def work(low, high):
        if low < 16:
            assert begun.wait(60)
            threading.Timer(0.05, go.set).start()
            raise KeyboardInterrupt
        begun.set()
        assert go.wait(60)
        ended.append(low)

    with pytest.raises(KeyboardInterrupt):
        threads.over_features(32, 32 * 2**25, work)
    assert ended == [16]


def test_small_work_stays_in_the_calling_thread(monkeypatch):
    monkeypatch.setattr(threads, "_threads", lambda: 4)
    ran = []
    threads.over_features(1000, LARGE - 1, lambda low, high: ran.append((low, high, threading.get_ident())))
    assert ran == [(0, 1000, threading.get_ident())]


@pytest.mark.parametrize("broken", [0, 8])
def test_an_error_in_any_range_reaches_the_caller(monkeypatch, broken):
    monkeypatch.setattr(threads, "_threads", lambda: 2)

    def work(low, high):
        if low == broken:
            raise ValueError(f"range {low}")

    with pytest.raises(ValueError, match=f"range {broken}"):
        threads.over_features(16, LARGE, work)


def test_there_are_never_more_threads_than_the_most(monkeypatch):
    monkeypatch.setattr(threads.os, "sched_getaffinity", lambda _: set(range(100)), raising=False)
    assert threads._threads() == threads.MOST_THREADS


def test_a_forked_child_makes_a_pool_of_its_own(monkeypatch):
    monkeypatch.setattr(threads, "_threads", lambda: 2)
    threads.over_features(16, LARGE, lambda low, high: None)
    pool = threads._pool
    assert pool is not None
    monkeypatch.setattr(threads, "_pool", pool)  # put back afterwards
    threads._forget_pool()
    assert threads._pool is None
    threads.over_features(16, LARGE, lambda low, high: None)
    assert threads._pool not in {None, pool}
    threads._pool.shutdown()


def test_an_answering_call_returns_and_raises_as_if_it_were_made_here():
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        threads.answering(lambda: np.ones(1) / 0)
    with np.errstate(divide="ignore"):
        assert np.isinf(threads.answering(lambda: np.ones(1) / 0)).all()
    with pytest.raises(ValueError, match="of the call"):
        threads.answering(lambda: int("of the call"))


def test_ctrl_c_does_not_wait_for_an_answering_call():
    begun, go, ended = threading.Event(), threading.Event(), threading.Event()

    def call():
        begun.set()
        assert go.wait(60)
        ended.set()

    def interrupt():
        assert begun.wait(60)
        signal.raise_signal(signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        threads.answering(call)
    assert not ended.is_set()
    go.set()
    assert ended.wait(60)


def test_the_end_of_a_run_does_not_wait_for_tasks_that_are_never_taken_up(monkeypatch):
    monkeypatch.setattr(threads, "LONGEST_WAIT", 0.05)
    began = time.monotonic()
    threads.wait_until_taken_up([Future()])
    assert time.monotonic() - began < 5
