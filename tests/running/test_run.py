"""Runs learn the whole stream, keep it in a checkpoint, and go on from there."""

import threading
import time

import numpy as np
import pytest

import streamsieve as ss
from streamsieve import state
from streamsieve.exceptions import CapabilityError, ParameterError, SourceError, StateError, TargetError
from streamsieve.protocols import Traits
from streamsieve.running import checkpointer
from streamsieve.state.tree import pack_texts
from tests.running.toys import BATCH, N, Rows, Stop, assert_same_state, screen, stopping_at, stream_of

SELECTORS = {
    "moments": lambda: ss.Screen("f", k=2),
    "moments that fade": lambda: ss.Screen("fisher", k=2, half_life=300),
    "quantiles with a ledger": lambda: ss.Screen("mutual_info", k=2, review_every=150),
    "a window": lambda: ss.Screen("f", k=2, window=333, review_every=150),
    "drift": lambda: ss.Screen("f", k=2, on_drift="reset", drift_every=150),
}


@pytest.fixture(params=SELECTORS)
def make(request):
    return SELECTORS[request.param]


def learnt(make, source=None):
    selector = make()
    for batch in (source or Rows()).rows(BATCH):
        selector.learn(batch)
    return selector


def stopped(path, number=7, make=screen, **more):
    """Run until a batch, as if the process had died then."""
    with pytest.raises(Stop):
        ss.run(Rows(before=stopping_at(number)), make(), checkpoint=path, batch_size=BATCH, **more)


def resume(path, make=screen, source=None, **more):
    return ss.run(source or Rows(), make(), checkpoint=path, resume=True, **{"batch_size": BATCH, **more})


# ------------------------------------------------------------------------------------ to the end


def test_a_run_is_the_loop_over_batches(make):
    selector = make()
    assert ss.run(Rows(), selector, batch_size=BATCH) is selector
    assert_same_state(selector, learnt(make))


def test_a_run_with_a_checkpoint_is_the_loop_over_batches(make, path):
    selector = ss.run(Rows(), make(), checkpoint=path, every=BATCH, batch_size=BATCH)
    assert_same_state(selector, learnt(make))
    assert_same_state(ss.load(path), selector)


def test_a_checkpoint_is_an_ordinary_state_file_with_the_place_in_the_stream(path):
    ss.run(Rows(), screen(), checkpoint=path, every=4 * BATCH, batch_size=BATCH)
    stream = stream_of(path)
    assert stream == {
        "identity": {"kind": "Rows", "seed": 0, "rows": N}, "batch_size": BATCH, "position": {"row": N},
        "rows": N, "number": stream["number"], "finished": True, "digest": None,
    }  # fmt: skip
    assert 2 <= stream["number"] <= 6
    before = stream_of(f"{path}.previous")
    assert (before["number"], before["finished"]) == (stream["number"] - 1, False)
    assert before["rows"] % BATCH == 0
    assert ss.load(f"{path}.previous").n_samples_seen_ == before["rows"]
    assert sorted(p.name for p in path.parent.iterdir()) == [path.name, f"{path.name}.previous"]


def test_names_and_progress(path):
    seen = []
    names = list("abcde")
    ss.run(Rows(names=names), screen(), checkpoint=path, every=300, batch_size=300, progress=seen.append)
    assert seen == [300] * 6 + [200]
    assert ss.load(path).get_feature_names_out().tolist() == ["b", "d"]


def test_names_are_packed_once(path, monkeypatch):
    packed = []

    def pack(names):
        packed.append(names)
        return pack_texts(names)

    monkeypatch.setattr(checkpointer, "pack_texts", pack)
    ss.run(Rows(names=list("abcde")), screen(), checkpoint=path, every=BATCH, batch_size=BATCH)
    assert packed == [list("abcde")]
    assert stream_of(path)["number"] > 1


def test_a_fitted_selector_goes_on(path):
    X, y = Rows(seed=7).X, Rows(seed=7).y
    selector = screen().partial_fit(X, y)
    ss.run(Rows(), selector, checkpoint=path, batch_size=BATCH)
    assert selector.n_samples_seen_ == 2 * N
    assert stream_of(path)["rows"] == N
    expected = screen().partial_fit(X, y)
    for batch in Rows().rows(BATCH):
        expected.learn(batch)
    assert_same_state(ss.load(path), expected)


