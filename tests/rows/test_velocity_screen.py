"""VelocityScreen does what its slow twin does, finds planted drift, and leaves all else alone."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve import exceptions as ex
from streamsieve.criteria import MutualInfo
from streamsieve.rows import Screen
from streamsieve.rows.drift.velocity_monitor import VelocityMonitor, motion
from streamsieve.rows.velocity_screen import VelocityScreen
from tests.reference import velocity_screen as twin

FORMS = {
    "dense": np.asarray,
    "column-major": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_array,
}


def streamed(screen, X, y, sizes):
    """Feed rows in batches of the given sizes, over and over."""
    low = turn = 0
    while low < len(y):
        part = slice(low, low + sizes[turn % len(sizes)])
        screen.partial_fit(X[part], y[part])
        low, turn = part.stop, turn + 1
    return screen


def random_stream(rng):
    """Rows whose features may jump, creep, begin, end, be few-valued or missing; exact in float32."""
    n, p, classes = int(rng.integers(5, 400)), int(rng.integers(1, 9)), int(rng.integers(1, 4))
    y = rng.integers(0, classes, n)
    X = rng.normal(size=(n, p)) + np.outer(y, rng.normal(size=p) * rng.integers(0, 2, p))
    for j in range(p):
        at, jump = int(rng.integers(0, n)), rng.normal() * 3
        kind = rng.integers(0, 7)
        if kind == 0:
            X[at:, j] += jump
        elif kind == 1:
            X[:, j] += jump * np.arange(n) / n
        elif kind == 2:
            X[:at, j] = 0.0
        elif kind == 3:
            X[at:, j] = 1.25
        elif kind == 4:
            X[:, j] = rng.integers(0, 3, n) + 1000.0 * (np.arange(n) >= at)
        elif kind == 5:
            X[:, j] = rng.random(n) < 0.1
    X = np.round(X * 8) / 8
    X[rng.random((n, p)) < rng.choice([0.0, 0.0, 0.3])] = 0.0
    X[rng.random((n, p)) < rng.choice([0.0, 0.0, 0.3])] = np.nan
    return X, y


def assert_twin(screen, wanted):
    scores, velocity, events = wanted
    np.testing.assert_allclose(screen.scores_, scores, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(screen.velocity_, velocity, rtol=1e-9, atol=1e-11)
    assert [d[:2] for d in screen.drift_] == [e[:2] for e in events]
    np.testing.assert_allclose(
        [d[2:] for d in screen.drift_], [e[2:] for e in events], rtol=1e-9, atol=1e-12
    )  # fmt: skip


def test_random_streams_in_random_batches_give_the_twins_scores_and_drifts():
    rng = np.random.default_rng(0)
    noticed = several = 0
    for _ in range(150):
        X, y = random_stream(rng)
        parameters = {
            "window": int(rng.integers(10, 40)),
            "bins": int(rng.integers(2, 6)),
            "fence": float(rng.choice([0.0, 1.5, 3.0])),
            "alarm": float(rng.choice([0.05, 0.5, 1.0])),
        }
        screen = VelocityScreen(**parameters)
        form = FORMS[rng.choice(list(FORMS))]
        streamed(screen, form(X), y, rng.integers(1, 60, 20).tolist())
        wanted = twin.screen(X, y, **parameters)
        assert_twin(screen, wanted)
        assert sorted(screen.ranked_) == np.flatnonzero(screen.get_support()).tolist()
        noticed += bool(wanted[2])
        several += len({row for row, *_ in wanted[2]}) > 2
    assert noticed > 30
    assert several > 5


def planted(n=8000, p=60, at=5200, moving=(), seed=0):
    """Feature 0 is relevant always, 3 until row ``at``, 17 from then on; others may move at that row, too."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, p))
    X[:, 0] += y
    X[:at, 3] += 2 * y[:at]
    X[at:, 17] += 2 * y[at:]
    X[at:, list(moving)] += 1
    return X, y


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_planted_drift_is_found_and_nothing_else_is_scored_again(form):
    X, y = planted()
    first = VelocityScreen(k=2, window=500).partial_fit(form(X[:500]), y[:500])
    ranked = first.scores_.copy()
    assert first.ranked_.tolist() == [3, 0]
    screen = streamed(VelocityScreen(k=2, window=500), form(X), y, [777])
    assert [(d.row, d.feature) for d in screen.drift_] == [(5500, 3), (5500, 17), (6000, 3), (6000, 17)]
    others = np.setdiff1d(np.arange(60), [3, 17])
    assert np.array_equal(screen.scores_[others], ranked[others])  # bit for bit: they were left alone
    assert screen.ranked_.tolist() == [17, 0]
    again = Screen(MutualInfo(bins=5)).fit(form(X[5500:6000]), y[5500:6000]).scores_
    assert np.array_equal(screen.scores_[[3, 17]], again[[3, 17]])
    (before, after), (_, later) = ((d.before, d.after) for d in screen.drift_ if d.feature == 17)
    assert before == ranked[17] < after < later == screen.scores_[17]


