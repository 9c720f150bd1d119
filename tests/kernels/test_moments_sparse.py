"""Welford over the non-zeros of CSR rows, class by class."""

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve._aligned import aligned_zeros
from streamsieve._kernels import moments_sparse as kernel
from tests.helpers.blocks import arrays


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_table_holds_weight_mean_and_squares_of_what_is_stored(weighted, dtype):
    rng = np.random.default_rng(0)
    n, p, classes = 14, 6, 3
    X = sp.random_array((n, p), density=0.5, format="csr", random_state=rng, dtype=dtype)
    X.data[::7] = np.nan
    codes, w = rng.integers(0, classes, n), rng.random(n) * (np.arange(n) != 3)
    table = aligned_zeros((p, classes, 4))
    for rows in (slice(5), slice(5, n)):  # two batches
        weights = w[rows] if weighted else np.ones(1)
        kernel.update(*arrays(X[rows]), codes[rows], weights, weighted, table)
    coo = X.tocoo()
    i, j = coo.coords
    values, cell_weight = coo.data.astype(np.float64), (w if weighted else np.ones(n))[i]
    for feature in range(p):
        for c in range(classes):
            here = (j == feature) & (codes[i] == c)
            v, u = values[here], cell_weight[here]
            there = ~np.isnan(v) & (u > 0)
            missing, v, u = u[np.isnan(v)].sum(), v[there], u[there]
            mean = np.average(v, weights=u) if len(v) else 0.0
            wanted = [u.sum(), mean, np.sum(u * (v - mean) ** 2), missing]
            np.testing.assert_allclose(table[feature, c], wanted, rtol=1e-10, atol=1e-14)


def test_no_rows_and_empty_rows_change_nothing():
    table = aligned_zeros((2, 1, 4))
    nothing = np.zeros(0, np.int32), np.zeros(0)
    kernel.update(np.zeros(1, np.int64), *nothing, np.zeros(0, np.int64), np.ones(1), False, table)
    kernel.update(np.zeros(4, np.int64), *nothing, np.zeros(3, np.int64), np.ones(1), False, table)
    assert not table.any()
