"""FIRES equals its twin and the authors' code, however the rows are cut, and repeats none of its errors."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import norm

from benchmarks._peers_float import fires_class
from streamsieve.rows.fires import FIRES, ProbitModel
from streamsieve.rows.linear.minibatch_buffer import rows_of
from tests.helpers.tier import cases
from tests.reference.fires import Fires, fires, log_likelihood
from tests.rows.linear_cases import in_batches


def random_rows(turn, n, p, rng):
    X = rng.normal(size=(n, p))
    kind = turn % 6
    if kind == 1:
        X *= rng.random((n, p)) < 0.3
    elif kind == 2:
        X = rng.integers(0, 2, (n, p)) * 1.0
    elif kind == 3:
        X *= 10.0 ** rng.integers(-3, 4, p)
    elif kind == 4:
        X[:, p // 2 :] = X[:, : p - p // 2]
    elif kind == 5:
        X[rng.random(n) < 0.5] = 0.0
    return X, np.where(X[:, 0] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)


def packages_class():
    cls = fires_class()
    if cls is None:
        pytest.skip("the float package is not installed: pip install float-evaluation --no-deps")
    return cls


# ------------------------------------------------------------------------------------ equal to others


def test_any_batches_equal_the_twin():
    rng = np.random.default_rng(0)
    for turn in range(cases(250)):
        n, p, size = int(rng.integers(1, 40)), int(rng.integers(1, 9)), int(rng.integers(1, 9))
        X, y = random_rows(turn, n, p, rng)
        epochs, rate = int(rng.integers(1, 4)), float(10 ** rng.uniform(-2, 0))
        twin = fires(X, y, size, epochs, rate_mean=rate, rate_spread=2 * rate, penalty_spread=0.3)
        selector = FIRES(
            epochs=epochs, batch_size=size, learning_rate_mean=rate, learning_rate_spread=2 * rate,
            penalty_spread=0.3,
        )  # fmt: skip
        in_batches(selector, X, y, rng, largest=20)
        np.testing.assert_allclose(selector.coef_, twin.mu, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(selector.spread_, twin.sigma, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(selector.scores_, twin.omega, rtol=1e-9, atol=1e-10)
        assert selector.n_waiting_ == n % size


@pytest.mark.parametrize("size", [1, 10, 100])
def test_weights_are_those_of_the_authors_package(size):
    peer_class = packages_class()
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 20))
    y = np.where(X[:, 2] - X[:, 7] + rng.normal(size=600) > 0, 1, -1)
    peer = peer_class(20, 5, [-1, 1])
    ours, by_size = FIRES(5, batch_size=None), FIRES(5, batch_size=size).fit(X, y)
    for low in range(0, 600, size):
        # the package shuffles the rows of a batch, which does not change a mean
        peer.weight_features(X[low : low + size], y[low : low + size].copy())
        ours.partial_fit(X[low : low + size], y[low : low + size])
    for selector in (ours, by_size):
        np.testing.assert_allclose(selector.normalized_scores_, peer.weights, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(selector.coef_, peer._mu, rtol=1e-9, atol=1e-14)
        np.testing.assert_allclose(selector.spread_, peer._sigma, rtol=1e-9)


def test_a_step_goes_up_the_gradient_of_the_likelihood():
    rng = np.random.default_rng(2)
    for turn in range(30):
        n, p = int(rng.integers(1, 12)), int(rng.integers(1, 6))
        X, y = random_rows(turn, n, p, rng)
        X /= 1 + np.abs(X).max()
        model = ProbitModel(p)
        model._mean[:], model._spread[:] = rng.normal(size=p), rng.uniform(0.1, 2, p)
        mean, spread, tiny = model.mean.copy(), model.spread.copy(), 1e-6
        model.learn(rows_of(X), y, n, 1, 1.0, 1.0)
        for j in range(p):
            e = np.eye(p)[j] * tiny
            by_mean = log_likelihood(X, y, mean + e, spread) - log_likelihood(X, y, mean - e, spread)
            by_spread = log_likelihood(X, y, mean, spread + e) - log_likelihood(X, y, mean, spread - e)
            assert model.mean[j] - mean[j] == pytest.approx(by_mean / (2 * tiny), rel=1e-5, abs=1e-8)
            wanted = max(spread[j] + by_spread / (2 * tiny), 0.0)
            assert model.spread[j] == pytest.approx(wanted, rel=1e-5, abs=1e-8)


# ------------------------------------------------------------------------------------ errors of public code


def test_rows_far_on_the_wrong_side_are_not_0_by_0():
    """The package divides a density of 0 by a probability of 0, and all weights become NaN."""
    X, y = np.array([[1.0, 0.0]]), np.array([-1.0])
    model = ProbitModel(2)
    model._mean[:], model._spread[:] = [50.0, 1.0], [0.0, 1.0]
    assert norm.pdf(-50.0) == norm.cdf(-50.0) == 0
    model.learn(rows_of(X), y, 1, 1, 0.01, 0.01)
    twin = Fires(2)
    twin.mu, twin.sigma = np.array([50.0, 1.0]), np.array([0.0, 1.0])
    twin.step(X, y)
    np.testing.assert_allclose(model.mean, twin.mu, rtol=1e-12)
    assert model.mean[0] == pytest.approx(50 - 0.01 * 50.02, rel=1e-5)


def test_the_packages_weights_are_nan_there():
    peer = packages_class()(2, 1, [-1, 1])
    peer._mu[:], peer._sigma[:] = [50.0, 1.0], [0.0, 1.0]
    with np.errstate(invalid="ignore"):
        peer._probit(np.array([[1.0, 0.0]]), np.array([-1]))
    assert np.isnan(peer._mu).any()


@pytest.mark.parametrize(
    "classes", [(1, -1), (-1, 1), (0, 1), (1, 0), (1, 2), (-1, 0), ("a", "b"), ("b", "a")]
)
def test_labels_in_any_order_are_told_apart_and_not_changed_in_place(classes):
    """The package writes -1 over its first class, then 1 over its second: perhaps the -1s just written."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 4))
    second = X[:, 1] > 0
    y = np.where(second, classes[1], classes[0])
    before = y.copy()
    selector = FIRES(1).fit(X, y)
    assert np.array_equal(y, before)
    expected = FIRES(1).fit(X, second.astype(int))
    np.testing.assert_allclose(selector.scores_, expected.scores_, rtol=1e-12)
    assert selector.ranked_.tolist() == [1]
    assert {*selector.classes_.tolist()} == {*classes}


