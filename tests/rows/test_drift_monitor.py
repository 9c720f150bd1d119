"""The Page-Hinkley test is river's; alarms do not depend on batches and are as rare as documented."""

import sys
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve import state
from streamsieve.criteria import AnovaF, Correlation, MutualInfo
from streamsieve.exceptions import BadValueError, CapabilityError, InputError, ParameterError, StateError
from streamsieve.rows.drift.drift_monitor import LATEST, Drift, DriftMonitor
from streamsieve.rows.drift.page_hinkley import PageHinkley
from streamsieve.summaries import CoMoments, Moments, Quantiles, TargetBins
from tests.summaries.streams import assert_same_bits, snapshot

# ------------------------------------------------------------------------------------ the test


def signals(rng, blocks, p):
    """Values between 0 and 1 whose means jump now and then."""
    mean = np.repeat(rng.random((blocks // 20 + 1, p)), 20, axis=0)[:blocks]
    return np.clip(mean + rng.normal(size=(blocks, p)) * rng.choice([0.01, 0.1, 0.3]), 0, 1)


def test_page_hinkley_equals_rivers():
    drift = pytest.importorskip("river.drift")
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(60):
        parameters = {
            "min_instances": int(rng.integers(1, 12)),
            "delta": float(rng.choice([0, 0.005, 0.1, 0.2])),
            "threshold": float(rng.choice([0.3, 1.0, 1.5])),
            "alpha": float(rng.choice([1.0, 0.9999, 0.9])),
        }
        x = signals(rng, 120, 5)
        ours, theirs = PageHinkley(**parameters), [drift.PageHinkley(**parameters) for _ in range(5)]
        ours.grow(5)
        for row in x:
            got = ours.update(row)
            for test, value in zip(theirs, row.tolist(), strict=True):
                test.update(value)
            assert got.tolist() == [test.drift_detected for test in theirs]
            for j in np.flatnonzero(~got):
                n, mean, up, down, lowest, highest = ours._signals[:, j].tolist()
                test = theirs[j]
                assert (n, mean, up, down, lowest, highest) == (
                    test._x_mean.n, test._x_mean.get(), test._sum_increase, test._sum_decrease,
                    test._min_increase, test._max_decrease,
                )  # fmt: skip
            alarms += int(got.sum())
    assert alarms > 500


def test_signals_that_begin_late_and_states_on_the_way_change_nothing():
    rng = np.random.default_rng(1)
    x = signals(rng, 100, 4)
    together = PageHinkley(threshold=0.8)
    together.grow(2)
    alone = [PageHinkley(threshold=0.8) for _ in range(4)]
    for test in alone:
        test.grow(1)
    alarms = 0
    for t, row in enumerate(x):
        if t == 30:
            together.grow(4)
            together.grow(3)  # it never shrinks
        p = 2 if t < 30 else 4
        wanted = [bool(alone[j].update(row[j : j + 1])[0]) for j in range(p)]
        assert together.update(row[:p]).tolist() == wanted
        alarms += sum(wanted)
        if t % 7 == 0:
            saved = snapshot(together)
            together = PageHinkley.from_state(saved)
            assert_same_bits(saved, snapshot(together))
    assert alarms > 5
    assert (together.n_signals, together.threshold) == (4, 0.8)


def test_a_forgetful_sum_wears_out():
    """Why alpha is 1 here: after 1 / (1 - alpha) values nothing is tolerated any more."""
    rng = np.random.default_rng(2)
    false_alarms = {}
    for alpha in (1.0, 0.99):
        test = PageHinkley(delta=0.15, threshold=1.5, alpha=alpha)
        test.grow(200)
        x = rng.normal(0.5, 0.2, (1500, 200))
        false_alarms[alpha] = sum(int(test.update(row).sum()) for row in x)
    assert false_alarms[1.0] < 10
    assert false_alarms[0.99] > 10 * max(1, false_alarms[1.0])


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"min_instances": 0}, "min_instances must be a whole number at least 1"),
        ({"delta": -0.1}, "delta must be a number at least 0"),
        ({"threshold": np.nan}, "threshold must be a number at least 0"),
        ({"alpha": 0}, "alpha must be a number above 0 and at most 1"),
    ],
)
def test_bad_parameters_are_refused(kwargs, message):
    with pytest.raises(ParameterError, match=message):
        PageHinkley(**kwargs)