# ------------------------------------------------------------------------------------ resuming


@pytest.mark.parametrize("number", [1, 2, 7, 19])
def test_a_resumed_run_equals_an_uninterrupted_one(make, path, number):
    stopped(path, number, make, every=3 * BATCH)
    assert stream_of(path)["rows"] == number * BATCH
    selector, seen = make(), []
    again = ss.run(Rows(), selector, checkpoint=path, resume=True, batch_size=BATCH, progress=seen.append)
    assert again is selector
    assert seen == [number * BATCH] + [BATCH] * (20 - number)
    assert_same_state(selector, learnt(make))
    assert_same_state(ss.load(path), selector)


def test_resuming_where_there_is_nothing_begins(path):
    selector = resume(path)
    assert_same_state(selector, learnt(screen))


def test_resuming_a_finished_run_changes_nothing(path):
    ss.run(Rows(), screen(), checkpoint=path, batch_size=BATCH)
    before = path.read_bytes()
    selector = resume(path)
    assert path.read_bytes() == before
    assert_same_state(selector, learnt(screen))


def test_a_stream_that_has_grown_goes_on(path):
    ss.run(Rows(1_000), screen(), checkpoint=path, batch_size=BATCH)
    selector = resume(path)
    assert_same_state(selector, learnt(screen))
    assert stream_of(path)["identity"]["rows"] == N


def test_another_batch_size_may_resume_where_chunks_do_not_matter(path):
    stopped(path)
    selector = resume(path, batch_size=77)
    assert selector.n_samples_seen_ == N
    np.testing.assert_allclose(selector.scores_, learnt(screen).scores_, rtol=1e-12)


def test_another_batch_size_is_refused_where_chunks_matter(path, monkeypatch):
    monkeypatch.setattr(ss.Screen, "traits", Traits(any_chunking=False))
    stopped(path)
    with pytest.raises(ParameterError, match="made with batch_size=100: resume with that, not with 77"):
        resume(path, batch_size=77)
    assert resume(path).n_samples_seen_ == N


def test_the_checkpoint_wins_over_what_the_selector_had_learnt(path):
    """The same program twice: it loads yesterday's selector, runs, and is killed; then it is run again."""
    yesterday = Rows(seed=7)

    def begin():
        return screen().partial_fit(yesterday.X, yesterday.y)

    stopped(path, make=begin)
    selector = ss.run(Rows(), begin(), checkpoint=path, resume=True, batch_size=BATCH)
    assert_same_state(selector, ss.run(Rows(), begin(), batch_size=BATCH))


# ------------------------------------------------------------------------------------ what does not fit


def test_an_existing_checkpoint_is_not_overwritten(path):
    ss.run(Rows(), screen(), checkpoint=path, every=BATCH, batch_size=BATCH)
    before = path.read_bytes()
    with pytest.raises(StateError, match=r"run\.sieve is there already: resume .* or delete .*previous"):
        ss.run(Rows(), screen(), checkpoint=path)
    assert path.read_bytes() == before
    path.unlink()
    with pytest.raises(StateError, match=r"run\.sieve\.previous is there already"):
        ss.run(Rows(), screen(), checkpoint=path)
    assert [p.name for p in path.parent.iterdir()] == [f"{path.name}.previous"]


def test_another_stream_is_refused_and_nothing_is_changed(path):
    ss.run(Rows(), screen(), checkpoint=path, batch_size=BATCH)
    before, selector = path.read_bytes(), screen()
    for other in (Rows(seed=1), Rows(1_000)):
        with pytest.raises(SourceError, match=r"cannot resume from .*run\.sieve: the rows are others"):
            ss.run(other, selector, checkpoint=path, resume=True)
    assert path.read_bytes() == before
    assert not hasattr(selector, "n_samples_seen_")


def test_other_parameters_are_refused_by_name_and_value(path):
    ss.run(Rows(), ss.Screen("f", k=2), checkpoint=path)
    with pytest.raises(StateError, match=r'\(criterion is "f" there and "t" here, k is 2 there and 3 here\)'):
        ss.run(Rows(), ss.Screen("t", k=3), checkpoint=path, resume=True)


