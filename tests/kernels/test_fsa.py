"""Epochs of annealing: slopes are derivatives, lazy sparse steps are dense ones, packed rows stay."""

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve._kernels import fsa as kernel
from streamsieve.learners.fsa.rows import DenseRows, SparseRows, Steps, Weights


@pytest.mark.parametrize("kind", range(6))
def test_slopes_are_derivatives(kind):
    for u in np.concatenate([np.linspace(-3, 3, 37) + 0.013, [-40.0, 40.0]]):
        loss, slope = kernel.loss_and_slope(kind, u)
        numeric = (kernel.loss_and_slope(kind, u + 1e-6)[0] - kernel.loss_and_slope(kind, u - 1e-6)[0]) / 2e-6
        assert slope == pytest.approx(numeric, abs=1e-5)
        assert loss >= 0


def test_nothing_overflows():
    for kind in (0, 1, 2):
        for u in (-1e300, -1e5, 1e5, 1e300):
            with np.errstate(over="ignore"):  # a square of 1e300, without compiled code
                loss, slope = kernel.loss_and_slope(kind, u)
            assert not np.isnan(loss)
            assert abs(slope) <= 1


@pytest.mark.parametrize("kind", range(4))
def test_slopes_of_several_outputs_are_derivatives(kind):
    rng = np.random.default_rng(kind)
    f, out = rng.normal(size=4), np.empty(4)
    kernel.slopes(kind, 2.0, f, 0.5, out)
    for c in range(4):
        up, down = f.copy(), f.copy()
        up[c] += 1e-6
        down[c] -= 1e-6
        scratch = np.empty(4)
        numeric = kernel.slopes(kind, 2.0, up, 0.5, scratch) - kernel.slopes(kind, 2.0, down, 0.5, scratch)
        assert out[c] == pytest.approx(numeric / 2e-6, abs=1e-5)
    assert out.sum() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(
    ("momentum", "decay", "limited"), [(0.9, 0.999, False), (0.0, 1.0, True), (0.9, 0.9, True)]
)
def test_lazy_steps_over_sparse_rows_are_steps_over_dense_ones(outputs, momentum, decay, limited):
    rng = np.random.default_rng(0)
    n, p = 41, 9
    X = rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.15)
    X[:, 0], X[:, 1] = 0.0, 2.0
    mean, scale = rng.normal(size=p), rng.random(p)
    y = rng.integers(0, outputs, n).astype(float) if outputs > 1 else rng.choice([-1.0, 1.0], n)
    found = []
    stay, copied = (DenseRows(form(X), None, mean, scale) for form in (np.asarray, np.asfortranarray))
    assert stay._block is X
    assert not np.shares_memory(copied._block, X)
    for rows in (stay, copied, SparseRows(sp.csr_array(X), None, mean, scale)):
        weights = Weights(np.zeros((outputs, p)), np.zeros((outputs, p)), np.zeros((2, outputs)))
        totals = []
        for e in range(3):
            order = np.random.default_rng(e).permutation(n)
            steps = Steps(3, 3.0 if limited else 0.3, momentum, decay, 0, limited)
            totals.append(rows.epoch(order, y, np.linspace(0.5, 1.5, n), weights, steps))
        pairs = rows.pair_products(np.arange(5))(np.arange(5.0))
        found.append([*weights, totals, pairs, rows.products(weights[0]), rows.back_products(X[:, :2])])
    for one, *others in zip(*found, strict=True):
        for other in others:
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("kind", "form"), [(DenseRows, np.asarray), (SparseRows, sp.csr_array)])
def test_a_limited_step_solves_one_row_and_goes_no_further(kind, form):
    X, y = np.array([[300.0, 400.0]]), np.array([2.0])
    rows = kind(form(X), None, np.zeros(2), np.ones(2))
    weights = Weights(np.zeros((1, 2)), np.zeros((1, 2)), np.zeros((2, 1)))
    loss = rows.epoch(np.arange(1), y, np.ones(1), weights, Steps(1, 1.0, 0.0, 1.0, 4, True))
    assert loss == 2.0
    assert rows.products(weights.beta)[0, 0] + weights.intercept[0, 0] == pytest.approx(2.0)


def test_sparse_columns_without_zeros_are_centered_in_memory():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(9, 4)) + 1e8
    X[:, 2] = rng.normal(size=9) * (np.arange(9) > 3)
    mean, scale = X.mean(axis=0), 1 / X.std(axis=0)
    some = np.array([0, 2, 3])
    for columns in (None, some):
        own = slice(None) if columns is None else columns
        rows = SparseRows(sp.csr_array(X), columns, mean[own], scale[own])
        Z = ((X - mean) * scale)[:, own]
        np.testing.assert_allclose(rows.products(np.eye(Z.shape[1])), Z, atol=1e-12)


def test_rows_far_from_0_are_copied():
    X = np.random.default_rng(3).normal(size=(9, 4)) + 1e7
    rows = DenseRows(X, None, X.mean(axis=0), 1 / X.std(axis=0))
    np.testing.assert_allclose(rows.products(np.eye(4)), (X - X.mean(axis=0)) / X.std(axis=0), atol=1e-7)
    assert rows._block is not X


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("all_columns", [False, True])
def test_rows_keep_their_columns(sparse, all_columns):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(7, 20)) * (rng.random((7, 20)) < 0.5)
    mean, scale = rng.normal(size=20), rng.random(20)
    first = np.arange(20) if all_columns else np.sort(rng.choice(20, 15, replace=False))
    given, before = sp.csr_array(X) if sparse else X, X.copy()
    rows = (SparseRows if sparse else DenseRows)(
        given, None if all_columns else first, mean[first], scale[first]
    )
    columns = first
    while len(columns) > 1:
        kept = np.sort(rng.choice(len(columns), len(columns) - rng.integers(1, 3), replace=False))
        kept = kept if len(kept) else np.array([0])
        rows.keep(kept)
        columns = columns[kept]
        vectors = rng.normal(size=(2, len(columns)))
        Z = ((X - mean) * scale)[:, columns]
        np.testing.assert_allclose(rows.products(vectors), Z @ vectors.T, atol=1e-12)
        np.testing.assert_allclose(
            rows.pair_products(np.arange(7))(np.arange(7.0)), Z @ Z.T @ np.arange(7.0), atol=1e-10
        )
        slopes = rng.normal(size=(7, 2))
        np.testing.assert_allclose(rows.back_products(slopes), slopes.T @ Z, atol=1e-12)
    assert np.array_equal(given.toarray() if sparse else given, before)  # the user's rows stay as they are


def test_moments_of_sparse_columns():
    rng = np.random.default_rng(2)
    X = rng.normal(3, 1, (30, 8)) * (rng.random((30, 8)) < 0.6)
    X[:, 0], X[:, 1] = 0.0, 5.0
    S = sp.csr_array(X)
    mean, squares = np.empty(8), np.empty(8)
    kernel.moments_csr(S.indices, S.data, 30, mean, squares)
    np.testing.assert_allclose(mean, X.mean(axis=0), atol=1e-14)
    np.testing.assert_allclose(squares, X.var(axis=0) * 30, atol=1e-12)
    assert squares[0] == squares[1] == 0.0
