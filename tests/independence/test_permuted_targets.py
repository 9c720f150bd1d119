"""Permutation p-values: exact where all orders are listed, else those of the twin's draws; sizes hold."""

import math
import pickle
from itertools import permutations

import numpy as np
import pytest
import scipy.stats

import streamsieve as ss
from streamsieve.decisions import RELEVANT
from streamsieve.dependence.blocks import CenteredColumns
from streamsieve.independence import FisherZ, permuted_targets
from streamsieve.independence.complete_pairs import CompletePairsFisherZ
from streamsieve.independence.confirmation import Confirmation
from streamsieve.independence.permuted_targets import FEWEST, STOP, PermutedTargets
from streamsieve.protocols import Task
from tests.helpers.tier import cases
from tests.reference import permuted_targets as twin


def bound(y, task=Task.REGRESSION):
    return FisherZ(np.asarray(y), task, 0.05)._confirmation._permuted


def rows_of(X):
    Z = X.T - X.T.mean(axis=1, keepdims=True)
    return Z / np.linalg.norm(Z, axis=1, keepdims=True)


@pytest.mark.parametrize("n", [5, 8])
def test_listed_orders_give_the_p_value_of_scipys_permutation_test(n):
    rng = np.random.default_rng(n)
    for y, task in ((rng.normal(size=n), Task.REGRESSION), (1.0 * (np.arange(n) < 3), Task.BINARY)):
        Z = rows_of(np.exp(rng.normal(size=(n, cases(4, 2)))))
        found, known = bound(y, task).p_values(Z)
        extreme = [np.abs(z @ y) >= max(abs(z @ np.array(o)) for o in permutations(y)) - 1e-9 for z in Z]
        assert (~known).tolist() == extreme
        for j, z in enumerate(Z):
            wanted = scipy.stats.permutation_test(
                (y,),
                lambda some, axis, z=z: np.abs(some @ z),  # z sums to 0
                permutation_type="pairings",
                n_resamples=np.inf,
                alternative="greater",
                vectorized=True,
            ).pvalue
            assert found[j] == pytest.approx(wanted, rel=1e-9)


def test_closed_forms_say_how_far_the_most_extreme_of_few_orders_stands_out():
    """No permutation p-value of two classes of four rows is below 2 / 70, which no test at .01 would pass."""
    rng, y = np.random.default_rng(8), np.repeat([0, 1], 4)
    X = rng.normal(size=(8, 2000)) + 4 * y[:, None]
    test = FisherZ(y, Task.BINARY, 0.01)
    p = np.asarray(test.measure(X).p_value)
    t = scipy.stats.ttest_ind(X[:4], X[4:]).pvalue
    drawn, known = bound(y, Task.BINARY).p_values(rows_of(X))
    assert np.all(drawn[~known] == 2 / 70)
    assert np.all(p[~known] <= np.maximum(t, 2 / 70)[~known] * (1 + 1e-9))
    assert np.mean(p < 0.01) > 0.97 * np.mean(t < 0.01) > 0.8
    # not below what is possible: a perfect relation of three classes
    codes = np.repeat([0, 1, 2], 2)
    drawn, known = bound(codes, Task.MULTICLASS).p_values(rows_of(np.array([[0.0, 0, 1, 1, 5, 5]]).T))
    assert known.all()
    assert drawn == pytest.approx([6 / 90])


def test_every_distinct_order_of_a_tied_target_is_listed_once():
    y = np.array([0, 1, 1, 2, 2, 2])
    (orders,) = [permuted._list() for permuted in [bound(y, Task.MULTICLASS)]]
    found = {tuple(np.round(order.T.reshape(-1), 9)) for order in orders.transpose(1, 0, 2)}
    basis = FisherZ(y, Task.MULTICLASS, 0.05).basis
    wanted = {tuple(np.round(basis[list(order)].reshape(-1), 9)) for order in permutations(range(6))}
    assert orders.shape[1] == math.factorial(6) // (1 * 2 * 6) == len(found)
    assert found == wanted


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_random_orders_end_when_enough_are_as_extreme(classes, monkeypatch):
    """The twin draws all orders one by one, of the same random numbers."""
    monkeypatch.setattr(permuted_targets, "MOST_VALUES", 2_000 * 25 * max(1, classes - 1))
    rng = np.random.default_rng(classes)
    y = rng.normal(size=25) if classes == 0 else rng.permutation(np.arange(25) % classes)
    task = [Task.REGRESSION, None, Task.BINARY, Task.MULTICLASS][classes]
    permuted, basis = bound(y, task), FisherZ(y, task, 0.05).basis
    assert permuted.resolution == (1 + FEWEST) / 2_001
    X = rng.normal(size=(25, 40)) + np.linspace(0, 1.5, 40) * np.asarray(y, float)[:, None]
    found, known = permuted.p_values(rows_of(X))
    wanted = [twin.p_value(z, basis, STOP, FEWEST, 2_000, permuted_targets.SEED) for z in rows_of(X)]
    assert known.tolist() == [p is not None for p in wanted]
    assert 0 < known.sum() < len(known)
    assert np.any(found[known] < STOP / 2_000)
    assert np.any(found > 2 * STOP / 2_000)
    assert found[known] == pytest.approx([p for p in wanted if p is not None], rel=1e-12)
    assert np.all(found[~known] == permuted.resolution)


