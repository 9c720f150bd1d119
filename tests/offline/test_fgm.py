"""FGM generates the groups that its slow twin generates, and finds planted features; GDM adds their like."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

import streamsieve as ss
from streamsieve.offline.shared.feature_generation import mixture, shrunk
from tests.helpers.tier import cases
from tests.offline.cases import FORMS, labels, some_form
from tests.reference.fgm import fgm
from tests.reference.gdm import affiliated


def planted(rng, n=200, p=60):
    X = rng.normal(size=(n, p))
    return X, (X[:, 5] - X[:, 17] + X[:, 40] > 0).astype(int)


def test_random_data_equal_the_twin():
    rng = np.random.default_rng(0)
    rounds = 0
    for case in range(cases(25, 10)):
        n, p = int(rng.integers(8, 20)), int(rng.integers(2, 9))
        y = labels(rng, n, 2)
        X = rng.normal(size=(n, p)) + np.outer(y, rng.normal(size=p))
        X[:, 0] = 1.0 if case % 4 == 0 else X[:, 0]
        B, C = int(rng.integers(1, 4)), float(rng.choice([0.1, 1.0, 5.0]))
        groups = fgm(X, y, B, C)
        found = ss.FGM(group_size=B, C=C).fit(some_form(rng, X), y)
        assert found.n_iter_ == len(groups), case
        assert found.ranked_.tolist() == list(dict.fromkeys(j for g in groups for j in g)), case
        rounds += len(groups)
    assert rounds > cases(40, 15)


def test_planted_features_come_in_the_first_group():
    rng = np.random.default_rng(1)
    for _ in range(5):
        X, y = planted(rng)
        found = ss.FGM(group_size=5).fit(X, y)
        assert {5, 17, 40} <= set(found.ranked_[:6])
        assert set(ss.FGM(k=3, group_size=3).fit(X, y).ranked_) == {5, 17, 40}


@pytest.mark.parametrize("form", FORMS)
def test_units_and_forms_do_not_matter(form):
    rng = np.random.default_rng(2)
    X, y = planted(rng, 60, 20 + 25)
    expected = ss.FGM(group_size=4).fit(X, y).ranked_.tolist()
    assert ss.FGM(group_size=4).fit(FORMS[form](X), y).ranked_.tolist() == expected
    moved = X * 10.0 ** rng.integers(-3, 4, X.shape[1]) + 5
    assert ss.FGM(group_size=4).fit(moved, y).ranked_.tolist() == expected


def test_many_sparse_features():
    rng = np.random.default_rng(3)
    X = sp.random_array((150, 4000), density=0.05, random_state=rng, format="csr")
    y = np.asarray(X[:, [100, 2000, 3000]].sum(axis=1)).ravel() > 0.1
    found = ss.FGM(k=20, group_size=5).fit(X, y)
    assert {100, 2000, 3000} <= set(found.ranked_)


def test_shrinking_is_the_minimum_it_says():
    rng = np.random.default_rng(4)
    for _ in range(cases(20)):
        group = np.repeat(np.arange(3), [2, 1, 3])
        v, step = rng.normal(size=6), float(rng.choice([0.05, 0.5, 3.0]))

        def value(w, v=v, step=step, group=group):
            return 0.5 * np.sum((w - v) ** 2) + step / 2 * np.sqrt(np.bincount(group, w**2)).sum() ** 2

        found = shrunk(v, group, step)
        assert value(found) <= minimize(value, found + 1e-3 * rng.normal(size=6)).fun + 1e-9


def test_the_mixture_meets_its_conditions():
    rng = np.random.default_rng(5)
    rows, sizes = rng.normal(size=(40, 7)), np.array([2, 3, 2])
    w, alpha, bound, gap = mixture(rows, sizes, 2.0, np.zeros(7))
    assert gap <= 1e-6
    group = np.repeat(np.arange(3), sizes)
    lengths = np.sqrt(np.bincount(group, w**2))
    pulls = np.sqrt(np.bincount(group, (rows.T @ alpha) ** 2))
    assert bound == pytest.approx(lengths.sum(), rel=1e-2)
    np.testing.assert_allclose(pulls[lengths > 1e-6], bound, rtol=2e-2)
    assert np.all(pulls <= bound * (1 + 1e-12))


def test_too_few_rounds_are_said_with_the_remedy():
    rng = np.random.default_rng(6)
    X, y = planted(rng)
    with pytest.warns(ConvergenceWarning, match="after 1 groups another one .*larger max_rounds") as w:
        ss.FGM(group_size=2, max_rounds=1).fit(X, y)
    assert w[0].filename == __file__


def test_a_mixture_that_is_not_solved_is_said_with_the_remedy(monkeypatch):
    X, y = planted(np.random.default_rng(9))
    monkeypatch.setattr("streamsieve.offline.shared.feature_generation.MOST_STEPS", 2)
    with pytest.warns(ConvergenceWarning, match=r"not solved after 2 steps \(gap .*\): use a smaller C") as w:
        ss.FGM(group_size=3, C=100.0, max_rounds=2, tol=10.0).fit(X, y)
    assert w[0].filename == __file__


@pytest.mark.parametrize("tau", [0.3, 0.7, 0.95])
def test_affiliated_features_equal_the_twin(tau):
    rng = np.random.default_rng(7)
    X, y = planted(rng, 80, 45)
    X[:, 20:40] = X[:, :20] + rng.random(20) * rng.normal(size=(80, 20))
    found = ss.GDM(k=6, tau=tau, group_size=3).fit(some_form(rng, X), y)
    assert found.supporting_.tolist() == ss.FGM(k=6, group_size=3).fit(X, y).ranked_.tolist()
    expected = affiliated(X, found.supporting_.tolist(), tau)
    assert {int(j): int(found.affiliated_[j]) for j in np.flatnonzero(found.affiliated_ >= 0)} == expected
    supporting = len(found.supporting_)
    assert found.ranked_[:supporting].tolist() == found.supporting_.tolist()
    assert set(found.ranked_[supporting:]) == set(expected)


def test_copies_of_a_supporting_feature_are_kept():
    rng = np.random.default_rng(8)
    X, y = planted(rng)
    X = np.column_stack([X, X[:, 5], -X[:, 17]])
    assert {5, 17, 40, 60, 61} <= set(ss.GDM(k=5, group_size=5).fit(X, y).ranked_)
