"""SPFS chooses as its slow twin does; with one response it is least angle regression."""

import numpy as np
import pytest
from sklearn.linear_model import lars_path, orthogonal_mp

import streamsieve as ss
from streamsieve.exceptions import ParameterError
from tests.helpers.tier import cases
from tests.offline.cases import features, labels, some_form
from tests.reference.spec import similarity
from tests.reference.spfs import leading, responses, spfs

TASKS = ("binary", "multiclass", "regression")


def target(rng, task, n):
    if task == "regression":
        return rng.normal(size=n)
    return labels(rng, n, 2 if task == "binary" else int(rng.integers(3, 5)))


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


def standardised(X):
    X = X - X.mean(axis=0)
    return X / np.linalg.norm(X, axis=0)


def test_with_one_response_it_is_least_angle_regression():
    rng = np.random.default_rng(2)
    for _ in range(30):
        X, y = rng.normal(size=(40, 12)), rng.normal(size=40)
        _, active, _ = lars_path(standardised(X), y - y.mean(), method="lar", max_iter=8)
        assert ss.SPFS(8).fit(X, y).ranked_.tolist() == list(active)
        coefficients = orthogonal_mp(standardised(X), y - y.mean(), n_nonzero_coefs=5)
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


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "lasso"}, "method must be one of 'lars', 'omp'; got 'lasso'"),
        ({"rank": 0}, "rank must be a whole number at least 1; got 0"),
        ({"supervised": False, "rank": 6}, "rank=6, but X has 6 rows: choose rank < 6"),
        ({"gamma": -1}, "gamma must be a number above 0; got -1"),
    ],
)
def test_parameters_are_refused_by_name(parameters, message):
    with pytest.raises(ParameterError, match=message):
        ss.SPFS(**parameters).fit(np.eye(6), [0, 1] * 3)
