"""Sums about a pivot, class by class, and their merge into means and second moments."""

import numpy as np
import pytest

from streamsieve._kernels import moments_dense as kernel

#: The largest sum of squares allowed in each of three classes.
MOST = np.full(3, 1e300)


def by_class(codes, classes):
    """Return the rows sorted by class and where each class begins."""
    order = np.argsort(codes, kind="stable")
    return order, np.searchsorted(codes[order], np.arange(classes + 1))


def sums(X, codes, w, pivot):
    """Return sums of w, w d and w d^2 about the pivots, NaN left out."""
    out = np.zeros((3, *pivot.shape))
    for x, c, weight in zip(X, codes, w, strict=True):
        d = np.nan_to_num(x - pivot[c])
        out[:, c] += weight * np.array([~np.isnan(x), d, d * d])
    return out


@pytest.fixture(params=[(1, 3), (9, 5), (3, 300)], ids=lambda shape: f"{shape[0]}x{shape[1]}")
def batch(request):
    n, p = request.param
    rng = np.random.default_rng(n)
    codes = np.arange(n) % 2
    return rng.normal(size=(n, p)) + 3, codes, rng.random(n), rng.normal(size=(3, p)) + 3


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("by_rows", [True, False])
def test_sums_about_the_pivot_of_the_class(batch, by_rows, weighted, dtype):
    X, codes, w, pivot = batch
    X = X.astype(dtype)
    order, edges = by_class(codes, 3)  # the third class has no rows
    s1, s2 = np.full((2, *pivot.shape), 7.0)
    pass_over, data = (kernel.accumulate, X) if by_rows else (kernel.accumulate_columns, X.T.copy())
    low, high = (1, X.shape[1])
    weights = w if weighted else np.ones(1)
    assert pass_over(data, order, edges, weights, weighted, MOST, pivot, s1, s2, low, high)
    _, wanted1, wanted2 = sums(X.astype(np.float64), codes, w if weighted else np.ones(len(X)), pivot)
    np.testing.assert_allclose(s1[:, 1:], wanted1[:, 1:], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(s2[:, 1:], wanted2[:, 1:], rtol=1e-12, atol=1e-13)
    assert np.all(s1[:, 0] == 7.0)  # features below ``low`` belong to another thread


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
@pytest.mark.parametrize("by_rows", [True, False])
def test_a_value_that_breaks_a_sum_is_reported(by_rows, value):
    X = np.ones((6, 3))
    X[4, 2] = value
    order, edges = by_class(np.zeros(6, np.int64), 1)
    pass_over, data = (kernel.accumulate, X) if by_rows else (kernel.accumulate_columns, X.T.copy())
    s1, s2, pivot = np.zeros((3, 1, 3))
    with np.errstate(over="ignore", invalid="ignore"):
        assert not pass_over(data, order, edges, np.ones(1), False, MOST, pivot, s1, s2, 0, 3)
        assert pass_over(data, order, edges, np.ones(1), False, MOST, pivot, s1, s2, 0, 2)


@pytest.mark.parametrize("by_rows", [True, False])
def test_every_class_has_its_own_limit(by_rows):
    X = np.array([[1.0, 2.0], [3.0, 1.0], [1.0, 1.0], [2.0, 5.0]])
    order, edges = by_class(np.array([0, 1, 0, 1]), 2)  # squares: 2 and 5 in class 0, 13 and 26 in class 1
    pass_over, data = (kernel.accumulate, X) if by_rows else (kernel.accumulate_columns, X.T.copy())
    for most, fine in (([5.0, 26.0], True), ([4.9, 26.0], False), ([5.0, 25.9], False)):
        s1, s2, pivot = np.zeros((3, 2, 2))
        assert fine == pass_over(data, order, edges, np.ones(1), False, np.array(most), pivot, s1, s2, 0, 2)


@pytest.mark.parametrize("weighted", [False, True])
def test_missing_values_are_left_out_and_the_first_one_there_is_the_pivot(weighted):
    rng = np.random.default_rng(0)
    X, codes, w = rng.normal(size=(8, 4)), np.arange(8) % 2, rng.random(8)
    X[rng.random((8, 4)) < 0.4] = np.nan
    X[:, 3] = np.nan
    order, edges = by_class(codes, 2)
    known, mean = np.array([[0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]), rng.normal(size=(2, 4))
    pivot, s0, s1, s2 = np.full((4, 2, 4), 7.0)
    weights = w if weighted else np.ones(1)
    kernel.accumulate_missing(X, order, edges, weights, weighted, known, mean, pivot, s0, s1, s2, 0, 4)
    for c in range(2):
        for j in range(4):
            there = X[codes == c, j][~np.isnan(X[codes == c, j])]
            first = there[0] if len(there) else 0.0
            assert pivot[c, j] == (mean[c, j] if known[c, j] > 0 else first)
    wanted = sums(X, codes, w if weighted else np.ones(8), pivot)
    np.testing.assert_allclose([s0, s1, s2], wanted, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("column", [[1.0, np.inf, 3.0], [np.inf, 1.0, 3.0], [np.nan, -np.inf, np.nan]])
def test_an_infinite_value_among_missing_ones_shows_in_the_squares(column):
    """Also where it is the first one, and so the pivot: inf - inf is no number, but nothing is missing."""
    X = np.column_stack([column, [np.nan, 2.0, 4.0]])
    order, edges = by_class(np.zeros(3, np.int64), 1)
    pivot, s0, s1, s2 = np.zeros((4, 1, 2))
    nothing = np.zeros((1, 2))
    with np.errstate(invalid="ignore"):
        kernel.accumulate_missing(
            X, order, edges, np.ones(1), False, nothing, nothing, pivot, s0, s1, s2, 0, 2
        )
    assert np.isfinite(s2).tolist() == [[False, True]]


def squares(X):
    """Return the sum of squares of every column about its mean."""
    return ((X - X.mean(axis=0)) ** 2).sum(axis=0)


@pytest.mark.parametrize("off", [0.0, 0.7])
@pytest.mark.parametrize("rows_before", [0, 5])
def test_commit_merges_a_batch_into_mean_and_second_moment(rows_before, off):
    """Whether the pivot is the old mean, as usual, or somewhere else; and whether or not rows came before."""
    rng = np.random.default_rng(1)
    old, new = rng.normal(size=(5, 3))[:rows_before] + 1e3, rng.normal(size=(4, 3)) + 1e3
    both = np.concatenate([old, new])
    mean, m2 = np.zeros((1, 3)), np.zeros((1, 3))
    if rows_before:
        mean[0], m2[0] = old.mean(axis=0), squares(old)
    pivot = (mean if rows_before else new[:1]) + off
    d = new - pivot
    s1, s2 = d.sum(axis=0)[None], (d * d).sum(axis=0)[None]
    kernel.commit(np.array([float(rows_before)]), np.array([4.0]), pivot, s1, s2, mean, m2)
    np.testing.assert_allclose(mean[0], both.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(m2[0], squares(both), rtol=1e-11)


def test_a_pivot_is_far_when_the_sums_lose_three_digits_to_it():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(50, 1))
    x = (x - x.mean()) / x.std()
    for distance, far in ((0.0, False), (30.0, False), (33.0, True), (1e6, True)):
        d = np.column_stack([x, x + distance])
        s1, s2 = d.sum(axis=0)[None], (d * d).sum(axis=0)[None]
        assert kernel.far_from_pivot(np.array([50.0]), s1, s2) == far
    constant = np.full((1, 1), 4.0)  # nothing is lost where nothing varies
    assert not kernel.far_from_pivot(np.array([2.0]), 2 * constant, 2 * constant**2)


def test_commit_leaves_classes_without_rows_alone():
    mean, m2 = np.full((2, 1), 5.0), np.full((2, 1), 2.0)
    zero = np.zeros((2, 1))
    kernel.commit(np.array([3.0, 0.0]), np.zeros(2), zero, zero, zero, mean, m2)
    assert mean.tolist() == [[5.0], [5.0]]
    assert m2.tolist() == [[2.0], [2.0]]


def test_commit_missing_weighs_every_feature_by_its_own_values():
    rng = np.random.default_rng(2)
    old, new = rng.normal(size=(6, 4)), rng.normal(size=(5, 4))
    for X in (old, new):
        X[rng.random(X.shape) < 0.3] = np.nan
    old[:, 2], new[:, 3] = np.nan, np.nan
    new[0, 2] = old[0, 3] = 1.5
    pivot = np.array([[0.0, 0.1, -2.0, 1.0]])
    weight, mean, m2 = (np.zeros((1, 4)) for _ in range(3))
    for X in (old, new):
        kernel.commit_missing(
            weight, pivot, *sums(X, np.zeros(len(X), int), np.ones(len(X)), pivot), mean, m2
        )
        pivot = mean.copy()
    both = np.concatenate([old, new])
    np.testing.assert_array_equal(weight[0], (~np.isnan(both)).sum(axis=0))
    np.testing.assert_allclose(mean[0], np.nanmean(both, axis=0), rtol=1e-12)
    np.testing.assert_allclose(
        m2[0], np.nansum((both - np.nanmean(both, axis=0)) ** 2, axis=0), rtol=1e-11, atol=1e-14
    )
