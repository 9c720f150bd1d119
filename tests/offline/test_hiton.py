"""HITON-PC decides as its slow twin does, and finds the neighbors of a target in known networks."""

import numpy as np
import pytest

import streamsieve as ss
from streamsieve.exceptions import ParameterError
from tests.columns.streams import columns, rows, target
from tests.helpers.tier import cases
from tests.offline.cases import some_form
from tests.real_data import folder
from tests.reference.chi_square import chi_square
from tests.reference.degenerate_gaussian import degenerate_gaussian
from tests.reference.g_squared import Tables
from tests.reference.hiton import hiton
from tests.reference.osfs import PartialCorrelations
from tests.reference.screen_by_type import strength

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
        rules = {"test": "fisher_z", "unreliable": unreliable, "p_value": "t"}
        found = ss.HITONPC(alpha, max_conditioning=most, **rules).fit(some_form(rng, X), y)
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
            "p_value": str(rng.choice(["moments", "chi2"])),
        }
        statistic = {"statistic": chi_square} if test == "chi2" else {}
        most = int(rng.integers(0, 4))
        kept, sets = hiton(Tables(X, y, task, **rules, **statistic), X.shape[1], most)
        found = ss.HITONPC(test=test, max_conditioning=most, **rules).fit(some_form(rng, X), y)
        assert found.ranked_.tolist() == kept, (case, task)
        assert sets_of(found) == sets, (case, task)
        separated += len(sets)
    assert separated > cases(12)


def test_a_chain_a_fork_and_a_collider_leave_the_direct_neighbors():
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


def test_neighbors_in_samples_of_published_networks():
    """Few false ones among what is kept, over all nodes of three networks with known edges."""
    with np.load(folder() / "bayesnet_s500.npz", allow_pickle=False) as file:
        networks = {name: (file[f"{name}_X"][0], file[f"{name}_graph"]) for name in ("Child3", "Insurance")}
    right = kept = there = 0
    for X, graph in networks.values():
        for node in range(X.shape[1]):
            if len(np.unique(X[:, node])) < 2:
                continue
            others = np.delete(np.arange(X.shape[1]), node)
            neighbors = set(np.flatnonzero(graph[node] | graph[:, node]).tolist())
            sieve = ss.HITONPC(alpha=0.01, test="g2", task="classification")
            found = set(others[sieve.fit(X[:, others].astype(float), X[:, node]).ranked_].tolist())
            right += len(found & neighbors)
            kept += len(found)
            there += len(neighbors)
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


def mixed(seed, n=600):
    """Parents of two kinds, and descendants that either or both of them separate from y."""
    rng = np.random.default_rng(seed)
    dose, code = rng.normal(size=n), rng.integers(0, 9, n)
    y = (dose + rng.permutation(9)[code] / 2 - 2 + rng.normal(size=n) > 0).astype(int)
    echo = dose + 0.5 * rng.normal(size=n)
    copy = np.where(rng.random(n) < 0.7, code, rng.integers(0, 9, n))
    return np.c_[echo, copy, dose, code, rng.normal(size=n)], y


@pytest.mark.parametrize("seed", range(4))
def test_parents_of_mixed_types_are_found(seed):
    X, y = mixed(seed)
    types = {"x1": "nominal", "x3": "nominal"}
    sieve = ss.HITONPC(test="auto", types=types).fit(X, y)
    assert sieve.selected_.tolist() == [2, 3]
    assert sieve.column_types_["x3"] == "nominal"
    for j in (0, 1):
        given = [i for i in sieve.separated_by_[j].tolist() if i >= 0]
        assert {2, 3} & {*given}


class MixedTypes(PartialCorrelations):
    """The judge of numbers and names with a numeric target: regressions, one test at a time."""

    def __init__(self, X, y, nominal, alpha):
        self.X, self.y, self.nominal, self.alpha = X, y, nominal, alpha

    def _tested(self, j, Z):
        return degenerate_gaussian(
            self.X[:, j], self.y, [self.X[:, k] for k in Z], nominal_x=self.nominal[j], nominal_y=False,
            nominal_z=[self.nominal[k] for k in Z],
        )  # fmt: skip

    def relevance(self, j):
        ratio, p = self._tested(j, ())
        freedom = len(np.unique(self.X[:, j])) - 1 if self.nominal[j] else 1
        statistic = strength(-len(self.y) * np.log(1 - ratio**2), freedom, len(self.y))
        return None if p <= self.alpha else "irrelevant", statistic, p

    def given(self, j, Z):
        statistic, p = self._tested(j, Z)
        return None if p <= self.alpha else (statistic, p)


def test_mixed_types_equal_the_slow_twin():
    for seed in range(cases(60)):
        rng = np.random.default_rng(seed)
        n, p = int(rng.integers(60, 200)), 6
        nominal = rng.random(p) < 0.5
        nominal[:2] = True, False
        hidden = rng.normal(size=(n, 3))
        y = hidden @ rng.normal(size=3) + rng.normal(size=n)
        X = hidden[:, rng.integers(0, 3, p)] + 0.6 * rng.normal(size=(n, p))
        X[:, nominal] = np.round(1.5 * X[:, nominal])
        alpha = float(rng.choice([0.01, 0.1]))
        wanted, sets = hiton(MixedTypes(X, y, nominal, alpha), p)
        types = {f"x{j}": "nominal" if nominal[j] else "numeric" for j in range(p)}
        sieve = ss.HITONPC(alpha, test="auto", p_value="t", types=types).fit(some_form(rng, X), y)
        assert sieve.ranked_.tolist() == wanted
        found = {j: [i for i in s if i >= 0] for j, s in enumerate(sieve.separated_by_.tolist()) if s[0] >= 0}
        assert found == sets


def test_auto_is_the_test_of_one_kind():
    X, y = mixed(0)
    codes = X[:, [1, 3]]
    for some, test in ((X[:, [0, 2, 4]], "fisher_z"), (codes, "g2")):
        auto, plain = (ss.HITONPC(test=name).fit(some, y) for name in ("auto", test))
        assert np.array_equal(auto.scores_, plain.scores_)
        assert auto.selected_.tolist() == plain.selected_.tolist()
    numeric = ss.HITONPC(test="auto").fit(codes, X[:, 2])
    assert np.array_equal(numeric.scores_, ss.HITONPC(test="fisher_z").fit(codes, X[:, 2]).scores_)


def test_mixed_types_need_a_test_that_knows_them():
    X, y = mixed(0)
    with pytest.raises(ParameterError, match="take test='auto'"):
        ss.HITONPC(test="fisher_z", types={"x1": "nominal"}).fit(X, y)
