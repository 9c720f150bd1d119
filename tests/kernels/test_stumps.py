"""The best stump of a feature is the best of all thresholds and signs, dense and sparse."""

import numpy as np
import scipy.sparse as sp

from streamsieve._kernels import stumps as kernel


def columns(X, *, stored):
    """Return pointers, rows and values in rising order; all values, or those that are not 0."""
    S = sp.csc_array(X)
    if stored:
        order = np.argsort(X.T, axis=1, kind="stable")
        return (
            np.arange(X.shape[1] + 1) * len(X),
            order.ravel().astype(np.int32),
            np.sort(X.T, axis=1).ravel(),
        )
    rows, values = S.indices.copy(), S.data.copy()
    for a, b in zip(S.indptr[:-1], S.indptr[1:], strict=True):
        order = np.argsort(values[a:b], kind="stable")
        rows[a:b], values[a:b] = rows[a:b][order], values[a:b][order]
    return S.indptr.astype(np.int64), rows.astype(np.int32), values


def brute(x, y, w):
    """Return the least error of any stump."""
    errors = [0.5 + 1]
    for threshold in np.unique(x)[:-1]:
        guess = np.where(x > threshold, 1, -1)
        errors += [w[guess != y].sum(), w[guess == y].sum()]
    return min(errors)


def test_dense_and_sparse_columns_equal_a_search():
    rng = np.random.default_rng(0)
    for _ in range(15):
        n, p = int(rng.integers(2, 9)), 4
        X = rng.integers(-2, 3, (n, p)) * (rng.random((n, p)) < 0.7).astype(float)
        y, w = rng.choice([-1.0, 1.0], n), rng.random(n)
        w /= w.sum()
        expected = [brute(X[:, j], y, w) for j in range(p)]
        for stored in (True, False):
            gain, threshold, above = np.zeros((3, p))
            for low, high in ((0, 1), (1, p)):
                kernel.best_stumps(
                    *columns(X, stored=stored), w * y, w[y < 0].sum(), low, high, 1e-12,
                    gain, threshold, above,
                )  # fmt: skip
            np.testing.assert_allclose(0.5 - gain, expected, atol=1e-12)
            for j in np.flatnonzero(gain >= 0):
                guess = np.where(X[:, j] > threshold[j], above[j], -above[j])
                assert abs(w[guess != y].sum() - expected[j]) < 1e-12
