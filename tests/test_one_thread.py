"""One object, one thread: others are refused with an error, never with a crash."""

import copy
import dis
import inspect
import multiprocessing
import os
import pickle
import sys
import threading
import time
import traceback

import joblib
import numpy as np
import pytest
from sklearn.base import clone

import streamsieve as ss
from streamsieve import _threads
from streamsieve._one_thread import SLOTS, changes, reads
from streamsieve.exceptions import ConcurrentUseError, StreamSieveError
from streamsieve.summaries import Moments
from tests.helpers.tier import cases

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 20))
Y = (X[:, 3] + RNG.normal(size=200) > 0).astype(int)


class Thing:
    """An object that waits inside its methods until it may go on."""

    def __init__(self):
        self.inside, self.go_on = threading.Event(), threading.Event()

    @changes
    def change(self, wait=False, *, value=1, **more):
        return self._stay(wait) or (value, more)

    @reads
    def read(self, wait=False):
        return self._stay(wait) or self.get()

    @reads
    def get(self):
        return "read"

    @changes
    def nested(self):
        return self.change(), self.read()

    @reads
    def read_then_change(self):
        return self.change()

    def _stay(self, wait):
        if wait:
            self.inside.set()
            assert self.go_on.wait(10)


def free(thing):
    """Whether no thread is inside."""
    return thing._user is None and thing._reader is None and thing._readers == []


class Busy:
    """Context: another thread is inside a method of a thing."""

    def __init__(self, method):
        self.thing, self.thread = method.__self__, threading.Thread(target=method, args=(True,))

    def __enter__(self):
        self.thread.start()
        assert self.thing.inside.wait(10)
        return self.thing

    def __exit__(self, *_):
        self.thing.go_on.set()
        self.thread.join()


def test_a_change_excludes_every_other_thread_until_it_is_over():
    with Busy(Thing().change) as thing:
        for method in (thing.change, thing.read):
            with pytest.raises(
                ConcurrentUseError, match="another thread is using this Thing: one object, one"
            ):
                method()
    assert thing.change() == (1, {})


def test_reading_excludes_changes_but_not_readers():
    with Busy(Thing().read) as thing:
        assert thing.read() == "read"
        for method in (thing.change, thing.read_then_change):
            with pytest.raises(ConcurrentUseError):
                method()
    assert thing.read_then_change() == (1, {})
    assert free(thing)


def test_calls_of_one_thread_nest_and_errors_free_the_object():
    thing = Thing()
    assert thing.nested() == ((1, {}), "read")
    with pytest.raises(TypeError):
        thing.change(1, 2)
    assert thing.change(value=3, other=4) == (3, {"other": 4})
    assert free(thing)


@pytest.mark.parametrize("door", [changes, reads])
def test_no_thread_comes_between_looking_and_noting(door):
    """Threads take turns at calls, jumps back and the beginning of functions: none between these two."""
    steps = [*dis.get_instructions(door(Thing._stay))]
    looks = next(i for i, step in enumerate(steps) if step.argval == "_user")
    notes = next(i for i, step in enumerate(steps[looks:], looks) if step.opname == "STORE_ATTR")
    between = [step.opname for step in steps[looks + 1 : notes]]
    assert not [name for name in between if name == "CALL" or "BACKWARD" in name or name == "RESUME"]
    assert len({step.positions.lineno for step in steps[looks : notes + 1]}) == 1  # nor does a line tracer


@pytest.mark.parametrize("gil", [True, False])
def test_no_two_threads_are_inside_a_change(gil, monkeypatch):
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: gil, raising=False)

    class Crowd:
        inside = overlaps = 0

        @changes
        def change(self):
            self.inside += 1
            self.overlaps += self.inside != 1
            self.nested()
            time.sleep(0)  # others may try
            self.read()
            self.inside -= 1

        @changes
        def nested(self):
            self.overlaps += self.inside != 1

        @reads
        def read(self):
            return self.inside

        @reads
        def look(self):
            self.overlaps += self.inside != 0

    crowd, done, refused = Crowd(), [], []

    def work(seed):
        for pick in np.random.default_rng(seed).integers(2, size=cases(5000)).tolist():
            try:
                (crowd.change if pick else crowd.look)()
                done.append(1)
            except ConcurrentUseError:
                refused.append(1)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert crowd.overlaps == 0
    assert crowd.inside == 0
    assert free(crowd)
    assert done
    assert refused


