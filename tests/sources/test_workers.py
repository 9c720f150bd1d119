"""Columns computed by other processes: the same, in the same order, each once, and nothing left behind."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import streamsieve as ss
from streamsieve.exceptions import SourceError

Y = np.arange(6) % 2


def numbers(blocks):
    return [int(value) for block in blocks for value in block.X[0]]


def drain(blocks, got):
    for block in blocks:
        got += numbers([block])


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def gone(pids, patience=20):
    """Whether processes end in the next seconds."""
    until = time.monotonic() + patience
    while any(map(is_running, pids)) and time.monotonic() < until:
        time.sleep(0.05)
    return not any(map(is_running, pids))


@pytest.fixture
def log(tmp_path):
    """Return a function that notes which process computed a feature, and one that reads the notes."""
    folder = tmp_path

    def note(k):
        (folder / f"{k}-{os.getpid()}-{time.time_ns()}").touch()

    def read():
        lines = [path.name.split("-") for path in folder.iterdir()]
        return sorted(int(k) for k, *_ in lines), {int(pid) for _, pid, _ in lines}

    return note, read


@pytest.mark.parametrize("workers", [1, 2])
def test_features_come_in_order_and_are_computed_once_each_by_other_processes(workers, log):
    note, read = log

    def make():
        for k in range(24):

            def column():  # k as it is when the function is yielded
                note(k)  # noqa: B023
                time.sleep(0.03 * (k % 3 == 0))  # noqa: B023 - so that later ones are ready earlier
                return np.full(6, float(k))  # noqa: B023

            yield f"f{k}", column

    blocks = list(ss.features(make, Y, workers=workers).columns(5))
    assert numbers(blocks) == list(range(24))
    assert [name for block in blocks for name in block.names] == [f"f{k}" for k in range(24)]
    computed, pids = read()
    assert computed == list(range(24))
    assert os.getpid() not in pids
    assert 1 <= len(pids) <= workers
    assert gone(pids)
    seconds = np.concatenate([block.seconds for block in blocks])
    assert np.all(seconds[::3] >= 0.03)


def test_compute_is_sent_with_its_data_and_items_as_they_are_when_they_are_given():
    data = np.arange(60.0).reshape(10, 6)
    item = {"row": 0}

    def rows():
        for k in range(10):
            item["row"] = k
            yield f"row {k}", item  # one and the same dictionary

    (block,) = ss.features(rows, Y, compute=lambda item: data[item["row"]], workers=2).columns()
    np.testing.assert_array_equal(block.X, data.T)


def test_few_are_computed_after_the_stop_and_an_iterator_goes_on_without_loss(log):
    note, read = log

    def column(k):
        note(k)
        return np.full(6, float(k))

    source = ss.features(iter(range(1000)), Y, compute=column, workers=2)
    stream = source.columns(1)
    got = numbers([next(stream) for _ in range(10)])
    stream.close()
    computed, pids = read()
    assert computed == list(range(len(computed)))
    assert len(computed) <= 14
    assert gone(pids)
    rest = source.columns(1, {"column": 10})
    got += numbers([next(rest) for _ in range(10)])
    rest.close()
    assert got == list(range(20))


@pytest.mark.parametrize("size", [1, 3])
def test_what_fails_is_named_after_what_came_before_is_delivered(size):
    def breaks(k):
        if k == 4:
            raise KeyError("no such\ntable")
        return [1, 2] if k == 7 else np.full(6, float(k))

    source = ss.features(range(10), Y, compute=breaks, workers=1)
    got, start = [], 0
    for bad, message in (
        (4, "could not be computed: KeyError: 'no such"),
        (7, "has 2 values, but there are 6"),
    ):
        with pytest.raises(SourceError, match=rf"feature {bad} \(counting from 0\) {message}") as caught:
            drain(source.columns(size, {"column": start}), got)
        assert "\n" not in str(caught.value)
        if bad == 4:  # where in the worker it happened
            assert "in breaks" in caught.value.__cause__.__notes__[0]
        start = bad + 1
    got += numbers(source.columns(size, {"column": start}))
    assert got == [0, 1, 2, 3, 5, 6, 8, 9]


def test_what_no_worker_can_compute_is_refused_by_name():
    lock = threading.Lock()
    for item, message in (
        (np.ones(6), "feature 1 .*'b', was computed by the factory, where"),
        (lambda: lock, "feature 1 .*'b', could not be sent to a worker"),
    ):
        stream = ss.features([("a", lambda: np.ones(6)), ("b", item)], Y, workers=1).columns()
        assert next(stream).names == ["a"]
        with pytest.raises(SourceError, match=message):
            next(stream)
    with pytest.raises(SourceError, match="compute could not be sent to a worker process: TypeError"):
        next(ss.features([1], Y, compute=lambda _: lock, workers=1).columns())


def test_a_generator_that_raises_is_named_after_what_is_under_way_has_come():
    def make():
        for k in range(5):
            yield lambda: np.full(6, float(k))  # noqa: B023 - as it is when the function is yielded
        raise OSError("disk")

    got = []
    with pytest.raises(SourceError, match=r"feature 5 .* the generator raised OSError: disk"):
        drain(ss.features(make, Y, workers=2).columns(2), got)
    assert got == [0, 1, 2, 3, 4]


def test_a_worker_that_dies_is_an_error_and_the_stream_can_go_on(tmp_path):
    tried = tmp_path / "tried"

    def column(k):
        if k == 3 and not tried.exists():
            tried.touch()
            os._exit(1)
        return np.full(6, float(k))

    source = ss.features(range(6), Y, compute=column, workers=1)
    got = []
    with pytest.raises(
        SourceError, match=r"feature \d .* or one after it could not .*: a worker process died"
    ):
        drain(source.columns(1), got)
    assert got == list(range(len(got)))
    assert len(got) <= 3
    assert numbers(source.columns(1, {"column": len(got)})) == list(range(len(got), 6))


SCRIPT = textwrap.dedent(
    """
    import os, time
    import numpy as np
    import streamsieve as ss

    def slow(k):
        time.sleep(0.2)
        x = np.arange(20.0)
        x[0] = os.getpid()
        return x

    source = ss.features(range(10**6), np.arange(20) % 2, compute=slow, workers=2)
    for block in source.columns(1):
        print(int(block.X[0, 0]), flush=True)
    """
)


@pytest.mark.full
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_script_that_is_interrupted_or_killed_leaves_no_worker_behind(how):
    script = subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        pids = {int(script.stdout.readline()) for _ in range(6)}
        script.send_signal(how)
        _, errors = script.communicate(timeout=30)
    finally:
        script.kill()
    assert len(pids) == 2
    assert gone(pids)
    if how == signal.SIGINT:  # one traceback, not one of each worker
        assert errors.count("KeyboardInterrupt") == 1
