"""State files: they round-trip, survive every fault of a save, and are refused when anything is wrong."""

import errno
import json
import os
import struct
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save, save_file

import streamsieve as ss
from streamsieve import state
from streamsieve.criteria import WelchT
from streamsieve.exceptions import StateError
from streamsieve.protocols import Decision, Event, Reason
from streamsieve.rows import Screen
from streamsieve.state.tree import pack_texts, unpack_texts
from streamsieve.summaries import Moments
from tests.helpers import tier

HEADER = {
    "class": "Toy",
    "parameters": {"k": 3, "name": "ü\n\"'\\", "none": None},
    "attributes": {"n_": 2**60},
}
ARRAYS = {
    "a": np.array([[1.5, -0.0], [np.nan, 5e-324]]),
    "part/ints": np.array([-(2**63), 2**63 - 1]),
    "part/bytes": np.arange(256, dtype=np.uint8),
    "mask": np.array([True, False]),
    "empty": np.zeros((0, 3)),
    "f32": np.array([1, 2], np.float32),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "toy.sieve"


def assert_same_arrays(got, wanted):
    assert got.keys() == wanted.keys()
    for name, array in wanted.items():
        assert (got[name].dtype, got[name].shape) == (array.dtype, array.shape)
        assert got[name].tobytes() == array.tobytes()


# ------------------------------------------------------------------------------------ round trips


def test_header_and_arrays_round_trip_bit_for_bit(path):
    state.write(path, HEADER, ARRAYS)
    header, arrays = state.read(path)
    assert {key: header[key] for key in HEADER} == HEADER
    assert_same_arrays(arrays, ARRAYS)


def test_arrays_in_any_order_of_memory_round_trip(path):
    A = np.arange(24.0).reshape(4, 6)
    views = {"F": np.asfortranarray(A), "strided": A[::2, ::3], "reversed": A[::-1], "transposed": A.T}
    state.write(path, HEADER, views)
    for name, array in state.read(path)[1].items():
        assert np.array_equal(array, views[name])


def test_strings_round_trip():
    for strings in ([], [""], ["a", "", "äöü", "日本", "\udc80 lone surrogate", "x" * 10_000, "\0"]):
        assert unpack_texts(pack_texts(strings)) == strings


@dataclass
class Everything(state.Part):
    """A part with a field of every kind."""

    n: int
    x: float
    flag: bool
    mode: str
    notes: object
    array: np.ndarray
    names: list
    labels: list
    criterion: object
    part: object
    parts: list

    fields = {
        "n": state.Int(),
        "x": state.Float(0, 1),
        "flag": state.Bool(),
        "mode": state.Choice("a", "b"),
        "notes": state.Json(),
        "array": state.Array("i8", "n", low=0),
        "names": state.Texts("names", unique=True),
        "labels": state.Values("labels"),
        "criterion": state.Encoded(),
        "part": state.Nested(Moments),
        "parts": state.ListOf(Moments, size="parts"),
    }


def learnt():
    summary = Moments()
    summary.update(np.eye(4), np.array([0, 1, 0, 1]))
    return summary


def test_fields_of_every_kind_round_trip():
    one = Everything(
        3, 0.1, True, "b", [1, "two", None], np.arange(3), ["a", "é"], ["yes", "no"], WelchT(ddof=0),
        learnt(), [learnt(), learnt()],
    )  # fmt: skip
    again = Everything.from_state(one.state())
    for name in ("n", "x", "flag", "mode", "notes", "names", "labels", "criterion"):
        assert getattr(again, name) == getattr(one, name)
    assert np.array_equal(again.array, one.array)
    assert len(again.parts) == 2
    assert_same_arrays(again.part.state(), one.part.state())


@pytest.mark.parametrize("forged", ['{"k": 1}', "3", '"f"'])
def test_an_object_of_a_state_has_the_methods_that_will_be_called(forged):
    X, y = np.random.default_rng(0).normal(size=(40, 6)), np.arange(40) % 2
    sieve = ss.TopK(k=3, measure="basis").fit(X, y)
    header, arrays = state.from_bytes(sieve.to_bytes())
    (name,) = [name for name in arrays if name.endswith("/measure") and "test" not in name]
    arrays[name] = np.frombuffer(forged.encode(), np.uint8)
    with pytest.raises(StateError, match="should be an object with a method dependence"):
        ss.from_bytes(state.to_bytes(header, arrays))


def test_what_cannot_be_saved_is_named():
    with pytest.raises(
        StateError, match=r"x=\{1\} cannot be saved; numbers, text and registered objects can"
    ):
        state.encode("x", {1})

    @dataclass
    class Unregistered:
        n: int = 1

    with pytest.raises(StateError, match="x is a Unregistered, which is not registered"):
        state.encode("x", Unregistered())


def test_a_saved_file_has_the_usual_permissions(path):
    before = os.umask(0o027)
    try:
        state.write(path, HEADER, ARRAYS)
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o640


def test_the_file_is_a_plain_safetensors_file_without_pickle(path):
    state.write(path, HEADER, ARRAYS)
    raw = path.read_bytes()
    length = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8 : 8 + length])
    assert set(header) == {"__metadata__", *ARRAYS}
    assert set(header["__metadata__"]) == {"sieve", "sha256"}
    assert b"\x80\x04" not in raw[: 8 + length]


