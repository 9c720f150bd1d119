"""Dependence over the rows where both columns are seen."""

import numpy as np
import pytest

from streamsieve._kernels import paired
from tests.helpers.blocks import pieces
from tests.reference import fisher_z


def with_missing(rng, n, m):
    X = rng.normal(size=(n, m)) * (rng.random((n, m)) < 0.7)
    X[:, 0] += 1e6  # an offset costs no digits
    X[rng.random((n, m)) < 0.3] = np.nan
    X[:, 1] = np.nan
    X[:, 2] = np.where(rng.random(n) < 0.5, 4.0, np.nan)
    return X


@pytest.mark.parametrize("sparse", [False, True])
def test_relevance_is_that_of_the_rows_seen(sparse):
    rng = np.random.default_rng(0)
    n, m = 40, 8
    X = with_missing(rng, n, m)
    y = rng.normal(size=n)
    y = (y - y.mean()) / np.linalg.norm(y - y.mean())
    labels = rng.integers(0, 3, n)
    seen, spread, r, classes = np.zeros(m, np.int64), np.zeros(m), np.zeros(m), np.zeros(m, np.int64)
    there = ~np.isnan(X)
    paired.with_numbers(*pieces(X, sparse), y, seen, spread, r, classes)
    assert seen.tolist() == there.sum(axis=0).tolist()
    assert (spread > 0).tolist() == [True, False, False] + [True] * 5
    expected = [fisher_z.correlation(X[w, j], y[w]) if w.any() else 0 for j, w in enumerate(there.T)]
    np.testing.assert_allclose(r, expected, atol=1e-9)
    assert classes.tolist() == [2, 1] + [2] * 6

    paired.with_classes(*pieces(X, sparse), labels, np.bincount(labels), seen, spread, r, classes)
    expected = [
        fisher_z.correlation_ratio(X[w, j], labels[w]) if w.any() else 0 for j, w in enumerate(there.T)
    ]
    np.testing.assert_allclose(r, expected, atol=1e-9)
    assert seen.tolist() == there.sum(axis=0).tolist()
    assert classes.tolist() == [len(set(labels[w])) for w in there.T]


def test_pairs_are_compared_over_complete_pairs():
    rng = np.random.default_rng(1)
    X = with_missing(rng, 40, 8)
    X[:, 0] -= 1e6
    X[3:, 7] = np.nan  # three rows at most
    seen = (~np.isnan(X)).T.astype(float)
    Z = np.nan_to_num(X).T.copy()
    for j in (0, 3, 7):
        shared, joint = np.zeros(8), np.zeros(8)
        paired.compare(Z[j], seen[j], Z, seen, 8, shared, joint)
        for s in range(8):
            both = (seen[j] * seen[s]) > 0
            assert joint[s] == both.sum()
            expected = abs(fisher_z.correlation(X[both, j], X[both, s])) if both.sum() >= 4 else 0.0
            assert shared[s] == pytest.approx(expected, abs=1e-12)
