"""Kernels of products: plain sums, whatever the order in which pairs are visited."""

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve._kernels import products as kernel
from tests.helpers.blocks import arrays


@pytest.mark.parametrize("n", [0, 1, 2, 9])
def test_scatter_adds_every_pair_once(n):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 6)) * (rng.random((n, 6)) < 0.5)
    w, place, value = rng.random(n), rng.integers(1, 3, n), rng.normal(size=n)
    cross, products = np.ones((3, 7)), np.ones((7, 7))
    kernel.scatter(*arrays(sp.csr_array(X)), w, place, value, cross, products)
    wide = np.pad(X, ((0, 0), (0, 1)))
    np.testing.assert_allclose(np.triu(products), np.triu(1 + wide.T @ (wide * w[:, None])), atol=1e-14)
    assert np.array_equal(np.tril(products, -1), np.tril(np.ones((7, 7)), -1))
    np.testing.assert_allclose(cross[0], 1 + w @ wide, atol=1e-14)
    for target in (1, 2):
        here = place == target
        np.testing.assert_allclose(cross[target], 1 + value[here] @ wide[here], atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_centered_rows_have_no_mean_and_their_squares_are_the_weighted_ones(dtype):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(8, 3)) + 100).astype(dtype)
    X[:, 1] = 0.1
    w, place, value = rng.random(8) + 0.1, rng.integers(1, 3, 8), rng.normal(size=8)
    rows, mean, cross = np.full((9, 3), 7.0), np.empty(3), np.zeros((3, 3))
    kernel.center(X, w, place, value, rows, mean, cross)
    wanted = np.average(X.astype(np.float64), axis=0, weights=w)
    np.testing.assert_allclose(mean, wanted, rtol=1e-14)
    assert mean[1] == X[0, 1]
    assert not rows[:8, 1].any()
    assert np.all(rows[8] == 7.0)
    np.testing.assert_allclose(rows[:8], (X - wanted) * np.sqrt(w)[:, None], atol=1e-12)
    np.testing.assert_allclose(cross[1], value[place == 1] @ (X - wanted)[place == 1], atol=1e-12)


def test_products_about_another_origin():
    rng = np.random.default_rng(1)
    X, w = rng.normal(size=(9, 5)), rng.random(9)
    products = X.T @ (X * w[:, None])
    by = np.array([0.0, 2.0, 0.0, -1.0, 0.5])
    kernel.move(products, np.array([1, 3, 4]), by, w @ X, w.sum())
    moved = X - by
    np.testing.assert_allclose(np.triu(products), np.triu(moved.T @ (moved * w[:, None])), atol=1e-13)


@pytest.mark.parametrize("p", [1, 31, 33, 70])
def test_covariance_fills_both_triangles(p):
    rng = np.random.default_rng(p)
    products, mean = rng.normal(size=(p, p)), rng.normal(size=p)
    out = np.empty((p, p))
    kernel.covariance(products, mean, 4.0, out)
    upper = np.triu(products / 4 - np.outer(mean, mean))
    np.testing.assert_allclose(out, upper + np.triu(upper, 1).T, atol=1e-15)