def test_the_ledger_has_the_change():
    X, y = planted()
    screen = VelocityScreen(k=2, window=500)
    for low in range(0, 8000, 500):
        screen.partial_fit(X[low : low + 500], y[low : low + 500])
        screen.get_support()
    lines = [(d.step, d.feature, str(d.event)) for d in screen.ledger_]
    assert lines[:2] == [(500, "x0", "kept"), (500, "x3", "kept")]
    assert {feature for step, feature, _ in lines if step > 500} == {"x3", "x17"}


def test_when_most_features_move_all_of_them_drift():
    """Above a quarter, no feature is outside the quartiles' fence."""
    moving = tuple(range(18, 40))
    X, y = planted(p=40, moving=moving, at=5000)
    screen = streamed(VelocityScreen(window=500), X, y, [1000])
    assert {d.feature for d in screen.drift_} == {3, 17, *moving}
    assert {d.row for d in screen.drift_} == {5500, 6000}
    one, y = planted(p=20, at=5000)
    alone = streamed(VelocityScreen(window=500), one[:, 3:4], y, [1000])
    assert {d.feature for d in alone.drift_} == {0}


def test_a_change_that_moves_no_mean_goes_unnoticed_as_the_notes_say():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 8000)
    X = rng.normal(size=(8000, 10))
    X[:4000, 2] += 2 * y[:4000] - 1
    X[4000:, 2] -= 2 * y[4000:] - 1
    X[4000:, 5] += 2 * y[4000:] - 1
    screen = VelocityScreen(k=1, window=500).fit(X, y)
    assert screen.drift_ == []
    assert screen.ranked_.tolist() == [2]


@pytest.mark.parametrize("kind", ["independent", "one factor", "skewed", "rare"])
def test_streams_that_stand_still_rarely_give_an_alarm(kind):
    """Once in 2000 windows or less, by simulation; ten times that is allowed here."""
    rng = np.random.default_rng(2)
    windows = alarms = 0
    for _ in range(6):
        n, p = 50 * 100, 30
        X = rng.normal(size=(n, p))
        if kind == "one factor":
            X = 0.3 * X + rng.normal(size=(n, 1))
        if kind == "skewed":
            X = np.exp(X)
        if kind == "rare":
            X = (X > 1.5) * 1.0
        screen = streamed(VelocityScreen(window=50), X, rng.integers(0, 3, n), [999])
        windows += 100
        alarms += len({d.row for d in screen.drift_}) / 2  # each is followed up once
    assert alarms <= 0.005 * windows


