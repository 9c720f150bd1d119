"""The products of columns are mean, centered sum of squares and product with the target, in every layout."""

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve._kernels import column_products as kernel
from streamsieve.dependence.blocks import column_products
from streamsieve.independence import FisherZ
from streamsieve.protocols import Task

LAYOUTS = {
    "row by row": np.ascontiguousarray,
    "column by column": np.asfortranarray,
    "wide rows": lambda X: np.hstack([X, X])[:, : X.shape[1]],
    "csc": sp.csc_array,
}


def centered_target(rng, n):
    y = rng.normal(size=n)
    return y - y.mean()


def expected(X, y):
    centered = X - X.mean(axis=0)
    return X.mean(axis=0), (centered**2).sum(axis=0), centered.T @ y


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 9])
def test_every_layout_gives_mean_squares_and_product(layout, n):
    rng = np.random.default_rng(n)
    y = centered_target(rng, n)
    X = rng.normal(size=(n, 7)) * (rng.random((n, 7)) < 0.6)
    for found, wanted in zip(column_products(LAYOUTS[layout](X), y), expected(X, y), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)


def test_blocks_wider_than_a_tile_are_covered():
    rng = np.random.default_rng(0)
    y, X = centered_target(rng, 5), rng.normal(size=(5, 515))
    for found, wanted in zip(column_products(X, y), expected(X, y), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_constants_have_no_squares_at_all_and_offsets_cost_no_digits(layout):
    rng = np.random.default_rng(1)
    y, whole = centered_target(rng, 10), rng.integers(0, 5, (10, 3))
    X = np.column_stack([np.full(10, 0.1), np.full(10, 1e9 + 0.1), np.zeros(10), whole + 1e9, whole])
    _, ss, dot = column_products(LAYOUTS[layout](X), y)
    assert ss[:3].tolist() == dot[:3].tolist() == [0.0] * 3
    np.testing.assert_allclose(ss[3:6], ss[6:], rtol=1e-13)
    np.testing.assert_allclose(dot[3:6], dot[6:], rtol=1e-12, atol=1e-13)


def test_explicit_zeros_are_zeros_like_any_other():
    rng = np.random.default_rng(2)
    y, X = centered_target(rng, 6), np.array([[0, 1, 0, 2, 0, 0.0], [0, 0, 0, 0, 0, 0], [5, 5, 5, 5, 5, 5]]).T
    stored = sp.csc_array((X.T.ravel(), np.tile(np.arange(6, dtype=np.int32), 3), np.arange(4) * 6), (6, 3))
    for found, wanted in zip(column_products(stored, y), column_products(sp.csc_array(X), y), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("row", [0, 4, 5])
def test_a_value_that_is_no_number_comes_out_in_the_squares(layout, value, row):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(6, 3))
    X[row, 1] = value
    with np.errstate(invalid="ignore"):  # without JIT, NumPy remarks on inf - inf
        ss = column_products(LAYOUTS[layout](X), centered_target(rng, 6))[1]
    assert np.isfinite(ss).tolist() == [True, False, True]


def test_one_column_is_a_block_of_one():
    rng = np.random.default_rng(4)
    for n in (1, 2, 7):
        y, x = centered_target(rng, n), rng.normal(size=n) + 5
        _, ss, dot = column_products(x[:, None], y)
        np.testing.assert_allclose(kernel.one_column(x, y), (ss[0], dot[0]), rtol=1e-12, atol=1e-13)


def test_grades_are_lengths_correlations_and_verdicts():
    ss, dot = np.array([4.0, 4.0, 4.0, 0.0, -1e-20]), np.array([1.0, -0.99, -1.0, 0.0, 0.1])
    out = np.empty(5, np.uint8)
    with np.errstate(divide="ignore", invalid="ignore"):  # without JIT, NumPy remarks on 0 / 0
        kernel.grade(ss, dot, 0.5, (7, 8, 9), out)
    assert ss.tolist() == [2.0, 2.0, 2.0, 0.0, 0.0]
    assert dot.tolist() == [0.5, -0.495, -0.5, 0.0, 0.0]
    assert out.tolist() == [7, 8, 7, 9, 9]


@pytest.mark.parametrize("n", [40, 61, 64, 200])
def test_every_column_in_doubt_is_marked(n):
    """The marks may be too many, never too few: unmarked columns keep their p-value by t."""
    rng = np.random.default_rng(0)
    y = np.exp(rng.standard_normal(n))
    X = np.exp(rng.standard_normal((n, 600)))
    X[:, ::2] += y[:, None]
    X[0, ::3] = 50.0  # the sums of pieces are about the first value
    X[:, ::5] += 1e6
    test = FisherZ(y, Task.REGRESSION, 0.05, online=True)
    marked = np.empty(600, bool)
    r = np.abs(test.relevance(X, marked).r)
    by_t = np.asarray(FisherZ(y, Task.REGRESSION, 0.05, p_value="t").measure(X).p_value)
    without_marks = np.asarray(test.measure(np.asfortranarray(X)).p_value)
    changed = ~np.isclose(without_marks, by_t, rtol=1e-6, atol=0)
    assert changed.any()
    assert not changed[~marked].any()
    assert not marked[r < test.critical * (1 - 1e-6)].any()