def rewritten(path, header=None, **stream):
    """Change what the header of a checkpoint says."""
    found, arrays = state.read(path)
    state.write(path, {**found, **(header or {"stream": {**found["stream"], **stream}})}, arrays)


def test_another_class_is_refused(path):
    ss.run(Rows(), screen(), checkpoint=path)
    rewritten(path, {"class": "OFS"})
    with pytest.raises(StateError, match="is the checkpoint of a OFS, not of a Screen"):
        resume(path)


def test_a_saved_selector_is_no_checkpoint(path):
    learnt(screen).save(path)
    with pytest.raises(StateError, match="holds a selector, but no place in a stream"):
        resume(path)


@pytest.mark.parametrize(
    "changed",
    [{"rows": -1}, {"rows": "7"}, {"rows": True}, {"position": None}, {"position": [1]}, {"identity": 3},
     {"batch_size": 0}, {"number": -1}, {"finished": 1}, {"digest": 7}, {"header": {"stream": 7}},
     {"header": {"stream": {}}}],
)  # fmt: skip
def test_a_place_that_makes_no_sense_is_refused(path, changed):
    ss.run(Rows(), screen(), checkpoint=path)
    rewritten(path, **changed)
    with pytest.raises(StateError, match="does not record its position in the stream"):
        resume(path)


def test_a_position_of_another_kind_of_source_is_refused(path):
    ss.run(Rows(), screen(), checkpoint=path)
    source = ss.open(Rows().X, target=Rows().y)
    rewritten(path, identity=source.identity(), position={"byte": 3})
    with pytest.raises(SourceError, match="start must be the position of a batch"):
        resume(path, source=source)


@pytest.mark.parametrize("every", ["", "10", "s", "10 days", "-1s", "0s", 0, -5, 2.5, True, None, "1e3s"])
def test_an_every_that_says_nothing_is_refused(path, every):
    with pytest.raises(ParameterError, match="every must be a time such as '10s'"):
        ss.run(Rows(), screen(), checkpoint=path, every=every)


@pytest.mark.parametrize("every", ["10s", "500ms", "2min", "1h", "0.5s", " 1 s ", 7, np.int64(7)])
def test_times_and_numbers_of_rows(path, every):
    ss.run(Rows(300), screen(), checkpoint=path, every=every)
    assert stream_of(path)["finished"]


def test_bad_calls_are_refused_before_anything_happens(path, tmp_path):
    X, y = Rows().X, Rows().y
    source = Rows()
    for bad in (X, [1], None):
        with pytest.raises(SourceError, match=r"run needs a source of rows, got .* use streamsieve\.open"):
            ss.run(bad, screen())
    with pytest.raises(CapabilityError, match="into a selector over rows or columns, got Stop"):
        ss.run(source, ss.Stop())
    with pytest.raises(CapabilityError, match=r"got the class Screen: pass Screen\(\)"):
        ss.run(source, ss.Screen)
    for option in ("block_size", "start"):
        with pytest.raises(ParameterError, match=f"{option} is about columns, and Screen streams rows"):
            ss.run(source, screen(), **{option: 7})
    with pytest.raises(ParameterError, match="resume=True goes on from a checkpoint"):
        ss.run(source, screen(), resume=True)
    for size in (0, 2.5, "7"):
        with pytest.raises(ParameterError, match="batch_size must be a whole number"):
            ss.run(source, screen(), batch_size=size, checkpoint=path)
    with pytest.raises(ParameterError, match="is a folder"):
        ss.run(source, screen(), checkpoint=tmp_path)
    with pytest.raises(ParameterError, match="for the checkpoint does not exist: make it first"):
        ss.run(source, screen(), checkpoint=tmp_path / "nowhere" / "run.sieve")
    assert list(tmp_path.iterdir()) == []
    assert ss.run(ss.open(X, target=y), screen()).n_samples_seen_ == N


def test_a_source_without_an_identity_runs_but_has_no_checkpoint(path):
    class Plain:
        n_rows = N
        names = None

        def rows(self, batch_size, start=None):
            return Rows().rows(batch_size, start)

    assert ss.run(Plain(), screen()).n_samples_seen_ == N
    with pytest.raises(CapabilityError, match="a Plain cannot be resumed: a source needs identity"):
        ss.run(Plain(), screen(), checkpoint=path)


