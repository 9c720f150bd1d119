"""SPEC equals its slow twin; with labels it is within over total; the best features are the smooth ones."""

import numpy as np
import pytest

import streamsieve as ss
from streamsieve.offline.shared import row_similarity
from tests.helpers.tier import cases
from tests.offline.cases import FORMS, features, labels, some_form
from tests.reference.spec import labelled, similarity, spec


def near(rng, y, p):
    """Return features that do not lie far from 0: the twin has no digits to spare."""
    X = features(rng, y, p)
    return np.where(np.abs(X) > 1e5, X - 1e6, X)


def clear_cut(rng, W):
    """Return a number of directions after which the smoothness drops, or all: of equals any will do."""
    degree = W.sum(axis=1)
    values = np.linalg.eigvalsh(W / np.sqrt(np.outer(degree, degree)))[::-1]
    cuts = np.flatnonzero(np.diff(values) < -1e-4)[1:] + 1
    return int(rng.choice(cuts)) if len(cuts) else len(W)


@pytest.mark.parametrize("variant", [1, 2, 3])
def test_without_labels_it_equals_its_twin(variant):
    rng = np.random.default_rng(0)
    for case in range(cases(60)):
        n = int(rng.integers(4, 30))
        X = near(rng, labels(rng, n, 2), int(rng.integers(1, 8)))
        gamma = None if case % 2 else float(rng.choice([0.01, 1.0]))
        W = similarity(X, gamma)
        k = None if variant < 3 or case % 3 else clear_cut(rng, W)
        found = ss.SPEC(variant=variant, gamma=gamma, clusters=k).fit(some_form(rng, X))
        expected = spec(X, W, variant, k)
        np.testing.assert_allclose(found.scores_, expected, rtol=1e-6, atol=1e-7, err_msg=f"case {case}")


@pytest.mark.parametrize("variant", [1, 2, 3])
def test_with_labels_it_equals_its_twin(variant):
    rng = np.random.default_rng(1)
    for case in range(cases(60)):
        classes = int(rng.integers(2, 5))
        y = labels(rng, int(rng.integers(2 * classes, 30)), classes, least=1)
        X = near(rng, y, int(rng.integers(1, 8)))
        expected = spec(X, labelled(y), variant, classes)
        found = ss.SPEC(variant=variant, supervised=True).fit(some_form(rng, X), y)
        np.testing.assert_allclose(found.scores_, expected, atol=1e-8, err_msg=f"case {case}")


def test_with_labels_variant_2_is_within_over_total_and_ranks_as_fisher_does():
    rng = np.random.default_rng(2)
    y = labels(rng, 80, 3)
    X = rng.normal(size=(80, 12)) + y[:, None] * rng.random(12) + 100
    within = sum(((X[y == c] - X[y == c].mean(axis=0)) ** 2).sum(axis=0) for c in range(3))
    found = ss.SPEC(supervised=True).fit(X, y)
    np.testing.assert_allclose(-found.scores_, within / ((X - X.mean(axis=0)) ** 2).sum(axis=0), rtol=1e-10)
    fisher = ss.Screen("fisher", k=10).fit(X, y)
    assert found.ranked_.tolist() == fisher.ranked_.tolist()


@pytest.mark.parametrize("variant", [2, 3])
def test_features_of_clusters_come_first(variant):
    """The order that scikit-feature gives is the reverse."""
    rng = np.random.default_rng(3)
    group = rng.integers(0, 3, 150)
    centers = rng.normal(size=(3, 4)) * 8
    X = np.column_stack([rng.normal(size=(150, 5)), centers[group] + rng.normal(size=(150, 4))])
    X -= X.mean(axis=0)
    chosen = ss.SPEC(k=4, variant=variant).fit(X).ranked_
    assert sorted(chosen) == [5, 6, 7, 8]


def test_clusters_so_far_apart_that_nothing_joins_them_are_directions_of_their_own():
    rng = np.random.default_rng(7)
    group = np.repeat([0, 1, 2], [20, 15, 5])
    X = np.column_stack([1e3 * group, 1e3 * (group == 1), rng.normal(size=(40, 2))])
    few, all_of_them = (ss.SPEC(variant=3, gamma=1.0, clusters=k).fit(X).scores_ for k in (3, None))
    np.testing.assert_allclose(few[:2], all_of_them[:2], rtol=1e-9)
    assert np.all(few[2:] < all_of_them[2:] / 2)


def test_variant_1_favours_features_far_from_zero_and_variant_2_does_not():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 5))
    X[:, 1] += X[:, 0] * 2
    moved = X + np.array([0, 0, 0, 0, 50.0])
    assert ss.SPEC(k=1, variant=1).fit(moved).ranked_.tolist() == [4]
    assert np.allclose(ss.SPEC().fit(moved).scores_, ss.SPEC().fit(X).scores_, rtol=1e-9)


def test_constant_features_are_worst_in_every_variant():
    rng = np.random.default_rng(5)
    X = np.column_stack([np.full(40, 7.0), rng.normal(size=(40, 3)), np.zeros(40)])
    y = labels(rng, 40, 2)
    for variant in (1, 2, 3):
        for supervised in (False, True):
            scores = ss.SPEC(variant=variant, supervised=supervised).fit(X, y).scores_
            assert scores[0] == scores[4] == (0.0 if variant == 3 else -2.0)
            assert scores[1:4].min() > scores[0]


@pytest.mark.parametrize("form", FORMS)
def test_blocks_of_features_change_nothing(form, monkeypatch):
    rng = np.random.default_rng(6)
    X = features(rng, labels(rng, 30, 2), 9)
    expected = ss.SPEC().fit(X).scores_
    monkeypatch.setattr("streamsieve.offline.shared.row_similarity.BLOCK_VALUES", 61)
    np.testing.assert_allclose(ss.SPEC().fit(FORMS[form](X)).scores_, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("effort", [1, 2_000])
def test_pieces_between_which_an_interrupt_is_answered_change_nothing_but_rounding(monkeypatch, effort):
    X = np.random.default_rng(3).normal(size=(40, 5))
    whole, scores = row_similarity.gaussian(X, None), ss.SPEC().fit(X).scores_
    monkeypatch.setattr(row_similarity, "EFFORT", effort)
    assert len(list(row_similarity.row_pieces(40, 40 * 5))) == (40 if effort == 1 else 4)
    assert np.allclose(row_similarity.gaussian(X, None), whole, rtol=1e-12, atol=0)
    assert np.allclose(ss.SPEC().fit(X).scores_, scores, rtol=1e-12, atol=0)
