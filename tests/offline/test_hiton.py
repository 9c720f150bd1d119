"""HITON-PC decides as its slow twin does, and finds the neighbours of a target in known networks."""

import numpy as np
import pytest

import streamsieve as ss
from tests.columns.streams import columns, rows, target
from tests.helpers.tier import cases
from tests.offline.cases import some_form
from tests.real_data import folder
from tests.reference.chi_square import chi_square
from tests.reference.g_squared import Tables
from tests.reference.hiton import hiton
from tests.reference.osfs import PartialCorrelations

TASKS = ("binary", "multiclass", "regression")


def sets_of(found):
    return {
        j: [i for i in row if i >= 0] for j, row in enumerate(found.separated_by_.tolist()) if row[0] >= 0
    }


@pytest.mark.parametrize("task", TASKS)
def test_partial_correlations_equal_the_twin(task):
    rng = np.random.default_rng(0)
    separated = 0
    for case in range(cases(120)):
        y = target(rng, task, rows(rng, task))
        X = columns(rng, y, int(rng.integers(1, 11)), far=False)
        alpha, most = float(rng.choice([0.01, 0.1, 0.4])), int(rng.integers(0, 4))
        unreliable = str(rng.choice(["skip", "independent"]))
        judge = PartialCorrelations(X, y, task, alpha=alpha, unreliable=unreliable)
        kept, sets = hiton(judge, X.shape[1], most)
        found = ss.HITONPC(alpha, max_conditioning=most, unreliable=unreliable, p_value="t").fit(
            some_form(rng, X), y
        )
        assert found.ranked_.tolist() == kept, (case, task)
        assert {j: set(Z) for j, Z in sets_of(found).items()} == {j: set(Z) for j, Z in sets.items()}, case
        separated += len(sets)
    assert separated > cases(50)


@pytest.mark.parametrize("test", ["g2", "chi2"])
@pytest.mark.parametrize("task", TASKS)
def test_tables_equal_the_twin(task, test):
    rng = np.random.default_rng(1)
    separated = 0
    for case in range(cases(110, 55)):
        y = target(rng, task, int(rng.integers(20, 80)))
        X = columns(rng, y, int(rng.integers(1, 7)), far=False)
        noisy = np.where(rng.random(X.shape) < 0.85, X, rng.permuted(X, axis=0))
        X = np.column_stack([X, noisy])
        rules = {
            "alpha": float(rng.choice([0.01, 0.1, 0.4])),
            "degrees": str(rng.choice(["strata", "nominal", "zero_cells"])),
            "reliable": str(rng.choice(["nominal", "occupied"])),
            "unreliable": str(rng.choice(["skip", "independent"])),
        }
        statistic = {"statistic": chi_square} if test == "chi2" else {}
        most = int(rng.integers(0, 4))
        kept, sets = hiton(Tables(X, y, task, **rules, **statistic), X.shape[1], most)
        found = ss.HITONPC(test=test, max_conditioning=most, **rules).fit(some_form(rng, X), y)
        assert found.ranked_.tolist() == kept, (case, task)
        assert sets_of(found) == sets, (case, task)
        separated += len(sets)
    assert separated > cases(12)


def test_a_chain_a_fork_and_a_collider_leave_the_direct_neighbours():
    rng = np.random.default_rng(2)
    n = 4000
    grandparent = rng.normal(size=n)
    parent = grandparent + rng.normal(size=n)
    sibling = parent + rng.normal(size=n)
    y = parent + rng.normal(size=n)
    spouse = rng.normal(size=n)
    child = y + spouse + rng.normal(size=n)
    grandchild = child + rng.normal(size=n)
    X = np.column_stack([grandparent, parent, sibling, spouse, child, grandchild, rng.normal(size=n)])
    found = ss.HITONPC(alpha=0.001).fit(X, y)
    assert sorted(found.ranked_) == [1, 4]
    assert found.separated_by_[0, 0] == 1
    assert 4 in found.separated_by_[5]


def test_neighbours_in_samples_of_published_networks():
    """Few false ones among what is kept, over all nodes of three networks with known edges."""
    with np.load(folder() / "bayesnet_s500.npz", allow_pickle=False) as file:
        networks = {name: (file[f"{name}_X"][0], file[f"{name}_graph"]) for name in ("Child3", "Insurance")}
    right = kept = there = 0
    for X, graph in networks.values():
        for node in range(X.shape[1]):
            if len(np.unique(X[:, node])) < 2:
                continue
            others = np.delete(np.arange(X.shape[1]), node)
            neighbours = set(np.flatnonzero(graph[node] | graph[:, node]).tolist())
            sieve = ss.HITONPC(alpha=0.01, test="g2", task="classification")
            found = set(others[sieve.fit(X[:, others].astype(float), X[:, node]).ranked_].tolist())
            right += len(found & neighbours)
            kept += len(found)
            there += len(neighbours)
    assert right / kept > 0.8, (right, kept)
    assert right / there > 0.55, (right, there)


def test_without_conditioning_it_is_a_screen_of_p_values():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 100)
    X = rng.normal(size=(100, 20)) + y[:, None] * rng.random(20)
    found = ss.HITONPC(max_conditioning=0).fit(X, y)
    assert sorted(found.ranked_) == np.flatnonzero(found.pvalues_ <= 0.01).tolist()
    assert np.all(np.diff(found.scores_[found.ranked_]) <= 0)


def test_nothing_relevant_is_an_empty_selection():
    rng = np.random.default_rng(4)
    found = ss.HITONPC(alpha=1e-6).fit(rng.normal(size=(30, 4)), rng.integers(0, 2, 30))
    assert found.ranked_.tolist() == []