# ------------------------------------------------------------------------------------ errors on the way


def test_an_error_of_the_source_saves_the_last_batch_and_says_where(path):
    with pytest.raises(Stop) as caught:
        ss.run(Rows(before=stopping_at(7)), screen(), checkpoint=path, every="1h", batch_size=BATCH)
    assert caught.value.__notes__ == [
        f"{path} holds the state after 700 rows: the same run with resume=True goes on from there"
    ]
    assert_same_state(ss.load(path), learnt(screen, Rows(700)))


def test_rows_that_are_refused_leave_the_batch_before(path):
    source = Rows()
    source.X[1_234, 2] = np.inf
    with pytest.raises(ValueError, match="inf"):
        ss.run(source, screen(), checkpoint=path, every="1h", batch_size=BATCH)
    assert stream_of(path)["rows"] == 1_200
    assert_same_state(ss.load(path), learnt(screen, Rows(1_200)))
    assert resume(path).n_samples_seen_ == N


def test_an_error_that_is_no_refusal_leaves_the_last_checkpoint(path, monkeypatch):
    """A crash in the middle of learning leaves an unknown state, which is not written."""
    selector = screen()
    real, calls = selector.learn, 0

    def learn(batch):
        nonlocal calls
        real(batch)
        calls += 1
        if calls == 9:
            raise MemoryError

    selector.learn = learn
    with pytest.raises(MemoryError):
        ss.run(Rows(), selector, checkpoint=path, every=4 * BATCH, batch_size=BATCH)
    assert stream_of(path)["rows"] in (400, 800)
    again = resume(path)
    assert_same_state(again, learnt(screen))


def test_an_error_of_progress_saves_its_batch(path):
    def progress(_):
        raise Stop

    with pytest.raises(Stop):
        ss.run(Rows(), screen(), checkpoint=path, batch_size=BATCH, progress=progress)
    assert stream_of(path)["rows"] == BATCH


def test_an_error_before_the_first_batch_leaves_no_file(path):
    with pytest.raises(Stop) as caught:
        ss.run(Rows(before=stopping_at(0)), screen(), checkpoint=path)
    assert not hasattr(caught.value, "__notes__")
    with pytest.raises(ParameterError):
        ss.run(Rows(), ss.Screen("f", k=0), checkpoint=path)
    with pytest.raises(TargetError):
        ss.run(ss.open(Rows().X, target=np.arange(N) % 3), ss.Screen("t"), checkpoint=path)
    assert list(path.parent.iterdir()) == []


# ------------------------------------------------------------------------------------ beside the stream


def slowly(monkeypatch, started, go_on):
    """Let the first checkpoint wait for ``go_on``."""
    real = checkpointer.CheckpointFile.write

    def write(self, header, arrays):
        if not started.is_set():
            started.set()
            assert go_on.wait(30)
        real(self, header, arrays)

    monkeypatch.setattr(checkpointer.CheckpointFile, "write", write)


def test_what_is_learnt_while_a_checkpoint_is_written_does_not_get_into_it(make, path, monkeypatch):
    started, go_on = threading.Event(), threading.Event()
    slowly(monkeypatch, started, go_on)
    done = []

    def progress(n):
        done.append(n)
        if len(done) == 15:
            assert started.is_set()
            go_on.set()

    source = Rows(before=stopping_at(16))
    with pytest.raises(Stop):
        ss.run(source, make(), checkpoint=path, every=5 * BATCH, batch_size=BATCH, progress=progress)
    first = stream_of(f"{path}.previous")
    assert (first["number"], first["rows"]) == (1, 5 * BATCH)
    assert_same_state(ss.load(f"{path}.previous"), learnt(make, Rows(500)))
    assert_same_state(ss.load(path), learnt(make, Rows(stream_of(path)["rows"])))


def test_there_is_never_more_than_one_copy(path, monkeypatch):
    started, go_on = threading.Event(), threading.Event()
    slowly(monkeypatch, started, go_on)
    taken = []
    real = checkpointer.Copies.of

    def of(self, arrays):
        taken.append(1)
        return real(self, arrays)

    monkeypatch.setattr(checkpointer.Copies, "of", of)
    done = []

    def progress(n):
        done.append(n)
        if len(done) == 18:
            assert len(taken) == 1  # all the others were put off
            go_on.set()

    ss.run(Rows(), screen(), checkpoint=path, every=BATCH, batch_size=BATCH, progress=progress)
    assert stream_of(path)["rows"] == N
    assert stream_of(path)["number"] <= 4