# ------------------------------------------------------------------------------------ faults of a save


def torn_save(arrays, filename, metadata=None):
    """Write half of the file, as a full disk does."""
    whole = save(arrays, metadata=metadata)
    Path(filename).write_bytes(whole[: len(whole) // 2])
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def failing(code, on_call=1):
    """Return a function that fails the n-th time it is called, and works before."""
    calls = 0

    def wrap(real):
        def call(*args, **kwargs):
            nonlocal calls
            calls += 1
            if calls == on_call:
                raise OSError(code, os.strerror(code))
            return real(*args, **kwargs)

        return call

    return wrap


def inject(monkeypatch, step, code):
    if step == "torn write":
        monkeypatch.setattr("safetensors.numpy.save_file", torn_save)
        return
    owner, name, real = {
        "make the temporary file": (Path, "open", Path.open),
        "write": ("safetensors.numpy", "save_file", save_file),
        "permissions": (Path, "chmod", Path.chmod),
        "open before fsync": (os, "open", os.open),
        "fsync": (os, "fsync", os.fsync),
        "rename": (os, "replace", os.replace),
    }[step]
    replacement = failing(code)(real)
    if isinstance(owner, str):
        monkeypatch.setattr(f"{owner}.{name}", replacement)
    else:
        monkeypatch.setattr(owner, name, replacement)


STEPS = [
    "make the temporary file",
    "write",
    "torn write",
    "permissions",
    "open before fsync",
    "fsync",
    "rename",
]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO], ids=["ENOSPC", "EIO"])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("existing", [True, False])
def test_a_fault_at_any_step_leaves_the_previous_file_and_nothing_else(
    path, monkeypatch, step, code, existing
):
    if existing:
        state.write(path, HEADER, ARRAYS)
    with monkeypatch.context() as patched:
        inject(patched, step, code)
        with pytest.raises(StateError, match=f"cannot write {path}"):
            state.write(path, {"class": "New"}, {"new": np.zeros(1000)})
    assert list(path.parent.iterdir()) == ([path] if existing else [])
    if existing:
        header, arrays = state.read(path)
        assert header["class"] == "Toy"
        assert_same_arrays(arrays, ARRAYS)
    state.write(path, {"class": "New"}, {"new": np.zeros(1000)})  # and the next save is fine
    assert state.read(path)[0]["class"] == "New"


def test_a_fault_after_the_rename_leaves_the_new_file(path, monkeypatch):
    state.write(path, HEADER, ARRAYS)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", failing(errno.EIO, on_call=2)(os.fsync))  # the folder's
        with pytest.raises((OSError, StateError)):
            state.write(path, {"class": "New"}, {})
    assert state.read(path)[0]["class"] == "New"
    assert list(path.parent.iterdir()) == [path]


def test_an_interrupted_save_leaves_the_previous_file_and_stays_an_interrupt(path, monkeypatch):
    state.write(path, HEADER, ARRAYS)

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            state.write(path, {"class": "New"}, {})
    assert state.read(path)[0]["class"] == "Toy"
    assert list(path.parent.iterdir()) == [path]


def test_the_bytes_reach_the_disk_before_the_name_and_the_name_before_the_end(path, monkeypatch):
    events = []

    def noting(event, real):
        def call(*args, **kwargs):
            events.append(event)
            return real(*args, **kwargs)

        return call

    monkeypatch.setattr("safetensors.numpy.save_file", noting("write", save_file))
    monkeypatch.setattr(os, "fsync", noting("fsync", os.fsync))
    monkeypatch.setattr(os, "replace", noting("rename", os.replace))
    state.write(path, HEADER, ARRAYS)
    assert events == ["write", "fsync", "rename", "fsync"]


# ------------------------------------------------------------------------------------ two generations


def generation(path):
    return state.read(path)[0]["class"]


@pytest.fixture
def previous(path):
    return path.with_name("toy.sieve.previous")


def write_three(path, previous):
    for name in ("One", "Two", "Three"):
        state.write(path, {"class": name}, ARRAYS, previous=previous)


