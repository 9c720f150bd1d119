"""Separating sets by partial correlation, against inverses, least squares and a few lines."""

from itertools import combinations

import numpy as np
import pytest

from streamsieve._kernels import partial
from tests.helpers.blocks import orthogonal, pieces, unit


def correlated(rng, n, p, contrasts):
    """Return columns that share factors, and orthonormal contrasts of a target that shares them too."""
    factors = rng.normal(size=(n, 3))
    X = factors @ rng.normal(size=(3, p)) + rng.normal(size=(n, p))
    Y = factors @ rng.normal(size=(3, contrasts)) + rng.normal(size=(n, contrasts))
    return unit(X), np.linalg.qr(Y - Y.mean(axis=0))[0]


def matrices(X, Y):
    """Return correlations of columns, what contrasts leave of them, and products with contrasts."""
    loads = X.T @ Y
    return X.T @ X, X.T @ X - loads @ loads.T, loads


def explained(X, Y, t, Z):
    """Return the share of what Z leaves of column t that the contrasts explain, and what Z leaves."""
    left = [A - X[:, Z] @ np.linalg.lstsq(X[:, Z], A, rcond=None)[0] for A in (X[:, t], Y)]
    fit = left[1] @ np.linalg.lstsq(left[1], left[0], rcond=None)[0]
    variance = left[0] @ left[0]
    return fit @ fit / variance, variance


def searched(total, within, t, q, most, share, single, masked=()):
    """Call the kernel for column t against columns 0..q - 1 but for the masked ones."""
    dt, dw = total.diagonal().copy(), within.diagonal().copy()
    dt[list(masked)] = 0
    found = np.full(3, -1)
    size = partial.separator(
        total, within, total[t], within[t], total[t, t], within[t, t], dt, dw, q,
        0, most, share, single, np.empty((4, len(total))), found,
    )  # fmt: skip
    return tuple(found[:size].tolist())


@pytest.mark.parametrize("contrasts", [1, 3])
def test_the_first_separating_set_is_found(contrasts):
    rng = np.random.default_rng(0)
    sizes = set()
    for case in range(24):
        q = int(rng.integers(1, 6))
        X, Y = correlated(rng, 60, q + 1, contrasts)
        total, within, _ = matrices(X, Y)
        share = 1 - rng.uniform(0.02, 0.12) * np.ones(4)
        masked = (0,) if case % 3 == 0 else ()
        free = [i for i in range(q) if i not in masked]
        wanted = ()
        for Z in (Z for size in (1, 2, 3) for Z in combinations(free, size)):
            if not wanted and 1 - explained(X, Y, q, list(Z))[0] > share[len(Z)]:
                wanted = Z
        assert searched(total, within, q, q, 3, share, contrasts == 1, masked) == wanted
        for most in range(3):
            fewer = searched(total, within, q, q, most, share, contrasts == 1, masked)
            assert fewer == (wanted if len(wanted) <= most else ())
        sizes.add(len(wanted))
    assert sizes >= {0, 1, 2}


def test_sets_of_three_are_found_where_nothing_smaller_separates():
    rng = np.random.default_rng(1)
    factors = np.linalg.qr(rng.normal(size=(200, 6)) - 0.5)[0]
    X = unit(np.column_stack([factors[:, :4], factors[:, 1:4].sum(axis=1) + 0.3 * factors[:, 4]]))
    Y = unit(factors[:, 1:4].sum(axis=1, keepdims=True) + 0.3 * factors[:, 5:])
    total, within, _ = matrices(X, Y)
    assert searched(total, within, 4, 4, 3, np.full(4, 0.9), True) == (1, 2, 3)
    assert searched(total, within, 4, 4, 2, np.full(4, 0.9), True) == ()