def test_a_door_has_the_signature_and_the_words_of_the_method():
    assert str(inspect.signature(Thing.change)) == "(self, wait=False, *, value=1, **more)"
    assert "sample_weight" in inspect.signature(ss.Screen.fit).parameters
    assert "Learn a batch of rows" in ss.Screen.partial_fit.__doc__


def test_the_error_is_one_of_ours_and_says_what_to_do():
    assert issubclass(ConcurrentUseError, (StreamSieveError, RuntimeError))
    held = _held(ss.Screen())
    with held, pytest.raises(ConcurrentUseError, match="Give each thread its own Screen and merge them, or"):
        held.one.fit(X, Y)
    held = _held(ss.SAOLA())
    with held, pytest.raises(ConcurrentUseError, match="Give each thread its own SAOLA, or let threads take"):
        held.one.fit(X, Y)


class _held:  # noqa: N801 - used as a function
    """Context: another thread is inside an object."""

    def __init__(self, one, *, reading=False):
        self.one, self.reading = one, reading

    def __enter__(self):
        other = threading.main_thread().ident + 1
        self.one._user, self.one._reader = (None, other) if self.reading else (other, None)
        self.one._readers = []

    def __exit__(self, *_):
        self.one._user = self.one._reader = None


@pytest.mark.parametrize(
    "call",
    [
        lambda s: s.fit(X, Y),
        lambda s: s.partial_fit(X, Y),
        lambda s: s.learn_many(X, Y),
        lambda s: s.learn_one({"a": 1.0}, 1),
        lambda s: s.learn(None),
        lambda s: s.declare(None),
        lambda s: s.merge(copy.copy(s)),
        lambda s: clone(s).fit(X, Y).merge(s),
        lambda s: s.transform(X),
        lambda s: s.get_support(),
        lambda s: s.get_feature_names_out(),
        lambda s: s.scores_,
        lambda s: s.selected_,
        lambda s: s.to_bytes(),
        lambda s: s.save("nowhere.sieve"),
        lambda s: s.set_params(k=2),
        pickle.dumps,
        copy.deepcopy,
        lambda s: s.summary_,
    ],
)
def test_every_door_of_a_row_selector_is_guarded(call):
    screen = ss.Screen(k=3).fit(X, Y)
    before = screen.scores_.tobytes()
    with _held(screen), pytest.raises(ConcurrentUseError):
        call(screen)
    assert screen.n_samples_seen_ == 200
    assert screen.scores_.tobytes() == before


@pytest.mark.parametrize(
    "call",
    [
        lambda s: s.begin(Y),
        lambda s: s.offer(X[:, 0]),
        lambda s: s.fit(X, Y),
        lambda s: s.measure_block(X),
        lambda s: s.transform(X),
        lambda s: s.selected_,
        lambda s: s.position_,
    ],
)
def test_every_door_of_a_column_selector_is_guarded(call):
    selector = ss.SAOLA().fit(X, Y)
    with _held(selector), pytest.raises(ConcurrentUseError):
        call(selector)


@pytest.mark.parametrize(
    "call", [lambda s: s.fit(X, Y), lambda s: s.predict(X), lambda s: s.predict_proba(X), lambda s: s.coef_]
)
def test_every_door_of_a_learner_is_guarded(call):
    learner = ss.FSAClassifier(epochs=5, l2=0.1).partial_fit(X, Y)
    with _held(learner), pytest.raises(ConcurrentUseError):
        call(learner)


@pytest.mark.parametrize("call", [lambda s: s.update(X, Y), lambda s: s.merge(s.copy()), lambda s: s.state()])
def test_summaries_are_guarded(call):
    summary = Moments()
    summary.update(X, Y)
    with _held(summary), pytest.raises(ConcurrentUseError, match="its own Moments and merge them"):
        call(summary)