def begun():
    test = PageHinkley()
    test.grow(2)
    test.update(np.array([0.1, 0.2]))
    test.grow(3)
    return snapshot(test)


def with_signal(place, value):
    arrays = begun()
    arrays["signals"][place] = value
    return arrays


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ((0, 0), -1),
        ((0, 0), 1.5),
        ((1, 0), np.nan),
        ((4, 0), 5.0),
        ((5, 1), -5.0),
        ((0, 2), np.nan),
        ((2, 2), 1.0),
    ],
)
def test_signals_that_could_not_have_come_about_are_refused(place, value):
    with pytest.raises(StateError, match="could not have come about"):
        PageHinkley.from_state(with_signal(place, value))


# ------------------------------------------------------------------------------------ the monitor


class Given(NamedTuple):
    """Stands for a criterion whose relevance indices of the next block are given."""

    surprises: np.ndarray

    def blocks(self, summary):
        yield 0, 2
        yield 2, len(self.surprises)

    def relevance_index(self, block):
        return self.surprises[slice(*block)]


def drifting(seed=3, blocks=40, rows=50, p=6):
    """Rows in which feature 0 ceases to matter, and feature 1 begins to, half way."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, blocks * rows)
    X = rng.normal(size=(blocks * rows, p))
    half = blocks * rows // 2
    X[:half, 0] += 2 * y[:half]
    X[half:, 1] += 2 * y[half:]
    return X, y


def watch(monitor, X, y, weight=None, rng=None, make=Moments, formula=None, form=np.asarray):
    """Feed rows in batches of random sizes, cut where a block is complete; return all alarms."""
    low, alarms = 0, []
    while low < len(y):
        high = min(low + monitor.room, len(y))
        if rng is not None:
            high = min(high, low + int(rng.integers(1, 30)))
        part = slice(low, high)
        monitor.learn(form(X[part]), y[part], None if weight is None else weight[part], make)
        if monitor.room == 0:
            alarms.append(monitor.judge(formula or AnovaF()).tolist())
        low = high
    return alarms


@pytest.mark.parametrize("detector", ["glr", "page_hinkley", "adwin"])
def test_features_that_change_are_noticed_and_others_are_not(detector):
    if detector == "adwin":
        pytest.importorskip("river")
    X, y = drifting()
    monitor = DriftMonitor(50, detector)
    alarms = watch(monitor, X, y)
    assert sorted(j for block in alarms for j in block) == [0, 1]
    assert {drift.feature for drift in monitor.events} == {0, 1}
    for drift in monitor.events:
        assert 1000 < drift.row <= 1000 + 10 * 50
        assert drift.row % 50 == 0
        strong, weak = (5.0, 1.5) if detector == "glr" else (0.5, 0.2)
        assert (drift.before > strong and drift.after < weak) == (drift.feature == 0)
        assert (drift.after > strong and drift.before < weak) == (drift.feature == 1)
    assert (monitor.n_rows, monitor.n_features, monitor.room) == (2000, 6, 50)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_alarms_do_not_depend_on_batches(form):
    rng = np.random.default_rng(4)
    X, y = drifting()
    weight = rng.integers(0, 3, len(y)).astype(float)
    whole, cut = DriftMonitor(50), DriftMonitor(50)
    alarms = watch(whole, X[weight > 0], y[weight > 0], weight[weight > 0], form=form)
    assert watch(cut, X, y, weight, rng, form=form) == alarms
    assert whole.events == [
        drift._replace(before=pytest.approx(drift.before), after=pytest.approx(drift.after))
        for drift in cut.events
    ]
    assert len(whole.events) >= 2


def test_events_have_the_means_before_and_of_late():
    """Against a monitor that remembers every surprise, and one test of river's a feature."""
    drift = pytest.importorskip("river.drift")
    rng = np.random.default_rng(5)
    p, x = 4, signals(rng, 300, 4)
    monitor = DriftMonitor(2, "page_hinkley")
    tests = [drift.PageHinkley(min_instances=5, delta=0.15, threshold=1.5, alpha=1.0) for _ in range(p)]
    histories, wanted = [[] for _ in range(p)], []
    for t, row in enumerate(x):
        monitor.learn(np.zeros((2, p)), np.array([0, 1]), None, Moments)
        drifted = monitor.judge(Given(row))
        for j in range(p):
            histories[j].append(row[j])
            tests[j].update(row[j])
            if tests[j].drift_detected:
                before, after = histories[j][:-LATEST], histories[j][-LATEST:]
                wanted.append(Drift(2 * (t + 1), j, np.mean(before), np.mean(after)))
                histories[j] = []
        assert drifted.tolist() == [d.feature for d in wanted if d.row == 2 * (t + 1)]
    assert len(wanted) > 20
    assert [d[:2] for d in monitor.events] == [d[:2] for d in wanted]
    np.testing.assert_allclose([d[2:] for d in monitor.events], [d[2:] for d in wanted], atol=1e-12)