def test_the_packages_labels_become_all_the_same():
    y = np.array([1, -1, 1, -1])
    packages_class()(1, 1, [1, -1])._probit(np.ones((4, 1)), y)
    assert y.tolist() == [1, 1, 1, 1]


def test_negative_scores_rank_below_positive_ones():
    """The package selects by the sizes of weights, so that a weight of -0.5 counts more than one of 0.1."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(3000, 10))
    selector = FIRES(2, batch_size=10).fit(X, X[:, 4] + X[:, 6] + rng.normal(size=3000) > 0)
    assert sorted(selector.ranked_.tolist()) == [4, 6]
    noise = np.delete(selector.scores_, [4, 6])
    assert np.all(noise < 0)
    assert np.all(selector.scores_[[4, 6]] > 0)


# ------------------------------------------------------------------------------------ what it does


@pytest.mark.parametrize("size", [1, 10, 100])
def test_ten_planted_features_of_a_thousand_are_found(size):
    rng = np.random.default_rng(5)
    X, planted = rng.normal(size=(5000, 1000)), rng.permutation(1000)[:10]
    y = X[:, planted] @ rng.choice([-1.0, 1.0], 10) + rng.normal(size=5000) > 0
    selector = FIRES(20, batch_size=size).fit(X, y)
    assert {*planted.tolist()} <= {*selector.ranked_.tolist()}


def test_weights_go_from_0_to_1_in_the_order_of_scores():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(100, 5))
    selector = FIRES(2).fit(X, X[:, 0] > 0)
    assert selector.normalized_scores_.min() == 0
    assert selector.normalized_scores_.max() == 1
    assert np.argsort(selector.normalized_scores_).tolist() == np.argsort(selector.scores_).tolist()
    assert FIRES(2).fit(np.zeros((3, 4)), [0, 1, 0]).normalized_scores_.tolist() == [0.0] * 4


def test_deviations_never_fall_below_zero():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(300, 6))
    selector = FIRES(learning_rate_mean=5.0, learning_rate_spread=50.0).fit(X, X[:, 0] > 0)
    assert np.any(selector.spread_ == 0)
    assert np.all(selector.spread_ >= 0)


# ------------------------------------------------------------------------------------ steps and batches


def test_one_step_a_batch_depends_on_the_batches_and_says_so():
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(64, 4)), rng.integers(0, 2, 64)
    whole, halves = FIRES(batch_size=None).fit(X, y), FIRES(batch_size=None).fit(X[:32], y[:32])
    halves.partial_fit(X[32:], y[32:])
    assert not FIRES(batch_size=None).traits.any_chunking
    assert FIRES(batch_size=7).traits.any_chunking
    assert not np.allclose(whole.coef_, halves.coef_)
    twin = Fires(4)
    twin.step(X, np.where(y == 1, 1.0, -1.0))
    np.testing.assert_allclose(np.abs(whole.coef_), np.abs(twin.mu), rtol=1e-9)
    assert whole.n_waiting_ == halves.n_waiting_ == 0


def test_rows_wait_until_there_are_enough_whatever_becomes_of_the_callers_array():
    X, y = np.arange(12.0).reshape(4, 3), np.array([0, 1, 1, 0])
    expected = FIRES(batch_size=4).fit(X, y).coef_
    for form in (np.asarray, sp.csr_array):
        selector, rows = FIRES(batch_size=4), form(X[:3].copy())
        selector.partial_fit(rows, y[:3])
        assert selector.n_waiting_ == 3
        assert not selector.coef_.any()
        (rows.data if sp.issparse(rows) else rows)[:] = 99.0
        selector.partial_fit(form(X[3:]), y[3:])
        assert selector.n_waiting_ == 0
        np.testing.assert_allclose(selector.coef_, expected, rtol=1e-12)
