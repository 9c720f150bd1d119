"""RunningAverages equals the models on the whole data: the slow twin's, scikit-learn's, the textbook's."""

import numpy as np
import pytest
import scipy.stats
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, lars_path, orthogonal_mp

from streamsieve.rows.covariance_models import MODELS, ols
from streamsieve.rows.covariance_models.forward import pursue
from streamsieve.rows.covariance_models.ols import largest_eigenvalue
from streamsieve.rows.covariance_models.path import first_with
from streamsieve.rows.covariance_models.problem import Problem
from streamsieve.rows.running_averages import RunningAverages
from tests.helpers.tier import cases
from tests.reference import running_averages as twin

each_model = pytest.mark.parametrize("model", MODELS)
WITH_COEFFICIENTS = ("fsa", "lasso", "elastic_net", "adaptive_lasso", "mcp", "ols_threshold")


def regression(seed, n=80, p=8, noise=1.0):
    """Correlated columns of different sizes and offsets, some of which matter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=(n, 1)) * rng.choice([0, 1])
    beta = rng.normal(size=p) * (rng.random(p) < 0.5)
    y = X @ beta + noise * rng.normal(size=n) + rng.choice([0, 5])
    return X * 2.0 ** rng.integers(-3, 4, p) + rng.choice([0, 5, -100], p), y


def learnt(X, y, k=None, sizes=(7,), form=np.asarray, weight=None, **how):
    how = {"task": "regression", **how}
    selector, low, turn = RunningAverages(k, **how), 0, 0
    while low < len(y):
        part = slice(low, low + sizes[turn % len(sizes)])
        selector.partial_fit(form(X[part]), y[part], sample_weight=None if weight is None else weight[part])
        low, turn = part.stop, turn + 1
    return selector


def problem_of(X, y, k, **how):
    Z, t, w = twin.standardize(X, y)
    given = {"ridge": 1e-3, "steps": 300, "annealing": 10.0, "gamma": 3.0, **how}
    return Problem(Z.T @ (Z * w[:, None]), (Z.T @ (w * t))[None, :], len(y), k, **given), Z, t


# -------------------------------------------------------------------------------- the twin


@pytest.mark.parametrize("model", WITH_COEFFICIENTS)
def test_coefficients_are_the_twins(model):
    for seed in range(cases(24, 8)):
        X, y = regression(seed)
        k = 1 + seed % 8
        selector = learnt(X, y, k, model=model)
        wanted = np.abs(twin.coefficients(model, X, y, k))
        np.testing.assert_allclose(selector.scores_, wanted, rtol=1e-8, atol=1e-10)
        best = sorted(range(8), key=lambda j: (-wanted[j], j))[:k]
        assert selector.ranked_.tolist() == best


@pytest.mark.parametrize("model", WITH_COEFFICIENTS)
def test_weights_and_fading_are_weighted_batches(model):
    for seed in range(6):
        X, y = regression(seed)
        weight = np.random.default_rng(seed).integers(0, 4, len(y)).astype(float)
        for half_life in (None, 30.0):
            selector = learnt(X, y, 3, weight=weight, half_life=half_life, model=model)
            there = weight > 0
            age = np.arange(there.sum())[::-1]
            w = weight[there] * (1.0 if half_life is None else 0.5 ** (age / half_life))
            wanted = np.abs(twin.coefficients(model, X[there], y[there], 3, w))
            np.testing.assert_allclose(selector.scores_, wanted, rtol=1e-8, atol=1e-10)


def test_pursuit_and_redundancy_enter_in_the_twins_order():
    for seed in range(cases(40)):
        X, y = regression(seed)
        Z, t, w = twin.standardize(X, y)
        k = 1 + seed % 8
        order, sizes = twin.omp(Z, t, w, k)
        selector = learnt(X, y, k, model="omp")
        assert selector.ranked_.tolist() == order
        assert np.all(selector.scores_[order] <= np.array(sizes) + 1e-12)
        assert selector.scores_[order[0]] == pytest.approx(sizes[0])
        assert learnt(X, y, k, model="mrmr").ranked_.tolist() == twin.mrmr(Z, t, w, k)


@each_model
def test_scores_fall_along_the_selection_and_are_0_outside(model):
    for seed in range(8):
        X, y = regression(seed, p=12)
        selector = learnt(X, y, 5, model=model)
        scores = selector.scores_[selector.ranked_]
        assert np.all(np.diff(scores) < 0)
        assert len(selector.ranked_) == 5
        others = np.delete(selector.scores_, selector.ranked_)
        assert np.all(others <= scores[-1])
        if model in ("omp", "mrmr", "fsa"):
            assert not others.any()


@pytest.mark.parametrize("large", [False, True])
def test_tests_are_the_textbooks(monkeypatch, large):
    if large:  # as for thousands of features: LAPACK in another thread, a few columns at a time
        monkeypatch.setattr(ols, "LARGE", 1)
        monkeypatch.setattr(ols, "PIECE", 70)
    for seed in range(cases(20)):
        X, y = regression(seed, n=60)
        selector = learnt(X, y, model="t_test")
        t, p_values = twin.t_tests(X, y)
        np.testing.assert_allclose(selector.scores_, t, rtol=1e-8)
        np.testing.assert_allclose(selector.pvalues_, p_values, rtol=1e-7)
        adjusted = scipy.stats.false_discovery_control(p_values)
        assert sorted(selector.ranked_.tolist()) == np.flatnonzero(adjusted <= 0.05).tolist()
        for correction, limit in (("none", 0.2), ("bonferroni", 0.2 / 8)):
            chosen = learnt(X, y, model="t_test", alpha=0.2, correction=correction).get_support()
            assert np.array_equal(chosen, p_values <= limit)


def test_two_classes_are_a_regression_on_signs():
    for seed in range(4):
        X, y = regression(seed)
        labels = np.where(y > np.median(y), "yes", "no")
        signs = np.where(labels == "yes", 1.0, -1.0)
        for model in MODELS:
            ours = learnt(X, labels, 4, task="auto", model=model)
            theirs = learnt(X, signs, 4, model=model)
            np.testing.assert_allclose(ours.scores_, theirs.scores_, rtol=1e-7, atol=1e-9)
            assert ours.classes_.tolist() == ["no", "yes"]
            np.testing.assert_allclose(ours.coef_[0], theirs.coef_, rtol=1e-7, atol=1e-12)
            np.testing.assert_allclose(ours.intercept_[0], theirs.intercept_, rtol=1e-7, atol=1e-9)


@each_model
def test_more_classes_are_one_against_the_rest_and_the_largest_counts(model):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 300)
    X = rng.normal(size=(300, 7)) + np.eye(7)[y] * 1.5
    together = learnt(X, y, 7 if model != "mrmr" else 3, task="auto", model=model)
    apart = [learnt(X, (y == c) * 1, together.k, task="auto", model=model) for c in range(4)]
    assert together.classes_.tolist() == [0, 1, 2, 3]
    if model == "mrmr":
        assert set(together.ranked_) <= {0, 1, 2, 3}
        return
    np.testing.assert_allclose(together.scores_, np.max([s.scores_ for s in apart], axis=0), rtol=1e-6)
    np.testing.assert_allclose(together.coef_, [s.coef_[0] for s in apart], atol=1e-8)
    np.testing.assert_allclose(together.intercept_, [s.intercept_[0] for s in apart], atol=1e-8)
    smallest = np.min([s.pvalues_ for s in apart], axis=0)
    np.testing.assert_allclose(together.pvalues_, np.minimum(1, 4 * smallest), rtol=1e-6)


# -------------------------------------------------------------------------------- scikit-learn


def test_scikit_learns_lasso_agrees_and_the_optimality_conditions_hold():
    for seed in range(20):
        X, y = regression(seed, n=60, p=10)
        for k in (2, 6):
            problem, Z, t = problem_of(X, y, k)
            beta, penalty = first_with(problem, problem.c[0])
            theirs = Lasso(alpha=penalty, tol=1e-14, max_iter=100_000, fit_intercept=False).fit(Z, t).coef_
            np.testing.assert_allclose(beta, theirs, atol=1e-8)
            rest = problem.c[0] - problem.R @ beta
            assert np.all(np.abs(rest) <= penalty + 1e-12)
            np.testing.assert_allclose(rest[beta != 0], penalty * np.sign(beta[beta != 0]), atol=1e-12)
            assert np.count_nonzero(beta) >= k


def test_scikit_learns_elastic_net_and_lars_agree():
    for seed in range(10):
        X, y = regression(seed, n=60, p=10)
        problem, Z, t = problem_of(X, y, 4)
        beta, penalty = first_with(problem, problem.c[0], ridge=0.5)
        share = penalty / (penalty + 0.5)
        model = ElasticNet(
            alpha=penalty + 0.5, l1_ratio=share, tol=1e-14, max_iter=100_000, fit_intercept=False
        )
        np.testing.assert_allclose(beta, model.fit(Z, t).coef_, atol=1e-8)
        beta, penalty = first_with(problem, problem.c[0])
        alphas, _, path = lars_path(Z, t, method="lasso")
        along = np.array([np.interp(penalty, alphas[::-1], row[::-1]) for row in path])
        np.testing.assert_allclose(beta, along, atol=1e-8)


def test_concave_penalties_end_in_stationary_points():
    for seed in range(20):
        X, y = regression(seed, n=60, p=10)
        problem, _, _ = problem_of(X, y, 5)
        for gamma in (1.5, 3.0, 50.0):
            beta, penalty = first_with(problem, problem.c[0], gamma=gamma)
            rest, size = problem.c[0] - problem.R @ beta, np.abs(beta)
            slope = np.where(size < gamma * penalty, penalty - size / gamma, 0.0) * np.sign(beta)
            np.testing.assert_allclose(rest[beta != 0], slope[beta != 0], atol=1e-9)
            assert np.all(np.abs(rest[beta == 0]) <= penalty + 1e-9)


def test_a_nearly_convex_penalty_is_the_lasso():
    X, y = regression(3, p=10)
    problem, _, _ = problem_of(X, y, 5)
    concave, lasso = first_with(problem, problem.c[0], gamma=1e9), first_with(problem, problem.c[0])
    np.testing.assert_allclose(concave.beta, lasso.beta, atol=1e-7)


def test_scikit_learns_matching_pursuit_agrees():
    for seed in range(20):
        X, y = regression(seed, p=12)
        Z, t, _ = twin.standardize(X, y)
        selector = learnt(X, y, 4, model="omp")
        theirs = orthogonal_mp(Z, t, n_nonzero_coefs=4)
        assert sorted(selector.ranked_) == np.flatnonzero(theirs).tolist()


@each_model
def test_coef_is_least_squares_on_what_was_selected(model):
    for seed in range(5):
        X, y = regression(seed)
        selector = learnt(X, y, 3, model=model)
        chosen = np.sort(selector.ranked_)
        plain = LinearRegression().fit(X[:, chosen], y)
        np.testing.assert_allclose(selector.coef_[chosen], plain.coef_, rtol=1e-8)
        assert not np.delete(selector.coef_, chosen).any()
        np.testing.assert_allclose(
            X @ selector.coef_ + selector.intercept_, plain.predict(X[:, chosen]), atol=1e-8
        )


def test_the_largest_eigenvalue_of_large_and_small_matrices():
    rng = np.random.default_rng(0)
    for p in (1, 2, 90, 130, 300):
        R = np.corrcoef(rng.normal(size=(400, p)) + rng.normal(size=(400, 1)), rowvar=False).reshape(p, p)
        assert largest_eigenvalue(R) == pytest.approx(np.linalg.eigvalsh(R)[-1], rel=1e-10)


# -------------------------------------------------------------------------------- laws


def test_every_model_is_a_question_to_one_state():
    X, y = regression(5, p=10)
    selector = learnt(X, y, 3)
    for model in [*MODELS, *reversed(MODELS)]:
        asked = selector.set_params(model=model)
        fresh = learnt(X, y, 3, model=model)
        assert np.array_equal(asked.scores_, fresh.scores_)
        assert np.array_equal(asked.get_support(), fresh.get_support())
        assert np.array_equal(asked.coef_, fresh.coef_)
    for change in ({"k": 5}, {"l2": 10.0}, {"model": "fsa", "steps": 10}, {"annealing": 0.0}):
        before = selector.set_params(model="fsa").scores_
        assert not np.array_equal(selector.set_params(**change).scores_, before)
    selector.set_params(model="mcp", gamma=1.1)
    assert not np.array_equal(selector.scores_, selector.set_params(gamma=30.0).scores_)
    tests = selector.set_params(model="t_test", k=None, alpha=1e-6).get_support().sum()
    assert tests < selector.set_params(alpha=0.9, correction="none").get_support().sum()
    selector.partial_fit(X, y)
    assert selector.summary_.n_rows == 160


def test_the_ledger_says_what_another_model_changed():
    X, y = regression(5, p=10)
    selector = learnt(X, y, 3)
    first = selector.ranked_
    changed = set(first) ^ set(selector.set_params(k=1, model="mrmr").ranked_)
    assert len(changed) >= 2
    assert {d.feature for d in list(selector.ledger_)[3:]} == {f"x{j}" for j in changed}


def test_balanced_classes_of_equal_covariance_are_those_of_equal_size():
    """Drop nine in ten rows of a class, and little changes; as it is, the intercept follows the crowd."""
    rng = np.random.default_rng(2)
    y = np.arange(20_000) % 2
    X = rng.normal(size=(20_000, 4)) + np.outer(y, [1.0, 0.5, 0.0, 0.0])
    rare = (y == 0) | (np.arange(20_000) % 20 == 1)
    equal = learnt(X, y, 2, sizes=(20_000,), task="auto")
    few = learnt(X[rare], y[rare], 2, sizes=(20_000,), task="auto")
    weighed = learnt(X[rare], y[rare], 2, sizes=(20_000,), task="auto", balanced=True)
    assert weighed.ranked_.tolist() == equal.ranked_.tolist() == [0, 1]
    np.testing.assert_allclose(weighed.coef_, equal.coef_, atol=0.06)
    np.testing.assert_allclose(weighed.intercept_, equal.intercept_, atol=0.06)
    assert few.intercept_[0] < equal.intercept_[0] - 0.3


def test_balanced_changes_nothing_where_classes_are_balanced():
    rng = np.random.default_rng(3)
    for classes in (2, 3):
        y = np.arange(300) % classes
        X = rng.normal(size=(300, 5)) + np.eye(5)[y]
        for model in MODELS:
            plain, balanced = (learnt(X, y, 3, task="auto", model=model, balanced=b) for b in (False, True))
            np.testing.assert_allclose(balanced.scores_, plain.scores_, rtol=1e-7, atol=1e-9)
            np.testing.assert_allclose(balanced.coef_, plain.coef_, rtol=1e-7, atol=1e-9)
            np.testing.assert_allclose(balanced.intercept_, plain.intercept_, rtol=1e-7, atol=1e-9)


def test_a_copy_does_not_enter_whatever_its_correlation():
    """Correlations of a copy differ from those of the original where each is over rows of its own."""
    R = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    order, sizes = pursue(R, np.array([0.9, 0.5, 0.2]), 3)
    assert (order, sizes) == ([0, 2], [0.9, 0.2])
