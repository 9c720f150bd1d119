"""WinnowEFS is the rule of the paper, learns only from what is there, and refuses what is negative."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from streamsieve.exceptions import InputError
from streamsieve.rows.winnow_efs import WinnowEFS
from tests.helpers import tier
from tests.reference import winnow_efs as twin
from tests.rows.linear_cases import assert_mistakes, cases, constant


def weights(selector):
    """The two weights of the bias and of every feature."""
    model = selector._model_
    cells = np.vstack([model._bias, model._cells[: model.n_features]])
    return 2 * np.exp(cells[:, 0]), np.exp(cells[:, 1])


def test_equals_the_twin_on_many_streams():
    compared = 0
    for signed, y, k, rng in cases(1000):
        X = np.abs(signed)
        given = {
            "promotion": rng.choice([1.1, 1.5, 3.0]),
            "demotion": rng.choice([0.2, 0.5, 0.9]),
            "theta": rng.choice([0.0, 1.0]),
            "margin": rng.choice([0.0, 0.3, 1.0]),
        }
        extremes = rng.choice([0.0, 0.3, 0.5])
        history, margins = twin.winnow(X, y, **given)
        rows = sp.csr_array(X) if rng.random() < 0.5 else X
        ours = WinnowEFS(k, extremes=extremes, **given).fit(rows, y)
        u, v = weights(ours)
        np.testing.assert_allclose(u, history[-1][0], rtol=1e-9)
        np.testing.assert_allclose(v, history[-1][1], rtol=1e-9)
        np.testing.assert_allclose(ours.coef_, (u - v)[1:], rtol=1e-9)
        assert_mistakes(ours, margins)
        scores = np.sort(twin.importance(*history[-1]))
        ties = np.min(np.diff(scores[scores >= 0]), initial=1.0) <= 1e-9  # rounding may decide the order
        if constant(X).any():
            assert not ours.get_support()[constant(X)].any()
        elif not ties:
            compared += 1
            assert np.flatnonzero(ours.get_support()).tolist() == twin.chosen(*history[-1], k, extremes)
    assert compared > tier.cases(400)


def test_equals_the_twin_after_every_row():
    for X, y, k, _ in cases(60, seed=1):
        expected, margins = twin.winnow(np.abs(X), y)
        selector = WinnowEFS(k)
        for i in range(len(y)):
            selector.partial_fit(np.abs(X[i : i + 1]), y[i : i + 1])
            np.testing.assert_allclose(weights(selector), expected[i], rtol=1e-9)
        assert_mistakes(selector, margins)


def test_a_trace_of_three_rows_by_hand():
    X = np.array([[1.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
    y = [1, 0, 1]
    selector = WinnowEFS(2)
    # x = (1/2, 0), bias 1/2: score 1 - 1 = 0 <= 1
    selector.partial_fit(X[:1], y[:1])
    u, v = weights(selector)
    assert u == pytest.approx([2 * 1.5 * 1.5, 2 * 1.5 * 1.5, 2])
    assert v == pytest.approx([0.5 * 0.5, 0.5 * 0.5, 1])
    # x = (3/8, 4/8), bias 1/8: score (4.25 * 4 + 1 * 4) / 8 - 1 > 0, and the label is negative
    selector.partial_fit(X[1:2], y[1:2])
    u, v = weights(selector)
    assert u == pytest.approx([4.5 * 0.5 * 7 / 8, 4.5 * 0.5 * 5 / 8, 2 * 0.5 * 4 / 8])
    assert v == pytest.approx([0.25 * 1.5 * 9 / 8, 0.25 * 1.5 * 11 / 8, 1 * 1.5 * 12 / 8])
    # x = (0, 1/2), bias 1/2
    score = (0.5 - 2.25) / 2 + (4.5 * 0.5 * 7 / 8 - 0.25 * 1.5 * 9 / 8) / 2 - 1
    selector.partial_fit(X[2:], y[2:])
    assert score < 0
    assert selector.mistakes_ == 3
    u, v = weights(selector)
    assert u[1:] == pytest.approx([4.5 * 0.5 * 5 / 8, 0.5 * 1.5 * 1.5])
    assert v[1:] == pytest.approx([0.25 * 1.5 * 11 / 8, 2.25 * 0.5 * 0.5])
    assert selector.scores_ == pytest.approx(np.abs(u - v)[1:])


# ------------------------------------------------------------------------------------ known bugs of others


def test_bug_of_float_features_that_are_zero_in_a_row_are_updated():
    X = np.outer([1.0, 2.0, 1.0, 2.0, 1.0], [1.0, 0.0, 0.0])
    selector = WinnowEFS(3).fit(X, [1, 0, 1, 0, 1])
    assert selector.coef_[1:].tolist() == [1.0, 1.0]
    assert selector.ranked_.tolist() == [0]


def test_bug_of_float_rows_are_scaled_by_minimum_and_maximum():
    # by their sum: a constant row is not a row of zeros
    a, b = (WinnowEFS(2).fit(np.array([row]), [1]) for row in ([2.0, 2.0], [4.0, 4.0]))
    assert np.all(a.coef_ > 1)
    assert np.all(b.coef_ > a.coef_)  # the bias, which is 1, takes less of the row


def test_bug_of_moa_both_weights_begin_at_two():
    selector = WinnowEFS(1).fit(np.array([[1.0]]), [1])
    assert selector.coef_[0] == pytest.approx(2 * 1.5 * 1.5 - 0.5 * 0.5)


def test_bug_of_moa_promotion_and_demotion_are_exchanged_for_the_negative_class():
    selector = WinnowEFS(1).fit(np.array([[1.0]]), [0])
    u, v = weights(selector)
    assert u[1] == pytest.approx(2 * 0.5 * 0.5)
    assert v[1] == pytest.approx(1.5 * 1.5)


def test_a_value_alone_in_its_row_does_not_end_a_weight_for_good():
    alone = np.array([[1e30]])  # its share of the row is 1
    selector = WinnowEFS(1).fit(alone, [1])
    assert weights(selector)[1][1] == pytest.approx(0.5e-6)
    for _ in range(60):
        selector.partial_fit(alone, [0])
    assert selector.coef_[0] < 0


def test_weights_stay_finite_however_long_the_labels_contradict():
    X = np.abs(np.random.default_rng(0).normal(size=(4000, 3))) * [1.0, 1e-90, 1e90]
    selector = WinnowEFS(2, promotion=100.0, margin=1e6).fit(X, np.arange(4000) % 5 == 0)
    assert np.all(np.isfinite(selector.scores_))


# ------------------------------------------------------------------------------------ choosing


def test_features_of_which_nothing_was_learnt_are_not_selected():
    X = np.array([[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    selector = WinnowEFS(4).fit(X, [0, 1])
    assert selector.ranked_.tolist() == [2, 1]
    assert selector.scores_[[0, 3]].tolist() == [0.0, 0.0]


def test_a_share_of_the_lowest_is_taken_with_extremes():
    rng = np.random.default_rng(1)
    X, y = rng.poisson(0.5, (300, 40)).astype(float), rng.integers(0, 2, 300)
    top = WinnowEFS(10).fit(X, y)
    both = WinnowEFS(10, extremes=0.3).fit(X, y)
    ranking = np.argsort(-top.scores_, kind="stable")
    assert set(top.ranked_) == set(ranking[:10])
    assert set(both.ranked_) == {*ranking[:7], *ranking[-3:]}


def test_words_that_separate_classes_are_found():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 3000)
    X = rng.poisson(0.1, (3000, 500)).astype(float)
    relevant = [40, 111, 250, 333]
    for turn, word in enumerate(relevant):
        X[:, word] += rng.poisson(0.6, 3000) * (y == turn % 2)
    assert set(relevant) <= set(WinnowEFS(8).fit(sp.csr_array(X), y).ranked_)


@pytest.mark.parametrize(
    ("labels", "negative"),
    [([0, 1], 0), ([1, 0], 0), ([-1, 1], -1), ([1, 2], 2), ([7, 8], 7), ([8, 7], 8), ([True, False], False),
     (["b", "a"], "b")],
)  # fmt: skip
def test_classes_are_sorted_and_coefficients_speak_for_the_second(labels, negative):
    selector = WinnowEFS(1).fit(np.ones((2, 1)), labels)
    classes = sorted(labels)
    assert selector.classes_.tolist() == classes
    assert selector._labels_.negative == negative
    inner = selector._model_.coefficients(1)
    assert np.array_equal(selector.coef_, inner if classes[0] == negative else -inner)
    one_by_one = WinnowEFS(1)
    for label in labels:
        one_by_one.partial_fit(np.ones((1, 1)), [label])
    assert one_by_one.classes_.tolist() == classes


# ------------------------------------------------------------------------------------ errors


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_negative_value_is_refused_by_name_and_changes_nothing(form):
    X = np.ones((3, 4))
    selector = WinnowEFS(2).fit(form(X), [0, 1, 1])
    before = selector.coef_
    X[1, 2] = -0.5
    with pytest.raises(InputError, match=r"Negative values in data.*'x2' holds -0\.5.*or use OFS"):
        selector.partial_fit(form(X), [0, 1, 1])
    assert np.array_equal(selector.coef_, before)
    assert selector.n_samples_seen_ == 3


def test_a_negative_value_is_refused_under_the_name_it_came_with():
    frame = pd.DataFrame({"fine": [1.0, 2.0], "debt": [1.0, -3.0]})
    with pytest.raises(InputError, match="'debt' holds -3"):
        WinnowEFS(1).fit(frame, [0, 1])
    selector = WinnowEFS(1)
    selector.learn_one({"fine": 1.0}, 0)
    with pytest.raises(InputError, match="'late' holds -2"):
        selector.learn_one({"late": -2.0, "fine": 1.0}, 1)
    assert selector.n_features_in_ == 1
    assert selector.transform_one({"fine": 1.0, "late": 1.0}) == {"fine": 1.0}


def test_minus_zero_is_not_negative():
    assert WinnowEFS(1).fit(np.array([[-0.0, 1.0]]), [1]).ranked_.tolist() == [1]
