"""Products of a few rows for logistic models."""

import numpy as np

from streamsieve._kernels.logistic import orthonormalize, weighted_gram


def test_weighted_gram_is_the_weighted_product_of_all_pairs():
    rng = np.random.default_rng(0)
    for q, n in ((1, 1), (3, 10), (7, 33)):
        rows, weight = rng.normal(size=(q, n)), rng.random(n)
        np.testing.assert_allclose(weighted_gram(rows, weight), (rows * weight) @ rows.T, atol=1e-12)


def test_rows_become_orthonormal_in_order_and_span_what_they_did():
    rng = np.random.default_rng(1)
    for q, n in ((1, 5), (4, 12), (9, 30)):
        rows = rng.normal(size=(q, n)) * 10.0 ** rng.integers(-60, 60, (q, 1))
        basis = rows.copy()
        orthonormalize(basis, 1e-12)
        np.testing.assert_allclose(basis @ basis.T, np.eye(q), atol=1e-13)
        for i in range(q):  # row i lies in the span of the first i + 1
            inside = basis[: i + 1].T @ (basis[: i + 1] @ rows[i])
            np.testing.assert_allclose(inside, rows[i], atol=1e-12 * np.abs(rows[i]).max())


def test_nearly_dependent_rows_are_at_right_angles_and_dependent_ones_are_zero():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(4, 20))
    rows[1] = rows[0] + 1e-8 * rows[1]
    rows[2] = rows[0] - 3 * rows[1]
    orthonormalize(rows, 1e-12)
    assert not rows[2].any()
    kept = rows[[0, 1, 3]]
    np.testing.assert_allclose(kept @ kept.T, np.eye(3), atol=1e-12)
