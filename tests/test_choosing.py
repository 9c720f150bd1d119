"""The method by rule: each line of the table, and every choice runs."""

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve.choosing import GOALS, Profile, choose
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import Task
from streamsieve.registry import selectors


def profile(rows=500, columns=30, classes=2):
    task = Task.REGRESSION if classes == 0 else Task.BINARY if classes == 2 else Task.MULTICLASS
    return Profile(rows=rows, columns=columns, task=task, classes=classes)


@pytest.mark.parametrize(
    ("goal", "shape", "method"),
    [
        ("accurate", {}, "top_k"),
        ("accurate", {"columns": 50_000}, "top_k"),
        ("accurate", {"classes": 26}, "top_k"),
        ("accurate", {"classes": 0}, "top_k"),
        ("smallest", {"columns": 5000}, "fast_osfs"),
        ("smallest", {"columns": 20_001}, "saola"),
        ("smallest", {"classes": 11}, "saola"),
        ("fdr", {}, "online_fdr"),
        ("explain", {}, "interaction_scan"),
    ],
)
def test_the_table(goal, shape, method):
    assert choose(profile(**shape), goal).method == method


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("shape", [{}, {"columns": 50_000}, {"classes": 0}, {"classes": 40}])
def test_methods_and_rivals_exist_and_take_the_parameters(goal, shape):
    choice = choose(profile(**shape), goal)
    assert {choice.method, choice.rival} <= set(selectors())
    assert choice.method != choice.rival
    assert type(choice.selector()).method_name() == choice.method
    assert choice.selector(alpha=0.2).alpha == 0.2
    assert choice.reason in str(choice)


@pytest.mark.parametrize(
    ("columns", "classes", "k"),
    [
        (0, 2, 20), (1, 2, 1), (13, 2, 6), (39, 2, 19), (40, 2, 20), (5000, 4, 20), (5000, 0, 20),
        (5000, 5, 25), (5000, 40, 200), (64, 10, 32), (0, 10, 50),
    ],
)  # fmt: skip
def test_for_prediction_twenty_columns_or_five_per_class_and_at_most_half_are_kept(columns, classes, k):
    """Where the number of columns is not known (0), half of them does not count."""
    choice = choose(profile(columns=columns, classes=classes))
    assert choice.parameters == {"k": k, "alpha": 0.01}
    assert f"up to {k} column{'s' * (k != 1)}," in choice.reason
    assert choice.selector(k=7).k == 7


def test_the_profile_of_a_matrix():
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=200), rng.integers(0, 2, 200), rng.integers(1, 6, 200)]
    found = Profile.of(X, rng.integers(0, 3, 200))
    assert (found.rows, found.columns, found.classes, found.task) == (200, 3, 3, Task.MULTICLASS)
    assert found.types == {"numeric": 1, "binary": 1, "ordinal": 1}
    sparse = Profile.of(sp.csr_array(X), X[:, 0])
    assert (sparse.classes, sparse.task, sparse.types) == (0, Task.REGRESSION, found.types)
    assert sparse.density == found.density == np.count_nonzero(X) / 600


def test_an_unknown_goal_is_refused():
    with pytest.raises(ParameterError, match="goal must be one of .*did you mean 'accurate'"):
        choose(profile(), "acurate")
