"""The table of groups and the three counts of the thesis."""

import numpy as np
import pytest

from streamsieve.evaluation.significance import count_groups, pairwise_p_values, table_of_groups
from streamsieve.evaluation.significance.groups import _groups
from streamsieve.exceptions import InputError, ParameterError
from tests.helpers.tier import cases
from tests.reference import significance as twin


def test_groups_equal_the_twin():
    """Any relation, however far from transitive."""
    rng = np.random.default_rng(0)
    for _ in range(1_500):
        k = rng.integers(1, 9)
        upper = np.triu(rng.uniform(size=(k, k)) < rng.uniform(), 1)
        alike = upper | upper.T | np.eye(k, dtype=bool)
        found = _groups(alike)
        assert [list(range(first, last + 1)) for first, last in found] == twin.groups(alike)


def test_table_equals_the_twin():
    rng = np.random.default_rng(1)
    for _ in range(cases(200)):
        k = int(rng.integers(2, 9))
        runs = rng.normal(size=(k, 7)) + 0.8 * rng.integers(0, 4, k)[:, None]
        found = table_of_groups(runs, [f"m{i}" for i in range(k)], test_over_train=1 / 6)
        order = np.argsort(-runs.mean(axis=1))
        assert found.names == tuple(f"m{i}" for i in order)
        alike = pairwise_p_values(runs[order], test_over_train=1 / 6) >= 0.05
        assert found.tiers.tolist() == twin.tiers(alike)
        # every combination is in a tier, and tiers never get better on the way down
        assert found.tiers[0] == 1
        assert (np.diff(found.tiers) >= 0).all()


def test_a_group_includes_significantly_different_ones_in_between():
    """A and C are alike, B between them differs from A: all three are in one group."""
    steady = np.array([0.02, -0.02, 0.01, -0.01, 0.015, -0.015, 0.0])
    a = 0.90 + steady
    b = 0.89 + steady + np.array([1, -1, 1, -1, 1, -1, 0]) * 1e-4
    c = 0.88 + np.array([0.05, -0.06, 0.04, -0.05, 0.06, -0.04, 0.0])
    p = pairwise_p_values(np.stack([a, b, c]))
    assert p[0, 1] < 0.05 < p[0, 2]
    found = table_of_groups([c, b, a], ["c", "b", "a"])
    assert found.groups == ((0, 2),)
    assert [found.tier(name) for name in "abc"] == [1, 1, 1]


def test_errors_rank_upwards():
    runs = np.random.default_rng(2).uniform(size=(4, 5))
    names = list("abcd")
    assert table_of_groups(runs, names, higher_is_better=False).names == table_of_groups(-runs, names).names


def test_text():
    exact = np.array([[0.9, 0.91], [0.5, 0.52], [0.5, 0.52]])
    found = table_of_groups(exact, [("t", "svm"), ("t", "tree"), ("none", "svm")])
    assert str(found).splitlines()[0].split() == ["combination", "mean", "1", "2"]
    assert found.tier(("none", "svm")) == 2
    with pytest.raises(ParameterError, match=r"no method 't \+ sv'; did you mean 't \+ svm'"):
        found.tier(("t", "sv"))


def tables(seed, n_datasets=4):
    rng = np.random.default_rng(seed)
    pairs = [(s, a) for s in ("relief", "mi", "none") for a in ("svm", "tree", "fsa")]
    runs = [rng.normal(size=(9, 7)) + rng.integers(0, 3, 9)[:, None] for _ in range(n_datasets)]
    return {f"set {i}": table_of_groups(each, pairs) for i, each in enumerate(runs)}


def test_counts_follow_their_definitions():
    for seed in range(30):
        groups = tables(seed)
        found = count_groups(groups)
        assert found.screens == ("mi", "relief")
        assert found.learners == ("fsa", "svm", "tree")
        for screen in found.screens:
            for learner in found.learners:
                better = [g.tier((screen, learner)) < g.tier(("none", learner)) for g in groups.values()]
                assert found.better[screen, learner] == sum(better)
            for name, g in groups.items():
                mine = min(g.tier((screen, learner)) for learner in found.learners)
                plain = min(g.tier(("none", learner)) for learner in found.learners)
                assert found.marks[screen, name] == ("*" if mine < plain else "=" if mine == plain else "")
            assert found.useful(screen) == [found.marks[screen, n] for n in groups].count("*")
        for screen in (*found.screens, "none"):
            first = {(n, a) for n, g in groups.items() for a in found.learners if g.tier((screen, a)) == 1}
            assert sum(found.top[screen, a] for a in found.learners) == len(first)
            assert found.top_screens[screen] == len({n for n, _ in first})
        assert max(found.top.values()) >= 1


def test_bad_input_is_refused():
    groups = tables(0, 2)
    with pytest.raises(
        ParameterError, match="no screen 'no' to compare with as no screening; did you mean 'none'"
    ):
        count_groups(groups, none="no")
    with pytest.raises(InputError, match="give at least one data set"):
        count_groups({})
    with pytest.raises(InputError, match="must be pairs"):
        count_groups({"a": table_of_groups([[1, 2], [3, 4]], ["x", "y"])})
    other = table_of_groups([[1, 2], [3, 4]], [("none", "svm"), ("t", "svm")])
    with pytest.raises(InputError, match="'b' has others than 'set 0'"):
        count_groups({"set 0": groups["set 0"], "b": other})
    ragged = table_of_groups(np.eye(3), [("none", "svm"), ("t", "svm"), ("t", "tree")])
    with pytest.raises(InputError, match=r"'none \+ tree' is not"):
        count_groups({"a": ragged})
    with pytest.raises(InputError, match="a name for each of 2 rows"):
        table_of_groups([[1, 2], [3, 4]], ["x"])
    with pytest.raises(ParameterError, match="'x' is there twice"):
        table_of_groups([[1, 2], [3, 4]], ["x", "x"])
