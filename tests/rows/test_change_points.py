"""The GLR test equals its slow twin, keeps its promise about false alarms, and notices what it should."""

import numpy as np
import pytest

import streamsieve as ss
from streamsieve.exceptions import StateError
from streamsieve.rows.drift.change_points import MOST_BUCKETS, ChangePoints
from streamsieve.rows.drift.relevance_changes import RelevanceChanges
from tests.reference import change_points as reference
from tests.summaries.streams import assert_same_bits, snapshot


@pytest.mark.parametrize("seed", range(4))
def test_differences_are_those_of_all_values(seed):
    rng = np.random.default_rng(seed)
    ours, twins, late = ChangePoints(), [], int(rng.integers(1, 30))
    for t in range(int(rng.choice([40, 200, 1000]))):
        p = 2 if t < late else 3
        ours.grow(p)
        while len(twins) < p:
            twins.append(reference.ChangePoints())
            for _ in range(t):  # what came before a signal began counts for its buckets only
                twins[-1].update(None)
        x = rng.normal(rng.choice([0.0, 3.0]), rng.choice([0.1, 1.0, 3.0]), p)
        ours.update(x)
        for twin, value in zip(twins, x.tolist(), strict=True):
            twin.update(value)
        wanted = np.array([twin.differences() for twin in twins]).T.reshape(-1, p)
        np.testing.assert_allclose(ours.differences(), wanted, rtol=1e-7, atol=1e-7)
        if len(wanted) and rng.random() < 0.02:
            j, point = int(rng.integers(p)), int(rng.integers(len(wanted)))
            ours.restart(np.array([j]), np.array([point]))
            twins[j].restart(point)
        if t % 50 == 0:
            saved = snapshot(ours)
            ours = ChangePoints.from_state(saved)
            assert_same_bits(saved, snapshot(ours))
    assert len(ours._sizes) <= MOST_BUCKETS


@pytest.mark.parametrize(("name", "value", "message"), [
    ("n_values", np.array(3), "of 3 in all"),
    ("start", np.array([99]), "buckets, of 20 in all"),
    ("sums", None, "could not have come about"),
])  # fmt: skip
def test_states_that_could_not_have_come_about_are_refused(name, value, message):
    test = ChangePoints()
    test.grow(1)
    for _ in range(20):
        test.update(np.ones(1))
    arrays = snapshot(test)
    arrays[name] = arrays[name] + 5 if value is None else value
    with pytest.raises(StateError, match=message):
        ChangePoints.from_state(arrays)


def false_alarms(every, means, rho, streams, seed=0):
    """Alarms of stationary streams of 100,000 rows, drawn as normal scores with a common part."""
    rng, p, found = np.random.default_rng(seed), len(means), 0
    for _ in range(streams):
        test = RelevanceChanges(every, 5)
        test.grow(p)
        for _ in range(100_000 // every):
            noise = np.sqrt(rho) * rng.normal() + np.sqrt(1 - rho) * rng.normal(size=p)
            found += len(test.update(np.minimum(np.abs(means + noise), 8.0)).features) > 0
    return found / streams


@pytest.mark.full
@pytest.mark.parametrize("every", [50, 100, 1000])
@pytest.mark.parametrize("rho", [0.0, 0.8])
def test_false_alarms_are_at_most_one_in_100000_rows(every, rho):
    means = np.repeat([2.5, 0.0], [5, 15])
    assert false_alarms(every, means, rho, streams=5) <= 1.0


def swap(n, seed, moved=5, effect=0.5):
    """Of 20 normal columns five differ between classes; from half time on, others instead of ``moved``."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 20)), rng.integers(0, 2, n)
    later = [*range(moved, 5), *range(5, 5 + moved)]
    X[: n // 2, :5] += effect * y[: n // 2, None]
    X[n // 2 :, later] += effect * y[n // 2 :, None]
    return X, y, later


@pytest.mark.parametrize(("n", "moved", "effect"), [
    (2_000, 5, 0.5), (2_000, 5, 1.0), (20_000, 5, 0.5), (20_000, 3, 0.5), (20_000, 1, 0.5),
])  # fmt: skip
@pytest.mark.parametrize("drift_every", [None, 50])
def test_the_default_monitor_notices_a_swap(n, moved, effect, drift_every):
    right = []
    for seed in range(4):
        X, y, later = swap(n, seed, moved, effect)
        screen = ss.Screen("f", k=5, on_drift="reset", drift_every=drift_every).fit(X, y)
        right.append(len({*screen.selected_.tolist()} & {*later}))
        assert all(drift.row > n // 2 for drift in screen.drift_)
    assert np.mean(right) >= 4.5


def test_a_stationary_stream_has_no_alarm():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(100_000, 20)), rng.integers(0, 2, 100_000)
    X[:, :5] += 0.5 * y[:, None]
    assert ss.Screen("f", k=5, on_drift="reset").fit(X, y).drift_ == []
