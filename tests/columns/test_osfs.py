"""OSFS and Fast-OSFS decide as their slow twins do, on nasty little streams, and keep their laws."""

from collections import Counter
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from sklearn.base import clone

import streamsieve as ss
from streamsieve.columns.osfs import OSFS, FastOSFS
from streamsieve.exceptions import StateError
from tests.columns.streams import (
    FORMS,
    SPARSE,
    TASKS,
    by_t,
    columns,
    equal_twin,
    equal_twins,
    lines,
    offered,
    orthogonal,
    reloaded,
    woven,
)
from tests.helpers.tier import cases
from tests.reference.fast_osfs import fast_osfs
from tests.reference.osfs import PartialCorrelations, osfs

TWINS = {OSFS: osfs, FastOSFS: fast_osfs}
BOTH = pytest.mark.parametrize("cls", TWINS, ids=lambda cls: cls.__name__)


def by_twin(cls, X, y, task, *, max_conditioning=3, **parameters):
    return TWINS[cls](PartialCorrelations(X, y, task, **parameters), X.shape[1], max_conditioning)


def random_parameters(rng):
    return {
        "alpha": float(rng.choice([0.01, 0.05, 0.2, 0.6])),
        "unreliable": str(rng.choice(["independent", "skip"])),
        "max_conditioning": int(rng.integers(0, 4)),
    }


@BOTH
@pytest.mark.parametrize("task", TASKS)
def test_random_streams_in_mixed_blocks_equal_the_twin(cls, task):
    seen = equal_twins(cls, partial(by_twin, cls), [task], cases(100), (1, 13), random_parameters)
    loser = "rejected" if cls is FastOSFS else "evicted"
    assert len(seen) >= 7, seen
    assert min(
        seen["evicted", "redundant"], seen["rejected", "redundant"], seen[loser, "collinear"]
    ) >= cases(5)


@BOTH
@pytest.mark.parametrize("task", TASKS)
def test_sets_of_one_two_and_three_columns_are_found_as_the_twin_finds_them(cls, task):
    rng = np.random.default_rng(1)
    sizes = Counter()
    for case in range(30):
        X, y = woven(rng, task, int(rng.integers(60, 200)), some_exact=True)
        parameters = {"alpha": float(rng.choice([0.01, 0.05]))}
        twin = by_twin(cls, X, y, task, **parameters)
        equal_twin(offered(by_t(cls(**parameters, test="fisher_z")).begin(y), X, rng), twin, what=case)
        sizes.update((line.event, len(line.by)) for line in twin[1])
    loser = "rejected" if cls is FastOSFS else "evicted"
    assert {(loser, 1), (loser, 2), (loser, 3), ("evicted", 2), ("rejected", 2)} <= set(sizes), sizes


@BOTH
@pytest.mark.parametrize("form", FORMS)
def test_one_form_of_blocks_equals_the_twin(cls, form):
    twin = partial(by_twin, cls)
    equal_twins(cls, twin, TASKS, 12, (10, 11), lambda rng: {"alpha": 0.2}, seed=2, forms=(form,), far=False)


def growing(rng):
    """Return a stream in which many are kept, whole groups are evicted, and their slots are taken again."""
    Q = orthogonal(rng, 120, 50)
    y = Q[:, :40].sum(axis=1) + 3 * Q[:, 40] + 0.01
    pairs = [Q[:, low] + Q[:, low + 1] + 0.1 * Q[:, 41 + low % 9] for low in range(0, 20, 2)]
    return np.column_stack([Q[:, :36], *pairs, Q[:, 36:40], -Q[:, :5], Q[:, 40]]), y


