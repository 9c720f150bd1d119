"""Lagged products equal NumPy's, in any cutting."""

import numpy as np
import pytest

from streamsieve._kernels.lagged_products import lagged_products


@pytest.mark.parametrize(("n", "lag"), [(2, 1), (3, 5), (10, 3), (97, 96), (200, 50)])
def test_lagged_products_equal_those_of_numpy(n, lag):
    Z = np.random.default_rng(n).normal(size=(5, n))
    found = np.full((5, lag), np.nan)
    lagged_products(Z, 0, 2, found)
    assert np.isnan(found[2:]).all()
    lagged_products(Z, 2, 5, found)
    wanted = [[z[j:] @ z[:-j] if j < n else 0.0 for j in range(1, lag + 1)] for z in Z]
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
