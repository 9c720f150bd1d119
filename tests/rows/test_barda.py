"""BARDA equals its twin bit for bit, however the rows are cut, and keeps what its sheet says."""

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve.rows.barda import BARDA
from streamsieve.rows.linear.dual_averaging import DualAveraging, Settings
from streamsieve.rows.linear.entries import row_entries
from tests.helpers.tier import cases
from tests.reference.barda import Learner, barda
from tests.rows.linear_cases import in_batches

RATES = (0.005, 0.02, 0.05, 0.2, 1.0)


def random_rows(turn, n, p, rng):
    """Rows of many kinds; some have equal columns, some are 0, some differ by orders of magnitude."""
    X = rng.normal(size=(n, p))
    kind = turn % 7
    if kind == 1:
        X = rng.integers(0, 2, (n, p)) * 1.0
    elif kind == 2:
        X = (rng.random((n, p)) < 0.1) * 1.0
    elif kind == 3:
        X = np.round(X) * (rng.random((n, p)) < 0.3)
    elif kind == 4:
        X = (rng.random((n, p)) < 0.05) * rng.choice([0.1, 0.2, 0.3], (n, p))
    elif kind == 5:
        X[:, p // 2 :] = X[:, : p - p // 2]
    elif kind == 6:
        X *= 10.0 ** rng.integers(-6, 7, p)
    return X


def expected_coef(twin):
    """The twin's weights, in the order of labels; of two classes, those of the larger one."""
    if len(twin.classes) > 2:
        return twin.coef[np.argsort(twin.classes)]
    return -twin.coef if twin.classes[0] == max(twin.classes) else twin.coef


# ------------------------------------------------------------------------------------ equal to the twin


def test_one_learner_with_a_tiny_pool_equals_the_twin():
    """The smaller pool and zone are, the more often they are renewed; the result must not show it."""
    rng = np.random.default_rng(0)
    for turn in range(cases(420)):
        n, p = int(rng.integers(5, 80)), int(rng.integers(1, 50))
        X = random_rows(turn, n, p, rng)
        y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
        if turn % 3:
            y = np.where(X[:, 0] + 0.5 * X[:, -1] + 0.1 > 0, 1.0, -1.0)
        budget, spare, width = (int(v) for v in rng.integers((1, 0, 1), (12, 6, 4)))
        rate, damping = float(10 ** rng.uniform(-3, 1)), float(10 ** rng.uniform(-3, 0))
        ridge = float(rng.choice([0, 0.01, 1, 10]))
        model, margins = DualAveraging(p), np.zeros(n)
        rows = row_entries(sp.csr_array(X) if turn % 2 else X)
        model.learn(rows, y, 0, Settings(budget, rate, ridge, damping, spare, width), margins)
        twin = Learner(p, budget, rate, ridge, damping)
        assert margins.tolist() == [twin.learn(x, sign) for x, sign in zip(X, y, strict=True)], turn
        assert np.array_equal(model.gradients, twin.G)
        assert np.array_equal(model.squares, twin.s2)


def test_selector_equals_the_twin_for_any_labels_in_any_batches():
    rng = np.random.default_rng(1)
    for turn in range(cases(200)):
        n, p, classes = int(rng.integers(1, 80)), int(rng.integers(1, 12)), int(rng.integers(1, 7))
        k = int(rng.integers(1, p + 1))
        X = random_rows(turn, n, p, rng)
        y = np.minimum(rng.integers(0, classes, n), 1 + np.arange(n) // 10)  # some labels come late
        if turn % 2:
            y = np.array(list("zyxwvut"))[y]
        rate, ridge = float(10 ** rng.uniform(-2, 0)), float(rng.choice([0, 0.01, 1]))
        twin = barda(X, y.tolist(), k, rate=rate, ridge=ridge)
        selector = in_batches(BARDA(k, learning_rate=rate, l2=ridge), X, y, rng, largest=30)
        assert np.array_equal(selector.scores_, twin.scores), turn
        assert np.array_equal(selector.coef_, expected_coef(twin)), turn
        assert selector.classes_.tolist() == sorted(twin.classes)
        assert selector.mistakes_ == twin.mistakes
        assert np.all(np.count_nonzero(selector.coef_, axis=1) <= k)
        if len(twin.classes) <= 2:
            assert np.array_equal(np.sort(selector.ranked_), np.flatnonzero(twin.coef[0]))


@pytest.mark.parametrize("kind", ["uniform", "binary", "popular"])
def test_many_features_with_pools_of_the_usual_size_equal_the_twin(kind):
    rng = np.random.default_rng(2)
    n, p, k = 1500, 4000, 5
    X = np.zeros((n, p))
    for x in X:
        columns = (p ** rng.random(40)).astype(int) if kind == "popular" else rng.integers(0, p, 40)
        x[columns] = 1.0 if kind == "binary" else rng.normal(size=40)
    y = X[:, :40].sum(axis=1) + 0.1 * rng.normal(size=n) > 0
    twin = barda(X, y.tolist(), k)
    selector = BARDA(k)
    for low in range(0, n, 400):
        selector.partial_fit(sp.csr_array(X[low : low + 400]), y[low : low + 400])
    assert selector._learners_.models[0]._counts[6] >= 0, "no feature was ever left outside the pool"
    assert np.array_equal(selector.scores_, twin.scores)
    assert np.array_equal(selector.coef_, expected_coef(twin))
    assert selector.mistakes_ == twin.mistakes


def test_order_of_untouched_features_changes_with_time_and_is_followed():
    """Scores of features that no row touches swap places: no set of the best may be kept for granted."""
    touched = np.zeros((17, 2))
    touched[:16, 0] = [1.0] * 9 + [-1.0] * 7  # G = -4, H = 8: ahead when t is large
    touched[16, 1] = 2.0  # G = -4, H = 4: ahead at first
    X = np.vstack([touched, np.zeros((200, 2)), np.ones((1, 2))])
    y = np.append(np.ones(217), -1.0)
    parameters = {"l2": 100.0, "damping": 1e-9}
    learner, best = Learner(2, 1, rate=1e-3, ridge=100.0, damping=1e-9), []
    for x, sign in zip(X[:-1], y[:-1], strict=True):
        learner.learn(x, sign)
        best.append(int(np.argmax(learner.full[1])))
    assert {*best[17:]} == {0, 1}, "the order does not change here"
    for low in range(17, 217, 10):
        whole = BARDA(1, learning_rate=1e-3, **parameters).fit(X[:low], y[:low])
        assert whole.ranked_.tolist() == [best[low - 1]]
    margins = np.zeros(218)
    DualAveraging(2).learn(row_entries(X), y, 0, Settings.of(1, 1e-3, 100.0, 1e-9), margins)
    assert margins[-1] == learner.w.sum() != 0


# ------------------------------------------------------------------------------------ what the sheet says


def test_budget_of_all_features_without_ridge_is_adagrad_dual_averaging():
    rng = np.random.default_rng(3)
    X, rate, damping = rng.normal(size=(200, 6)), 0.3, 0.05
    y = np.where(X @ rng.normal(size=6) + rng.normal(size=200) > 0, 1, -1)
    gradients = [np.zeros(6)]
    for x, sign in zip(X, y, strict=True):
        total, squares = np.sum(gradients, axis=0), np.sum(np.square(gradients), axis=0)
        w = -rate * total / (damping + np.sqrt(squares))
        gradients.append(-2 * sign * max(0.0, 1 - sign * (w @ x)) * x)
    w = -rate * np.sum(gradients, axis=0) / (damping + np.sqrt(np.sum(np.square(gradients), axis=0)))
    selector = BARDA(6, learning_rate=rate, l2=0, damping=damping).fit(X, y)
    np.testing.assert_allclose(selector.coef_[0], w, rtol=1e-9)


@pytest.mark.parametrize("rate", RATES)
def test_ten_planted_features_of_a_thousand_are_found_at_any_rate(rate):
    rng = np.random.default_rng(4)
    X, planted = rng.normal(size=(5000, 1000)), rng.permutation(1000)[:10]
    y = X[:, planted] @ rng.choice([-1.0, 1.0], 10) + rng.normal(size=5000) > 0
    selector = BARDA(20, learning_rate=rate)
    for low in range(0, 5000, 500):
        selector.partial_fit(X[low : low + 500], y[low : low + 500])
    assert {*planted.tolist()} <= {*selector.ranked_.tolist()}


def test_rows_without_loss_shrink_all_weights_and_nothing_else():
    X = np.array([[1.0, 0.0]] * 40)
    selector = BARDA(2, learning_rate=1.0, l2=0.1).fit(X, np.ones(40))
    model = selector._learners_.models[0]
    before, sums = selector.coef_[0, 0], model.gradients.copy()
    selector.partial_fit(np.array([[100.0, 0.0]]), [1])  # far on the right side
    assert model.gradients.tolist() == sums.tolist()
    assert 0 < selector.coef_[0, 0] < before
    assert model.n_rows == 41


def test_dropped_features_come_back():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(3000, 2))
    y = np.where(np.arange(3000) < 600, X[:, 0] > 0, X[:, 1] > 0)
    selector = BARDA(1).fit(X[:600], y[:600])
    assert selector.ranked_.tolist() == [0]
    for low in range(600, 3000, 100):
        selector.partial_fit(X[low : low + 100], y[low : low + 100])
    assert selector.ranked_.tolist() == [1]
    assert [d.feature for d in selector.ledger_] == ["x0", "x0", "x1"]


def test_equal_features_rank_by_column():
    X = np.tile(np.random.default_rng(6).integers(0, 2, (300, 1)), (1, 40)).astype(float)
    y = X[:, 0] + (np.arange(300) % 5 == 0) > 0.5
    selector = BARDA(7).fit(X, y)
    assert selector.ranked_.tolist() == list(range(7))
    assert np.flatnonzero(selector.coef_).tolist() == list(range(7))


def test_features_of_which_nothing_was_learnt_are_not_selected():
    X = np.zeros((6, 5))
    X[:, 3] = [1, -1, 1, -1, 1, 1]
    assert BARDA(4).fit(X, X[:, 3]).ranked_.tolist() == [3]
    assert BARDA(4).fit(X, np.ones(6)).coef_.shape == (1, 5)


# ------------------------------------------------------------------------------------ labels


def test_the_second_class_is_mirrored_when_a_third_comes():
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(100, 5)), rng.integers(0, 2, 100)
    two = BARDA(3).fit(X, y)
    three = BARDA(3).fit(X, y).partial_fit(np.zeros((1, 5)), [2])
    first, second, third = three._learners_.models
    assert (first.gradients == -second.gradients).all()
    assert (third.gradients == 0).all()
    assert third.n_rows == 1
    assert first.n_rows == second.n_rows == 101
    assert two.coef_.shape == (1, 5)
    assert three.coef_.shape == (3, 5)


