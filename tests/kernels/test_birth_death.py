"""Births and deaths of columns: factors are those of the columns in the model, and R^2 is least squares'."""

import numpy as np

from streamsieve._kernels import birth_death as kernel
from streamsieve.learners.rjmcmc.model_sampler import ModelSampler, Prior


def test_the_factor_is_that_of_the_model_after_every_move():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(25, 7)) + rng.normal(size=(25, 1)), rng.normal(size=25)
    X[:, 3] = 1.0
    walk = ModelSampler(y)
    for x in X.T:
        walk.arrive(np.ascontiguousarray(x))
    Z = X - X.mean(axis=0)
    Z = Z / np.where(np.arange(7) == 3, 1.0, np.sqrt((Z**2).sum(axis=0)))
    t = (y - y.mean()) / np.sqrt(np.sum((y - y.mean()) ** 2))
    sizes = set()
    for move in range(60):
        walk.walk(1, Prior(3.0, 1.0, 7), np.random.default_rng(move), count=True)
        q = walk.q
        sizes.add(q)
        now = walk._order[:q]
        L, z = walk._factor[:q, :q], walk._z[:q]
        np.testing.assert_allclose(np.tril(L) @ np.tril(L).T, Z[:, now].T @ Z[:, now], atol=1e-10)
        np.testing.assert_allclose(walk._gram[:q, :7], Z[:, now].T @ Z, atol=1e-12)
        rest = t - Z[:, now] @ np.linalg.lstsq(Z[:, now], t, rcond=None)[0] if q else t
        np.testing.assert_allclose(1 - z @ z, rest @ rest, atol=1e-10)
        b = np.empty(q)
        kernel.coefficients(walk._factor, walk._z, q, b)
        np.testing.assert_allclose(Z[:, now] @ b, t - rest, atol=1e-10)
        assert 3 not in now
    assert len(sizes) > 3


def test_the_evidence_of_no_columns_is_1_and_grows_with_the_fit():
    assert kernel.log_evidence(0, 0.0, 50, 100.0) == 0.0
    values = [kernel.log_evidence(2, r2, 50, 100.0) for r2 in (0.0, 0.3, 0.9, 1.0)]
    assert values == sorted(values)
    assert values[0] < 0
    assert np.isfinite(values[-1])
