"""A stream of columns runs to its end or its stop, and goes on after whatever interrupted it."""

import itertools
import os
import signal

import numpy as np
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.exceptions import (
    CapabilityError,
    InputError,
    ParameterError,
    SchemaError,
    SourceError,
    TargetError,
)
from streamsieve.protocols import ColumnBlock
from streamsieve.testing._data import decisions

N, P = 120, 40
NAMES = [f"f{j}" for j in range(P)]
SIEVES = {
    "saola": ss.SAOLA,
    "fast_osfs": ss.FastOSFS,
    "alpha_investing": ss.AlphaInvesting,
    "top_k": lambda **more: ss.TopK(k=5, **more),
    "group_saola": lambda **more: ss.GroupSAOLA(group_size=7, **more),
}


def toy(seed=0):
    """Return columns of which every fourth is relevant in its own way, and the target."""
    X = np.random.default_rng(seed).normal(size=(N, P))
    return X, (X[:, ::4].sum(axis=1) > 0).astype(int)


X, Y = toy()


class Factory:
    """Makes columns by functions, and counts the calls."""

    def __init__(self, bad=None):
        self.bad = {} if bad is None else bad
        self.called = []

    def column(self, j):
        self.called.append(j)
        return self.bad[j]() if j in self.bad else X[:, j]

    def __call__(self):
        for j in range(P):
            yield NAMES[j], lambda: self.column(j)  # noqa: B023 - as it is when the function is yielded


def failing():
    raise OSError("the camera is gone")


@pytest.fixture(params=SIEVES)
def make(request):
    return SIEVES[request.param]


def offered(sieve, columns=range(P)):
    sieve.begin(Y)
    for j in columns:
        sieve.offer(X[:, j], names=NAMES[j])
    return sieve


# ------------------------------------------------------------------------------------ to the end or the stop


@pytest.mark.parametrize("size", [None, 1, 7, 1000])
def test_a_run_is_the_loop_over_columns(make, size):
    for source in (ss.features(Factory(), Y), ss.open(X, target=Y, names=NAMES)):
        sieve, seen = make(), []
        assert ss.run(source, sieve, block_size=size, progress=seen.append) is sieve
        assert decisions(sieve) == decisions(offered(make()))
        assert sieve.position_ == {"column": P}
        assert sum(seen) == P


def test_a_sparse_source_and_a_table_run_too(make, tmp_path):
    import polars as pl
    import scipy.sparse as sp

    path = tmp_path / "candidates.parquet"
    pl.DataFrame({name: X[:, j] for j, name in enumerate(NAMES)} | {"label": Y}).write_parquet(path)
    expected = decisions(offered(make()))
    assert decisions(ss.run(ss.open(path, target="label"), make())) == expected
    assert decisions(ss.run(ss.open(sp.csr_array(X), target=Y, names=NAMES), make())) == expected


@pytest.mark.parametrize("rule", [{"max_offers": 9}, {"max_features": 2}, {"seconds": 1e-9}, "target"])
def test_what_comes_after_the_stop_is_not_computed(make, rule):
    accuracies = itertools.count(1)
    rule = {"target": 2, "callback": lambda _: next(accuracies)} if rule == "target" else rule
    factory = Factory()
    sieve = ss.run(ss.features(factory, Y), make(stop=ss.Stop(**rule)))
    assert sieve.stopped_ is not None
    assert factory.called == list(range(sieve.n_features_in_))
    assert sieve.n_features_in_ < P
    assert "stopped" not in sieve.ledger_.counts()
    expected = make(stop=None if "seconds" in rule else ss.Stop(**{**rule, "callback": rule.get("callback")}))
    if "target" not in rule:
        expected = offered(expected, range(sieve.n_features_in_))
        assert sieve.selected_.tolist() == expected.selected_.tolist()
    before = decisions(sieve)
    ss.run(ss.features(factory, Y), sieve, start=sieve.position_)
    assert decisions(sieve) == before
    assert len(factory.called) == sieve.n_features_in_