def test_the_file_that_is_replaced_keeps_a_second_name(path, previous):
    state.write(path, {"class": "One"}, ARRAYS, previous=previous)
    assert list(path.parent.iterdir()) == [path]
    write_three(path, previous)
    assert (generation(path), generation(previous)) == ("Three", "Two")
    assert sorted(path.parent.iterdir()) == [path, previous]


def test_two_names_of_one_file_are_no_obstacle(path, previous):
    """A crash between the link and the rename leaves them, and renaming one to the other does nothing."""
    write_three(path, previous)
    previous.unlink()
    os.link(path, previous)
    state.write(path, {"class": "Four"}, ARRAYS, previous=previous)
    assert (generation(path), generation(previous)) == ("Four", "Three")
    assert sorted(path.parent.iterdir()) == [path, previous]


@pytest.mark.parametrize("code", [errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK])
def test_a_file_system_without_links_keeps_it_too(path, previous, monkeypatch, code):
    monkeypatch.setattr(os, "link", failing(code)(os.link))
    write_three(path, previous)
    assert (generation(path), generation(previous)) == ("Three", "Two")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO], ids=["ENOSPC", "EIO"])
@pytest.mark.parametrize(("name", "on_call"), [("link", 1), ("replace", 1), ("replace", 2), ("fsync", 1)])
def test_a_fault_leaves_both_generations_whole(path, previous, monkeypatch, name, on_call, code):
    write_three(path, previous)
    with monkeypatch.context() as patched:
        patched.setattr(os, name, failing(code, on_call)(getattr(os, name)))
        with pytest.raises(StateError, match=f"cannot write {path}"):
            state.write(path, {"class": "Four"}, ARRAYS, previous=previous)
    assert generation(path) == "Three"
    assert generation(previous) in {"Two", "Three"}
    assert sorted(path.parent.iterdir()) == [path, previous]
    state.write(path, {"class": "Five"}, ARRAYS, previous=previous)
    assert (generation(path), generation(previous)) == ("Five", "Three")


def test_only_what_a_write_left_behind_is_swept(path):
    state.write(path, HEADER, ARRAYS)
    mine = [".other.sieve.0123456789abcdef", ".toy.sieve.0123456789abcdeg", ".toy.sieve.txt", "toy.sieve.bak"]
    for name in (*mine, ".toy.sieve.0123456789abcdef", ".toy.sieve.fedcba9876543210"):
        path.with_name(name).write_bytes(b"half")
    killed = path.with_name(".toy.sieve.0011223344556677")
    killed.mkdir()
    (killed / ".tmpK3NKhQ").write_bytes(b"half")
    state.sweep(path)
    assert sorted(p.name for p in path.parent.iterdir()) == sorted([*mine, path.name])


def test_what_is_not_as_a_write_leaves_it_is_not_swept(path, tmp_path_factory):
    state.write(path, HEADER, ARRAYS)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "data.csv").write_text("years of work")
    path.with_name(".toy.sieve.0000000000000001").symlink_to(elsewhere)
    path.with_name(".toy.sieve.0000000000000002").symlink_to(elsewhere / "data.csv")
    folder = path.with_name(".toy.sieve.0000000000000003")
    (folder / "photos").mkdir(parents=True)
    many = path.with_name(".toy.sieve.0000000000000004")
    many.mkdir()
    for name in "abc":
        (many / name).write_text("mine")
    before = sorted(path.parent.rglob("*"))
    state.sweep(path)
    assert sorted(path.parent.rglob("*")) == before
    assert (elsewhere / "data.csv").read_text() == "years of work"


def test_a_save_removes_what_a_killed_one_left_an_hour_ago(path):
    sieve = Screen("f", k=1).fit(np.arange(8.0).reshape(4, 2) % 3, [0, 1, 0, 1])
    old, new = path.with_name(".toy.sieve.0011223344556677"), path.with_name(".toy.sieve.8899aabbccddeeff")
    for left in (old, new):
        left.mkdir()
        (left / ".tmpK3NKhQ").write_bytes(b"half")
    for each in (old / ".tmpK3NKhQ", old):
        os.utime(each, (time.time() - 2 * state.STALE,) * 2)
    sieve.save(path)
    assert sorted(path.parent.iterdir()) == [new, path]  # another process may be writing the newer one
    os.utime(new, (time.time() - 2 * state.STALE,) * 2)
    sieve.save(path)
    assert sorted(path.parent.iterdir()) == [new, path]  # its file is new
    os.utime(new / ".tmpK3NKhQ", (time.time() - 2 * state.STALE,) * 2)
    sieve.save(path)
    assert sorted(path.parent.iterdir()) == [path]


