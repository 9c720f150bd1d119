"""The pairwise rule over correlations: dense or sparse candidates against columns in tiles of 32."""

import numpy as np
import pytest

from streamsieve._kernels import dominance
from streamsieve._kernels.dominance import LANES
from tests.helpers.blocks import orthogonal, pieces, unit

TIE = 1e-12


class Store:
    """Slots for kept columns, and what the kernel fills."""

    def __init__(self, n, tiles, m):
        slots = tiles * LANES
        self.tiles = np.zeros((tiles, n, LANES))
        self.relevance, self.feature = np.zeros(slots), np.zeros(slots, np.int64)
        self.order, self.free = np.zeros(slots, np.int64), np.arange(slots)[::-1].copy()
        self.by, self.pair = np.full(m, -9, np.int64), np.zeros(m)
        self.evicted, self.evicted_by = np.empty((2, slots + m), np.int64)
        self.evicted_pair = np.empty(slots + m)

    def decide(self, X, relevance, two_phase=False, use_max=False, sparse=False, first=0, q=0, n_evicted=0):
        m = X.shape[1]
        mean, norm = X.mean(axis=0), np.linalg.norm(X - X.mean(axis=0), axis=0)
        return dominance.decide(
            *pieces(X, sparse), mean, norm, relevance, 100 + np.arange(m), first, two_phase, use_max, TIE,
            self.tiles, self.relevance, self.feature, self.order, self.free, q,
            self.by, self.pair, self.evicted, self.evicted_by, self.evicted_pair, n_evicted,
        )  # fmt: skip

    def columns(self, q):
        slots = self.order[:q]
        return self.tiles[slots // LANES, :, slots % LANES].T


def settled(X, relevance, two_phase, use_max):
    """Return by, pair, evictions and kept of candidates 100, 101, ... in a few lines."""
    R = np.abs(np.corrcoef(X.T))
    kept, by, pair, evictions = [], [], [], []
    for j in range(X.shape[1]):
        fallen, dropped = (-1, 0.0), []
        for i in kept:
            both = relevance[i], relevance[j]
            if R[i, j] < (max(both) if use_max else min(both)) - TIE:
                continue
            if relevance[i] >= relevance[j] - TIE:
                fallen = (100 + i, R[i, j])
                break
            dropped.append(i)
        if fallen[0] < 0 or not two_phase:
            evictions += [(100 + i, 100 + j, R[i, j]) for i in dropped]
            kept = [i for i in kept if i not in dropped]
        if fallen[0] < 0:
            kept.append(j)
        by.append(fallen[0])
        pair.append(fallen[1])
    return by, pair, evictions, kept


def nasty(rng, n, m):
    """Return columns that resemble each other, some sparse, some copies, and a relevance for each."""
    X = rng.normal(size=(n, m)) + rng.normal(size=(n, 1))
    X[:, ::3] *= rng.random((n, len(X[0, ::3]))) < 0.5
    X[:2] = [[1.0], [0.0]]  # no column is constant
    relevance = rng.random(m) * 0.6
    X[:, m - 1], relevance[m - 1] = -2 * X[:, 1], relevance[1]
    return X, relevance


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("use_max", [False, True])
@pytest.mark.parametrize("two_phase", [False, True])
def test_decisions_are_those_of_a_few_lines(two_phase, use_max, sparse):
    rng = np.random.default_rng(0)
    happened = 0
    for _ in range(8):
        X, relevance = nasty(rng, 10, 16)
        store = Store(10, 2, 16)
        done, q, n_evicted = store.decide(X, relevance, two_phase, use_max, sparse)
        by, pair, evictions, kept = settled(X, relevance, two_phase, use_max)
        assert done == 16
        assert store.by.tolist() == by
        np.testing.assert_allclose(store.pair, pair, atol=1e-12)
        assert store.evicted[:n_evicted].tolist() == [e[0] for e in evictions]
        assert store.evicted_by[:n_evicted].tolist() == [e[1] for e in evictions]
        np.testing.assert_allclose(store.evicted_pair[:n_evicted], [e[2] for e in evictions], atol=1e-12)
        assert store.feature[store.order[:q]].tolist() == [100 + j for j in kept]
        np.testing.assert_allclose(store.columns(q), unit(X)[:, kept], atol=1e-13)
        assert store.relevance[store.order[:q]].tolist() == relevance[kept].tolist()
        happened += len(evictions) + sum(b >= 0 for b in by)
    assert happened > 10


@pytest.mark.parametrize("sparse", [False, True])
def test_when_all_slots_are_taken_the_kernel_comes_back_and_goes_on_with_more(sparse):
    X = orthogonal(40, 36)
    store = Store(40, 1, 36)
    relevance = np.full(36, 0.3)
    assert store.decide(X, relevance, sparse=sparse) == (LANES, LANES, 0)
    grown = Store(40, 2, 36)
    grown.tiles[:1] = store.tiles
    for name in ("relevance", "feature", "order"):
        getattr(grown, name)[:LANES] = getattr(store, name)
    grown.free[:LANES] = np.arange(LANES, 2 * LANES)[::-1]
    assert grown.decide(X, relevance, sparse=sparse, first=LANES, q=LANES) == (36, 36, 0)
    assert grown.feature[grown.order[:36]].tolist() == list(range(100, 136))
    np.testing.assert_allclose(grown.columns(36), X, atol=1e-14)


@pytest.mark.parametrize("sparse", [False, True])
def test_columns_in_a_second_tile_are_met_as_well(sparse):
    X = orthogonal(60, 40)
    X = np.column_stack([X, X[:, ::-1]])
    store = Store(60, 2, 80)
    assert store.decide(X, np.full(80, 0.3), sparse=sparse) == (80, 40, 0)
    assert store.by.tolist() == [-1] * 40 + list(range(139, 99, -1))
    np.testing.assert_allclose(store.pair[40:], 1.0, rtol=1e-12)


def test_reaching_the_bound_is_enough_and_of_two_equals_the_newcomer_goes():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(12, 2)) + rng.normal(size=(12, 1))
    r = abs(np.corrcoef(X.T)[0, 1])
    for old, new, wanted in (
        (0.9, r, (1, [-1, 100], 0)),  # the newcomer's bound is reached exactly
        (0.9, r + 1e-9, (2, [-1, -1], 0)),  # and just missed
        (r, r, (1, [-1, 100], 0)),
        (r, 0.9, (1, [-1, -1], 1)),
    ):
        store = Store(12, 1, 2)
        _, q, n_evicted = store.decide(X, np.array([old, new]))
        assert (q, store.by.tolist(), n_evicted) == wanted


