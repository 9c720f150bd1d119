"""Moments of features together with a numeric target: about pivots, and by Welford."""

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve._kernels import comoments as kernel
from tests.helpers.blocks import arrays


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(1, 3), (6, 4), (7, 4), (3, 300)])
def test_sums_about_the_pivot(shape, dtype):
    rng = np.random.default_rng(0)
    n, p = shape
    X, y = rng.normal(size=shape).astype(dtype), rng.normal(size=n)
    w, pivot = rng.random(n), rng.normal(size=p)
    s1, s2, sxy = np.full((3, p), 7.0)
    assert kernel.accumulate(X, y, w, pivot, s1, s2, sxy, 1, p)
    d = (X - pivot)[:, 1:]
    np.testing.assert_allclose(s1[1:], w @ d, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(s2[1:], w @ (d * d), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(sxy[1:], (w * y) @ d, rtol=1e-11, atol=1e-13)
    assert s1[0] == s2[0] == sxy[0] == 7.0  # features below ``low`` belong to another thread


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
@pytest.mark.parametrize("row", [2, 4])
def test_a_value_that_breaks_a_sum_is_reported(value, row):
    X, y = np.ones((5, 3)), np.arange(5.0)
    X[row, 2] = value
    s1, s2, sxy, pivot = np.zeros((4, 3))
    with np.errstate(over="ignore", invalid="ignore"):
        assert not kernel.accumulate(X, y, np.ones(5), pivot, s1, s2, sxy, 0, 3)
        assert kernel.accumulate(X, y, np.ones(5), pivot, s1, s2, sxy, 0, 2)


def moments(x, y, w):
    """Return [w, mean x, m2 x, mean y, cxy, m2 y] by two passes."""
    if w.sum() == 0:
        return [0.0] * 6
    dx, dy = x - np.average(x, weights=w), y - np.average(y, weights=w)
    means = np.average(x, weights=w), np.average(y, weights=w)
    return [w.sum(), means[0], w @ (dx * dx), means[1], w @ (dx * dy), w @ (dy * dy)]


def test_dense_rows_with_missing_values_go_into_cells():
    rng = np.random.default_rng(1)
    X, y, w = rng.normal(size=(12, 5)) + 10, rng.normal(size=12) - 5, rng.random(12) * (np.arange(12) != 4)
    X[rng.random(X.shape) < 0.3] = np.nan
    X[:, 4] = np.nan
    cells = np.zeros((5, 6))
    for rows in (slice(5), slice(5, 12)):
        kernel.update_missing(X[rows], y[rows], w[rows], cells)
    for j in range(5):
        there = ~np.isnan(X[:, j])
        wanted = moments(X[there, j], y[there], w[there])
        np.testing.assert_allclose(cells[j], wanted, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_rows_go_into_a_cache_line_a_feature(dtype):
    rng = np.random.default_rng(2)
    n, p = 15, 4
    X = sp.random_array((n, p), density=0.6, format="csr", random_state=rng, dtype=dtype)
    X.data[::5] = np.nan
    y, w = rng.normal(size=n) + 2, rng.random(n) * (np.arange(n) != 6)
    table = np.zeros((p, 8))
    for rows in (slice(4), slice(4, n)):
        kernel.update_csr(*arrays(X[rows]), y[rows], w[rows], table)
    coo = X.tocoo()
    i, j = coo.coords
    for feature in range(p):
        stored = (j == feature) & ~np.isnan(coo.data)
        missing = i[(j == feature) & np.isnan(coo.data)]
        x = coo.data[stored].astype(np.float64)
        wanted = moments(x, y[i[stored]], w[i[stored]])[:5]
        gone = moments(y[missing], y[missing], w[missing])[:3] if len(missing) else [0.0] * 3
        np.testing.assert_allclose(table[feature], wanted + gone, rtol=1e-10, atol=1e-13)