def test_copies_and_loaded_objects_have_users_of_their_own():
    screen = ss.Screen(k=3).fit(X, Y)
    twins = [clone(screen).fit(X, Y), ss.Screen.from_bytes(screen.to_bytes())]
    twins += [copy.deepcopy(screen), pickle.loads(pickle.dumps(screen))]  # noqa: S301 - our own
    assert not {*SLOTS} & {*vars(screen)}
    with _held(screen):
        for twin in twins:
            assert twin.partial_fit(X, Y).n_samples_seen_ == 400
    moments = Moments()
    moments.update(X, Y)
    with _held(moments):
        pass
    assert not hasattr(copy.deepcopy(moments), "_readers")


def test_threads_may_read_what_was_computed():
    screen = ss.Screen(k=3).fit(X, Y)
    screen.transform(X)
    with _held(screen, reading=True):
        assert screen.transform(X).shape == (200, 3)
    learner = ss.FSAClassifier(epochs=5, l2=0.1).partial_fit(X, Y)
    with _held(learner, reading=True):
        assert len(learner.predict(X)) == 200


@pytest.mark.parametrize("criterion", ["fisher", "mutual_info"])
def test_hammering_a_shared_screen_loses_no_row(criterion):
    screen, done, refused, failed = ss.Screen(criterion), [], [], []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(1500):
            row = {f"f{i}": float(i) for i in rng.integers(0, 50, 5).tolist()}
            try:
                screen.learn_one(row, int(rng.integers(2)))
                done.append(1)
            except ConcurrentUseError:
                refused.append(1)
            except Exception as error:  # noqa: BLE001 - nothing else may come
                failed.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not failed
    assert len(done) + len(refused) == 4500
    assert screen.n_samples_seen_ == len(done)
    assert ss.Screen.from_bytes(screen.to_bytes()).n_samples_seen_ == len(done)


# ------------------------------------------------------------------------------------ processes


def _went_on(selector):
    """Use the pool of threads, learn more, and return what came of it."""
    touched = np.zeros(64, int)

    def work(low, high):
        touched[low:high] += 1

    _threads.over_features(64, _threads.SMALL, work)
    assert np.all(touched == 1)
    return selector.partial_fit(X, Y).scores_.tobytes()


def _in_fork(selector):
    readable, writable = os.pipe()
    child = os.fork()
    if not child:
        os.write(writable, _went_on(selector))
        os._exit(0)
    os.close(writable)
    with os.fdopen(readable, "rb") as pipe:
        answer = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    return answer


def _by_multiprocessing(selector, method):
    with multiprocessing.get_context(method).Pool(1) as pool:
        return pool.apply(_went_on, (selector,))


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
@pytest.mark.parametrize(
    "elsewhere",
    [
        _in_fork,
        lambda s: _by_multiprocessing(s, "fork"),
        pytest.param(lambda s: _by_multiprocessing(s, "spawn"), marks=pytest.mark.full),
        pytest.param(lambda s: joblib.Parallel(2)([joblib.delayed(_went_on)(s)])[0], marks=pytest.mark.full),
    ],
    ids=["fork", "multiprocessing", "spawn", "loky"],
)
def test_another_process_goes_on_with_an_object_and_with_the_pool(elsewhere, monkeypatch):
    monkeypatch.setattr(_threads, "_threads", lambda: 2)
    selector = ss.Screen(k=3)
    _went_on(selector)
    answer = elsewhere(selector)
    assert answer == _went_on(selector)


def test_a_child_may_change_what_another_thread_was_reading_when_it_was_forked():
    with Busy(Thing().read) as thing:
        child = os.fork()
        if not child:
            os._exit(0 if thing.change() == (1, {}) else 1)
        assert os.waitpid(child, 0)[1] == 0


def test_tracebacks_show_the_source_of_a_guard():
    with pytest.raises(StreamSieveError) as caught:
        ss.SAOLA().offer(X)
    (frame,) = [f for f in traceback.extract_tb(caught.tb) if f.name == "door"]
    assert frame.filename == "<streamsieve guard of a change: (self, X, names=None)>"
    assert frame.line == "return _method(self, X, names)"