def test_classes_are_numbered_by_rows_not_by_batches():
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(60, 4)), np.array([5, 3, 9, 1, 7] * 12)
    whole = BARDA(2).fit(X, y)
    assert whole._learners_.labels.values == [5, 3, 9, 1, 7]
    for size in (1, 2, 3, 7):
        parts = BARDA(2)
        for low in range(0, 60, size):
            parts.partial_fit(X[low : low + size], y[low : low + size])
        assert np.array_equal(parts.coef_, whole.coef_)
        assert parts.mistakes_ == whole.mistakes_


def test_each_of_four_classes_finds_its_feature():
    rng = np.random.default_rng(9)
    y = rng.integers(0, 4, 2000)
    X = rng.normal(size=(2000, 50))
    X[np.arange(2000), y * 10] += 2
    selector = BARDA(4).fit(X, y)
    assert sorted(selector.ranked_.tolist()) == [0, 10, 20, 30]
    assert np.all(selector.coef_[range(4), [0, 10, 20, 30]] > 0)


# ------------------------------------------------------------------------------------ streams


def test_a_budget_beyond_all_features_keeps_all():
    selector = BARDA(10**18)
    for i in range(20):
        selector.learn_one({"a": 1.0 + i % 3, "b": float(i % 2)}, i % 2)
    assert sorted(selector.ranked_.tolist()) == [0, 1]


def test_parameters_changed_in_mid_stream_hold_from_then_on():
    rng = np.random.default_rng(13)
    X, y = rng.normal(size=(200, 20)), np.where(rng.random(200) < 0.5, 1, -1)
    selector, twin = BARDA(8).fit(X[:100], y[:100]), Learner(20, 8)
    for x, sign in zip(X[:100], np.where(y[:100] == y[0], -1, 1), strict=True):
        twin.learn(x, sign)
    twin.budget = 2
    w = twin.full[0]
    w[np.argsort(-twin.full[1], kind="stable")[2:]] = 0.0
    twin.w = w
    selector.set_params(k=2).partial_fit(X[100:], y[100:])
    for x, sign in zip(X[100:], np.where(y[100:] == y[0], -1, 1), strict=True):
        twin.learn(x, sign)
    assert np.array_equal(selector.scores_, twin.full[1])
