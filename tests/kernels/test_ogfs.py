"""Kernels of OGFS: separability by hand, and the penalized model by scikit-learn."""

import numpy as np
import pytest
from scipy.special import stdtrit
from sklearn.linear_model import ElasticNet, MultiTaskElasticNet

from streamsieve._kernels import ogfs
from tests.reference.ogfs import lasso

CRITICAL = np.concatenate([[np.inf], -stdtrit(np.arange(1.0, 10), 0.05)])


def accepted(scores, known=0, epsilon=0.0, critical=CRITICAL, literal=False):
    between = np.array(scores, float)
    fate, _ = ogfs.admitted(
        between, np.ones_like(between), known, epsilon, critical, literal,
        np.zeros((0, 0)), np.inf, True, False,
    )  # fmt: skip
    return (fate == 0).tolist()


def test_a_ratio_above_the_separability_raises_it():
    assert accepted([1, 0.5, 1.2, 1.05, 1.15]) == [True, False, True, False, True]
    assert accepted([1, 1, 1.05], epsilon=0.04) == [True, False, False]
    assert accepted([0.0, 0.01], epsilon=0.1) == [False, False]


def test_what_is_accepted_already_counts():
    assert accepted([5, 1, 4], known=1) == [True, False, False]
    assert accepted([5, 1, 4], known=2) == [True, True, True]


def test_a_score_that_stands_out_is_accepted_though_it_raises_too_little():
    # beside 1.0, 1.1, 1.2 a score of 3 has t = 1.9 / (.1 sqrt(4/3)) = 16, and raises the ratio by .475
    scores = [1.0, 1.1, 1.2, 3.0]
    assert accepted(scores, known=3, epsilon=0.5) == [True] * 4
    assert accepted(scores, known=3, epsilon=0.5, critical=CRITICAL + 100) == [True] * 3 + [False]
    assert accepted([1.0, 3.0], known=1, epsilon=5.0) == [True, False]  # one score has no spread
    assert accepted([1.0, 1.0, 3.0], known=2, epsilon=5.0) == [True, True, False]  # nor have two equal ones


def test_the_literal_statistic_takes_what_lies_below_the_mean():
    scores = [1.0, 1.1, 1.2, 0.1, 3.0]
    assert accepted(scores, known=3, epsilon=5.0, critical=np.array([0.05]), literal=True) == [
        True, True, True, True, False,
    ]  # fmt: skip


def fates(pairs, scores=None, limit=0.9, either=False):
    between = np.ones(len(pairs)) if scores is None else np.array(scores, float)
    fate, by = ogfs.admitted(
        between, np.ones_like(between), 0, 0.0, CRITICAL, False,
        np.array(pairs), limit, scores is not None, either,
    )  # fmt: skip
    return fate.tolist(), by.tolist()


#: Two earlier columns, then three of the group: the second shares with the first, the third with the second.
PAIRS = [[0.1, 0.2, 1.0, 0.95, 0.1], [0.3, 0.1, 0.95, 1.0, 0.99], [0.92, 0.91, 0.1, 0.99, 1.0]]


def test_redundant_is_what_shares_too_much_with_an_earlier_column_or_an_admitted_one():
    assert fates(PAIRS) == ([0, 1, 1], [-1, 2, 0])
    assert fates(PAIRS, limit=0.93) == ([0, 1, 0], [-1, 2, -1])
    assert fates(PAIRS, limit=np.inf) == ([0, 0, 0], [-1, -1, -1])


def test_both_criteria_or_one_of_them():
    assert fates(PAIRS, scores=[2, 3, 1], limit=0.93) == ([0, 1, 2], [-1, 2, -1])
    assert fates(PAIRS, scores=[2, 3, 1], limit=0.93, either=True) == ([0, 0, 1], [-1, -1, 3])
    assert fates(PAIRS, scores=[2, 1, 1], limit=0.98, either=True) == ([0, 0, 1], [-1, -1, 3])


def problem(rng, n, q, k):
    Z = rng.normal(size=(n, q)) + rng.normal(size=(n, 1))
    Z = Z - Z.mean(axis=0)
    Y = Z[:, :3] @ rng.normal(size=(3, k)) + rng.normal(size=(n, k))
    Y = np.linalg.qr(Y - Y.mean(axis=0))[0]
    return Z / np.linalg.norm(Z, axis=0), Y


def descended(Z, Y, penalty, ridge, weights=None, most_sweeps=10_000):
    gram = Z.T @ Z
    np.fill_diagonal(gram, 1.0)
    weights = np.zeros((Z.shape[1], Y.shape[1])) if weights is None else weights
    rest, _ = ogfs.descend(gram, Z.T @ Y, weights, penalty, ridge, 1e-12, most_sweeps, -1.0, np.inf)
    np.testing.assert_allclose(rest, Z.T @ (Y - Z @ weights), atol=1e-11)
    return weights


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("ridge", [0.0, 0.05])
def test_the_minimum_is_that_of_scikit_learn(k, ridge):
    rng = np.random.default_rng(0)
    n, q, penalty = 30, 6, 0.1
    Z, Y = problem(rng, n, q, k)
    found = descended(Z, Y, penalty, ridge)
    alpha = (penalty + ridge) / n
    model = (ElasticNet if k == 1 else MultiTaskElasticNet)(
        alpha=alpha, l1_ratio=penalty / (penalty + ridge), fit_intercept=False, tol=1e-12, max_iter=100_000
    )
    coef = model.fit(Z, Y[:, 0] if k == 1 else Y).coef_.reshape(k, q).T
    np.testing.assert_allclose(found, coef, atol=1e-7)
    np.testing.assert_array_equal(found == 0, coef == 0)
    assert 0 < np.count_nonzero(found) < found.size
    again = descended(Z, Y, penalty, ridge, found.copy())  # from its minimum on, nothing moves
    np.testing.assert_allclose(again, found, atol=1e-11)