def test_copies_are_equal_and_stay_so_whatever_the_arrays():
    rng = np.random.default_rng(0)
    copies = checkpointer.Copies()
    for round_ in range(20):
        live = {
            "f": rng.normal(size=(int(rng.integers(0, 50)), 3)),
            "flag": rng.random(int(rng.integers(0, 9))) < 0.5,
            "transposed": rng.integers(-5, 5, (4, 7)).T,
            "strided": rng.normal(size=40).astype(np.float32)[::3],
            "number": np.array(7 + round_),
            "bytes": rng.integers(0, 256, int(rng.integers(0, 200))).astype(np.uint8),
        }
        wanted = {name: array.copy() for name, array in live.items()}
        arrays = dict(live)
        got = copies.of(arrays)
        assert arrays == {}
        for array in live.values():
            array[...] = 0
        assert got.keys() == wanted.keys()
        for name, array in got.items():
            assert array.dtype == wanted[name].dtype
            assert array.flags.aligned
            assert array.flags.c_contiguous
            np.testing.assert_array_equal(array, wanted[name])


def test_large_states_are_written_without_a_copy(make, path, monkeypatch):
    monkeypatch.setattr(checkpointer, "COPIED_AT_MOST", 0)
    monkeypatch.setattr(checkpointer.Copies, "of", None)
    selector = ss.run(Rows(), make(), checkpoint=path, every=4 * BATCH, batch_size=BATCH)
    assert stream_of(path)["number"] == 6
    assert_same_state(ss.load(path), selector)
    assert_same_state(ss.load(f"{path}.previous"), selector)


def test_time_between_checkpoints(path):
    def progress(_):
        time.sleep(0.01)

    started = time.monotonic()
    ss.run(Rows(), screen(), checkpoint=path, every="60ms", batch_size=BATCH, progress=progress)
    assert 2 <= stream_of(path)["number"] <= (time.monotonic() - started) / 0.06 + 1
    ss.run(Rows(), screen(), checkpoint=f"{path}2", every="1h", batch_size=BATCH)
    assert stream_of(f"{path}2")["number"] == 1


def test_no_thread_stays(path):
    before = threading.active_count()
    ss.run(Rows(), screen(), checkpoint=path, every=BATCH, batch_size=BATCH)
    with pytest.raises(Stop):
        ss.run(Rows(before=stopping_at(3)), screen(), checkpoint=f"{path}2", every=BATCH, batch_size=BATCH)
    assert threading.active_count() == before


def test_two_runs_do_not_share_a_checkpoint(path):
    inner = []

    def before(k):
        if k == 5:
            with pytest.raises(StateError, match=r"another run is using the checkpoint .*run\.sieve: wait"):
                resume(path)
            inner.append(k)

    ss.run(Rows(before=before), screen(), checkpoint=path, every=BATCH, batch_size=BATCH)
    assert inner == [5]
    assert resume(path).n_samples_seen_ == N
    assert sorted(p.name for p in path.parent.iterdir()) == [path.name, f"{path.name}.previous"]


def test_a_file_system_without_locks_serves_as_well(path, monkeypatch):
    from streamsieve.running import lock

    def flock(handle, operation):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(lock.fcntl, "flock", flock)
    half = path.with_name(f".{path.name}.{'0' * 16}")
    half.write_bytes(b"half")
    ss.run(Rows(), screen(), checkpoint=path)
    assert half.exists()  # another process may be writing it


def test_what_killed_runs_left_behind_is_removed(path):
    for name in (f".{path.name}.{'0' * 16}", f".{path.name}.{'9af1' * 4}"):
        path.with_name(name).write_bytes(b"half")
    others = [
        path.with_name(name) for name in (f".{path.name}.txt", "other.sieve", f".x{path.name}.{'0' * 16}")
    ]
    for other in others:
        other.write_bytes(b"mine")
    ss.run(Rows(), screen(), checkpoint=path)
    assert sorted(p.name for p in path.parent.iterdir()) == sorted([path.name, *(p.name for p in others)])