def test_a_set_that_repeats_itself_is_passed_over():
    rng = np.random.default_rng(2)
    X, Y = correlated(rng, 60, 3, 1)
    X = np.column_stack([X[:, 0], X[:, 0], X[:, 1], unit(X[:, :2].sum(axis=1, keepdims=True) + X[:, 2:])])
    total, within, _ = matrices(X, Y)
    share = np.array([0, 2.0, -1.0, -1.0])  # no set of one separates, any set of two would
    assert searched(total, within, 3, 3, 2, share, True) == (0, 2)


def test_a_column_that_is_a_function_of_a_set_is_separated_by_it():
    rng = np.random.default_rng(3)
    X, Y = correlated(rng, 60, 2, 2)
    X = np.column_stack([X, unit(X[:, :1] - 2 * X[:, 1:])])
    total, within, loads = matrices(X, Y)
    assert searched(total, within, 2, 2, 3, np.full(4, 2.0), False) == (0, 1)
    assert partial.strength(total, loads, 2, np.array([0, 1, -1]), 2, False) == (0.0, 0.0)


@pytest.mark.parametrize("contrasts", [1, 2, 5])
def test_strength_is_what_least_squares_say(contrasts):
    rng = np.random.default_rng(4)
    for _ in range(10):
        X, Y = correlated(rng, 40, 5, contrasts)
        total, _, loads = matrices(X, Y)
        for size in range(4):
            members = rng.permutation(4)[:3]
            Z = members[:size]
            r, variance = partial.strength(total, loads, 4, members, size, contrasts == 1)
            wanted = explained(X, Y, 4, Z)
            assert (r**2, variance) == pytest.approx(wanted, rel=1e-9, abs=1e-12)


def test_strength_is_andersons_example():
    """Anderson, An introduction to multivariate statistical analysis: r(1, 3 | 2)."""
    R = np.array([[1.0, 0.8, -0.4], [0.8, 1.0, -0.56], [-0.4, -0.56, 1.0]])
    r, _ = partial.strength(R[:2, :2].copy(), R[:2, 2:].copy(), 0, np.array([1, -1, -1]), 1, True)
    assert r == pytest.approx(0.0966, abs=5e-5)


@pytest.mark.parametrize("contrasts", [1, 2])
def test_a_set_that_determines_contrasts_leaves_the_others(contrasts):
    rng = np.random.default_rng(5)
    X, Y = correlated(rng, 30, 3, contrasts)
    X[:, 0] = Y[:, 0]
    total, within, loads = matrices(X, Y)
    r, _ = partial.strength(total, loads, 2, np.array([0, 1, -1]), 2, contrasts == 1)
    if contrasts == 1:
        assert r == 0
        assert searched(total, within, 2, 2, 1, np.full(4, 2.0), True) == (0,)
    else:
        assert r**2 == pytest.approx(explained(X, Y[:, 1:], 2, [0, 1])[0], rel=1e-9)


class Store:
    """Room for kept columns, and what the kernel fills."""

    def __init__(self, n, slots, m, basis):
        self.columns = np.zeros((slots, n))
        self.total, self.within = np.zeros((2, slots, slots))
        self.loads = np.zeros((slots, basis.shape[1]))
        self.feature, self.order = np.zeros(slots, np.int64), np.arange(slots)
        self.basis = np.ascontiguousarray(basis.T)
        self.verdict, self.statistic = np.zeros(m, np.int64), np.zeros(m)
        self.by = np.full((m, 3), -1)
        self.evicted, self.at, self.evicted_verdict = np.zeros((3, slots + m), np.int64)
        self.evicted_statistic, self.evicted_by = np.zeros(slots + m), np.full((slots + m, 3), -1)

    def decide(self, X, share, most=3, newcomer_first=True, sparse=False, first=0, q=0, n_evicted=0):
        m = X.shape[1]
        mean, norm = X.mean(axis=0), np.linalg.norm(X - X.mean(axis=0), axis=0)
        return partial.decide(
            *pieces(X, sparse), mean, norm, 100 + np.arange(m), first, newcomer_first, most, 10**9, share,
            self.basis, self.columns, self.total, self.within, self.loads, self.feature, self.order, q,
            self.verdict, self.statistic, self.by,
            self.evicted, self.at, self.evicted_verdict, self.evicted_statistic, self.evicted_by, n_evicted,
        )  # fmt: skip


