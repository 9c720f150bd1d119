"""SOFS is the rule of the papers: a frequency rule, whose budget holds after every row."""

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve.rows.ofs import OFS
from streamsieve.rows.sofs import SOFS
from tests.reference import sofs as twin
from tests.rows.linear_cases import cases, constant


def test_equals_the_twin_on_many_streams():
    for X, y, k, rng in cases(1500):
        gamma = float(rng.choice([0.125, 1.0, 16.0]))
        history, margins = twin.sofs(X, y, k=k, regularization=gamma)
        ours = SOFS(k, regularization=gamma).fit(sp.csr_array(X) if rng.random() < 0.5 else X, y)
        mean, gain = history[-1]
        assert np.array_equal(ours.coef_, mean)
        assert np.array_equal(ours.scores_, np.where(constant(X), 0, gain))
        assert np.array_equal(ours.sigma_, 1 / (1 + gain))
        assert ours.mistakes_ == np.count_nonzero(margins <= 0)


def test_equals_the_twin_after_every_row_in_any_batches():
    for X, y, k, _ in cases(90, seed=1):
        expected, margins = twin.sofs(X, y, k=k)
        selector = SOFS(k)
        for i in range(len(y)):
            selector.partial_fit(X[i : i + 1], y[i : i + 1])
            assert np.array_equal(selector.coef_, expected[i][0])
        assert selector.mistakes_ == np.count_nonzero(margins <= 0)
        assert np.array_equal(selector.coef_, SOFS(k).fit(X, y).coef_)


@pytest.mark.parametrize("k", [1, 7, 60])
def test_equals_the_twin_over_long_streams_of_counts(k):
    # counts: the confidences of different words are often equal, and change places all the time
    rng = np.random.default_rng(2)
    X = rng.poisson(np.geomspace(0.5, 0.01, 200), (3000, 200)).astype(float)
    y = np.where(X[:, :20:2].sum(axis=1) - X[:, 1:20:2].sum(axis=1) + rng.normal(size=3000) > 0, 1, -1)
    history, margins = twin.sofs(X, y, k=k)
    ours = SOFS(k).fit(sp.csr_array(X), y)
    assert np.array_equal(ours.coef_, history[-1][0])
    assert ours.mistakes_ == np.count_nonzero(margins <= 0)


def test_the_weights_are_those_of_the_smallest_sigmas_after_every_row():
    for X, y, k, _ in cases(120, seed=3):
        selector = SOFS(k)
        for i in range(len(y)):
            selector.partial_fit(X[i : i + 1], y[i : i + 1])
            smallest = np.argsort(selector.sigma_, kind="stable")[:k]
            learnt = {j for j in smallest if selector.sigma_[j] < 1}
            assert set(np.flatnonzero(selector.coef_)) <= learnt
            varies = np.flatnonzero(~constant(X[: i + 1]))
            smallest = varies[np.argsort(selector.sigma_[varies], kind="stable")[:k]]
            assert set(selector.ranked_) == {j for j in smallest if selector.sigma_[j] < 1}
            assert np.all((selector.sigma_ > 0) & (selector.sigma_ <= 1))


def test_a_feature_that_comes_back_begins_again_but_is_as_sure_as_before():
    X = np.array([[2.0, 0.0], [0.0, 3.0], [5.0, 0.0]])
    selector = SOFS(1).fit(X[:1], [1])
    first = selector.coef_[0]
    assert first > 0
    selector.partial_fit(X[1:2], [1])
    assert selector.coef_[0] == 0.0
    assert selector.sigma_[0] == pytest.approx(1 / 5)
    selector.partial_fit(X[2:], [1])
    # alpha = 1 / (25 / 5 + 1), step = alpha * sigma * x
    assert selector.coef_.tolist() == [pytest.approx(1 / 6 * 5 / 5), 0.0]


def test_a_feature_that_leaves_and_returns_within_one_row_keeps_its_weight():
    # column 0 takes the place of column 1 first, and column 1 takes it back by its own value
    X = np.array([[0.0, 1.0], [1.5, 2.0]])
    history, _ = twin.sofs(X, [1, -1], k=1)
    assert history[0][0][1] != 0
    selector = SOFS(1).fit(X, [1, -1])
    assert selector.coef_.tolist() == history[1][0].tolist()


def test_words_that_separate_classes_are_found_in_sparse_text():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 3000)
    X = rng.poisson(0.02, (3000, 500)).astype(float)
    relevant = [40, 111, 250, 333]
    for turn, word in enumerate(relevant):
        X[:, word] += rng.poisson(0.6, 3000) * (y == turn % 2)
    assert set(SOFS(4).fit(sp.csr_array(X), y).ranked_) == set(relevant)


def test_in_dense_standardized_rows_it_finds_nothing_as_the_documentation_says():
    found = {OFS: 0, SOFS: 0}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, planted = rng.normal(size=(2000, 300)), rng.choice(300, 10, replace=False)
        y = X[:, planted] @ rng.choice([-1, 1], 10) + rng.normal(size=2000) > 0
        for selector in (OFS(20, learning_rate=1.0), SOFS(20)):
            selected = selector.fit(X / np.sqrt(300), y).ranked_
            found[type(selector)] += len(set(selected) & set(planted))
    assert found[SOFS] <= 6  # 2 of 30 by chance
    assert found[OFS] >= 15


def test_it_is_a_frequency_rule():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(1000, 4))
    X[:, 2] = 5.0 * rng.choice([-1, 1], 1000)  # large, and unrelated to the labels
    y = X[:, 0] > 0
    assert SOFS(1).fit(X, y).ranked_.tolist() == [2]
