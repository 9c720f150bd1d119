"""Steps are those of the twin, over dense rows and CSR rows, in blocks of any size."""

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve._kernels import fires as kernel
from streamsieve.rows.linear.entries import row_entries
from tests.reference import fires as twin


@pytest.mark.parametrize(
    "z", [-1e10, -1e3, -40.0, -38.0, -8.1, -8.0, -7.9, -3.0, -0.5, 0.0, 0.7, 5.0, 30.0, 50.0]
)
def test_ratio_of_density_and_probability(z):
    expected = twin.ratio(z) if z > -1e3 else -z - 1 / z
    assert kernel.ratio(z) == pytest.approx(expected, rel=1e-13 if z > -8 else 1e-11, abs=1e-300)


def test_ratio_is_one_curve_where_its_two_formulas_meet():
    below, above = kernel.ratio(np.nextafter(-8.0, -9.0)), kernel.ratio(np.nextafter(-8.0, 0.0))
    assert below == pytest.approx(above, rel=1e-14)


@pytest.mark.parametrize(("n", "size", "epochs"), [(1, 1, 1), (7, 1, 2), (9, 4, 1), (11, 5, 3), (6, 6, 1)])
@pytest.mark.parametrize("p", [1, 3, 9])
def test_steps_are_the_twins(n, size, epochs, p):
    rng = np.random.default_rng(n + p)
    X = np.round(rng.normal(size=(n, p)) * 4) / 4 * (rng.random((n, p)) < 0.7)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    expected = twin.fires(X, y, size, epochs, rate_mean=0.5, rate_spread=0.7)
    for rows in ((X,), row_entries(sp.csr_array(X))):
        mean, spread, sums = np.zeros(p), np.ones(p), np.zeros((2, p))
        learn = kernel.learn_dense if len(rows) == 1 else kernel.learn_sparse
        learn(*rows, y, size, epochs, 0.5, 0.7, mean, spread, sums)
        np.testing.assert_allclose(mean, expected.mu, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(spread, expected.sigma, rtol=1e-12, atol=1e-14)
        assert not sums.any()


def test_rows_wider_than_a_tile_and_steps_longer_than_a_block_are_covered():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6, 515)), np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0])
    tall, signs = rng.normal(size=(43, 300)), np.where(rng.random(43) < 0.5, 1.0, -1.0)
    for rows, labels in ((X, y), (tall, signs)):
        n, p = rows.shape
        dense, sparse = ((np.zeros(p), np.full(p, 0.5), np.zeros((2, p))) for _ in range(2))
        kernel.learn_dense(rows, labels, n, 2, 0.1, 0.1, *dense)
        kernel.learn_sparse(*row_entries(sp.csr_array(rows)), labels, n, 2, 0.1, 0.1, *sparse)
        for found, wanted in zip(dense, sparse, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)


def test_deviations_end_at_zero_and_nothing_leaves_all_bounds():
    X = np.array([[1e100, 1.0, -1e100]])
    mean, spread, sums = np.array([1e30, 0.0, -1e30]), np.array([1e-100, 1e-3, 0.0]), np.zeros((2, 3))
    for sign in (-1.0, 1.0) * 3:
        with np.errstate(over="ignore", invalid="ignore"):  # without JIT, NumPy remarks on inf - inf
            kernel.learn_dense(X, np.array([sign]), 1, 1, 1e3, 1e3, mean, spread, sums)
    assert np.all(np.abs(mean) <= kernel.FURTHEST)
    assert np.all((spread >= 0) & (spread <= kernel.FURTHEST))
