"""Tables and splits of sorted columns equal sums over rows, dense and sparse, with missing values."""

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve._kernels import sorted_columns as kernel
from tests.reference import gini, quantiles


def case(rng):
    n = int(rng.integers(3, 10))
    X = rng.integers(-2, 3, (n, 3)) * (rng.random((n, 3)) < 0.6).astype(float)
    X[rng.random((n, 3)) < 0.15] = np.nan
    y = rng.integers(0, 3, n)
    weight = rng.integers(1, 4, n).astype(float) if rng.random() < 0.5 else rng.random(n) + 0.1
    return X, y, weight


def columns(X, *, stored):
    """Return pointers, rows and values in rising order, missing ones last."""
    column, rows = np.nonzero(np.ones_like(X.T) if stored else X.T != 0)
    values = X[rows, column]
    order = np.lexsort((values, column))
    pointers = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=X.shape[1]))])
    return pointers, rows[order].astype(np.int32), values[order]


@pytest.mark.parametrize("stored", [True, False])
def test_tables(stored):
    rng = np.random.default_rng(0)
    for _ in range(20):
        X, y, weight = case(rng)
        bins = int(rng.integers(2, 5))
        classes, codes = np.unique(y, return_inverse=True)
        counts = np.zeros((3, len(classes), bins))
        whole = bool(np.all(weight == np.floor(weight)))
        mass = np.bincount(codes, weight)
        for low, high in ((0, 1), (1, 3)):
            kernel.tables(*columns(X, stored=stored), codes, weight, mass, whole, low, high, counts)
        expected = quantiles.tables(X, y, weight, bins=bins).counts
        np.testing.assert_allclose(counts, expected, atol=1e-12)


@pytest.mark.parametrize("stored", [True, False])
def test_purities(stored):
    rng = np.random.default_rng(1)
    for _ in range(20):
        X, y, weight = case(rng)
        _, codes = np.unique(y, return_inverse=True)
        out = np.zeros(3)
        kernel.purities(*columns(X, stored=stored), codes, weight, np.bincount(codes, weight), 0, 3, out)
        for j in range(3):
            there = ~np.isnan(X[:, j])
            levels = np.unique(X[there, j])
            table = [[weight[there & (y == c) & (X[:, j] == v)].sum() for v in levels] for c in np.unique(y)]
            score = gini.score_of(table, len(y)) if len(levels) else -1.0
            assert abs((out[j] - 1 if out[j] >= 0 else -1.0) - score) < 1e-12


def test_sparse_columns_are_what_the_helper_says():
    X = np.array([[0.0, -1.0, np.nan], [2.0, 0.0, 0.0]])
    pointers, rows, values = columns(X, stored=False)
    assert pointers.tolist() == sp.csc_array(X).indptr.tolist()
    assert rows.tolist() == [1, 0, 0]
    assert values[:2].tolist() == [2.0, -1.0]
