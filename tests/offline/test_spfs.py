"""SPFS chooses as its slow twin does; with one response it is least angle regression."""

import numpy as np
import pytest
from sklearn.linear_model import lars_path, orthogonal_mp

import streamsieve as ss
from tests.helpers.blocks import unit
from tests.helpers.tier import cases
from tests.offline.cases import TASKS, features, labels, some_form, target
from tests.reference.spec import similarity
from tests.reference.spfs import leading, responses, spfs


@pytest.mark.parametrize("step", ["lars", "omp"])
@pytest.mark.parametrize("task", TASKS)
def test_with_a_target_it_equals_its_twin(task, step):
    rng = np.random.default_rng(0)
    for case in range(cases(80)):
        y = target(rng, task, int(rng.integers(8, 40)))
        X = features(rng, y, int(rng.integers(1, 12)))
        wanted = int(rng.integers(1, X.shape[1] + 1))
        order, explained = spfs(X, responses(y, task), wanted, step)
        found = ss.SPFS(wanted, method=step).fit(some_form(rng, X), y)
        assert found.ranked_.tolist() == order, (case, task)
        np.testing.assert_allclose(found.explained_, explained, atol=1e-7)


@pytest.mark.parametrize("step", ["lars", "omp"])
def test_without_a_target_it_equals_its_twin(step):
    rng = np.random.default_rng(1)
    for case in range(cases(50)):
        n, p, rank = int(rng.integers(8, 30)), int(rng.integers(1, 9)), int(rng.integers(1, 5))
        X = rng.normal(size=(n, p)) * rng.choice([0.5, 1, 3], p)
        order, explained = spfs(X, leading(similarity(X), rank), p, step)
        found = ss.SPFS(p, method=step, supervised=False, rank=rank).fit(some_form(rng, X))
        assert found.ranked_.tolist() == order, case
        np.testing.assert_allclose(found.explained_, explained, atol=1e-7)


def test_with_one_response_it_is_least_angle_regression():
    rng = np.random.default_rng(2)
    for _ in range(30):
        X, y = rng.normal(size=(40, 12)), rng.normal(size=40)
        _, active, _ = lars_path(unit(X), y - y.mean(), method="lar", max_iter=8)
        assert ss.SPFS(8).fit(X, y).ranked_.tolist() == list(active)
        coefficients = orthogonal_mp(unit(X), y - y.mean(), n_nonzero_coefs=5)
        assert set(ss.SPFS(5, method="omp").fit(X, y).ranked_) == set(np.flatnonzero(coefficients))


def test_a_repeated_feature_does_not_enter_and_more_explain_more():
    rng = np.random.default_rng(3)
    y = labels(rng, 90, 3)
    X = rng.normal(size=(90, 5)) + np.outer(y, [2, 1, 0, 1, 0])
    X = np.column_stack([X, X[:, 0], X[:, 0] + X[:, 1]])
    for step in ("lars", "omp"):
        found = ss.SPFS(7, method=step).fit(X, y)
        assert len(found.ranked_) == 5
        assert not {0, 5} <= set(found.ranked_)
        assert np.all(np.diff(found.explained_) > 0)
        assert found.explained_[-1] <= 1 + 1e-12


def test_features_that_show_one_class_each_are_all_found():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 4, 400)
    shown = np.column_stack([(y == c) + 0.4 * rng.normal(size=400) for c in (1, 2, 3)])
    copies = shown + 0.3 * rng.normal(size=shown.shape)
    X = np.column_stack([copies, rng.normal(size=(400, 6)), shown])
    found = set(ss.SPFS(3).fit(X, y).ranked_)
    assert found == {9, 10, 11}


def test_a_target_that_is_explained_ends_the_path():
    rng = np.random.default_rng(5)
    y = labels(rng, 40, 2)
    X = np.column_stack([y, rng.normal(size=(40, 3))]).astype(float)
    assert ss.SPFS(4).fit(X, y).ranked_.tolist() == [0]
    assert ss.SPFS(4, method="omp").fit(X, y).ranked_.tolist() == [0]
    assert ss.SPFS(2).fit(np.ones((6, 2)), [0, 1] * 3).ranked_.tolist() == []