@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_whole_columns_far_from_0_depend_on_each_other_as_near_it(offset):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 9, (12, 8)).astype(float)
    relevance = rng.random(8) * 0.3
    for sparse in (False, True):
        near, far = Store(12, 1, 8), Store(12, 1, 8)
        assert near.decide(X + 1, relevance, sparse=sparse) == far.decide(
            X + offset, relevance, sparse=sparse
        )
        assert near.by.tolist() == far.by.tolist()
        np.testing.assert_allclose(near.pair, far.pair, atol=1e-12)


def test_slots_of_the_evicted_are_taken_again_and_the_order_stays_that_of_arrival():
    Q = orthogonal(20, 12)
    X = np.column_stack([Q[:, :6], Q[:, 1] + Q[:, 4], Q[:, 6:12]])
    relevance = np.array([0.3] * 6 + [0.9] + [0.3] * 6)
    store = Store(20, 1, 13)
    done, q, n_evicted = store.decide(X, relevance)
    assert (done, q, n_evicted) == (13, 11, 2)
    assert store.evicted[:2].tolist() == [101, 104]
    assert store.feature[store.order[:q]].tolist() == [100, 102, 103, 105, 106, 107, 108, 109, 110, 111, 112]
    assert sorted(store.order[:q]) == list(range(11))  # no slot beyond the eleven columns was touched
    assert sorted([*store.order[:q], *store.free[: LANES - q]]) == list(range(LANES))
