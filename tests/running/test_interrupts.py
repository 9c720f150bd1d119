"""Ctrl-C ends a run between two batches, with everything learnt so far in the checkpoint."""

import os
import signal
import threading

import pytest

import streamsieve as ss
from streamsieve.running.interrupts import Interrupts
from tests.running.toys import BATCH, N, Rows, assert_same_state, screen, stream_of


def ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


class Interrupted(ss.Screen):
    """Learns as a screen does, but Ctrl-C is pressed in the middle of a batch."""

    times = 1

    def _learn(self, batch):
        super()._learn(batch)
        if self.n_samples_seen_ == 700:
            for _ in range(self.times):
                ctrl_c()


def test_ctrl_c_in_the_middle_of_a_batch_waits_for_its_end(path):
    with pytest.raises(KeyboardInterrupt) as caught:
        ss.run(Rows(), Interrupted("f", k=2), checkpoint=path, every="1h", batch_size=BATCH)
    assert "holds the state after 800 rows" in caught.value.__notes__[0]
    assert stream_of(path)["rows"] == 800
    assert_same_state(Interrupted.load(path), ss.run(Rows(800), screen(), batch_size=BATCH))


def test_a_second_ctrl_c_does_not_wait_and_the_torn_state_is_not_saved(path):
    selector = Interrupted("f", k=2)
    selector.times = 2
    with pytest.raises(KeyboardInterrupt) as caught:
        ss.run(Rows(), selector, checkpoint=path, every="1h", batch_size=BATCH)
    assert not hasattr(caught.value, "__notes__")
    assert list(path.parent.iterdir()) == []


def test_ctrl_c_while_the_source_is_waited_for_comes_at_once(path):
    def before(k):
        if k == 5:
            ctrl_c()
            raise AssertionError("went on after Ctrl-C")

    with pytest.raises(KeyboardInterrupt):
        ss.run(Rows(before=before), screen(), checkpoint=path, every="1h", batch_size=BATCH)
    assert stream_of(path)["rows"] == 500
    again = ss.run(Rows(), screen(), checkpoint=path, resume=True, batch_size=BATCH)
    assert_same_state(again, ss.run(Rows(), screen(), batch_size=BATCH))


def test_the_handler_is_put_back(path):
    ss.run(Rows(), screen(), checkpoint=path)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt):
        ss.run(Rows(), Interrupted("f", k=2), checkpoint=f"{path}2", batch_size=BATCH)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_somebody_else_stays(path):
    seen = []
    previous = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        ss.run(Rows(), Interrupted("f", k=2), checkpoint=path, batch_size=BATCH)
    finally:
        signal.signal(signal.SIGINT, previous)
    assert seen == [1]
    assert stream_of(path)["rows"] == N


def test_a_run_in_another_thread_leaves_signals_alone(path):
    threads = [threading.Thread(target=ss.run, args=(Rows(), screen()), kwargs={"checkpoint": path})]
    threads[0].start()
    threads[0].join()
    assert stream_of(path)["finished"]


def test_an_error_goes_before_an_interrupt_that_waited():
    def fail():
        with Interrupts() as interrupts, interrupts.held():
            ctrl_c()
            raise ValueError("the reason")

    with pytest.raises(ValueError, match="the reason"):
        fail()