@BOTH
def test_stores_grow_and_slots_of_evicted_columns_are_taken_again(cls):
    rng = np.random.default_rng(3)
    X, y = growing(rng)
    parameters = {"alpha": 0.5, "max_conditioning": 1}
    twin = by_twin(cls, X, y, "regression", **parameters)
    assert [line.event for line in twin[1][:36]] == ["kept"] * 36
    assert sum(line.event == "evicted" for line in twin[1]) >= 15
    for form in ("row by row", "column by column", "csc_array", "all stored", "one by one"):
        equal_twin(offered(cls(**parameters, test="fisher_z").begin(y), X, rng, (form,)), twin, what=form)
    equal_twin(cls(**parameters, test="fisher_z").fit(X, y), twin, what="fit")


@BOTH
def test_a_run_resumed_with_grown_stores_and_freed_slots_goes_on_as_before(cls):
    rng = np.random.default_rng(4)
    X, y = growing(rng)
    sieve = cls(alpha=0.5, max_conditioning=2, test="fisher_z")
    whole = offered(clone(sieve).begin(y), X, rng, ("row by row",))
    for half in (1, 20, 40, 50):
        first = offered(clone(sieve).begin(y), X[:, :half], rng, ("row by row",))
        resumed = offered(reloaded(first), X[:, half:], rng, ("row by row",))
        assert lines(resumed) == lines(whole)
        assert [d.statistic for d in resumed.ledger_] == [d.statistic for d in whole.ledger_]


class DSeparation:
    """A judge that reads a graph: ``parents[v]`` come before v; the target is one of the nodes."""

    def __init__(self, parents, order, target):
        self.parents, self.order, self.target = parents, order, target

    def relevance(self, j):
        return "irrelevant" if self.separated(self.order[j], ()) else None, 0.0, 0.0

    def given(self, j, Z):
        nodes = [self.order[i] for i in Z]
        return ("redundant", 0.0, 0.0) if self.separated(self.order[j], nodes) else None

    def separated(self, node, given):
        """Whether the moral graph of the ancestors has no way around the given nodes."""
        family = {node, self.target, *given}
        for v in reversed(range(len(self.parents))):
            if v in family:
                family |= set(self.parents[v])
        edges = {(a, b) for v in family for a, b in combinations({v, *self.parents[v]}, 2)}
        reached, new = {node}, {node}
        while new:
            new = {b for e in edges for a, b in (e, e[::-1]) if a in new} - reached - set(given)
            reached |= new
        return self.target not in reached


def random_graph(rng, nodes):
    """Return the parents of every node, at most three each, and weights for the edges."""
    parents = [
        sorted(rng.choice(v, min(v, int(rng.integers(0, 4))), replace=False).tolist()) for v in range(nodes)
    ]
    weights = [rng.choice([-1, 1], len(p)) * rng.uniform(0.5, 1.0, len(p)) for p in parents]
    return parents, weights


def exact_rows(parents, weights, n=400):
    """Return columns whose correlations are exactly those that the graph implies."""
    mixing = np.zeros((len(parents), len(parents)))
    for v, (before, weight) in enumerate(zip(parents, weights, strict=True)):
        mixing[v] = np.eye(len(parents))[v] + weight @ mixing[before]
    return orthogonal(np.random.default_rng(0), n, len(parents)) @ mixing.T + 0.25


@BOTH
def test_tests_without_error_find_parents_and_children_and_nothing_that_they_separate(cls):
    """Partial correlations are 0 where the graph separates: at alpha near 1 the tests are an oracle."""
    rng = np.random.default_rng(5)
    decided = Counter()
    for _ in range(60):
        nodes = int(rng.integers(3, 9))
        parents, weights = random_graph(rng, nodes)
        node = int(rng.integers(nodes))
        order = rng.permutation([v for v in range(nodes) if v != node]).tolist()
        data = exact_rows(parents, weights)
        oracle = DSeparation(parents, order, node)
        selected, decisions = TWINS[cls](oracle, len(order))
        sieve = cls(alpha=0.99999, test="fisher_z").fit(data[:, order], data[:, node])
        assert lines(sieve) == [(d.feature, d.event, d.reason, d.by) for d in decisions]
        found = {order[j] for j in selected}
        children = {v for v in range(nodes) if node in parents[v]}
        assert children | set(parents[node]) <= found
        for v in found:
            others = [u for u in found if u != v]
            sets = (Z for size in range(4) for Z in combinations(others, size))
            assert not any(oracle.separated(v, Z) for Z in sets)
        decided.update((d.event, d.reason) for d in decisions)
    assert min(decided.values()) > 10, decided
    assert len(decided) == 4, decided


