"""Neighbors are found in order, counted once, and give the information of the slow twin."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import digamma

from streamsieve._kernels import neighbors
from tests.helpers.blocks import arrays
from tests.reference import ksg as twin

TABLE = np.concatenate([[0.0], digamma(np.arange(1.0, 1024))])


def by_labels(X, y, copies=None, k=4, low=0, high=None):
    copies, out = np.ones(len(y), np.int64) if copies is None else copies, np.full(X.shape[1], -1.0)
    columns, high = arrays(sp.csc_array(X, dtype=float)), X.shape[1] if high is None else high
    neighbors.labels(*columns, y, copies, int(y.max()) + 1, k, TABLE, low, high, out)
    return out


def by_numbers(X, y, copies=None, k=4, low=0, high=None):
    copies, out = np.ones(len(y), np.int64) if copies is None else copies, np.full(X.shape[1], -1.0)
    columns, high = arrays(sp.csc_array(X, dtype=float)), X.shape[1] if high is None else high
    order = np.argsort(y, kind="stable")
    neighbors.numbers(*columns, y[order], np.argsort(order), copies[order], k, TABLE, low, high, out)
    return out


def nasty(rng, n, p):
    """Columns with ties, zeros, missing values and constants."""
    X = rng.integers(-3, 4, (n, p)) * rng.choice([0.1, 1.0, 1e9], p)
    free = rng.random(p) < 0.3
    X[:, free] = rng.normal(size=(n, int(free.sum())))
    X[rng.random((n, p)) < 0.3] = 0.0
    X[rng.random((n, p)) < 0.1] = np.nan
    return X


@pytest.mark.parametrize("n", [0, 1, 2, 15, 16, 17, 33, 100])
def test_sorting_keeps_equal_values_as_they_stand(n):
    rng = np.random.default_rng(n)
    for values in (rng.normal(size=n), rng.integers(0, 4, n) * 1.0, np.arange(n)[::-1] * 1.0, np.zeros(n)):
        order, keys = np.empty(n + 3, np.int64), np.empty(n + 3)
        neighbors._sort(np.append(values, [-9.0, 9.0]), n, order, keys, order.copy(), keys.copy())
        wanted = np.argsort(values, kind="stable")
        assert np.array_equal(order[:n], wanted)
        assert np.array_equal(keys[:n], values[wanted])


@pytest.mark.parametrize("count", [1, 2, 1023, 1024, 1025, 10**6, 2**40])
def test_digamma_of_whole_numbers(count):
    assert neighbors._psi(count, TABLE) == pytest.approx(digamma(float(count)), rel=1e-15)


@pytest.mark.parametrize("k", [1, 4, 9])
def test_information_is_that_of_the_twin(k):
    rng = np.random.default_rng(k)
    for case in range(12):
        n = int(rng.integers(1, 30))
        X, copies = nasty(rng, n, 4), rng.integers(1, 4, n) if case % 2 else np.ones(n, np.int64)
        classes = rng.integers(0, 1 + case % 4, n)
        wanted = twin.score(X, classes, copies, k, labels=True)
        np.testing.assert_allclose(by_labels(X, classes, copies, k), wanted, atol=1e-12)
        target = rng.normal(size=n) if case % 3 else rng.integers(0, 3, n) / 3
        wanted = twin.score(X, target, copies, k, labels=False)
        np.testing.assert_allclose(by_numbers(X, target, copies, k), wanted, atol=1e-12)


@pytest.mark.parametrize("score", [by_labels, by_numbers])
def test_a_range_of_features_is_filled_and_nothing_else(score):
    rng = np.random.default_rng(0)
    X, y = nasty(rng, 25, 6), rng.integers(0, 3, 25)
    y = y if score is by_labels else y * 0.5
    whole, part = score(X, y), score(X, y, low=2, high=5)
    assert np.array_equal(part[2:5], whole[2:5])
    assert part[[0, 1, 5]].tolist() == [-1, -1, -1]


@pytest.mark.parametrize("score", [by_labels, by_numbers])
def test_constants_and_too_few_rows_score_exactly_0(score):
    y = np.array([0, 1, 0, 1, 1]) if score is by_labels else np.array([0.1, 0.7, 0.2, 0.9, 1.0])
    X = np.full((5, 4), np.nan)
    X[:, 0], X[:, 1], X[2, 2] = 0.0, 1e9 / 3, 4.0
    assert score(X, y).tolist() == [0, 0, 0, 0]
    assert score(np.arange(5.0)[:, None], y[:1].repeat(5)).tolist() == [0]
