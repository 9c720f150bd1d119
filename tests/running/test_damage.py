"""Damaged checkpoints are refused with the way out, and the previous generation still loads."""

import numpy as np
import pytest

import streamsieve as ss
from streamsieve.exceptions import StateError
from tests.running.toys import BATCH, N, Rows, assert_same_state, screen, stream_of


@pytest.fixture
def path(tmp_path):
    """A checkpoint after 2,000 rows, with a previous generation after some of them."""
    path = tmp_path / "run.sieve"
    # one checkpoint on the way: a second could be put off to the very end, if writing the first takes long
    ss.run(Rows(), screen(), checkpoint=path, every=N - 5 * BATCH, batch_size=BATCH)
    return path


def resume(path):
    return ss.run(Rows(), screen(), checkpoint=path, resume=True, batch_size=BATCH)


def cut(raw):
    return raw[: len(raw) // 2]


def flip(raw):
    damaged = bytearray(raw)
    damaged[-100] ^= 4
    return bytes(damaged)


DAMAGE = {"cut off": cut, "a flipped bit": flip, "empty": lambda _: b"", "text": lambda _: b"hello" * 100}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_checkpoint_is_refused_and_the_previous_goes_on(path, damage):
    path.write_bytes(damage(path.read_bytes()))
    previous = path.with_name("run.sieve.previous")
    rows = stream_of(previous)["rows"]
    assert 0 < rows < N
    with pytest.raises(
        StateError, match=rf"run\.sieve .*previous holds the state after {rows:,} rows; "
    ) as caught:
        resume(path)
    assert f"(mv '{previous}' '{path}')" in str(caught.value)
    with pytest.raises(StateError, match="is there already"):
        ss.run(Rows(), screen(), checkpoint=path)
    previous.replace(path)  # as the message says
    assert_same_state(resume(path), ss.run(Rows(), screen(), batch_size=BATCH))


def test_damage_anywhere_is_noticed(path):
    raw = path.read_bytes()
    for place in range(0, len(raw), 97):
        damaged = bytearray(raw)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        with pytest.raises(StateError, match=r"previous holds the state after"):
            resume(path)


def test_both_generations_damaged_is_said(path):
    previous = path.with_name("run.sieve.previous")
    path.write_bytes(flip(path.read_bytes()))
    previous.write_bytes(cut(previous.read_bytes()))
    with pytest.raises(StateError, match=r"is damaged.*previous cannot be used either \(.*not a readable"):
        resume(path)
    previous.unlink()
    with pytest.raises(
        StateError, match=r"is damaged.*There is no .*previous either: delete it to start again"
    ):
        resume(path)


@pytest.mark.parametrize("name", ["run.sieve.previous", ".run.sieve.lock"])
def test_a_file_of_the_user_beside_a_checkpoint_stays(path, name):
    beside = path.with_name(name)
    beside.unlink(missing_ok=True)
    beside.write_text("letters of my grandmother")
    before = path.read_bytes()
    with pytest.raises(StateError, match=rf"{name}, .*: move it away"):
        resume(path)
    assert beside.read_text() == "letters of my grandmother"
    assert path.read_bytes() == before


def test_the_previous_serves_where_the_checkpoint_is_gone(path):
    path.unlink()
    assert_same_state(resume(path), ss.run(Rows(), screen(), batch_size=BATCH))
    assert stream_of(path)["rows"] == N


def test_a_damaged_previous_alone_is_refused(path):
    path.unlink()
    previous = path.with_name("run.sieve.previous")
    previous.write_bytes(flip(previous.read_bytes()))
    with pytest.raises(StateError, match=r"run\.sieve\.previous is damaged"):
        resume(path)


def test_nothing_is_learnt_or_written_by_a_refusal(path):
    path.write_bytes(flip(path.read_bytes()))
    before = {p.name: p.read_bytes() for p in path.parent.iterdir()}
    selector = screen()
    with pytest.raises(StateError):
        ss.run(Rows(), selector, checkpoint=path, resume=True)
    assert not hasattr(selector, "n_samples_seen_")
    assert {p.name: p.read_bytes() for p in path.parent.iterdir()} == before


def test_a_state_that_does_not_fit_is_refused_though_its_checksum_is_right(path):
    from streamsieve import state

    header, arrays = state.read(path)
    state.write(path, header, {**arrays, "summary_/cells/mean": np.zeros((2, 9))})
    with pytest.raises(StateError, match="summary_/cells/m2 should be float64"):
        resume(path)