def test_a_copy_of_a_column_that_is_in_stays_out():
    rng = np.random.default_rng(1)
    Z, Y = problem(rng, 20, 3, 1)
    alone = descended(Z, Y, 0.1, 0.0)
    both = descended(np.c_[Z, Z, -Z], Y, 0.1, 0.0, np.r_[alone, np.zeros((6, 1))])
    np.testing.assert_array_equal(both[3:], 0)
    np.testing.assert_allclose(both[:3], alone, atol=1e-11)


def test_extrapolated_sweeps_end_where_the_twin_does():
    rng = np.random.default_rng(2)
    Z, Y = problem(rng, 20, 42, 5)
    wanted = lasso(Z.T, Y, {}, range(42), 0.1, 0.02)
    found = descended(Z, Y, 0.1, 0.02, most_sweeps=120)  # plain sweeps need twice as many
    np.testing.assert_allclose(found, wanted, atol=1e-10)
    np.testing.assert_array_equal(found == 0, wanted == 0)
    assert 0 < np.count_nonzero(found.any(axis=1)) < 42
    # a last sweep is not extrapolated, which would bring back rows that are 0
    kept = [np.count_nonzero(descended(Z, Y, 0.1, 0.02, most_sweeps=m).any(axis=1)) for m in (8, 9)]
    assert kept[1] <= kept[0]


def test_no_extrapolation_raises_the_objective():
    """Among nearly collinear columns one may seem to help, and the descent would go in circles."""
    rng = np.random.default_rng(3)
    Z, Y = problem(rng, 16, 8, 3)
    Z = np.c_[Z, Z + 1e-3 * rng.normal(size=Z.shape)]
    Z, Y = Z / np.linalg.norm(Z, axis=0), np.linalg.qr(Y)[0]
    found = []
    for most_sweeps in (*range(9, 46, 9), *range(10, 47, 9), 90, 91):
        W = descended(Z, Y, 0.013, 1e-4, most_sweeps=most_sweeps)
        loss = np.sum((Y - Z @ W) ** 2) / 2 + 5e-5 * np.sum(W**2)
        found.append((most_sweeps, loss + 0.013 * np.linalg.norm(W, axis=1).sum()))
    assert np.max(np.diff([value for _, value in sorted(found)])) <= 1e-13


@pytest.mark.parametrize("least", [0.0, 0.05])
def test_the_descent_ends_when_it_is_certain_which_columns_stay(least):
    """By far fewer sweeps, and never with other columns than the minimum has."""
    rng, sweeps, early = np.random.default_rng(4), 0, 0
    for _ in range(60):
        Z, Y = problem(rng, 20, 15, 3)
        Z = np.c_[Z, Z[:, :5] + 1e-3 * rng.normal(size=(20, 5)), Z[:, :2]]
        Z /= np.linalg.norm(Z, axis=0)
        penalty, ridge = rng.uniform(0.02, 0.2, 2)
        found = []
        for bound in (-1.0, least):
            gram, weights = Z.T @ Z, np.zeros((22, 3))
            np.fill_diagonal(gram, 1.0)
            rest, n = ogfs.descend(gram, Z.T @ Y, weights, penalty, ridge, 1e-12, 10_000, bound, np.inf)
            np.testing.assert_allclose(rest, Z.T @ (Y - Z @ weights), atol=1e-11)
            found.append((np.linalg.norm(weights, axis=1) > least, n))
        np.testing.assert_array_equal(found[0][0], found[1][0])
        sweeps, early = sweeps + found[0][1], early + found[1][1]
    assert early < 0.7 * sweeps


def test_a_product_at_the_penalty_is_never_certain():
    """A copy of a column that is in lies at the border, so the descent goes on until nothing moves."""
    rng = np.random.default_rng(1)
    Z, Y = problem(rng, 20, 3, 1)
    gram = Z.T @ Z
    np.fill_diagonal(gram, 1.0)
    weights = np.zeros((3, 1))
    to_the_end = ogfs.descend(gram, Z.T @ Y, weights, 0.1, 0.05, 1e-12, 10_000, -1.0, np.inf)[1]
    length = abs(float(weights[0, 0]))
    again = np.zeros((3, 1))
    assert ogfs.descend(gram, Z.T @ Y, again, 0.1, 0.05, 1e-12, 10_000, length, np.inf)[1] == to_the_end
    np.testing.assert_array_equal(again, weights)