def test_alarms_of_the_monitor_are_rare_over_many_windows():
    rng = np.random.default_rng(3)
    for p, share in ((1, 0.0), (20, 0.0), (20, 0.95)):
        common = rng.normal(size=(2000, 1))
        means = np.sqrt(share) * common + np.sqrt(1 - share) * rng.normal(size=(2000, p))
        squares = rng.chisquare(99, size=(2000, p))
        monitor = VelocityMonitor()
        named = [
            len(monitor.judge(np.array([np.full(p, 100.0), mean / 10, square])))
            for mean, square in zip(means, squares, strict=True)
        ]
        assert np.count_nonzero(named) <= 2 * 0.002 * 2000
    # and a shift by half a deviation is noticed at once, however many stand still
    monitor = VelocityMonitor()
    for turn in range(6):
        mean = rng.normal(size=2000) / np.sqrt(1000)
        mean[7] += 0.5 * (turn == 5)
        drifted = monitor.judge(np.array([np.full(2000, 1000.0), mean, np.full(2000, 1000.0)]))
    assert drifted.tolist() == [7]


def test_velocity_is_that_of_the_formula():
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(40, 3)), rng.normal(size=(40, 3)) + np.array([0, 1, 5])
    screen = VelocityScreen(window=40).fit(np.r_[a, b], np.arange(80) % 2)
    pooled = np.sqrt((a.var(axis=0, ddof=1) + b.var(axis=0, ddof=1)) / 2)
    np.testing.assert_allclose(screen.velocity_, np.abs(b.mean(axis=0) - a.mean(axis=0)) / pooled, rtol=1e-12)


def test_constants_have_no_velocity_and_do_not_change_what_drifts():
    X, y = planted(p=20)
    constants = np.tile([0.1, 1e9 / 3, -1e-300, 0.0], (len(y), 10))
    plain = streamed(VelocityScreen(window=500), X, y, [1000])
    for form in FORMS.values():
        more = streamed(VelocityScreen(window=500), form(np.hstack([X, constants])), y, [1000])
        assert not more.velocity_[20:].any()
        assert [d[:2] for d in more.drift_] == [d[:2] for d in plain.drift_]
        assert not more.scores_[20:].any()


def test_a_jump_from_one_constant_to_another_is_as_fast_as_can_be():
    before, now = np.array([[50.0], [1.0], [0.0]]), np.array([[50.0], [2.0], [0.0]])
    assert motion(before, now).velocity.tolist() == [1e6]
    X = np.where(np.arange(800) < 500, 1.0, 2.0)[:, None] + np.zeros((1, 3))
    screen = VelocityScreen(window=100).fit(X, np.arange(800) % 2)
    assert {d.feature for d in screen.drift_} == {0, 1, 2}
    assert np.all(np.isfinite(screen.scores_))


# ------------------------------------------------------------------------------------ windows


def test_before_the_first_window_is_full_scores_are_those_of_the_rows_so_far():
    X, y = planted(n=900)
    screen = VelocityScreen(k=3, window=1000)
    for low in range(0, 900, 90):
        screen.partial_fit(X[low : low + 90], y[low : low + 90])
        whole = Screen("mutual_info", k=3).fit(X[: low + 90], y[: low + 90])
        assert np.array_equal(screen.scores_, whole.scores_)
        assert np.array_equal(screen.ranked_, whole.ranked_)
    assert screen.drift_ == []
    assert not screen.velocity_.any()


def test_the_first_window_ranks_and_rows_after_it_change_nothing_while_they_stand_still():
    X, y = planted(n=5000)
    screen = VelocityScreen(window=1000).partial_fit(X[:1000], y[:1000])
    ranked = screen.scores_.copy()
    assert np.array_equal(ranked, Screen("mutual_info").fit(X[:1000], y[:1000]).scores_)
    for low in range(1000, 5000, 250):
        screen.partial_fit(X[low : low + 250], y[low : low + 250])
        assert np.array_equal(screen.scores_, ranked)


def test_a_feature_that_was_constant_is_scored_when_it_first_varies():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 400)
    X = np.c_[rng.normal(size=400), np.where(np.arange(400) < 250, 7.0, 7.0 + y), np.full(400, np.nan)]
    screen = streamed(VelocityScreen(window=100), X[:200], y[:200], [50])
    assert screen.scores_[1] == 0
    streamed(screen, X[200:300], y[200:300], [50])
    expected = Screen("mutual_info").fit(X[200:300], y[200:300]).scores_[1]
    assert screen.scores_[1] == expected > 0
    assert screen.scores_[2] == 0