def test_adwin_is_rivers():
    drift = pytest.importorskip("river.drift")
    x = signals(np.random.default_rng(6), 200, 3)
    monitor = DriftMonitor(2, "adwin")
    tests = [drift.ADWIN(delta=0.5, clock=1, grace_period=5, min_window_length=1) for _ in range(3)]
    alarms = 0
    for row in x:
        monitor.learn(np.zeros((2, 3)), np.array([0, 1]), None, Moments)
        drifted = monitor.judge(Given(row))
        for test, value in zip(tests, row.tolist(), strict=True):
            test.update(value)
        assert drifted.tolist() == [j for j, test in enumerate(tests) if test.drift_detected]
        alarms += len(drifted)
    assert alarms == len(monitor.events) > 5


def test_late_features_are_watched_from_their_first_block_on():
    monitor = DriftMonitor(2, "page_hinkley")
    for t in range(30):
        p = 2 if t < 10 else 4
        monitor.learn(np.zeros((2, p)), np.array([0, 1]), None, Moments)
        late = 0.1 if t < 20 else 0.9
        monitor.judge(Given(np.array([0.1, 0.1, late, 0.1])[:p]))
    (event,) = monitor.events
    assert (event.feature, event.before, event.after) == (2, pytest.approx(0.1), pytest.approx(0.9))
    monitor.grow(6)
    monitor.grow(5)
    assert monitor.n_features == 6
    monitor.learn(np.zeros((2, 3)), np.array([0, 1]), None, Moments)
    monitor.judge(Given(np.zeros(3)))  # absent features have no relevance
    assert monitor.n_features == 6


def test_any_summary_and_its_criterion_will_do():
    rng = np.random.default_rng(7)
    X, y = drifting(rows=100)
    for make, formula, target in (
        (Quantiles, MutualInfo(), y),
        (CoMoments, Correlation(), y + rng.normal(size=len(y)) / 10),
        (lambda: TargetBins(Moments(), bins=2, warm_up=20), AnovaF(), y + rng.normal(size=len(y)) / 10),
    ):
        monitor = DriftMonitor(100)
        watch(monitor, X, target, make=make, formula=formula)
        assert sorted(drift.feature for drift in monitor.events) == [0, 1]


def test_false_alarms_are_as_rare_and_true_ones_as_quick_as_documented():
    """Signals as the F test gives them, drawn directly: z is normal, p its two-sided tail."""
    from scipy.special import ndtr

    rng = np.random.default_rng(8)

    def relevance_index(shift, blocks, p):
        tail = 2 * ndtr(-np.abs(rng.normal(size=(blocks, p)) + shift))
        return np.minimum(-np.log10(np.maximum(tail, 1e-10)) / 10, 1)

    def alarms(x):
        test = PageHinkley()
        test.grow(x.shape[1])
        return np.array([test.update(row) for row in x])

    for shift in (0.0, 3.15, 4.32, 5.32):  # mean surprise 0.04, 0.3, 0.5, 0.7
        assert alarms(relevance_index(shift, 200, 5000)).sum() <= 10  # of a million
    for one, two, slowest in ((4.32, 0.0, 8), (0.0, 4.32, 10), (5.32, 0.0, 5), (0.0, 5.32, 6)):
        noticed = alarms(np.vstack([relevance_index(one, 30, 1000), relevance_index(two, 20, 1000)]))
        first = np.where(noticed[30:].any(axis=0), noticed[30:].argmax(axis=0) + 1, 99)
        assert np.quantile(first, 0.9) <= slowest


# ------------------------------------------------------------------------------------ states


