"""The super learner is stacking by non-negative least squares over predictions for rows held out."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor

from streamsieve.exceptions import StateError
from streamsieve.learners.ensembles.stacking import stacking_weights
from streamsieve.learners.ensembles.super_learner import SuperLearner
from streamsieve.learners.fsa import FSAClassifier
from tests.helpers.tier import cases
from tests.reference import super_learner as twin


@pytest.mark.parametrize("convex", [False, True])
def test_weights_equal_the_twin_on_many_problems(convex):
    rng = np.random.default_rng(0)
    for _ in range(cases(500)):
        members, values = int(rng.integers(1, 5)), int(rng.integers(1, 12))
        y = np.round(rng.normal(size=values) * 4) / 4
        Z = np.round(rng.normal(size=(members, values)) * 4) / 4 + rng.integers(0, 2) * y
        ours, theirs = stacking_weights(Z, y, convex=convex), twin.weights(Z, y, convex)
        assert np.all(ours >= 0)
        assert not convex or ours.sum() == pytest.approx(1)
        # the minimum is one value, wherever it is taken
        errors = [np.sum((y - Z.T @ b) ** 2) for b in (ours, theirs)]
        assert errors[0] == pytest.approx(errors[1], rel=1e-7, abs=1e-9)


def test_equals_the_twin():
    rng = np.random.default_rng(2)
    for case in range(4):
        widths = [3] if case < 2 else [2, 1, 2]  # all columns at once, or three blocks
        blocks, convex = [rng.normal(size=(25, width)) for width in widths], bool(case % 2)
        y = blocks[0][:, 0] + rng.normal(size=25)
        members = [Ridge(), DecisionTreeRegressor(max_depth=2, random_state=0)]
        ours = SuperLearner(members, task="regression", convex=convex, random_state=case)
        weights, predict = twin.super_learner(members, blocks, y, convex=convex, seed=case)
        np.testing.assert_allclose(streamed(ours, blocks, y).member_weights_, weights, atol=1e-7)
        others = [rng.normal(size=(10, width)) for width in widths]
        np.testing.assert_allclose(ours.predict(np.hstack(others)), predict(others)[:, 0], atol=1e-7)
        codes = rng.integers(0, 3, 25)
        codes[:4] = [0, 1, 2, 3]  # the only row of its class is never held out
        members = [GaussianNB(var_smoothing=0.1), DummyClassifier()][: 2 if case < 2 else 1]
        ours = SuperLearner(members, folds=3, convex=convex, random_state=case)
        weights, predict = twin.super_learner(members, blocks, codes, 4, 3, convex, case)
        np.testing.assert_allclose(streamed(ours, blocks, codes).member_weights_, weights, atol=1e-7)
        np.testing.assert_allclose(ours._combined(np.hstack(others)), predict(others), atol=1e-7)
        assert np.array_equal(ours.predict(np.hstack(others)), predict(others).argmax(axis=1))


def streamed(model, blocks, y):
    model.begin(y)
    for block in blocks:
        model.offer(block)
    return model


def test_two_identical_members_weigh_as_much_as_one():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 4))
    y = X @ rng.normal(size=4) + rng.normal(size=80)
    one = SuperLearner([Ridge(), DummyRegressor()], task="regression").fit(X, y)
    two = SuperLearner([Ridge(), Ridge(), DummyRegressor()], task="regression").fit(X, y)
    assert two.member_weights_[:2].sum() == pytest.approx(one.member_weights_[0])
    np.testing.assert_allclose(two.predict(X), one.predict(X))


def test_a_perfect_member_gets_the_weight_1():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 3))
    y = 2 * X[:, 0] - X[:, 1] + 1
    for convex in (False, True):
        model = SuperLearner([DummyRegressor(), LinearRegression()], task="regression", convex=convex).fit(
            X, y
        )
        np.testing.assert_allclose(model.member_weights_, [0, 1], atol=1e-9)


def test_a_member_that_learns_by_heart_gains_nothing():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(300, 5)), rng.normal(size=300)  # nothing to learn
    model = SuperLearner([DecisionTreeRegressor(random_state=0), DummyRegressor()], task="regression").fit(
        X, y + 5
    )
    assert model.member_weights_[0] < 0.2
    np.testing.assert_allclose(model.predict(rng.normal(size=(50, 5))), y.mean() + 5, atol=0.5)


@pytest.mark.parametrize("convex", [False, True])
def test_it_does_not_matter_where_the_target_has_its_zero(convex):
    rng = np.random.default_rng(13)
    X = rng.normal(size=(200, 6))
    y = 2 * X[:, 0] + 2 * X[:, 4] + 0.1 * rng.normal(size=200)
    model = SuperLearner([LinearRegression()], task="regression", convex=convex)
    blocks = [X[:, :3], X[:, 3:]]
    weights, expected = streamed(model, blocks, y).member_weights_, model.predict(X)
    assert model.score(X, y) > (0.7 if convex else 0.98)
    for shift in (-3.0, 100.0, 1e6):
        np.testing.assert_allclose(streamed(model, blocks, y + shift).member_weights_, weights, atol=1e-6)
        np.testing.assert_allclose(model.predict(X) - shift, expected, atol=1e-6)


def test_members_that_all_weigh_nothing_predict_the_mean():
    X, y = np.zeros((10, 1)), np.arange(10.0) + 5
    assert SuperLearner([DummyRegressor()], task="regression").fit(X, y).predict(X) == pytest.approx(9.5)


def test_it_is_at_least_as_good_as_its_members():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(900, 10))
    y = (X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=900) > 1).astype(int)
    members = [LogisticRegression(), GaussianNB(), FSAClassifier(3)]
    model = SuperLearner(members).fit(X[:600], y[:600])
    alone = [member.fit(X[:600], y[:600]).score(X[600:], y[600:]) for member in members]
    assert model.score(X[600:], y[600:]) > max(alone) - 0.02


def test_labels_containers_and_seeds():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(90, 4)) * (rng.random((90, 4)) < 0.7)
    y = np.array(["no", "yes"])[(X[:, 0] > 0).astype(int)]
    model = SuperLearner([FSAClassifier(2, epochs=40), FSAClassifier(loss="lorenz", epochs=40)]).fit(X, y)
    assert set(model.predict(X)) <= {"no", "yes"}
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert not hasattr(SuperLearner(task="regression").fit(X, X[:, 0]), "predict_proba")
    assert not hasattr(SuperLearner(task="regression").fit(X, X[:, 0]), "classes_")


def test_new_columns_become_new_members_and_old_ones_stay():
    rng = np.random.default_rng(11)
    y = rng.integers(0, 2, 120)
    X = rng.normal(size=(120, 9))
    X[:, 6] += 2 * y
    members = [GaussianNB(), LogisticRegression()]
    model, seen = SuperLearner(members).begin(y), []
    for low, high in ((0, 4), (4, 5), (5, 9)):
        model.offer(X[:, low:high])
        assert model.members_[: len(seen)] == seen
        seen = list(model.members_)
        assert [member.n_features_in_ for member in seen[-2:]] == [high - low] * 2
    assert model.edges_.tolist() == [0, 4, 5, 9]
    assert len(model.member_weights_) == len(seen) == 6
    assert model.member_weights_[4:].sum() > 2 * model.member_weights_[:4].sum()
    assert model.score(X, y) > 0.75


def test_fit_is_begin_and_one_offer_and_the_stream_goes_on():
    rng = np.random.default_rng(12)
    X = rng.normal(size=(60, 6)) * (rng.random((60, 6)) < 0.7)
    y = X[:, 0] > 0
    members = [FSAClassifier(2, epochs=40), FSAClassifier(loss="lorenz", epochs=40)]
    whole, parts = SuperLearner(members).fit(X, y), SuperLearner(members).begin(y).offer(sp.csc_array(X))
    np.testing.assert_allclose(parts.member_weights_, whole.member_weights_, rtol=1e-6)
    for model in (whole, parts):
        model.offer(X[:, :2])
        assert model.n_features_in_ == 8
    np.testing.assert_allclose(
        parts.predict_proba(np.hstack([X, X[:, :2]])),
        whole.predict_proba(np.hstack([X, X[:, :2]])),
        atol=1e-6,
    )


def test_if_no_row_can_be_held_out_all_weigh_the_same():
    model = SuperLearner([GaussianNB(), DummyClassifier()]).fit(np.eye(3), [0, 1, 2])
    assert model.member_weights_.tolist() == [0.5, 0.5]
    few = SuperLearner([GaussianNB(), DummyClassifier()]).fit(np.eye(3), [0, 1, 1])
    assert len(few.member_weights_) == 2


def test_other_members_are_not_saved_and_it_says_why(tmp_path):
    rng = np.random.default_rng(9)
    X = rng.normal(size=(60, 6))
    model = SuperLearner(task="regression").fit(X, X[:, 0])
    with pytest.raises(StateError, match=r"a Ridge could only be saved as code.*joblib"):
        model.save(tmp_path / "state.sieve")