def test_p_values_do_not_depend_on_blocks_on_what_was_asked_before_or_on_copies():
    rng = np.random.default_rng(4)
    y = np.exp(rng.normal(size=60))
    X = np.exp(rng.normal(size=(60, 40)))
    X[:, :5] *= (y / y.mean())[:, None]
    whole, known = bound(y).p_values(rows_of(X))
    permuted = bound(y)
    for j in range(39, -1, -1):
        one, sure = permuted.p_values(rows_of(X[:, [j]]))
        assert (one[0], sure[0]) == (whole[j], known[j])
    copy = pickle.loads(pickle.dumps(permuted))  # noqa: S301
    assert not copy._batches
    assert np.array_equal(copy.p_values(rows_of(X))[0], whole)


def test_random_orders_are_equally_probable():
    """All orders of four rows; the listed ones are switched off."""
    permuted = PermutedTargets(np.array([[0.0], [1.0], [2.0], [3.0]]), np.arange(4), math.inf)
    orders = permuted._batch(9, 0)[0][:20_000]
    counts = np.unique(orders, axis=0, return_counts=True)[1]
    assert len(counts) == 24
    assert scipy.stats.chisquare(counts).pvalue > 1e-4


def test_many_rows_have_no_permutation_p_values():
    assert bound(np.random.default_rng(0).normal(size=5_000)).resolution == math.inf
    assert 0 < bound(np.random.default_rng(0).normal(size=100)).resolution < 0.001


@pytest.mark.parametrize("online", [False, True])
def test_confirmed_p_values_are_those_of_permutations_where_they_resolve_them(online):
    """Both sides are lognormal; dense and sparse blocks, single columns, missing values."""
    rng = np.random.default_rng(5)
    y = np.exp(rng.normal(size=50))
    X = np.exp(rng.normal(size=(50, 200)))
    X[:, :40] *= np.exp(0.7 * np.log(y))[:, None]
    test = FisherZ(y, Task.REGRESSION, 0.05, online=online)
    p, t = np.asarray(test.measure(X).p_value), test.p_values(test.measure(X).statistic)
    permuted = bound(y)
    drawn, known = permuted.p_values(rows_of(X))
    replaced = np.flatnonzero((p != t) & (p > permuted.resolution))
    assert len(replaced) > 5
    confirmation = Confirmation(test.basis, test.labels)
    columns = CenteredColumns.of_residuals(rows_of(X))
    trusted = confirmation.p_values(columns, t, exact=online)
    for j in replaced.tolist():
        assert known[j]
        assert p[j] in (drawn[j], pytest.approx(trusted[j]))
    assert np.sum(p[replaced] == drawn[replaced]) > 3
    longer_X = np.vstack([X, np.full((3, 200), np.nan)])
    longer = FisherZ(np.append(y, [1.0, 2.0, 3.0]), Task.REGRESSION, 0.05, online=online)
    omitted = CompletePairsFisherZ(longer, observed_classes=True).measure(longer_X)
    assert np.asarray(omitted.p_value) == pytest.approx(p, rel=1e-9)


def test_the_power_that_closed_forms_lose_is_there(monkeypatch):
    """y is normal, and linear in a lognormal column: the closed forms lose a quarter of the power at .01."""
    rng, relevant = np.random.default_rng(6), {400_000: 0, 0: 0}
    for _ in range(200):
        x = np.exp(rng.normal(size=20))
        y = 3 / 20**0.5 * (x - x.mean()) / x.std() + rng.normal(size=20)
        for values in relevant:
            monkeypatch.setattr(permuted_targets, "MOST_VALUES", values)
            sieve = ss.SAOLA(0.01, measure="fisher_z", task="regression").begin(y, serial=False)
            relevant[values] += sieve.measure_block(x[:, None]).relevance.reason[0] == RELEVANT
    assert relevant[400_000] > 1.1 * relevant[0] > 50


@pytest.mark.parametrize("share", [0.05, None])
def test_sizes_hold_and_are_near_the_level(share):
    """The closed form had .018 and .004 at .05 and .01 (class of 5 %)."""
    rng, counts, tests = np.random.default_rng(7), np.zeros(2), 0
    for _ in range(cases(40, 10)):
        y = np.exp(rng.normal(size=80)) if share is None else rng.permutation(np.arange(80) < share * 80)
        task = Task.REGRESSION if share is None else Task.BINARY
        X = np.exp(rng.normal(size=(80, 1000)))
        p = np.asarray(FisherZ(y, task, 0.05, online=True).measure(X).p_value)
        counts += [np.sum(p <= level) for level in (0.05, 0.01)]
        tests += 1000
    sizes = counts / tests
    assert np.all(sizes <= [0.056, 0.0125]), sizes
    assert np.all(sizes >= [0.036, 0.007]), sizes