@BOTH
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_chain_leaves_its_nearest_link(cls, order):
    data = exact_rows([[], [0], [1]], [np.zeros(0), np.ones(1), np.ones(1)])
    sieve = cls(test="fisher_z").fit(data[:, list(order)], data[:, 2])
    assert [order[j] for j in sieve.selected_] == [1]


@BOTH
@pytest.mark.parametrize("task", TASKS)
def test_no_selected_column_is_independent_given_a_few_others(cls, task):
    rng = np.random.default_rng(6)
    tried = 0
    for _ in range(10):
        X, y = woven(rng, task, 600, some_exact=True)
        sieve = cls(alpha=0.05, test="fisher_z").fit(X, y)
        judge = PartialCorrelations(X, y, task, alpha=0.05)
        kept = sieve.selected_.tolist()
        for j in kept:
            for size in range(1, 4):
                for Z in combinations([i for i in kept if i != j], size):
                    assert judge.given(j, Z) is None
                    tried += 1
    assert tried > 10


@BOTH
@pytest.mark.parametrize("task", TASKS)
def test_units_and_names_of_things_do_not_matter(cls, task):
    rng = np.random.default_rng(7)
    for _ in range(10):
        X, y = woven(rng, task, 90, some_exact=True)
        plain = cls(alpha=0.05, test="fisher_z").fit(X, y)
        scales = rng.choice([-1000.0, -1.0, 0.001, 7.0], X.shape[1])
        order = rng.permutation(len(y))
        other = np.array(["d", "a", "c", "b"])[y] if task != "regression" else -3 * y + 100
        assert lines(cls(alpha=0.05, test="fisher_z").fit((X * scales + 10)[order], other[order])) == lines(
            plain
        )


@BOTH
def test_without_conditioning_every_relevant_column_stays(cls):
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 60)
    X = columns(rng, y, 40, far=False)
    sieve = cls(alpha=0.1, max_conditioning=0, p_value="t", test="fisher_z").fit(X, y)
    judge = PartialCorrelations(X, y, "binary", alpha=0.1)
    assert sieve.selected_.tolist() == [j for j in range(40) if judge.relevance(j)[0] is None]


@BOTH
@pytest.mark.parametrize("form", FORMS)
def test_of_duplicates_one_stays(cls, form):
    rng = np.random.default_rng(9)
    y = rng.integers(0, 2, 50)
    x = (y + rng.normal(size=50)) * (rng.random(50) < 0.8)
    sieve = offered(
        cls(alpha=0.5, test="fisher_z").begin(y), np.column_stack([x, x, -x, 8 * x + 3]), rng, (form,)
    )
    assert sieve.selected_.tolist() == ([0] if cls is FastOSFS else [3])
    assert sum(d.reason == "collinear" for d in sieve.ledger_) == 3
    assert all(d.statistic == 0 and d.p_value == 1 for d in sieve.ledger_ if d.reason == "collinear")


@BOTH
@pytest.mark.parametrize("task", ["binary", "regression"])
@pytest.mark.parametrize("form", ["row by row", "csc_array", "one by one"])
def test_a_copy_of_the_target_makes_all_others_redundant(cls, task, form):
    rng = np.random.default_rng(10)
    y = rng.integers(0, 2, 60) + (0.5 * rng.normal(size=60) if task == "regression" else 0)
    X = y[:, None] + rng.normal(size=(60, 6))
    X[:, 3] = 7 - 2 * y
    sieve = offered(cls(alpha=0.3, test="fisher_z").begin(y), X, rng, (form,))
    assert sieve.selected_.tolist() == [3]
    explained = [d for d in sieve.ledger_ if d.by == ("x3",)]
    assert len(explained) >= 3
    assert all(d.statistic == 0 for d in explained)


