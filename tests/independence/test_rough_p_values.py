"""P-values of which an online procedure needs few digits: bounds on the right side, the same decisions."""

import functools
import pickle

import numpy as np
import pytest

import streamsieve as ss
from streamsieve.decisions import IRRELEVANT, RELEVANT
from streamsieve.independence import FisherZ
from streamsieve.independence.fisher_z import ROUGH_LEVELS
from streamsieve.independence.online_fdr import RULES, OnlineFDRProcedure
from streamsieve.protocols import Task
from tests.helpers.tier import cases

EDGES = (0.25 * (1 + 1e-9), 0.5 * (1 + 1e-9))


def some_target(rng, task, n):
    if task is Task.REGRESSION:
        return rng.normal(size=n)
    return rng.permutation(np.arange(n) % (2 if task is Task.BINARY else 3))


def stream(rng, y, p, share):
    """Return columns of which a share depends on y, some of few values and some with an outlier."""
    X = rng.normal(size=(len(y), p)) + np.where(rng.random(p) < share, 1.0, 0.0) * (y - y.mean())[:, None]
    X[:, ::7] = X[:, ::7] > 0.5
    X[:, 1::9] = np.exp(2 * X[:, 1::9])
    return X


@pytest.mark.parametrize("way", ["confirmed", "t", "z"])
@pytest.mark.parametrize("task", [Task.BINARY, Task.REGRESSION, Task.MULTICLASS])
def test_bounds_are_on_the_side_of_the_p_values(task, way):
    rng = np.random.default_rng(0)
    for n in (5, 12, 60, 900):
        y = some_target(rng, task, n)
        found = FisherZ(y, task, 0.05, p_value=way, online=True).measure(stream(rng, y, 400, 0.1))
        part = np.flatnonzero((found.reason == RELEVANT) | (found.reason == IRRELEVANT))
        p, (bound, rough) = found.p_value[part], found.p_value.rough(part, EDGES)
        assert np.array_equal(bound[~rough], p[~rough])
        assert np.all(bound[rough] <= p[rough])
        assert not np.any(rough & (p <= ROUGH_LEVELS[-1]))
        for edge in (*EDGES, *ROUGH_LEVELS):
            assert np.array_equal(bound <= edge, p <= edge)
        assert not len(part) or rough.mean() > 0.5


def test_a_correlation_at_an_edge_is_not_rough():
    rng = np.random.default_rng(1)
    y = rng.normal(size=30)
    test = FisherZ(y, Task.REGRESSION, 0.05, online=True)
    y = test.basis[:, 0]
    other = rng.normal(size=30)
    other -= other.mean() + (other @ y) * y
    other /= np.linalg.norm(other)
    for edge in (0.25, 0.5):
        r = test._critical_of(np.array([edge * (1 + shift) for shift in (-1e-7, -1e-10, 0, 1e-10, 1e-7)]))
        found = test.measure(y[:, None] * r + other[:, None] * np.sqrt(1 - r * r))
        _, rough = found.p_value.rough(np.arange(5), EDGES)
        assert rough.tolist() == [True, False, False, False, True]


@functools.cache
def measured_streams():
    """Return streams with a level, the columns that were tested and all digits of their p-values."""
    rng, found_of = np.random.default_rng(2), []
    for _ in range(cases(30)):
        task = [Task.BINARY, Task.REGRESSION, Task.MULTICLASS][rng.integers(3)]
        y = some_target(rng, task, int(rng.choice([8, 20, 60, 200])))
        X = stream(rng, y, 300, float(rng.choice([0, 0.02, 0.3, 0.9])))
        alpha = float(rng.choice([0.01, 0.05, 0.3, 0.8]))
        found = FisherZ(y, task, alpha, online=True).measure(X)
        part = np.flatnonzero((found.reason == RELEVANT) | (found.reason == IRRELEVANT))
        discrete = None if found.discrete is None else found.discrete[part]
        found_of.append((task, y, X, alpha, part, found.p_value[part], discrete))
    return found_of


@pytest.mark.parametrize("rule", RULES)
def test_decisions_levels_and_p_values_are_those_of_all_digits(rule):
    kept = stopped = 0
    for task, y, X, alpha, part, p, discrete in measured_streams():
        kind = "regression" if task is Task.REGRESSION else "classification"
        sieve = ss.OnlineFDR(rule, alpha=alpha, test="fisher_z", task=kind).begin(y, serial=False)
        for low in range(0, 300, 70):
            sieve.offer(X[:, low : low + 70])
        discoveries, levels = OnlineFDRProcedure(rule, alpha).decide(p, discrete)
        assert np.array_equal(sieve.selected_, part[discoveries])
        assert np.array_equal(sieve.levels_[part], levels)
        assert np.array_equal([sieve.ledger_[j].p_value for j in part], p)
        kept += int(discoveries.sum())
        stopped += bool(np.any(levels > 0.05))
    assert kept
    assert stopped or rule.startswith(("lond_any", "alpha_spending"))


def test_they_can_be_sent_to_another_process():
    rng = np.random.default_rng(3)
    y = some_target(rng, Task.BINARY, 40)
    found = FisherZ(y, Task.BINARY, 0.05, online=True).measure(stream(rng, y, 50, 0.3))
    again = pickle.loads(pickle.dumps(found.p_value))  # noqa: S301
    for ours, theirs in zip(
        found.p_value.rough(np.arange(50), EDGES), again.rough(np.arange(50), EDGES), strict=True
    ):
        assert np.array_equal(ours, theirs)