def test_a_wide_block_is_computed_as_a_whole():
    factory = Factory()
    sieve = ss.run(ss.features(factory, Y), ss.SAOLA(stop=ss.Stop(max_offers=9)), block_size=16)
    assert factory.called == list(range(16))
    assert sieve.ledger_.counts()["stopped"] == 7


def test_the_accuracy_sees_the_values_of_the_kept_columns(make):
    seen = []

    def accuracy(kept):
        seen.append(kept)
        return 0.0

    sieve = ss.run(ss.features(Factory(), Y), make(stop=ss.Stop(target=1, accuracy=accuracy)))
    free = make().begin(Y)
    sets = []
    for j in range(P):
        made = free.offer(X[:, j])
        if any(str(d.event) == "kept" for d in made):
            sets.append(free.selected_)
    if not isinstance(free, ss.GroupSAOLA):  # its groups are decided late
        assert len(seen) == len(sets) > 2
        for kept, selected in zip(seen, sets, strict=True):
            np.testing.assert_array_equal(kept, X[:, selected])
    assert sieve.selected_.tolist() == free.selected_.tolist()


def test_times_stand_in_the_ledger(make, tmp_path):
    sieve = make()
    ss.run(ss.features(Factory(), Y), sieve)
    seconds = sieve.ledger_.seconds
    assert seconds.shape == (P,)
    assert np.all(seconds > 0)
    sieve.save(tmp_path / "s.sieve")
    np.testing.assert_array_equal(ss.load(tmp_path / "s.sieve").ledger_.seconds, seconds)
    kept = ss.run(ss.features(Factory(), Y), make(ledger="kept")).ledger_.seconds
    assert set(sieve.selected_) <= set(np.flatnonzero(~np.isnan(kept)).tolist())
    assert ss.run(ss.features(Factory(), Y), make(ledger="none")).ledger_.seconds.shape == (0,)
    assert ss.run(ss.open(X, target=Y), make()).ledger_.seconds.shape == (0,)


# ------------------------------------------------------------------------------------ trouble on the way

TROUBLE = {
    "raises": (failing, SourceError, "'f11', could not be computed: OSError: the camera is gone"),
    "too short": (lambda: X[:-1, 0], SourceError, "feature 11 .*'f11', has 119 values, but .* 120 rows"),
    "text": (lambda: ["a"] * N, SourceError, "feature 11 .*'f11', holds text, not numbers"),
    "NaN": (lambda: X[:, 0] * np.nan, InputError, "contains NaN: feature 'f11' has missing values"),
    "infinity": (lambda: X[:, 0] + np.inf, InputError, "contains infinity: feature 'f11'"),
}


@pytest.mark.parametrize("trouble", TROUBLE)
@pytest.mark.parametrize("size", [None, 5, 1000])
def test_trouble_is_named_and_the_run_goes_on_with_the_feature_or_after_it(make, trouble, size, tmp_path):
    value, kind, message = TROUBLE[trouble]
    factory = Factory({11: value})
    source, sieve = ss.features(factory, Y), make()
    with pytest.raises(kind, match=message):
        ss.run(source, sieve, block_size=size)
    assert sieve.n_features_in_ == 11
    assert sieve.position_ == {"column": 11}
    assert decisions(sieve) == decisions(offered(make(), range(11)))
    sieve.save(tmp_path / "s.sieve")
    again = ss.load(tmp_path / "s.sieve")
    with pytest.raises(kind, match=message):
        ss.run(source, again, start=again.position_, block_size=size)
    assert again.n_features_in_ == 11
    factory.called.clear()
    ss.run(source, again, start={"column": 12}, block_size=size)
    assert factory.called == list(range(12, P))
    without = [j for j in range(P) if j != 11]
    expected = offered(make(), without)
    assert [d[1:4] for d in again.ledger_] == [d[1:4] for d in expected.ledger_]
    factory.bad.clear()
    ss.run(source, sieve, start=sieve.position_, block_size=size)
    assert decisions(sieve) == decisions(offered(make()))


