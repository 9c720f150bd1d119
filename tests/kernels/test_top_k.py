"""The rule of the buffer, and candidates that are compared by correlation, dense and sparse."""

import numpy as np
import pytest

from streamsieve._kernels import top_k
from streamsieve._kernels.top_k import LANES
from tests.helpers.blocks import orthogonal, pieces

TIE = 1e-12


class Store:
    """Slots for members, and what the kernel fills for m candidates."""

    def __init__(self, n, slots, m):
        self.tiles = np.zeros((slots // LANES, n, LANES))
        self.kept, self.feature = np.zeros((3, slots)), np.zeros(slots, np.int64)
        self.pairs, self.sums = np.zeros((slots, slots)), np.zeros(slots)
        self.fate, self.gone_fate = np.full(m, 9, np.uint8), np.full(m, 9, np.uint8)
        self.by, self.gone = np.full(m, -1, np.int64), np.full(m, -1, np.int64)
        self.gone_values = np.zeros((2, m))

    def decide(self, X, dependence, k, weight, sparse=False, first=0, q=0):
        m = X.shape[1]
        mean, norm = X.mean(axis=0), np.linalg.norm(X - X.mean(axis=0), axis=0)
        new = np.stack([dependence, -dependence, dependence / 2])
        return top_k.decide(
            *pieces(X, sparse), mean, norm, first, k, weight, TIE, new, 100 + np.arange(m), self.tiles,
            self.kept, self.feature, self.pairs, self.sums, q,
            self.fate, self.by, self.gone, self.gone_fate, self.gone_values,
        )  # fmt: skip


def settled(X, d, k, weight):
    """Return members, and (gone, newcomer) in order, in a few lines."""
    R = np.abs(np.corrcoef(X.T))
    members, swaps = [], []
    for j in range(X.shape[1]):
        if weight and any(R[j, s] >= 1 - TIE for s in members):
            continue
        crowd = [*members, j]
        if len(crowd) > k:
            score = [d[s] - weight / k * sum(R[s, t] for t in crowd if t != s) for s in crowd]
            gone = max(s for s, value in zip(crowd, score, strict=True) if value <= min(score) + TIE)
            crowd.remove(gone)
            swaps += [(100 + gone, 100 + j)] if gone != j else []
        members = crowd
    return [100 + j for j in members], swaps


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weight", [0.0, 0.4, 1.0])
def test_swaps_are_those_of_a_few_lines(weight, sparse):
    rng = np.random.default_rng(0)
    swapped = 0
    for _ in range(6):
        X = rng.normal(size=(10, 20)) + rng.normal(size=(10, 1))
        X[:, ::3] *= rng.random((10, 7)) < 0.5
        X[:2] = [[1.0], [0.0]]
        X[:, 15] = -2 * X[:, 1]
        d = rng.random(20)
        d[15] = d[1]
        store = Store(10, LANES, 20)
        done, q = store.decide(X, d, 4, weight, sparse)
        members, swaps = settled(X, d, 4, weight)
        assert (done, q) == (20, 4)
        assert sorted(store.feature[:q].tolist()) == members
        found = [(int(g), 100 + j) for j, g in enumerate(store.gone) if g >= 0]
        assert found == swaps
        assert all(store.gone_values[0, j - 100] == -d[g - 100] for g, j in swaps)
        if weight:
            kept = X[:, store.feature[:q] - 100]
            R = np.abs(np.corrcoef(kept.T)) - np.eye(q)
            np.testing.assert_allclose(store.pairs[:q, :q], R, atol=1e-12)
            np.testing.assert_allclose(store.sums[:q], R.sum(axis=0), atol=1e-12)
        swapped += len(swaps)
    assert swapped > 10


@pytest.mark.parametrize("sparse", [False, True])
def test_when_all_slots_are_taken_the_kernel_comes_back_and_goes_on_with_more(sparse):
    X = orthogonal(30, 20)
    d = np.linspace(0.5, 0.6, 20)
    store = Store(30, LANES, 20)
    assert store.decide(X, d, 18, 1.0, sparse) == (LANES, LANES)
    grown = Store(30, 2 * LANES, 20)
    grown.tiles[:1], grown.kept[:, :LANES], grown.feature[:LANES] = store.tiles, store.kept, store.feature
    grown.pairs[:LANES, :LANES], grown.sums[:LANES] = store.pairs, store.sums
    assert grown.decide(X, d, 18, 1.0, sparse, first=LANES, q=LANES) == (20, 18)
    assert grown.gone[18:].tolist() == [100, 101]


def test_below_the_limit_no_candidate_enters_and_a_buffer_with_room_has_none():
    kept = np.array([[0.5, 0.3], [0, 0], [0, 0]])
    sums = np.array([0.2, 0.2])
    assert top_k.limit(kept, sums, 1, 2, 1.0, TIE) == -np.inf
    assert top_k.limit(kept, sums, 2, 2, 0.0, TIE) == 0.3 + TIE
    assert top_k.limit(kept, sums, 2, 2, 1.0, TIE) == pytest.approx(0.2 - TIE, abs=1e-15)
