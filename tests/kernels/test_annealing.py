"""Annealing: a gradient step, then the smallest go, by the schedule."""

import numpy as np
import pytest

from streamsieve._kernels import annealing as kernel


def slow(R, c, k, steps, mu, ridge, rate):
    p = len(c)
    beta, left = np.zeros(p), np.arange(p)
    for e in range(1, steps + 1):
        beta[left] -= rate * (R @ beta + ridge * beta - c)[left]
        many = int(k + (p - k) * max(0.0, (steps - 2 * e) / (2 * e * mu + steps)))
        left = np.array(sorted(sorted(left, key=lambda j: (-abs(beta[j]), j))[:many]))
        beta[[j for j in range(p) if j not in left]] = 0.0
    return beta


@pytest.mark.parametrize("k", [1, 3, 11, 12])
@pytest.mark.parametrize("mu", [0.0, 10.0])
def test_it_is_the_plain_loop(k, mu):
    rng = np.random.default_rng(k)
    X = rng.normal(size=(30, 12)) + rng.normal(size=(30, 1))
    R, c = np.corrcoef(X, rowvar=False), np.corrcoef(X.T, X[:, 0] - X[:, 5])[-1, :-1]
    for steps in (2, 20):
        found = kernel.anneal(R, c, k, steps, mu, 1e-3, 0.1)
        np.testing.assert_allclose(found, slow(R, c, k, steps, mu, 1e-3, 0.1), atol=1e-13)
        assert np.count_nonzero(found) == k


def test_among_equals_the_first_stay():
    found = kernel.anneal(np.eye(6), np.full(6, 0.5), 2, 10, 5.0, 0.0, 0.5)
    assert np.flatnonzero(found).tolist() == [0, 1]
    nothing = kernel.anneal(np.eye(6), np.zeros(6), 2, 10, 5.0, 0.0, 0.5)
    assert not nothing.any()