def test_a_name_that_came_before_is_refused_with_all_before_it_offered(make):
    columns = [(NAMES[j % 7], X[:, j]) for j in range(P)]
    for size in (1, 5, 100):
        sieve = make()
        with pytest.raises(SchemaError, match="'f0' occurs twice"):
            ss.run(ss.features(columns, Y), sieve, block_size=size)
        assert decisions(sieve) == decisions(offered(make(), range(7)))
        assert sieve.position_ == {"column": 7}


def test_nothing_to_offer_is_refused_and_changes_nothing(make):
    sieve = offered(make(), range(5))
    for empty in (ss.features([], Y), ss.features(lambda: iter(()), Y)):
        with pytest.raises(SourceError, match="the Features has no columns: there is nothing to offer"):
            ss.run(empty, make())
        with pytest.raises(SourceError, match="no columns"):
            ss.run(empty, sieve)
    assert decisions(sieve) == decisions(offered(make(), range(5)))
    for bad, message in (
        (ss.features([], Y), "no columns"),
        (ss.features(Factory({0: failing}), Y), "feature 0 "),
    ):
        fresh = make()
        with pytest.raises(SourceError, match=message):
            ss.run(bad, fresh)
        assert not hasattr(fresh, "ledger_")
    ss.run(ss.features(Factory(), Y), sieve, start={"column": 5})
    assert ss.run(ss.features([], Y), sieve, start={"column": 0}).n_features_in_ == P


def test_a_failing_callback_leaves_what_was_decided_and_the_run_goes_on():
    def broken(_):
        raise RuntimeError("no accuracy today")

    for size in (1, 1000):
        sieve = ss.SAOLA(stop=ss.Stop(target=0.9, callback=broken))
        with pytest.raises(RuntimeError, match="no accuracy today"):
            ss.run(ss.features(Factory(), Y), sieve, block_size=size)
        assert sieve.position_ == {"column": sieve.n_features_in_}
        assert len(sieve.ledger_.seconds) == len(sieve.ledger_) == sieve.n_features_in_
        sieve.set_params(stop=None)
        ss.run(ss.features(Factory(), Y), sieve, start=sieve.position_)
        assert decisions(sieve) == decisions(offered(ss.SAOLA()))


def test_ctrl_c_while_a_feature_is_computed_loses_nothing(make):
    def pressed():
        factory.bad.clear()
        os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError("went on after Ctrl-C")

    factory = Factory({23: pressed})
    source = ss.features(factory(), Y)  # an iterator, which cannot start again
    sieve = make()
    with pytest.raises(KeyboardInterrupt):
        ss.run(source, sieve)
    assert sieve.position_ == {"column": 23}
    ss.run(source, sieve, start=sieve.position_)
    assert decisions(sieve) == decisions(offered(make()))
    assert factory.called == [*range(24), *range(23, P)]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_in_the_middle_of_a_decision_waits_for_its_end():
    class Interrupted(ss.SAOLA):
        def _offer(self, block):
            verdicts = super()._offer(block)
            if self.n_features_in_ == 20:
                os.kill(os.getpid(), signal.SIGINT)
            return verdicts

        def _offer_one(self, x):
            return None

    sieve = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        ss.run(ss.features(Factory(), Y), sieve)
    assert sieve.n_features_in_ == 21
    ss.run(ss.features(Factory(), Y), sieve, start=sieve.position_)
    assert decisions(sieve) == decisions(offered(ss.SAOLA()))


