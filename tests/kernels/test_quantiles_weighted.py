"""Runs of unequal weight: sorting with weights, thinning and collapsing within half a weight."""

from itertools import pairwise

import numpy as np
import pytest

from streamsieve._kernels import quantiles_compact
from streamsieve._kernels import quantiles_weighted as kernel
from streamsieve.summaries.quantiles.weighted import ordered

# Without the JIT, kernels are NumPy scalars, which warn where a value does not fit into float32.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
types = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def hard_rows(rng, m, dtype):
    """Columns of random numbers, ties, both zeros, NaN, and numbers too near or too large for float32."""
    X = np.column_stack([
        rng.normal(size=m), rng.integers(-2, 3, m), rng.choice([0.0, -0.0, 1e-40], m), rng.normal(size=m),
        rng.normal(1e9, 1, m), rng.choice([1e60, -1e60, 2e60, 1.0], m), np.full(m, np.nan),
        1 + np.arange(m) * 1e-12,
    ])  # fmt: skip
    X[rng.random(m) < 0.4, 3] = np.nan
    return X if dtype == np.float64 else np.ascontiguousarray(X[:, [0, 1, 2, 3, 6]], dtype)


@types
@pytest.mark.parametrize("m", [1, 2, 17, 70])
def test_values_are_sorted_with_the_weights_of_their_rows(m, dtype):
    rng = np.random.default_rng(m)
    X, u = hard_rows(rng, m, dtype), rng.random(m)
    missing = np.full(X.shape[1], 1.0)
    values, cumulative = ordered(X, u, missing)
    assert values.dtype == dtype
    np.testing.assert_allclose(missing, 1.0 + u @ np.isnan(X), rtol=1e-12)
    filled = np.where(np.isnan(X), np.inf, X)
    assert np.array_equal(values, np.sort(filled, axis=0).T)
    for f in range(X.shape[1]):
        for i in range(m):
            if i == m - 1 or values[f, i + 1] > values[f, i]:  # within a tie the order is free
                np.testing.assert_allclose(
                    cumulative[f, i], u[filled[:, f] <= values[f, i]].sum(), rtol=1e-12
                )


def test_columns_too_dense_for_float32_are_marked():
    m = 40
    X = np.column_stack([1e9 - np.arange(m) * 1e-3, np.arange(m) * 1.0])
    keys = np.empty((2, m), np.int64)
    kernel.pack(X, np.ones(m), keys, np.zeros(2))
    keys.view(np.float64).sort(axis=1)
    values, cumulative, unsorted = np.empty((2, m)), np.empty((2, m)), np.zeros(2, bool)
    kernel.order_exactly(keys, X, np.ones(m), values, cumulative, unsorted)
    assert unsorted.tolist() == [True, False]
    assert np.array_equal(values[1], np.arange(m))
    assert np.array_equal(cumulative[1], np.arange(1, m + 1))


