"""Every fault of writing a checkpoint leaves a whole one, and the run that goes on from it loses nothing."""

import errno
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

import streamsieve as ss
from streamsieve.exceptions import StateError
from streamsieve.running import checkpointer
from tests.running.crashing import OUTCOMES, STEPS
from tests.running.toys import BATCH, Rows, assert_same_state, at, stream_of

ROOT = Path(__file__).resolve().parents[2]
FAULTS = {**STEPS, "torn write": STEPS["write"], "open before fsync": (os, "open", 1)}


def screen():
    return ss.Screen("mutual_info", k=2, review_every=150)


def uninterrupted():
    return ss.run(Rows(), screen(), batch_size=BATCH)


class Waiting(ThreadPoolExecutor):
    """Work is done beside the stream, but the stream waits for it, so that a test knows where it stands."""

    def submit(self, *args):
        future = super().submit(*args)
        wait([future])
        return future


@pytest.fixture
def in_step(monkeypatch):
    monkeypatch.setattr(checkpointer, "ThreadPoolExecutor", Waiting)


def failing(real, code, on_call, *, torn=False):
    calls = 0

    def call(*args, **kwargs):
        nonlocal calls
        calls += 1
        if calls != on_call:
            return real(*args, **kwargs)
        if torn:
            arrays, filename = args
            whole = save(arrays, **kwargs)
            Path(filename).write_bytes(whole[: len(whole) // 2])
        raise OSError(code, os.strerror(code))

    return call


def inject(patch, step, code):
    owner, name, on_call = FAULTS[step]
    patch.setattr(owner, name, failing(getattr(owner, name), code, on_call, torn=step == "torn write"))


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO], ids=["ENOSPC", "EIO"])
@pytest.mark.parametrize("step", FAULTS)
@pytest.mark.usefixtures("in_step")
def test_a_fault_at_any_step_of_a_checkpoint_ends_the_run_and_loses_nothing(path, monkeypatch, step, code):
    with monkeypatch.context() as patch:
        source = Rows(before=at(10, lambda: inject(patch, step, code)))  # two generations are there
        with pytest.raises(StateError, match=r"cannot write .*run\.sieve|could not be flushed") as caught:
            ss.run(source, screen(), checkpoint=path, every=4 * BATCH, batch_size=BATCH)
    # the fault was a single one: it was noticed at the next batch, which was saved all the same
    assert caught.value.__notes__ == [
        f"{path} holds the state after 1,300 rows: the same run with resume=True goes on from there"
    ]
    assert stream_of(path)["rows"] == 1_300
    assert_same_state(ss.load(path), ss.run(Rows(1_300), screen(), batch_size=BATCH))
    ss.load(f"{path}.previous")
    assert sorted(p.name for p in path.parent.iterdir()) == [path.name, f"{path.name}.previous"]
    again = ss.run(Rows(), screen(), checkpoint=path, resume=True, batch_size=BATCH)
    assert_same_state(again, uninterrupted())


@pytest.mark.usefixtures("in_step")
@pytest.mark.parametrize("step", FAULTS)
def test_a_disk_that_stays_broken_leaves_the_last_checkpoint(path, monkeypatch, step):
    owner, name, _ = FAULTS[step]

    def broken(*args, **kwargs):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def break_it():
        patch.setattr(owner, name, broken)

    with monkeypatch.context() as patch:
        source = Rows(before=at(10, break_it))
        with pytest.raises(StateError, match=r"cannot write .*run\.sieve") as caught:
            ss.run(source, screen(), checkpoint=path, every=4 * BATCH, batch_size=BATCH)
    notes = caught.value.__notes__
    assert notes[0].startswith(f"cannot write {path}")
    assert notes[1].startswith(f"{path} holds the state after 800 rows")
    assert stream_of(path)["rows"] == 800
    assert stream_of(f"{path}.previous")["rows"] in (400, 800)
    again = ss.run(Rows(), screen(), checkpoint=path, resume=True, batch_size=BATCH)
    assert_same_state(again, uninterrupted())


def test_a_fault_of_the_last_checkpoint_is_raised_though_a_second_attempt_worked(path, monkeypatch):
    source = Rows(before=at(19, lambda: inject(monkeypatch, "write", errno.ENOSPC)))
    with pytest.raises(StateError, match="No space left") as caught:
        ss.run(source, screen(), checkpoint=path, every="1h", batch_size=BATCH)
    assert "holds the state after 2,000 rows" in caught.value.__notes__[0]
    assert stream_of(path)["finished"]
    again = ss.run(Rows(), screen(), checkpoint=path, resume=True, batch_size=BATCH)
    assert_same_state(again, uninterrupted())


@pytest.mark.usefixtures("in_step")
def test_a_source_that_fails_right_after_a_checkpoint_did(path, monkeypatch):
    def fail():
        raise RuntimeError("the source is gone")

    def before(k):
        at(7, lambda: inject(monkeypatch, "write", errno.ENOSPC))(k)
        at(8, fail)(k)

    with pytest.raises(RuntimeError, match="the source is gone") as caught:
        ss.run(Rows(before=before), screen(), checkpoint=path, every=4 * BATCH, batch_size=BATCH)
    notes = caught.value.__notes__
    assert "No space left on device" in notes[0]
    assert "holds the state after 800 rows" in notes[1]
    assert_same_state(ss.load(path), ss.run(Rows(800), screen(), batch_size=BATCH))


def test_a_position_that_is_no_json_is_said(path):
    class Odd(Rows):
        def rows(self, batch_size, start=None):
            for batch in super().rows(batch_size, start):
                batch.position["row"] = np.int64(batch.position["row"])
                yield batch

    with pytest.raises(
        StateError, match=r"cannot write .*run\.sieve: a value cannot be saved: Object of type int64 is"
    ):
        ss.run(Odd(), screen(), checkpoint=path, batch_size=BATCH)
    assert list(path.parent.iterdir()) == []


def test_a_file_system_without_links_keeps_the_previous_all_the_same(path, monkeypatch):
    def link(*args):
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", link)
    selector = ss.run(Rows(), screen(), checkpoint=path, every=4 * BATCH, batch_size=BATCH)
    assert_same_state(ss.load(path), selector)
    assert stream_of(f"{path}.previous")["number"] == stream_of(path)["number"] - 1


# ------------------------------------------------------------------------------------ crashes


@pytest.fixture(scope="module")
def crashes(tmp_path_factory):
    """Processes that died before or after each step of writing a third generation."""
    folder = tmp_path_factory.mktemp("crashes")
    command = [sys.executable, "-m", "tests.running.crashing", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_a_crash_at_any_step_leaves_a_whole_checkpoint(crashes, step, when, links):
    found = crashes[f"{step}, {when}, {links}"]
    assert found in OUTCOMES
    renamed = step == "flush the folder" or (step, when) == ("rename", "after")
    assert max(number for number in found if number is not None) == (3 if renamed else 2)
    assert len(crashes) == 4 * len(STEPS)