@pytest.mark.parametrize("start", [8, 16, 24, 32])
def test_a_resumed_run_is_cut_as_one_that_was_never_stopped(start, monkeypatch):
    """Pieces are narrow, since Ctrl-C waits for the end of one, and roundings depend on the cut."""
    monkeypatch.setattr("streamsieve.running.columns.PIECE_VALUES", 9 * N)  # 8 columns: a power of two
    monkeypatch.setattr("streamsieve.running.columns.time.perf_counter", lambda: 0.0)  # compiling takes long
    whole, widths = ss.open(X, target=Y), []
    undisturbed = ss.run(whole, ss.Grafting(l1=0.01), progress=widths.append)
    assert widths == [8] * 5
    resumed = ss.run(ss.open(X[:, :start], target=Y), ss.Grafting(l1=0.01))
    ss.run(whole, resumed, start={"column": start}, progress=widths.append)
    assert widths == [8] * (10 - start // 8)
    assert resumed.coef_.tobytes() == undisturbed.coef_.tobytes()


def test_pieces_that_take_long_become_narrower(monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr("streamsieve.running.columns.time.perf_counter", lambda: 0.8 * next(clock))
    widths = []
    ss.run(ss.open(X, target=Y), ss.SAOLA(), block_size=8, progress=widths.append)
    assert widths == [8, 8, 4, 2] + [1] * 18


def test_workers_give_the_decisions_of_one_process():
    def make_columns():
        for j in range(P):
            yield NAMES[j], lambda: X[:, j]  # noqa: B023

    stop = ss.Stop(max_features=3)
    alone = ss.run(ss.features(make_columns, Y), ss.FastOSFS(stop=stop))
    many = ss.run(ss.features(make_columns, Y, workers=2), ss.FastOSFS(stop=stop))
    assert decisions(many) == decisions(alone)
    assert many.stopped_ == "max_features=3"
    assert len(many.ledger_.seconds) == many.n_features_in_


# ------------------------------------------------------------------------------------ going on, and errors


def test_a_begun_selector_goes_on_with_new_columns_of_the_same_rows(make):
    sieve = offered(make(), range(20))
    new = ss.features([(NAMES[j], X[:, j]) for j in range(20, P)], Y)
    ss.run(new, sieve)
    assert decisions(sieve) == decisions(offered(make()))
    with pytest.raises(TargetError, match="y is not the one that begin"):
        ss.run(ss.features(Factory(), 1 - Y), sieve)


def test_a_source_without_a_target_goes_to_a_selector_that_has_one():
    source = ss.features(Factory())
    with pytest.raises(SourceError, match="the Features has no target: give it one, as in features"):
        ss.run(source, ss.SAOLA())
    assert decisions(ss.run(source, ss.SAOLA().begin(Y))) == decisions(offered(ss.SAOLA()))


def test_bad_calls_are_refused(tmp_path):
    source = ss.features(Factory(), Y)
    for size in (0, 2.5, "7"):
        with pytest.raises(ParameterError, match="block_size must be a whole number"):
            ss.run(source, ss.SAOLA(), block_size=size)
    for bad in (X, [1], None):
        with pytest.raises(SourceError, match=r"run needs a source of columns, got .*streamsieve\.features"):
            ss.run(bad, ss.SAOLA())
    with pytest.raises(CapabilityError, match=r"SAOLA streams columns, and checkpoints .* start=selector"):
        ss.run(source, ss.SAOLA(), checkpoint=tmp_path / "s.sieve")
    with pytest.raises(CapabilityError, match="checkpoints are made of streams of rows"):
        ss.run(source, ss.SAOLA(), resume=True)
    with pytest.raises(SourceError, match="start must be the position of a"):
        ss.run(source, ss.SAOLA(), start={"row": 3})
    with pytest.raises(SourceError, match="DriftingStream"):
        ss.run(ss.DriftingStream(50), ss.SAOLA())


def test_a_block_of_a_source_can_be_offered_by_hand():
    sieve = ss.SAOLA().begin(Y)
    assert sieve.position_ is None
    for block in ss.features(Factory(), Y).columns(6):
        sieve.offer(block)
        assert sieve.position_ == block.position
    assert decisions(sieve) == decisions(offered(ss.SAOLA()))
    assert len(sieve.ledger_.seconds) == P


def test_a_sparse_block_of_a_source_is_checked_before_columns_are_cut_out_of_it(monkeypatch):
    broken = sp.csr_array(X)
    broken.indices = broken.indices + 1

    class Source:
        names, n_rows, y = None, N, Y

        def identity(self):
            return {}

        def check_identity(self, known):
            pass

        def columns(self, block_size=64, start=None):
            yield ColumnBlock(broken, NAMES, {"column": P})

    monkeypatch.setattr("streamsieve.running.columns.PIECE_VALUES", 8 * N)
    with pytest.raises(InputError, match="X has column number 40 in row 0, but 40 columns"):
        ss.run(Source(), ss.SAOLA())
