"""Identities between criteria, and what must not change a score."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from streamsieve.criteria import AnovaF, Correlation, Fisher, WelchT
from streamsieve.exceptions import TargetError
from tests.criteria.random_tables import TABLE_CRITERIA
from tests.criteria.scoring import CLASSES, CRITERIA, scored, summarized
from tests.helpers.tier import cases

each = pytest.mark.parametrize("name", CRITERIA)
SMALL = st.integers(-20, 20).map(float)


@st.composite
def two_class_tables(draw):
    n = draw(st.integers(4, 20))
    X = draw(hnp.arrays(np.float64, (n, 3), elements=SMALL))
    y = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 1)))
    assume(0 < y.sum() < n)
    return X, y


@settings(max_examples=cases(60))
@given(two_class_tables())
def test_fisher_is_r2_over_1_minus_r2_for_two_classes(table):
    X, y = table
    fisher, r = scored(Fisher(), X, y)[0], scored(Correlation(), X, y)[0]
    open_ = r < 1 - 1e-9
    np.testing.assert_allclose(fisher[open_], (r**2 / (1 - r**2))[open_], rtol=1e-6, atol=1e-12)
    assert np.all(fisher[~open_] > 1e8)


@settings(max_examples=cases(60))
@given(two_class_tables())
def test_squared_pooled_t_is_f_for_two_classes(table):
    X, y = table
    F = scored(AnovaF(), X, y)[0]
    a, b = X[y == 0], X[y == 1]
    pooled = (len(a) * a.var(axis=0) + len(b) * b.var(axis=0)) / (len(y) - 2)
    spread = pooled > 0
    t2 = (a.mean(axis=0) - b.mean(axis=0)) ** 2 / (np.where(spread, pooled, 1) * (1 / len(a) + 1 / len(b)))
    np.testing.assert_allclose(F[spread], t2[spread], rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("classes", [2, 3, 6])
@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_f_is_fisher_times_degrees_of_freedom(classes, form):
    rng = np.random.default_rng(classes)
    X, y = rng.normal(size=(50, 5)), np.arange(50) % classes
    weight = rng.integers(0, 3, 50).astype(float)
    fisher = scored(Fisher(), X, y, weight, form=form)[0]
    F = scored(AnovaF(), X, y, weight, form=form)[0]
    np.testing.assert_allclose(F, fisher * (weight.sum() - classes) / (classes - 1), rtol=1e-12)


def example(name, seed=0, n=80, p=40):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % (2 if name == "t" else 3)
    X = rng.normal(size=(n, p)) + np.outer(y, rng.normal(size=p))
    X[rng.random((n, p)) < 0.1] = 0.0
    return X, y


@each
@pytest.mark.parametrize("form", ["C", "csr_array"])
@pytest.mark.parametrize(("factor", "shift"), [(2.0, 0.0), (-3.0, 5.0), (1e-6, 1e-3), (1e6, -1e7)])
def test_rescaling_a_column_changes_nothing(name, form, factor, shift):
    X, y = example(name)
    if name in TABLE_CRITERIA:  # turned round, other values share a bin
        factor = abs(factor)
    scores, p = scored(CRITERIA[name], X, y, form=form)
    again, p_again = scored(CRITERIA[name], X * factor + shift, y, form=form)
    np.testing.assert_allclose(again, scores, rtol=1e-7)
    np.testing.assert_allclose(p_again, p, rtol=1e-6)


@pytest.mark.parametrize(("factor", "shift"), [(2.0, 0.0), (-3.0, 5.0), (1e-6, 1e-3), (1e6, -1e7)])
def test_rescaling_the_target_changes_no_correlation(factor, shift):
    X, y = example("correlation")
    np.testing.assert_allclose(
        scored(Correlation(), X, y * factor + shift)[0], scored(Correlation(), X, y)[0], rtol=1e-8
    )


def test_a_negative_correlation_is_as_good_as_a_positive_one():
    X, y = example("correlation")
    X[:, 0], X[:, 1] = y + X[:, 2], -(y + X[:, 2])
    scores = scored(Correlation(), X, y)[0]
    assert scores[0] == scores[1] > 0.3


@pytest.mark.parametrize("name", CLASSES)
def test_renaming_the_classes_changes_nothing(name):
    X, y = example(name)
    scores, p = scored(CRITERIA[name], X, y)
    again, p_again = scored(CRITERIA[name], X, np.array(["zebra", "ape", "ox"])[y])
    np.testing.assert_allclose(again, scores, rtol=1e-12)
    np.testing.assert_allclose(p_again, p, rtol=1e-10)


@each
@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_neither_order_nor_batches_of_rows_matter_without_fading(name, form):
    X, y = example(name)
    order = np.random.default_rng(2).permutation(len(y))
    scores, p = scored(CRITERIA[name], X, y, form=form)
    again, p_again = scored(CRITERIA[name], X[order], y[order], form=form, batch=7)
    np.testing.assert_allclose(again, scores, rtol=1e-11)
    np.testing.assert_allclose(p_again, p, rtol=1e-9)


@pytest.mark.parametrize("name", TABLE_CRITERIA)
@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_only_the_order_of_values_matters_to_bins(name, form):
    X, y = example(name)
    straight = scored(CRITERIA[name], X, y, form=form)
    again = scored(CRITERIA[name], np.cbrt(X), y, form=form)
    assert np.array_equal(straight, again)


def test_t_refuses_three_classes_and_says_what_to_use():
    summary = summarized(WelchT(), np.eye(4), np.array(["a", "b", "c", "a"]))
    with pytest.raises(TargetError, match="compares 2 classes, but y holds 3 .*: use"):
        WelchT()(summary)
    with pytest.raises(TargetError, match="such as 'f' or 'fisher'"):
        WelchT().p_values(summary)
