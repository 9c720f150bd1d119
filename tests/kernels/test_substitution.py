"""The kernel measures columns exactly, and keeps residual, coefficients and store in step."""

import numpy as np
import pytest

from streamsieve._kernels import substitution as kernel
from tests.helpers.blocks import pieces


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("n", [2, 7, 8])
def test_measure_gives_mean_deviation_and_gradient(n, sparse):
    rng = np.random.default_rng(n)
    X = rng.integers(-2, 3, (n, 9)).astype(float)
    X[:, 4] = 3.0
    X[:, 5] = 0.0
    X[:, 6] += 1e9
    residual = rng.normal(size=n)
    facts = np.full((9, 4), 9.0)
    kernel.measure(*pieces(X, sparse)[:3], residual, residual.mean(), 1, 9, np.inf, facts)
    assert np.all(facts[0] == 9.0)
    scale = X.std(axis=0)
    varies = np.ptp(X, axis=0)[1:] > 0
    np.testing.assert_allclose(facts[1:, 0], X.mean(axis=0)[1:], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(facts[1:, 1], scale[1:] * varies, atol=1e-7)
    centered = (X - X.mean(axis=0))[:, 1:]
    wanted = np.where(varies, centered.T @ residual / n / np.where(varies, scale[1:], 1), 0)
    np.testing.assert_allclose(facts[1:, 2], wanted, atol=1e-6)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e101])
def test_measure_marks_what_is_suspicious(value):
    X = np.ones((6, 3))
    X[:, 0], X[2, 1] = np.arange(6), value
    facts = np.empty((3, 4))
    with np.errstate(invalid="ignore"):  # of inf - inf, if nothing is compiled
        kernel.measure(*pieces(X, sparse=False)[:3], np.ones(6), 1.0, 0, 3, 1e200, facts)
    assert facts[1, 1] == -1
    assert facts[0, 1] > 0
    assert facts[2, 1] == 0


@pytest.mark.parametrize("loss", [0, 1])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_residual_is_that_of_the_coefficients(sparse, loss):
    rng = np.random.default_rng(3)
    n, m, budget, spare = 12, 25, 3, 3
    X = rng.normal(size=(n, m)) * (rng.random((n, m)) < 0.7)
    target = rng.normal(size=n) if loss == 0 else rng.permutation(np.arange(n) % 2.0)
    target -= target.mean() if loss == 0 else 0.0
    predictor = np.zeros(n if loss else 0)
    residual, level = (target - 0.5 * loss).copy(), np.zeros(2)
    store, where, fresh = (
        np.zeros((budget + spare, n)),
        np.zeros(budget, np.int64),
        np.zeros(budget + spare, bool),
    )
    free, later = np.arange(budget + spare), np.zeros(budget + spare, np.int64)
    theta, feature, known = np.zeros(budget), np.zeros(budget, np.int64), np.zeros((budget, 2))
    counts = np.array([0, 0, 0, budget + spare, 0])
    facts, evicted, was = np.empty((m, 4)), np.empty(m, np.int64), np.empty(m)
    done = kernel.substitute(
        *pieces(X, sparse)[:3], facts, 100, np.inf, loss, target, predictor, residual, level,
        store, where, fresh, free, later, theta, feature, known, counts, budget, 4, 1.0, 1e-9, evicted, was,
    )  # fmt: skip
    assert done == m
    assert counts[0] == budget
    assert np.all(evicted[:3] == -1)
    assert np.any(evicted[5:] >= 100)
    kept = feature - 100
    U = (X[:, kept] - X[:, kept].mean(axis=0)) / X[:, kept].std(axis=0)
    np.testing.assert_allclose(store[where], U.T, atol=1e-12)
    eta = level[0] + U @ theta
    wanted = target - (eta if loss == 0 else 1 / (1 + np.exp(-eta)))
    np.testing.assert_allclose(residual, wanted, atol=1e-12)
    assert level[1] == pytest.approx(residual.mean() * loss, abs=1e-12)
    # every row of the store is in use, free, or about to be
    assert sorted([*where, *free[: counts[3]], *later[: counts[4]]]) == list(range(budget + spare))
