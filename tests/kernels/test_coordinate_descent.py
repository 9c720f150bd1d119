"""Coordinate descent ends where no coordinate has anywhere to go."""

import numpy as np
import pytest

from streamsieve._kernels import coordinate_descent as kernel


def correlations(seed, p=5, n=12):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=(n, 1))
    return np.corrcoef(X, rowvar=False), np.corrcoef(X.T, X[:, 0] + X[:, 1] + rng.normal(size=n))[-1, :-1]


@pytest.mark.parametrize("gamma", [1.5, 3.0, np.inf])
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_at_the_end_every_coordinate_is_at_its_own_minimum(gamma, ridge):
    if gamma < np.inf and ridge:
        pytest.skip("the concave penalty has no ridge")
    for seed in range(4):
        R, c = correlations(seed)
        beta, rest = np.zeros(5), c.copy()
        factors = np.array([1.0, 1.0, 0.5, 2.0, 1.0])
        kernel.descend(R, rest, beta, np.arange(5), factors, 0.2, ridge, gamma, 1e-12, 10_000)
        np.testing.assert_allclose(rest, c - R @ beta, atol=1e-11)
        level, size = 0.2 * factors, np.abs(beta)
        slope = np.where(size < gamma * level, level - size / gamma, 0.0) * np.sign(beta) + ridge * beta
        np.testing.assert_allclose(rest[beta != 0], slope[beta != 0], atol=1e-10)
        assert np.all(np.abs(rest[beta == 0]) <= level[beta == 0] + 1e-10)


def test_sweeps_end_at_the_most():
    R, c = correlations(0)
    beta, rest = np.zeros(5), c.copy()
    kernel.descend(R, rest, beta, np.arange(5), np.ones(5), 1e-3, 0.0, np.inf, 0.0, 3)
    assert np.all(np.isfinite(beta))
    np.testing.assert_allclose(rest, c - R @ beta, atol=1e-12)


@pytest.mark.parametrize("k", [1, 3, 5])
def test_the_path_ends_with_k_coefficients(k):
    R, c = correlations(1)
    beta, penalty = kernel.path(R, c, np.arange(5), np.ones(5), 0.0, np.inf, k, 0.8, 60, 1e-10, 1000)
    assert np.count_nonzero(beta) >= k
    steps = np.log(penalty / np.max(np.abs(c))) / np.log(0.8)
    assert steps == pytest.approx(round(steps))
    earlier, _ = kernel.path(
        R, c, np.arange(5), np.ones(5), 0.0, np.inf, 6, 0.8, round(steps) - 1, 1e-10, 1000
    )
    assert np.count_nonzero(earlier) < k


def test_an_endless_path_gives_up():
    R, c = np.eye(2), np.array([0.5, 0.0])
    beta, penalty = kernel.path(R, c, np.arange(2), np.ones(2), 0.0, np.inf, 2, 0.5, 4, 1e-10, 100)
    assert penalty == 0.5**5
    assert beta.tolist() == [0.5 - 0.5**5, 0.0]
