"""LARS lets features in as the paper's steps do, with equal correlations at every knot."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, lars_path

import streamsieve as ss
from tests.helpers.blocks import unit
from tests.helpers.tier import cases
from tests.offline.cases import labels, some_form
from tests.reference.lars import lars


@pytest.mark.parametrize("method", ["lar", "lasso"])
@pytest.mark.parametrize("task", ["binary", "regression"])
def test_random_data_equal_the_twin(task, method):
    rng = np.random.default_rng(0)
    for case in range(cases(100)):
        n, p = int(rng.integers(10, 40)), int(rng.integers(1, 9))
        y = labels(rng, n, 2) if task == "binary" else rng.normal(size=n)
        shared = rng.normal(size=(n, 1))
        X = (rng.normal(size=(n, p)) + 2 * shared + np.outer(y, rng.normal(size=p))) * 10.0 ** rng.integers(
            -2, 3, p
        )
        wanted = int(rng.integers(1, p + 1))
        order, beta = lars(X, y, wanted, method)
        found = ss.LARS(wanted, method=method).fit(some_form(rng, X), y)
        assert found.ranked_.tolist() == order, (case, task)
        np.testing.assert_allclose(found.coef_, beta, atol=1e-7, err_msg=f"case {case}")


def crossing(rng):
    """Return data on whose path coefficients pass through 0."""
    y = rng.integers(0, 2, 16) + 0.01 * rng.normal(size=16)
    return rng.normal(size=(16, 8)) + 2 * rng.normal(size=(16, 1)) + np.outer(y, rng.normal(size=8)), y


def test_a_coefficient_that_passes_through_0_does_not_lead_off_the_path():
    rng = np.random.default_rng(6)
    astray = 0
    for _ in range(30):
        X, y = crossing(rng)
        Z, target = unit(X), unit(y[:, None])[:, 0]
        for wanted in range(1, 9):
            found = ss.LARS(wanted).fit(X, y)
            pull = np.abs(Z.T @ (target - Z @ found.coef_))
            np.testing.assert_allclose(pull[found.ranked_], pull.max(), atol=1e-9)
        expected = np.linalg.lstsq(Z, target)[0]
        np.testing.assert_allclose(found.coef_, expected, atol=1e-8)
        theirs = lars_path(Z, target, method="lar", max_iter=20)[2][:, -1]
        astray += not np.allclose(theirs, expected, atol=1e-3)
    assert astray >= 2  # if it falls, scikit-learn has mended it, and the notes of the class are out of date


def test_a_lasso_is_that_of_scikit_learn_and_of_coordinate_descent():
    rng = np.random.default_rng(7)
    for _ in range(20):
        X, y = crossing(rng)
        Z, target = unit(X), unit(y[:, None])[:, 0]
        _, _, path = lars_path(Z, target, method="lasso")
        wanted = int(rng.integers(1, 9))
        found = ss.LARS(wanted, method="lasso").fit(X, y).coef_
        np.testing.assert_allclose(np.abs(path - found[:, None]).max(axis=0).min(), 0, atol=1e-8)
        alpha = np.abs(Z.T @ (target - Z @ found)).max() / len(y)
        if alpha > 1e-6:
            descent = Lasso(alpha, fit_intercept=False, tol=1e-12, max_iter=100_000).fit(Z, target)
            np.testing.assert_allclose(found, descent.coef_, atol=1e-5)


@pytest.mark.parametrize("method", ["lar", "lasso"])
def test_copies_change_nothing_and_sums_lead_nobody_astray(method):
    rng = np.random.default_rng(8)
    for _ in range(20):
        X, y = crossing(rng)
        wanted = int(rng.integers(1, 9))
        expected = ss.LARS(wanted, method=method).fit(X, y)
        found = ss.LARS(wanted, method=method).fit(np.column_stack([X, -3 * X[:, 2], X[:, 5]]), y)
        assert found.ranked_.tolist() == expected.ranked_.tolist()
        np.testing.assert_allclose(found.coef_[:8], expected.coef_, atol=1e-7)
        X = np.column_stack([X[:, 0] + X[:, 1], X, X[:, :3] @ [1, 2, 3]])
        found = ss.LARS(wanted, method=method).fit(X, y)
        Z, target = unit(X), unit(y[:, None])[:, 0]
        pull = np.abs(Z.T @ (target - Z @ found.coef_))
        np.testing.assert_allclose(pull[found.ranked_], pull.max(), atol=1e-9)


def test_repeated_and_constant_features_never_enter():
    rng = np.random.default_rng(3)
    y = rng.normal(size=40)
    x = rng.normal(size=(40, 3)) + y[:, None]
    X = np.column_stack([np.ones(40), x, x, np.zeros(40)])
    for method in ("lar", "lasso"):
        found = ss.LARS(8, method=method).fit(X, y)
        assert sorted(j if j < 4 else j - 3 for j in found.ranked_) == [1, 2, 3]
    assert ss.LARS().fit(np.ones((9, 2)), y[:9]).ranked_.tolist() == []


def test_of_copies_the_first_enters_whatever_its_sign_and_scale():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(40, 3))
    y = x @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=40)
    X = np.column_stack([x[:, 0], -5 * x[:, 0], x[:, 1], x[:, 1], x[:, 2]])
    for method in ("lar", "lasso"):
        found = ss.LARS(3, method=method).fit(X, y)
        assert found.ranked_.tolist() == [4, 2, 0]
        assert found.coef_[[4, 2, 0]].min() > 0
        turned = ss.LARS(3, method=method).fit(X[:, [1, 0, 2, 3, 4]], y)
        np.testing.assert_allclose(turned.coef_, found.coef_ * [-1, 1, 1, 1, 1], atol=1e-9)


def test_a_lasso_that_does_not_get_there_says_so(monkeypatch):
    rng = np.random.default_rng(6)
    monkeypatch.setattr("streamsieve.offline.lars.STEPS_A_FEATURE", 1)
    warned = 0
    for _ in range(30):
        X, y = crossing(rng)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            inside = len(ss.LARS(8, method="lasso").fit(X, y).ranked_)
        assert bool(caught) == (inside < 8)
        for warning in caught:
            assert warning.category is ConvergenceWarning
            assert warning.filename == __file__
            assert f"and {inside} of k=8 are selected: use a smaller k" in str(warning.message)
        warned += len(caught)
    assert warned >= 3
