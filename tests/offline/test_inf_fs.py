"""Inf-FS equals the inverse of a matrix, and the sum of its series."""

import numpy as np
import pytest

import streamsieve as ss
from streamsieve.offline.inf_fs import path_sums
from tests.helpers.tier import cases
from tests.offline.cases import TASKS, features, labels, some_form, target
from tests.reference.inf_fs import graph, inf_fs, paths, unit


def test_the_unsupervised_form_equals_its_twin():
    rng = np.random.default_rng(0)
    for case in range(cases(60)):
        y = labels(rng, int(rng.integers(5, 40)), 2)
        X = features(rng, y, int(rng.integers(1, 9)))
        alpha = float(rng.choice([0.0, 0.3, 0.5, 1.0]))
        found = ss.InfFS(mixing=alpha).fit(some_form(rng, X))
        np.testing.assert_allclose(found.scores_, inf_fs(X, alpha=alpha), rtol=1e-8, atol=1e-9, err_msg=case)


@pytest.mark.parametrize("task", TASKS)
def test_the_supervised_form_equals_its_twin(task):
    rng = np.random.default_rng(1)
    for case in range(cases(40)):
        y = target(rng, task, int(rng.integers(10, 60)))
        X = features(rng, y, int(rng.integers(1, 9)))
        weights = [(1, 1, 1), (2, 0, 1), (0, 5, 0)][case % 3]
        alpha = float(rng.choice([0.3, 0.7]))
        parts = dict(zip(("information", "fisher", "deviation"), weights, strict=True))
        found = ss.InfFS(mixing=alpha, supervised=True, **parts).fit(some_form(rng, X), y)
        expected = inf_fs(X, y, task, alpha, weights)
        np.testing.assert_allclose(found.scores_, expected, rtol=1e-6, atol=1e-8, err_msg=f"case {case}")


@pytest.mark.parametrize("p", [3, 40])
def test_the_sums_are_those_of_the_series_of_paths(p):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, p))
    A = graph(X, unit(X.std(axis=0)), 0.5)
    r = 0.9 / np.linalg.eigvalsh(A)[-1]
    total, term = np.zeros(p), np.ones(p)
    for _ in range(400):
        term = r * A @ term
        total += term
    np.testing.assert_allclose(path_sums(A), total, rtol=1e-10)
    np.testing.assert_allclose(path_sums(A), paths(A), rtol=1e-10)


def test_a_feature_that_repeats_others_scores_less():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 6))
    X /= X.std(axis=0)
    X[:, 5] = X[:, 4]
    scores = ss.InfFS(mixing=0.0).fit(X).scores_
    assert scores[4] == pytest.approx(scores[5])
    assert scores[4] < scores[:4].min()


def test_order_preserving_changes_of_values_leave_dissimilarity_as_it_is():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 5))
    scores = ss.InfFS(mixing=0.0).fit(X).scores_
    np.testing.assert_allclose(ss.InfFS(mixing=0.0).fit(np.exp(X)).scores_, scores, rtol=1e-9)


def test_constant_features_and_one_feature_score_nothing():
    assert ss.InfFS().fit(np.ones((5, 3))).scores_.tolist() == [0, 0, 0]
    assert ss.InfFS().fit(np.arange(5.0)[:, None]).scores_.tolist() == [0]
    X = np.column_stack([np.arange(6.0), np.full(6, 2.0), [1, 5, 2, 4, 3, 0]])
    scores = ss.InfFS().fit(X).scores_
    assert scores[1] == 0
    assert scores[[0, 2]].min() > 0
