"""FCBF decides as its slow twin does, and as SAOLA does on columns sorted by relevance."""

import numpy as np
import pytest
import scipy.sparse as sp

import streamsieve as ss
from tests.helpers.tier import cases
from tests.offline.cases import TASKS, features, labels, some_form, target
from tests.real_data import load_real
from tests.reference.fcbf import fcbf


@pytest.mark.parametrize("task", TASKS)
def test_random_data_equal_the_twin(task):
    rng = np.random.default_rng(0)
    removed = 0
    for case in range(cases(150)):
        y = target(rng, task, int(rng.choice([rng.integers(10, 20), rng.integers(40, 60)])))
        X = features(rng, y, int(rng.integers(1, 12)))
        delta, bins = float(rng.choice([0.0, 0.05, 0.2])), int(rng.choice([2, 3, 5]))
        order, removed_by, relevance = fcbf(X, y, task, delta, bins)
        found = ss.FCBF(delta, bins=bins).fit(some_form(rng, X), y)
        assert found.ranked_.tolist() == order, (case, task)
        assert found.removed_by_.tolist() == removed_by, (case, task)
        np.testing.assert_allclose(found.scores_, relevance, atol=1e-12)
        removed += sum(by >= 0 for by in removed_by)
    assert removed > cases(100)


def by_saola(X, y, **parameters):
    """Return what SAOLA keeps of columns offered by falling relevance, as columns of X."""
    order = np.argsort(-ss.FCBF(**parameters).fit(X, y).scores_, kind="stable")
    return order[ss.SAOLA(measure="su", **parameters).fit(X[:, order], y).selected_].tolist()


def test_saola_on_sorted_columns_keeps_the_same():
    rng = np.random.default_rng(1)
    compared = 0
    for _ in range(60):
        y = labels(rng, 150, int(rng.integers(2, 4)))
        X = rng.normal(size=(150, 20)) + y[:, None] * rng.random(20)
        X[:, 10:] = X[:, :10] + 0.4 * rng.normal(size=(150, 10))
        ours = ss.FCBF().fit(X, y)
        scores = np.sort(ours.scores_[ours.scores_ > 0])
        if np.diff(scores).min() > 1e-9:  # SAOLA lets equals stand beside each other
            assert by_saola(X, y) == ours.ranked_.tolist()
            compared += len(ours.ranked_) < 20
    assert compared > 25


@pytest.mark.parametrize("name", ["wdbc", "spambase", "madelon", "arcene", "dexter", "ionosphere"])
def test_saola_on_sorted_columns_of_real_data_differs_by_equals_only(name):
    X, y = load_real(name)
    X = sp.csc_array(X) if sp.issparse(X) else X
    ours = ss.FCBF(delta=0.01).fit(X, y)
    theirs = by_saola(X, y, delta=0.01)
    assert set(ours.ranked_) <= set(theirs)
    for extra in set(theirs) - set(ours.ranked_):  # a feature that an equal of it, or of its like, removed
        by = ours.removed_by_[extra]
        assert abs(ours.scores_[by] - ours.scores_[extra]) < 1e-12, (extra, by)
    assert len(ours.ranked_) >= 1


def test_a_copy_is_removed_by_the_first_of_the_two():
    rng = np.random.default_rng(2)
    y = labels(rng, 80, 2)
    x = np.where(rng.random(80) < 0.8, y, 1 - y)
    found = ss.FCBF().fit(np.column_stack([np.ones(80), x, x]), y)
    assert found.ranked_.tolist() == [1]
    assert found.removed_by_.tolist() == [-1, -1, 1]


def test_nothing_relevant_is_an_empty_selection():
    found = ss.FCBF().fit(np.ones((10, 3)), [0, 1] * 5)
    assert found.ranked_.tolist() == []
    assert not found.get_support().any()