def test_a_file_that_safetensors_writes_first_is_found_again(path, monkeypatch):
    def dying(_arrays, filename, metadata=None):
        Path(filename).with_name(".tmpK3NKhQ").write_bytes(b"half")
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr("safetensors.numpy.save_file", dying)
    with pytest.raises(StateError, match="cannot write"):
        state.write(path, HEADER, ARRAYS)
    assert list(path.parent.iterdir()) == []


def test_the_header_can_be_read_alone(path):
    state.write(path, HEADER, ARRAYS)
    header = state.read_header(path)
    assert header == state.read(path)[0]
    written = datetime.fromisoformat(header["written"])
    assert abs((datetime.now(UTC) - written).total_seconds()) < 60
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(StateError, match="is not a readable state file"):
        state.read_header(path)
    with pytest.raises(StateError, match="there is no state file"):
        state.read_header(path.with_name("nowhere"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_device_or_a_pipe_is_not_replaced_by_a_file(tmp_path):
    pipe = tmp_path / "null"
    os.mkfifo(pipe)
    with pytest.raises(StateError, match="null is a device, FIFO or socket"):
        state.write(pipe, {}, {"a": np.zeros(1)})
    with pytest.raises(StateError, match="null is a device, FIFO or socket"), state.replacing(pipe):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["null"]
    assert pipe.is_fifo()


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(StateError, match=r"cannot write .*nowhere/toy\.sieve: No such file or directory"):
        state.write(tmp_path / "nowhere" / "toy.sieve", HEADER, ARRAYS)


def test_a_text_file_is_replaced_only_when_complete(tmp_path):
    path = tmp_path / "ledger.csv"
    path.write_text("before")

    def break_off():
        with state.replacing(path) as file:
            file.write("half")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        break_off()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
    with state.replacing(path) as file:
        file.write("whole")
    assert path.read_text() == "whole"


# ------------------------------------------------------------------------------------ damage


def small_file(path):
    state.write(path, {"class": "Toy"}, {"a": np.array([1.0, 2.0]), "b": np.array([3], np.int64)})
    return path.read_bytes()


def fitted_file(path):
    screen = Screen(k=1).fit(np.array([[0.0, 1.0], [1.0, 5.0], [0.5, 2.0]]), [0, 1, 0])
    screen.get_support()
    screen.save(path)
    return path.read_bytes()


def test_every_single_flipped_bit_is_noticed(path):
    raw = small_file(path)
    state.read(path)
    for bit in range(0, 8 * len(raw), 1 if tier.FULL else 7):
        damaged = bytearray(raw)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        with pytest.raises(StateError):
            state.read(path)


def test_flipped_bits_all_over_a_fitted_screen_are_noticed(path):
    raw = fitted_file(path)
    Screen.load(path)
    for place in range(0, len(raw), 3 if tier.FULL else 17):
        damaged = bytearray(raw)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        with pytest.raises(StateError):
            Screen.load(path)


def test_a_file_cut_off_or_drawn_out_at_any_length_is_noticed(path):
    raw = small_file(path)
    for length in range(len(raw)):
        path.write_bytes(raw[:length])
        with pytest.raises(StateError):
            state.read(path)
    for more in (b"\0", b" ", b"\0" * 8, raw):
        path.write_bytes(raw + more)
        with pytest.raises(StateError):
            state.read(path)


def test_no_pair_of_bytes_may_be_swapped(path):
    raw = small_file(path)
    header = 8 + struct.unpack("<Q", raw[:8])[0]
    blank = len(raw[:header].rstrip()) - 1  # "}" and the blanks that fill the header up: they mean nothing
    for place in range(len(raw) - 1):
        if raw[place] != raw[place + 1] and place != blank:
            swapped = bytearray(raw)
            swapped[place], swapped[place + 1] = raw[place + 1], raw[place]
            path.write_bytes(swapped)
            with pytest.raises(StateError):
                state.read(path)


def test_what_was_loaded_can_be_written_to(path):
    fitted_file(path)
    screen = Screen.load(path)
    screen.partial_fit(np.array([[1.0, 2.0]]), [1])
    screen.ledger_.note(Decision(9, "x", Event.KEPT, Reason.RELEVANT, 1.0, 0.5))
    assert screen.n_samples_seen_ == 4


# ------------------------------------------------------------------------------------ untouched on error


def test_attributes_are_put_back_when_the_body_raises():
    class Thing:
        pass

    thing = Thing()
    thing.a = 1

    def change_and_fail():
        with state.untouched_on_error(thing, None):
            thing.a, thing.b = 2, 3
            raise ValueError

    with pytest.raises(ValueError):
        change_and_fail()
    assert vars(thing) == {"a": 1}
    with state.untouched_on_error(thing):
        thing.a = 2
    assert thing.a == 2
