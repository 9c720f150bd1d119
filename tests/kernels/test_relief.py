"""Distances, nearest rows and weighted differences equal loops over values, dense and sparse."""

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve._kernels import relief as kernel
from tests.helpers.blocks import arrays


def data(rng, n=7, p=5):
    X = np.round(rng.random((n, p)), 1) * (rng.random((n, p)) < 0.6)
    return X, np.array([False, True, False, True, True])[:p]


def differences(X, nominal):
    apart = np.abs(X[:, None] - X[None])
    return np.where(nominal, (apart > 0).astype(float), apart)


@pytest.mark.parametrize("squared", [False, True])
def test_sparse_distances(squared):
    X, nominal = data(np.random.default_rng(0))
    some, out = np.array([4, 1]), np.zeros((2, 7))
    for low, high in ((0, 3), (3, 7)):
        kernel.add_sparse(*arrays(sp.csr_array(X)), nominal, squared, some, low, high, out)
    expected = (differences(X, nominal) ** (2 if squared else 1)).sum(axis=2)[some]
    np.testing.assert_allclose(out, expected, atol=1e-14)


def test_dense_distances():
    X, _ = data(np.random.default_rng(1))
    some, absolute, unequal = np.array([0, 6]), np.ones((2, 7)), np.ones((2, 7))
    kernel.add_absolute(X, some, 0, 7, absolute)
    kernel.add_unequal(X, some, 0, 7, unequal)
    np.testing.assert_allclose(absolute, 1 + np.abs(X[some][:, None] - X[None]).sum(axis=2), atol=1e-14)
    assert np.array_equal(unequal, 1 + (X[some][:, None] != X[None]).sum(axis=2))


def test_of_equally_near_rows_the_first_are_picked():
    distance = np.array([[3.0, 1.0, 2.0, 2.0 + 1e-13, 2.0 - 1e-13, np.inf], [5.0, 5.0, 5.0, 5.0, 5.0, 0.0]])
    out = np.zeros((2, 3), np.int64)
    kernel.pick(distance, 10, np.array([2.0, 5.0]), 1e-12, out)
    assert out.tolist() == [[11, 12, 13], [10, 11, 15]]


def test_weighted_differences_over_pairs():
    rng = np.random.default_rng(2)
    X, nominal = data(rng)
    one, other, weight = rng.integers(0, 7, 30), rng.integers(0, 7, 30), rng.normal(size=30)
    expected = weight @ differences(X, nominal)[one, other]
    out = np.zeros(5)
    kernel.weigh_sparse(*arrays(sp.csr_array(X)), nominal, one, other, weight, out)
    np.testing.assert_allclose(out, expected, atol=1e-13)
    absolute, unequal = np.zeros(5), np.zeros(5)
    for low, high in ((0, 2), (2, 5)):
        kernel.weigh_absolute(X, one, other, weight, low, high, absolute)
        kernel.weigh_unequal(X, one, other, weight, low, high, unequal)
    np.testing.assert_allclose(np.where(nominal, unequal, absolute), expected, atol=1e-13)