@pytest.mark.parametrize("labels", [np.array(["spam", "ham", "eggs"]), np.array([3, 1, 7])])
def test_several_classes_under_any_name(labels):
    rng = np.random.default_rng(6)
    y = rng.integers(0, 3, 3000)
    X = rng.normal(size=(3000, 8))
    X[:, 2] += y
    X[1800:, 5] += 2.0 * y[1800:] + 1
    screen = streamed(VelocityScreen(k=2, window=300), X, labels[y], [451])
    assert screen.ranked_.tolist() == [5, 2]
    assert {d.feature for d in screen.drift_} == {5}


# ------------------------------------------------------------------------------------ open features


def test_sparse_rows_are_never_made_dense():
    rng = np.random.default_rng(8)
    p, n = 200_000, 2000
    X = sp.random_array((n, p), density=20 / p, format="csr", random_state=rng)
    y = rng.integers(0, 2, n)
    screen = VelocityScreen(k=5, window=500).partial_fit(X[:100], y[:100])  # compiled
    tracemalloc.start()
    screen.partial_fit(X[100:], y[100:])
    screen.get_support()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 500 * p * 8 / 5


# ------------------------------------------------------------------------------------ saving


def test_saved_in_the_midst_of_an_alarm_and_continued(tmp_path):
    X, y = planted()
    whole = streamed(VelocityScreen(k=2, window=500), X, y, [400])
    for stop in (100, 500, 5499, 5500, 5750, 6000):
        screen = streamed(VelocityScreen(k=2, window=500), X[:stop], y[:stop], [400])
        screen.save(tmp_path / "half.sieve")
        again = streamed(VelocityScreen.load(tmp_path / "half.sieve"), X[stop:], y[stop:], [400])
        assert np.array_equal(again.scores_, whole.scores_)
        assert again.drift_ == whole.drift_


def monitor_state():
    monitor = VelocityMonitor()
    for turn in range(6):
        drifted = monitor.judge(np.array([[9.0, 9, 9], [0, 0, 50.0 * (turn == 5)], [9, 9, 9]]))
    monitor.note(54, drifted, np.zeros(1), np.ones(1))
    return monitor.state()


def test_a_monitor_comes_back_from_its_state():
    good = VelocityMonitor.from_state(monitor_state())
    assert good.state().keys() == monitor_state().keys()
    assert good.events == [(54, 2, 0.0, 1.0)]


# ------------------------------------------------------------------------------------ errors

X0, Y0 = np.random.default_rng(0).normal(size=(60, 4)), np.arange(60) % 2


@pytest.mark.parametrize("seen", [5, 20, 45])
def test_a_failed_batch_changes_nothing(seen):
    screen = VelocityScreen(window=20).partial_fit(X0[:seen], Y0[:seen])
    before = screen.scores_.copy()
    infinite = X0.copy()
    infinite[50, 1] = np.inf
    refusals = [
        (infinite, Y0, ex.BadValueError, "feature 'x1' holds inf"),
        (X0, Y0.astype(str), ex.TargetError, "labels so far were numbers, but this batch has text"),
        (X0, Y0 + 0.5, ex.TargetError, "fractional numbers, but VelocityScreen needs class labels"),
        (X0[:, :3], Y0, ex.InputError, "X has 3 features"),
    ]
    for X, y, error, message in refusals:
        with pytest.raises(error, match=message):
            screen.partial_fit(X, y)
        assert screen.n_samples_seen_ == seen
        assert np.array_equal(screen.scores_, before)
    screen.partial_fit(X0[seen:], Y0[seen:])
    assert np.array_equal(screen.scores_, VelocityScreen(window=20).fit(X0, Y0).scores_)
