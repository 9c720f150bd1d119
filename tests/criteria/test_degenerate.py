"""Columns and targets without information: a finite answer, the worst one, and never NaN."""

import numpy as np
import pytest
import scipy.special

from tests.criteria.random_tables import TABLE_CRITERIA
from tests.criteria.scoring import CRITERIA, MOMENTS, TWINS, scored, summarized

LARGEST = np.finfo(np.float64).max
each = pytest.mark.parametrize("name", CRITERIA)
each_form = pytest.mark.parametrize("form", ["C", "F", "csr_array"])

N = 12
Y = np.arange(N) % 2
NOISE = np.random.default_rng(0).normal(size=N)

COLUMNS = {
    "zeros": np.zeros(N),
    "ones": np.ones(N),
    "a large constant": np.full(N, 1e9),
    "a constant that is no binary fraction": np.full(N, -1e9 / 3),
    "nothing but missing values": np.full(N, np.nan),
    "one value": np.where(np.arange(N) == 3, 5.0, np.nan),
    "one class only": np.where(Y == 0, NOISE, np.nan),
    "one class only, constant": np.where(Y == 0, 7.0, np.nan),
    "one value in each class": np.where(np.arange(N) < 2, NOISE, np.nan),
    "the smallest numbers": np.where(NOISE > 0, 5e-324, 0.0),
    "negative zeros": np.where(NOISE > 0, -0.0, 0.0),
    "the classes": Y * 1.0,
    "the classes, far out": Y + 1e9,
    "a constant but for one": np.where(np.arange(N) == 0, 1.0, 0.0),
}
WORST = [
    name
    for name in COLUMNS
    if not name.startswith(("the classes", "a constant but", "the smallest", "one value in"))
]


BATCHES = (1, 5, None)


def lowest(name):
    """A feature without information scores 0, except for an impurity."""
    return -1.0 if name == "gini" else 0.0


@each
@each_form
@pytest.mark.parametrize("column", COLUMNS)
def test_every_column_has_a_finite_score_and_a_p_value_which_are_those_of_the_twin(name, form, column):
    X = np.c_[NOISE, COLUMNS[column]]
    for batch in BATCHES:
        scores, p = scored(CRITERIA[name], X, Y, form=form, batch=batch)
        assert np.all(np.isfinite(scores))
        assert np.all(scores >= lowest(name))
        assert np.all((p >= 0) & (p <= 1))
        if name in TABLE_CRITERIA or column != "the smallest numbers":  # their squares are 0
            np.testing.assert_allclose(scores, TWINS[name].score(X, Y * 1.0), rtol=1e-7)
            np.testing.assert_allclose(p, TWINS[name].p_value(X, Y * 1.0), rtol=1e-6, atol=1e-12)


@each
@each_form
@pytest.mark.parametrize("column", WORST)
def test_a_column_without_information_scores_worst(name, form, column):
    there = ~np.isnan(COLUMNS[column])
    # both classes are there: nothing is less pure than the whole
    worst = -0.5 if name == "gini" and len(np.unique(Y[there])) == 2 else lowest(name)
    for batch in BATCHES:
        scores, p = scored(CRITERIA[name], np.c_[NOISE, COLUMNS[column]], Y, form=form, batch=batch)
        assert scores[0] > worst
        assert (scores[1], p[1]) == (worst, 1)


@each
@pytest.mark.parametrize("form", ["C", "F"])
@pytest.mark.parametrize("half_life", [None, 3.0])
def test_a_large_constant_scores_worst_with_any_weights_and_when_merged(name, form, half_life):
    rng = np.random.default_rng(1)
    criterion, weight = CRITERIA[name], rng.random(N) + 0.1
    X = np.c_[np.full(N, 1e9), np.full(N, 0.1), NOISE]
    left = summarized(criterion, X[:5], Y[:5], weight[:5], half_life, form)
    left.merge(summarized(criterion, X[5:], Y[5:], weight[5:], half_life, form, batch=2))
    scores = criterion(left)
    assert scores[2] > scores[0]
    if name == "gini":
        mass = weight if half_life is None else weight * 2 ** (np.arange(N) / half_life)
        share = np.bincount(Y, mass) / mass.sum()
        np.testing.assert_allclose(scores[:2], (share**2).sum() - 1, rtol=1e-12)
    else:
        assert scores[:2].tolist() == [0, 0]


MOST = {"mutual_info": np.log(2), "chi2": N, "gini": 0.0, "su": 1.0}
MOST |= {name: LARGEST for name in MOMENTS if name != "correlation"}


@pytest.mark.parametrize(("name", "most"), MOST.items())
@each_form
def test_perfect_separation_has_the_largest_score_and_a_p_value_of_almost_0(name, most, form):
    """Two values that go with the classes: as many permutations of the classes do the same."""
    X = np.c_[Y * 1.0, 1e9 - Y, np.where(Y == 0, 0.1, 0.3), NOISE]
    scores, p = scored(CRITERIA[name], X, Y, form=form, batch=5)
    np.testing.assert_allclose(scores[:3], most, rtol=1e-12, atol=1e-15)
    exact = 2 / scipy.special.comb(N, int(Y.sum()))
    if name in MOMENTS:
        np.testing.assert_allclose(p[:3], exact, rtol=1e-9)
    else:
        assert np.all((exact / 2 <= p[:3]) & (p[:3] < exact))  # nearly: the other half exchanges the classes
    assert scores[3] < min(most, 1e3)
    assert 0.01 < p[3] <= 1


@each_form
def test_perfect_correlation_is_1_with_p_0(form):
    X = np.c_[NOISE, -3 * NOISE, Y]
    scores, p = scored(CRITERIA["correlation"], X, NOISE, form=form, batch=5)
    np.testing.assert_allclose(scores[:2], 1, rtol=1e-12)
    assert np.all(scores <= 1)
    assert np.all(p[:2] < 1e-60)


@each
@each_form
def test_one_row_one_class_and_no_row_at_all(name, form):
    criterion, X = CRITERIA[name], np.c_[NOISE, np.ones(N)]
    for rows in (X[:1], X[:3]):
        scores, p = scored(criterion, rows, np.zeros(len(rows)), form=form)
        assert scores.tolist() == [lowest(name)] * 2
        assert p.tolist() == [1, 1]
    empty = criterion.new_summary()
    assert criterion(empty).shape == criterion.p_values(empty).shape == (0,)


@each
@each_form
def test_two_rows_cannot_be_significant(name, form):
    _, p = scored(CRITERIA[name], np.array([[1.0, 5.0], [2.0, 5.0]]), np.array([0, 1]), form=form)
    assert p[0] > 0.05
    assert p[1] == 1
    if name in MOMENTS:  # two values have no spread to compare their difference with
        assert p[0] == 1


@pytest.mark.parametrize("name", ["f", "fisher", *TABLE_CRITERIA])
@each_form
def test_a_class_in_which_a_feature_never_occurs_does_not_count(name, form):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 3
    X[y == 2, 0] = np.nan
    scores, p = scored(CRITERIA[name], X, y, form=form, batch=7)
    two = y != 2
    without, p_without = scored(CRITERIA[name], X[two], y[two], form=form)
    assert (scores[0], p[0]) == pytest.approx((without[0], p_without[0]), rel=1e-10)
    assert scores[1] != pytest.approx(without[1], rel=1e-3)


@each
def test_a_constant_target_scores_worst(name):
    scores, p = scored(CRITERIA[name], np.c_[NOISE, np.ones(N)], np.full(N, 3.0))
    assert scores.tolist() == [lowest(name)] * 2
    assert p.tolist() == [1, 1]