def test_a_monitor_goes_on_where_it_was_saved(tmp_path):
    X, y = drifting()
    for at in (0, 30, 50, 980, 1230, 1999):
        rng = np.random.default_rng(at)
        monitor = DriftMonitor(50)
        watch(monitor, X[:at], y[:at], rng=rng)
        state.write(tmp_path / "m.sieve", {}, monitor.state())
        again = DriftMonitor.from_state(state.read(tmp_path / "m.sieve")[1])
        assert_same_bits(snapshot(monitor), snapshot(again))
        assert (again.events, again.room, again.every) == (monitor.events, monitor.room, 50)
        assert watch(monitor, X[at:], y[at:]) == watch(again, X[at:], y[at:])
        assert_same_bits(snapshot(monitor), snapshot(again))
        assert all(type(value) is type(old) for a, b in zip(again.events, monitor.events, strict=True)
                   for value, old in zip(a, b, strict=True))  # fmt: skip


def test_a_monitor_with_a_complete_block_can_be_saved_before_it_is_judged():
    X, y = drifting()
    monitor = DriftMonitor(50)
    monitor.learn(X[:50], y[:50], None, Moments)
    again = DriftMonitor.from_state(snapshot(monitor))
    assert again.room == 0
    assert again.judge(AnovaF()).tolist() == monitor.judge(AnovaF()).tolist()
    assert_same_bits(snapshot(monitor), snapshot(again))


def test_adwin_cannot_be_saved():
    pytest.importorskip("river")
    with pytest.raises(StateError, match=r"detector='adwin' cannot be saved, .* use detector='glr'"):
        DriftMonitor(detector="adwin").state()


def saved():
    X, y = drifting()
    monitor = DriftMonitor(50)
    watch(monitor, X[:1990], y[:1990])
    assert len(monitor.events) == 2
    return snapshot(monitor)


IMPOSSIBLE = {
    "more rows in the block than fit": ({"filled": np.array(51)}, "51 rows in a block of 50"),
    "more rows in the block than came": ({"n_rows": np.array(30)}, "of 30 in all"),
    "alarms in the future": ({"events": np.array([[5000, 0], [1200, 1]])}, "of a later row"),
    "alarms of no feature": ({"events": np.array([[1200, 6], [1200, 1]])}, "unknown feature"),
}


@pytest.mark.parametrize(("change", "message"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_states_that_do_not_fit_together_are_refused(change, message):
    with pytest.raises(StateError, match=message):
        DriftMonitor.from_state({**saved(), **change})


# ------------------------------------------------------------------------------------ refusals


def test_parameters_are_checked_by_name():
    with pytest.raises(ParameterError, match="every must be a whole number at least 2"):
        DriftMonitor(every=1)
    with pytest.raises(
        ParameterError, match="detector must be one of 'glr', 'page_hinkley', 'adwin'; got 'adwim'"
    ):
        DriftMonitor(detector="adwim")


def test_adwin_without_river_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "river.drift", None)
    with pytest.raises(CapabilityError, match=r"pip install streamsieve\[river\]"):
        DriftMonitor(detector="adwin")
    DriftMonitor()  # needs nothing


def test_rows_beyond_the_block_and_early_judgment_are_refused():
    monitor = DriftMonitor(10)
    X, y = np.ones((8, 2)), np.arange(8) % 2
    monitor.learn(X, y, None, Moments)
    before = snapshot(monitor)
    with pytest.raises(InputError, match="got 8 rows, but 2 complete the block: cut the batch there"):
        monitor.learn(X, y, None, Moments)
    with pytest.raises(InputError, match="the block has 8 of 10 rows"):
        monitor.judge(AnovaF())
    assert_same_bits(before, snapshot(monitor))
    monitor.learn(X, y, np.array([0, 0, 0, 1.0, 0, 0, 0, 1]), Moments)  # six of these do not exist
    assert monitor.room == 0


def test_bad_rows_leave_no_trace():
    for already in (0, 3):
        monitor = DriftMonitor(10)
        monitor.learn(np.ones((already, 2)), np.arange(already) % 2, None, Moments)
        before = snapshot(monitor)
        with pytest.raises(BadValueError, match="feature 'x1' holds inf"):
            monitor.learn(np.array([[1.0, np.inf]]), np.array([0]), None, Moments)
        assert_same_bits(before, snapshot(monitor))
