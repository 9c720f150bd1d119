"""PartialOFS is the rule of the paper, looks at no more than it may, and learns what is right on average."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve._kernels.ofs import learn_partial_rows
from streamsieve.rows.partial_ofs import PartialOFS
from tests.reference import partial_ofs as twin
from tests.rows.linear_cases import cases


def learn_one_row(x, label, w, k, *, exploration, row, rate=1.0):
    """The weights after one row, the mistakes and the entries looked at, straight from the kernel."""
    d, kept = len(x), np.flatnonzero(w)
    columns, weights = np.resize(kept, k).astype(np.int32), np.resize(w[kept], k)
    m, mistakes, observed = learn_partial_rows(
        np.array([0, d]), np.arange(d, dtype=np.int32), x, np.array([label]), columns, weights, len(kept), d,
        rate, 1e6, exploration, 0, row,
    )  # fmt: skip
    out = np.zeros(d)
    out[columns[:m]] = weights[:m]
    return out, mistakes, observed


# ------------------------------------------------------------------------------------ the twin


def test_equals_the_twin_on_many_streams():
    for turn, (X, y, k, rng) in enumerate(cases(1000)):
        given = {
            "learning_rate": rng.choice([0.01, 0.2, 1.0]),
            "exploration": rng.choice([0.05, 0.2, 0.8, 1.0]),
            "radius": rng.choice([0.5, 10.0]),
        }
        history, margins, looked_at = twin.partial_ofs(X, y, k=k, seed=turn, **given)
        rows = sp.csr_array(X) if rng.random() < 0.5 else X
        ours = PartialOFS(k, random_state=turn, **given).fit(rows, y)
        assert np.array_equal(ours.coef_, history[-1])
        assert ours.mistakes_ == np.count_nonzero(margins <= 0)
        assert ours.observed_ == sum(map(len, looked_at))


def test_equals_the_twin_after_every_row():
    for X, y, k, _ in cases(60, seed=1):
        expected, _, _ = twin.partial_ofs(X, y, k=k)
        selector = PartialOFS(k)
        for i in range(len(y)):
            selector.partial_fit(X[i : i + 1], y[i : i + 1])
            assert np.array_equal(selector.coef_, expected[i])


def test_equals_the_twin_over_wide_sparse_rows():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(800, 300)) * (rng.random((800, 300)) < 0.1)
    y = np.where(X[:, :5].sum(axis=1) + 0.1 * rng.normal(size=800) > 0, 1, -1)
    history, margins, looked_at = twin.partial_ofs(X, y, k=25)
    ours = PartialOFS(25).fit(sp.csr_array(X), y)
    assert np.array_equal(ours.coef_, history[-1])
    assert ours.mistakes_ == np.count_nonzero(margins <= 0)
    assert ours.observed_ == sum(map(len, looked_at))


def test_other_seeds_look_elsewhere():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(50, 30)), rng.integers(0, 2, 50)
    assert len({tuple(PartialOFS(5, random_state=seed).fit(X, y).coef_) for seed in range(10)}) == 10


# ------------------------------------------------------------------------------------ the budget


def test_never_more_entries_than_the_budget_are_looked_at_in_any_row():
    for X, y, k, _ in cases(120, seed=5):
        selector, before = PartialOFS(k), 0
        for i in range(len(y)):
            selector.partial_fit(X[i : i + 1], y[i : i + 1])
            assert selector.observed_ - before <= k
            assert np.count_nonzero(selector.coef_) <= k
            before = selector.observed_


def test_what_is_not_looked_at_does_not_matter():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(200, 20)), np.where(rng.random(200) < 0.5, 1, -1)
    _, _, looked_at = twin.partial_ofs(X, y, k=4)
    blind = rng.normal(size=X.shape)
    for i, chosen in enumerate(looked_at):
        blind[i, chosen] = X[i, chosen]
    assert np.array_equal(PartialOFS(4).fit(X, y).coef_, PartialOFS(4).fit(blind, y).coef_)


# ------------------------------------------------------------------------------------ right on average


@pytest.mark.parametrize("exploration", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("w", [[0, 0, 0, 0, 0], [0, 2, 0, -1, 0], [1, 1, 0, 0, -3]])
def test_the_estimate_of_a_row_is_the_row_on_average_by_enumeration(w, exploration):
    x, w, k = np.array([1.0, -2.0, 0.5, 3.0, 0.0]), np.array(w, float), 3
    every = list(combinations(range(5), k))
    drawn = exploration if w.any() else 1.0
    mean = sum(drawn / len(every) * twin.estimate(x, w, chosen, k, exploration) for chosen in every)
    mean += (1 - drawn) * twin.estimate(x, w, np.flatnonzero(w), k, exploration)
    np.testing.assert_allclose(mean, x, rtol=1e-12)


@pytest.mark.parametrize("weight", [0.0, 0.7])
def test_the_step_of_the_kernel_is_the_row_on_average(weight):
    # one weight at most and three values: with a budget of 3 nothing is truncated, and the step is seen whole
    x, w = np.array([1.0, 0.0, -2.0, 0.0, 0.0, 3.0, 0.0]), np.zeros(7)
    w[0] = weight
    steps = [w - learn_one_row(x, -1.0, w, 3, exploration=0.3, row=row)[0] for row in range(20_000)]
    error = np.std(steps, axis=0) / np.sqrt(len(steps))
    assert np.all(np.abs(np.mean(steps, axis=0) - x) <= 4 * error)
    assert np.all(error[x != 0] > 0)


# ------------------------------------------------------------------------------------ known bugs of others


def test_bug_of_moa_integer_division_makes_the_probability_zero():
    after, mistakes, _ = learn_one_row(np.ones(10), 1.0, np.zeros(10), 2, exploration=0.2, row=0)
    assert mistakes == 1
    assert after[after != 0].tolist() == [5.0, 5.0]  # d / B


def test_bug_of_moa_the_estimate_is_not_masked_to_the_columns_looked_at():
    for row in range(50):
        after, _, _ = learn_one_row(np.ones(10), 1.0, np.zeros(10), 2, exploration=0.2, row=row)
        assert set(np.flatnonzero(after)) == set(twin.draw(10, 2, 0, row))


def test_bug_of_moa_columns_are_drawn_with_replacement():
    for row in range(200):
        after, _, _ = learn_one_row(np.ones(5), 1.0, np.zeros(5), 4, exploration=1.0, row=row)
        assert np.count_nonzero(after) == 4


def test_bug_of_moa_a_bias_that_is_multiplied_by_itself():
    selector = PartialOFS(2).fit(np.zeros((20, 3)), np.arange(20) % 2)
    assert not selector.coef_.any()
    assert selector.mistakes_ == 20


def test_bug_of_moa_truncation_takes_away_the_signs():
    after, _, _ = learn_one_row(np.array([-1.0, -2.0, -3.0]), 1.0, np.zeros(3), 3, exploration=1.0, row=0)
    assert after.tolist() == [-1.0, -2.0, -3.0]


def test_bug_of_moa_truncation_keeps_the_smallest():
    w = np.array([0.0, 5.0, 0.0, 0.0])
    for row in range(50):  # whatever is drawn beside it, 5 is larger
        after, _, _ = learn_one_row(np.array([1.0, 0.0, 1.0, 1.0]), 1.0, w, 1, exploration=1.0, row=row)
        assert after.tolist() == [0.0, 5.0, 0.0, 0.0]


def test_while_no_feature_has_a_weight_columns_are_drawn():
    selector = PartialOFS(1, exploration=1e-6).fit(np.ones((1, 4)), [1])
    assert selector.observed_ == 1
    assert np.count_nonzero(selector.coef_) == 1


# ------------------------------------------------------------------------------------ what it is good for


def test_the_features_that_matter_are_found_through_the_keyhole():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(20_000, 50))
    y = X[:, 11] + X[:, 33] > 0
    selector = PartialOFS(4, learning_rate=0.01).fit(X, y)
    assert {11, 33} <= set(selector.ranked_.tolist())
    assert selector.observed_ <= 4 * 20_000


def test_steps_beyond_the_radius_forget_everything_as_the_documentation_says():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(20_000, 50))
    y = X[:, 11] + X[:, 33] > 0
    wild, calm, same = (
        PartialOFS(4, learning_rate=rate, radius=radius).fit(X, y)
        for rate, radius in ((0.2, 10.0), (0.01, 10.0), (0.2, 200.0))
    )
    assert wild.mistakes_ > 0.5 * 20_000
    assert calm.mistakes_ < 0.4 * 20_000
    assert same.mistakes_ == calm.mistakes_  # only the ratio of the two matters


def test_a_feature_that_appears_late_may_be_drawn():
    rng = np.random.default_rng(8)
    selector = PartialOFS(2, exploration=0.5)
    for i in range(3000):
        row = {f"noise {j}": v for j, v in enumerate(rng.normal(size=4))}
        if i >= 1000:
            row["late"] = rng.normal() + 3 * (2 * (i % 2) - 1)
        selector.learn_one(row, i % 2)
    assert selector.n_features_in_ == 5
    assert "late" in selector.get_feature_names_out()


def test_a_row_without_features_teaches_nothing():
    selector = PartialOFS(2)
    selector.learn_one({}, 1)
    assert (selector.observed_, selector.mistakes_, selector.ranked_.tolist()) == (0, 1, [])
