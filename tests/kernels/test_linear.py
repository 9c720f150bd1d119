"""Products with the vectors of a linear model are matrix products."""

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve._kernels import linear
from streamsieve.dependence.blocks import inner_products


@pytest.mark.parametrize("low", [0, 2, 5])
@pytest.mark.parametrize("form", [np.ascontiguousarray, np.asfortranarray, sp.csc_array])
def test_products_begin_at_the_column_asked_for(form, low):
    rng = np.random.default_rng(0)
    for n in (1, 3, 8):
        X, v = rng.normal(size=(n, 5)) * (rng.random((n, 5)) < 0.5), rng.normal(size=n)
        np.testing.assert_allclose(inner_products(form(X), low, v), X[:, low:].T @ v, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("q", [0, 1, 3])
@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_one_column_falls_apart_into_inside_and_outside(q, offset):
    rng = np.random.default_rng(1)
    n = 9
    Z = rng.normal(size=(n, 4))
    basis = np.ascontiguousarray(np.linalg.qr(Z - Z.mean(axis=0))[0].T)  # room for more than q vectors
    r = rng.normal(size=n)
    r -= r.mean()
    x = rng.integers(0, 9, n) + offset
    ss, inside, dot = linear.project_one(x, basis, q, r)
    centered = x - offset - np.mean(x - offset)
    assert ss == pytest.approx(centered @ centered, rel=1e-12)
    assert inside == pytest.approx(np.sum((basis[:q] @ centered) ** 2), rel=1e-12, abs=1e-20)
    assert dot == pytest.approx(centered @ r, rel=1e-11)


def test_a_constant_column_has_nothing_inside_or_outside():
    basis = np.array([[0.5, -0.5, 0.5, -0.5]])
    assert linear.project_one(np.full(4, 0.1), basis, 1, np.array([1.0, -1.0, 0.0, 0.0])) == (0.0, 0.0, 0.0)