WEIGHTS = {
    "ones": lambda rng, m: np.ones(m),
    "exponential": lambda rng, m: rng.exponential(size=m),
    "pareto": lambda rng, m: rng.pareto(0.2, m) + 1e-9,
    "one giant": lambda rng, m: np.where(np.arange(m) == m // 3, 1e9, 1.0),
    "with zeros": lambda rng, m: np.where(rng.random(m) < 0.5, 0.0, 1.0) + (np.arange(m) == 0),
}


@types
@pytest.mark.parametrize("weights", WEIGHTS)
def test_thinning_is_off_by_half_a_weight(weights, dtype):
    rng = np.random.default_rng(1)
    m, k = 40, 16
    values = np.sort(rng.normal(size=(3, m)).astype(dtype), axis=1)
    values[1], values[2, -9:] = np.round(values[1]), np.inf
    cumulative = np.cumsum(np.stack([WEIGHTS[weights](rng, m) for _ in range(3)]), axis=1)
    for f in range(3):
        c = cumulative[f, -1] / k
        out = np.empty((1, k), dtype)
        kernel.thin(values[f : f + 1], cumulative[f : f + 1], c, out)
        assert np.all(np.diff(out[0][np.isfinite(out[0])]) >= 0)
        for i in range(m):
            if i == m - 1 or values[f, i + 1] > values[f, i]:
                kept = c * np.count_nonzero(out[0] <= values[f, i])
                assert abs(kept - cumulative[f, i]) <= c / 2 * (1 + 1e-9)


@types
def test_thinning_rows_of_equal_weight_to_as_many_changes_nothing(dtype):
    values = np.sort(np.random.default_rng(2).normal(size=(2, 16)).astype(dtype), axis=1)
    out = np.empty((2, 16), dtype)
    kernel.thin(values, np.tile(np.arange(1.0, 17.0), (2, 1)), 1.0, out)
    assert np.array_equal(out, values)


@pytest.mark.parametrize("c", [0.0, 5e-324, 1e-310])
def test_thinning_weights_too_small_for_a_number_stays_in_its_memory(c):
    values = np.arange(8.0)[None]
    out = np.empty((1, 4))
    kernel.thin(values, np.cumsum(np.full((1, 8), c), axis=1), c, out)
    assert set(out[0]) <= set(values[0])


@types
@pytest.mark.parametrize("p", [1, 2, 5])
@pytest.mark.parametrize("b", [1.0, 0.7, 1e-9, 3e12, 0.0])
def test_collapsing_is_off_by_half_the_sum_of_weights(b, p, dtype):
    rng = np.random.default_rng(3)
    a, k = 1.0, 16
    A, B = np.sort(rng.integers(-9, 9, (2, p, k)) / 2, axis=2).astype(dtype)
    A[0, -4:] = np.inf
    out, c = np.empty((p, k), dtype), a + b
    for left, x, right, y in ((A, a, B, b), (B, b, A, a)):
        kernel.collapse(left, x, right, y, out)
        assert np.all(out[:, 1:] >= out[:, :-1])
        for at in np.arange(-5, 5, 0.25):
            truth = a * np.count_nonzero(at >= A, axis=1) + b * np.count_nonzero(at >= B, axis=1)
            assert np.all(np.abs(c * (out <= at).sum(axis=1) - truth) <= c / 2 * (1 + 1e-12))
        assert np.all(np.isin(out, np.concatenate([A, B], axis=1)))


def test_collapsing_runs_that_weigh_nothing_stays_in_its_memory():
    A, B = np.arange(8.0)[None], np.arange(8.0, 16.0)[None]
    out = np.empty((1, 8))
    kernel.collapse(A, 0.0, B, 0.0, out)
    assert np.all(np.isin(out, np.arange(16.0)))


@types
@pytest.mark.parametrize("lengths", [[1], [3, 5], [4, 4, 4], [7, 1, 2, 9, 3], [6] * 8, [5, 2] * 6, [9, 0, 4]])
def test_merged_stretches_are_thinned_as_after_a_stable_sort(lengths, dtype):
    rng = np.random.default_rng(len(lengths))
    edges, p = np.cumsum([0, *lengths]), 5
    values = rng.integers(-3, 4, (p, edges[-1])).astype(dtype)
    values[:, -1] = np.inf
    for low, high in pairwise(edges):
        values[:, low:high].sort(axis=1)
    masses = rng.random(values.shape)
    order = np.argsort(values, axis=1, kind="stable")
    together = np.take_along_axis(values, order, axis=1)
    sums = np.take_along_axis(masses, order, axis=1).cumsum(axis=1)
    for k in (2, 8, 64):
        c = float(masses[0].sum()) / k
        wanted, out = np.empty((2, p, k), dtype)
        kernel.thin(together, sums, c, wanted)
        quantiles_compact.merge_and_thin(values, masses, edges, c, out)
        assert out.tobytes() == wanted.tobytes()