def settled(X, Y, share, most, newcomer_first):
    """Return sizes and sets for candidates 100, 101, ..., evictions, and kept, in a few lines."""
    kept, sets, evictions = [], [], []

    def separator(t, others, member=None):
        for size in range(1, most + 1):
            for Z in combinations(others, size):
                if member in (None, *Z) and 1 - explained(X, Y, t, list(Z))[0] > share[size]:
                    return tuple(100 + i for i in Z)
        return ()

    for new in range(X.shape[1]):
        fallen = separator(new, kept) if newcomer_first else ()
        for old in list(kept) if not fallen else []:
            found = separator(old, [*(k for k in kept if k != old), new], new)
            if found:
                kept.remove(old)
                evictions.append((100 + old, 100 + new, found))
        fallen = fallen if newcomer_first else separator(new, kept)
        kept += [] if fallen else [new]
        sets.append(fallen)
    return sets, evictions, kept


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("newcomer_first", [True, False])
@pytest.mark.parametrize("contrasts", [1, 2])
def test_decisions_are_those_of_a_few_lines(contrasts, newcomer_first, sparse):
    rng = np.random.default_rng(6)
    happened = 0
    for case in range(5):
        X, Y = correlated(rng, 30, 7, contrasts)
        X = X * (rng.random(X.shape) < 0.8) + (case % 2) * 5
        share, most = 1 - rng.uniform(0.05, 0.2) * np.ones(4), 1 + case % 3
        store = Store(30, 8, 7, Y)
        done, q, n_evicted = store.decide(X, share, most, newcomer_first, sparse)
        sets, evictions, kept = settled(unit(X), Y, share, most, newcomer_first)
        assert done == 7
        assert store.verdict.tolist() == [len(Z) for Z in sets]
        assert [tuple(i for i in row if i >= 0) for row in store.by.tolist()] == sets
        found = [tuple(i for i in row if i >= 0) for row in store.evicted_by[:n_evicted].tolist()]
        assert [*zip(store.evicted[:n_evicted], store.at[:n_evicted], found, strict=True)] == evictions
        assert store.evicted_verdict[:n_evicted].tolist() == [len(e[2]) for e in evictions]
        assert store.feature[:q].tolist() == [100 + j for j in kept]
        np.testing.assert_allclose(store.columns[store.order[:q]], unit(X)[:, kept].T, atol=1e-13)
        total, within, loads = matrices(unit(X)[:, kept], Y)
        np.testing.assert_allclose(store.total[:q, :q], total, atol=1e-12)
        np.testing.assert_allclose(store.within[:q, :q], within, atol=1e-12)
        np.testing.assert_allclose(store.loads[:q], loads, atol=1e-12)
        assert sorted(store.order) == list(range(8))
        happened += len(evictions) + sum(map(bool, sets))
    assert happened > 5


@pytest.mark.parametrize("sparse", [False, True])
def test_when_all_slots_are_taken_the_kernel_comes_back_and_goes_on_with_more(sparse):
    X = orthogonal(30, 7)
    Y = unit(X[:, :6].sum(axis=1, keepdims=True))
    share = np.full(4, 0.99)
    store, whole = Store(30, 4, 6, Y), Store(30, 8, 6, Y)
    assert store.decide(X[:, :6], share, sparse=sparse) == (4, 4, 0)
    grown = Store(30, 8, 6, Y)
    for name in ("columns", "loads", "feature"):
        getattr(grown, name)[:4] = getattr(store, name)
    grown.total[:4, :4], grown.within[:4, :4] = store.total, store.within
    assert grown.decide(X[:, :6], share, sparse=sparse, first=4, q=4) == (6, 6, 0)
    assert whole.decide(X[:, :6], share, sparse=sparse) == (6, 6, 0)
    np.testing.assert_array_equal(grown.total, whole.total)
    np.testing.assert_array_equal(grown.columns, whole.columns)
