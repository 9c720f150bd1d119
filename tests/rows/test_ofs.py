"""OFS is the rule of the paper, keeps its budget and its radius, and forgets what it truncates."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve.rows.ofs import OFS, WIDE
from tests.reference import ofs as twin
from tests.rows.linear_cases import assert_mistakes, cases, constant


def stream(X, y, **parameters):
    """The weights after every row, learnt one by one."""
    selector, history = OFS(variant="paper", **parameters), []
    for i in range(len(y)):
        selector.partial_fit(X[i : i + 1], y[i : i + 1])
        history.append(selector.coef_)
    return history, selector


def test_equals_the_twin_on_many_streams():
    for X, y, k, rng in cases(1500):
        rate, l2 = rng.choice([0.01, 0.2, 1.0, 5.0]), rng.choice([1e-4, 0.01, 0.15])
        variant = str(rng.choice(["paper", "wide"]))
        history, margins = twin.ofs(X, y, k=k * (WIDE if variant == "wide" else 1), learning_rate=rate, l2=l2)
        ours = OFS(k, variant=variant, learning_rate=rate, l2=l2)
        ours.fit(sp.csr_array(X) if rng.random() < 0.5 else X, y)
        np.testing.assert_allclose(ours.coef_, history[-1], rtol=1e-9, atol=1e-15)
        assert_mistakes(ours, margins)
        sizes = np.abs(ours.coef_) * ~constant(X)
        best = np.lexsort((np.arange(len(sizes)), -sizes))[:k]
        assert ours.ranked_.tolist() == best[sizes[best] > 0].tolist()


def test_equals_the_twin_after_every_row():
    for X, y, k, _ in cases(90, seed=1):
        expected, margins = twin.ofs(X, y, k=k)
        history, selector = stream(X, y, k=k)
        np.testing.assert_allclose(history, expected, rtol=1e-9, atol=1e-15)
        assert_mistakes(selector, margins)


@pytest.mark.parametrize("k", [1, 5, 40])
def test_equals_the_twin_over_long_streams_and_wide_rows(k):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(2000, 200)) * (rng.random((2000, 200)) < 0.1)
    y = np.where(X[:, :5].sum(axis=1) + 0.1 * rng.normal(size=2000) > 0, 1, -1)
    history, margins = twin.ofs(X, y, k=k)
    ours = OFS(k, variant="paper").fit(sp.csr_array(X), y)
    np.testing.assert_allclose(ours.coef_, history[-1], rtol=1e-9, atol=1e-15)
    assert_mistakes(ours, margins)


def test_the_budget_and_the_radius_hold_after_every_row():
    for X, y, k, rng in cases(180, seed=3):
        l2 = rng.choice([0.01, 0.15])
        for w in stream(X, y, k=k, l2=l2, learning_rate=3.0)[0]:
            assert np.count_nonzero(w) <= k
            assert np.sqrt(w @ w) <= (1 + 1e-12) / np.sqrt(l2)


def test_one_feature_that_separates_is_found():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(500, 40))
    y = X[:, 17] > 0
    assert OFS(1).fit(X, y).ranked_.tolist() == [17]


def test_several_of_ten_planted_features_are_found_and_no_more_is_claimed():
    found = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, planted = rng.normal(size=(5000, 1000)), rng.choice(1000, 10, replace=False)
        y = X[:, planted] @ rng.choice([-1, 1], 10) + rng.normal(size=5000) > 0
        selected = OFS(20, learning_rate=1.0).fit(X / np.sqrt(1000), y).ranked_
        found.append(len(set(selected) & set(planted)))
    assert min(found) >= 5


def test_rows_are_learnt_with_few_of_a_million_features():
    rng = np.random.default_rng(6)
    X = sp.random_array((400, 1_000_000), density=5e-5, format="csr", random_state=rng)
    signal = rng.integers(0, 2, 400)
    X = sp.csr_array(sp.hstack([X, sp.csr_array(signal[:, None] * 2.0 - 1)]))
    selector = OFS(3, variant="paper").fit(X, signal)
    assert selector.ranked_[0] == 1_000_000
    assert len(selector._model_.columns) == 3


# ------------------------------------------------------------------------------------ known bugs of others


def test_bug_of_float_weights_do_not_shrink():
    X = np.array([[4.0]] * 50)
    history, _ = stream(X, np.ones(50), k=1, learning_rate=0.2, l2=0.01)
    correct = [(a[0], b[0]) for a, b in pairwise(history) if 4 * a[0] >= 1]
    assert len(correct) == 49
    for before, after in correct:
        assert after == pytest.approx(before * (1 - 0.002), rel=1e-12)


def test_bug_of_float_weights_are_truncated_only_on_access():
    # the second row truncates feature 0; the third one must begin it again, not add to a hidden weight
    X = np.array([[0.3, 0.0], [0.0, 0.9], [0.3, 0.0]])
    history, _ = stream(X, np.array([1, 1, 1]), k=1, learning_rate=1.0, l2=0.01)
    assert history[1][0] == 0.0
    assert history[2].tolist() == [0.0, pytest.approx(0.9 * 0.99)]


def test_a_margin_of_exactly_one_is_enough():
    X = np.array([[5.0], [5.0]])
    history, _ = stream(X, np.array([1, 1]), k=1, learning_rate=0.04, l2=0.0001)
    assert history[0][0] == 0.2
    assert history[1][0] == pytest.approx(0.2 * (1 - 0.04 * 0.0001), rel=1e-15)


def test_of_equal_weights_the_first_columns_stay():
    X = np.array([[1.0, -1.0, 1.0, 1.0]])
    assert OFS(2, variant="paper").fit(X, [1]).coef_.tolist() == [0.2, -0.2, 0.0, 0.0]


# ------------------------------------------------------------------------------------ attributes and errors


def test_scores_are_sizes_of_weights_and_classes_have_signs():
    X = np.array([[1.0, -2.0, 0.0], [0.0, 2.0, 1.0]])
    selector = OFS(2).fit(X, ["spam", "ham"])
    assert selector.classes_.tolist() == ["ham", "spam"]
    assert np.array_equal(selector.scores_, np.abs(selector.coef_))
    assert selector.coef_[1] < 0  # for "ham"
    with pytest.raises(ValueError, match="read-only"):
        selector.scores_[0] = 1.0


def test_features_without_a_weight_are_not_selected_even_if_places_are_left():
    X = np.array([[0.0, 1.0, 0.0], [0.0, 2.0, 0.0]])
    assert OFS(3).fit(X, [0, 1]).ranked_.tolist() == [1]


def test_features_may_appear_row_by_row():
    selector = OFS(2)
    for i in range(60):
        selector.learn_one({"always": 1.0, f"once {i}": 1.0, "signal": 2.0 * (i % 2) - 1}, i % 2)
    assert selector.n_features_in_ == 62
    assert selector.transform_one({"signal": 5.0, "once 3": 1.0}) == {"signal": 5.0}