def test_columns_that_determine_classes_together_are_answered():
    """Three classes, two columns that tell them apart without noise, and what they leave to others."""
    rng = np.random.default_rng(11)
    y = np.arange(90) % 3
    X = np.column_stack([y == 0, y == 1, y + rng.normal(size=90), y == 2, y == 1]).astype(float)
    for cls in TWINS:
        twin = by_twin(cls, X, y, "multiclass", alpha=0.05)
        equal_twin(cls(alpha=0.05, p_value="t", test="fisher_z").fit(X, y), twin, what=cls)
    assert FastOSFS(alpha=0.05, test="fisher_z").fit(X, y).selected_.tolist() == [0, 1]


@pytest.mark.parametrize(("n", "p_value"), [(2, "t"), (2, "z"), (3, "z")])
@BOTH
def test_without_degrees_of_freedom_nothing_is_relevant(cls, n, p_value):
    y = np.array([0, 1, 1])[:n]
    X = np.column_stack([y, 1 - y, np.arange(n)]).astype(float)
    for form in SPARSE.values():
        assert (
            cls(alpha=0.99, p_value=p_value, test="fisher_z").begin(y).offer(form(X))[0].reason
            == "unreliable test"
        )
    assert (
        cls(alpha=0.99, unreliable="independent", p_value=p_value, test="fisher_z")
        .fit(X, y)
        .selected_.tolist()
        == []
    )


@BOTH
def test_sets_without_degrees_of_freedom_end_it_or_are_passed_over(cls):
    """Three rows suffice for a correlation, not for a partial one."""
    y = np.array([0.5, 2.0, 4.5])
    X = np.array([[0.5, 0.6], [1.9, 2.0], [4.5, 4.3]])
    strict = cls(alpha=0.5, unreliable="independent", test="fisher_z").fit(X, y)
    (verdict,) = [d for d in strict.ledger_ if d.reason == "unreliable test"]
    assert verdict.by == (("x0",) if cls is FastOSFS else ("x1",))
    assert verdict.p_value == 1
    assert len(strict.selected_) == 1
    assert cls(alpha=0.5, test="fisher_z").fit(X, y).selected_.tolist() == [0, 1]


@BOTH
def test_p_values_are_the_same_one_by_one_at_once_and_with_a_stop_rule(cls):
    rng = np.random.default_rng(12)
    X, y = woven(rng, "multiclass", 100, some_exact=True)
    plain = cls(alpha=0.05, test="fisher_z").fit(X, y)
    stopped = cls(alpha=0.05, stop=ss.Stop(max_features=50), test="fisher_z").fit(X, y)
    few = cls(alpha=0.05, ledger="kept", test="fisher_z").fit(X, y)
    wanted = [d.p_value for d in plain.ledger_]
    assert [d.p_value for d in stopped.ledger_] == pytest.approx(wanted, rel=1e-10)
    assert [plain.ledger_[i].p_value for i in range(len(wanted))] == wanted
    assert [d.p_value for d in few.ledger_] == [d.p_value for d in plain.ledger_ if d.event != "rejected"]
    assert {len(d.by) for d in plain.ledger_} >= {0, 1}
    assert all((d.p_value > 0.05) == (d.reason != "relevant") for d in plain.ledger_)


@BOTH
@pytest.mark.parametrize("feature", [[-1, 1], [0, 7], [1, 0], [1, 1]])
def test_kept_columns_that_were_never_offered_are_refused(cls, feature):
    rng = np.random.default_rng(14)
    y = rng.normal(size=60)
    sieve = cls(test="fisher_z").fit(y[:, None] + rng.normal(size=(60, 2)), y)
    assert sieve.selected_.tolist() == [0, 1]
    sieve._process_.rule.slots["feature"][:2] = feature
    with pytest.raises(StateError, match=r"feature should be|a kept column was never offered"):
        reloaded(sieve)
