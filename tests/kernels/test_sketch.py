"""Hashes, table and heap are what plain Python makes of them; also without the compiler."""

import numpy as np
import pytest

from streamsieve._kernels import sketch as kernels
from streamsieve.state.tree import pack_texts
from tests.reference import mission as twin

SEEDS = np.random.SeedSequence(5).generate_state(3, np.uint64)


@pytest.fixture(autouse=True)
def _wrapping():
    """Machine words wrap around silently when compiled; NumPy's scalars should, too."""
    with np.errstate(over="ignore"):
        yield


class Heap:
    """The arrays of a heap."""

    def __init__(self, capacity):
        self.ids, self.keys = np.zeros(capacity, np.int64), np.zeros(capacity)
        self.heap, self.place = np.zeros(capacity, np.int64), np.zeros(capacity, np.int64)
        self.table, self.count = (
            np.zeros(1 << (2 * capacity - 1).bit_length(), np.int64),
            np.zeros(1, np.int64),
        )

    def push(self, feature, key):
        kernels._push(feature, key, self.ids, self.keys, self.heap, self.place, self.table, self.count)

    def content(self):
        n = self.count[0]
        return dict(zip(self.ids[:n].tolist(), self.keys[:n].tolist(), strict=True))

    def check(self):
        """Every feature is found where it is, in a heap that is one."""
        n = int(self.count[0])
        assert sorted(self.heap[:n].tolist()) == list(range(n))
        for at, slot in enumerate(self.heap[:n].tolist()):
            assert self.place[slot] == at
            assert kernels._find(self.ids[slot], self.ids, self.table) == slot
            if at:
                assert not kernels._is_worse(slot, self.heap[(at - 1) // 2], self.keys, self.ids)
        assert np.count_nonzero(self.table) == n


@pytest.mark.parametrize("capacity", [1, 2, 5, 16])
def test_the_heap_holds_the_best_of_what_came(capacity):
    rng = np.random.default_rng(capacity)
    heap, known = Heap(capacity), {}
    for _ in range(300):
        feature, key = int(rng.integers(0, 40)) * 2**40, float(rng.integers(0, 12))
        heap.push(feature, key)
        if feature in known or len(known) < capacity:
            known[feature] = key
        else:
            worst = min(known, key=lambda j: (known[j], -j))
            if (key, -feature) > (known[worst], -worst):
                del known[worst]
                known[feature] = key
        assert heap.content() == known
        heap.check()


def test_a_rebuilt_heap_is_a_heap():
    rng = np.random.default_rng(0)
    heap = Heap(20)
    heap.ids[:13], heap.keys[:13], heap.count[0] = rng.permutation(1000)[:13], rng.integers(0, 4, 13), 13
    kernels.build(heap.ids, heap.keys, heap.heap, heap.place, heap.table, heap.count)
    heap.check()


def test_leaving_a_crowded_table_loses_nobody():
    ids, table = np.arange(0, 7 * 2**31, 2**31), np.zeros(8, np.int64)  # near each other, and few free places
    for slot in range(7):
        kernels._enter(slot, ids, table)
    for gone in (3, 0, 6, 1):
        kernels._leave(gone, ids, table)
        assert kernels._find(ids[gone], ids, table) == -1
    for slot in (2, 4, 5):
        assert kernels._find(ids[slot], ids, table) == slot


@pytest.mark.parametrize("depth", [1, 3, 5])
@pytest.mark.parametrize("width", [1, 7, 4096])
def test_places_and_weights_are_the_twins(depth, width):
    rng = np.random.default_rng(depth)
    sketch = twin.Sketch(width, depth, 5)
    seeds = np.random.SeedSequence(5).generate_state(depth, np.uint64)
    cells, spots = np.zeros((depth, width, 2)), np.zeros(depth, np.int64)
    features = np.array([0, 1, 2, 10**9, 2**31 - 1, 2**62 - 1, *rng.integers(0, 2**62, 10)])
    for j in features.tolist():
        kernels._locate(j, seeds, cells, spots, 0)
        for spot, ((r, bucket), sign) in zip(spots.tolist(), sketch.places(j), strict=True):
            assert spot == 2 * (r * width + bucket) * 2 + (sign < 0)
    for j in features.tolist():
        amount = float(rng.normal())
        sketch.add(j, amount)
        for (r, bucket), sign in sketch.places(j):
            cells[r, bucket, 1] += sign * amount
    weights = kernels.weights(features, cells, 2, seeds)
    assert weights[:, 0].tolist() == [0.0] * len(features)
    assert weights[:, 1].tolist() == [sketch[j] for j in features.tolist()]
    assert kernels.norms(0, 3, cells, 2, seeds).tolist() == [abs(sketch[j]) for j in range(3)]


def test_names_have_the_twins_ids():
    names = ["", "a", "b", "ab", "ba", "\0", "\0\0", "word 17", "w\u00f6rter", "\ud800", "x" * 300]
    packed = pack_texts(names)
    ids = kernels.hash_names(packed["text"], packed["ends"]).tolist()
    assert ids == [twin.name_id(name) for name in names]
    assert len(set(ids)) == len(names)
    assert all(0 <= j < 2**62 for j in ids)


def test_buckets_and_signs_are_used_alike():
    """4,000 neighbors in 16 buckets: 250 each, give or take 5 standard deviations; rows are unlike."""
    cells, spots = np.zeros((3, 16, 1)), np.zeros(3, np.int64)
    seen = np.empty((4000, 3), np.int64)
    for j in range(4000):
        kernels._locate(j, SEEDS, cells, spots, 0)
        seen[j] = spots - 2 * 16 * np.arange(3)
    for r in range(3):
        assert np.all(np.abs(np.bincount(seen[:, r] >> 1, minlength=16) - 250) < 5 * 250**0.5)
        assert abs(np.mean(seen[:, r] & 1) - 0.5) < 5 * 0.5 / 4000**0.5
    for a, b in ((0, 1), (0, 2), (1, 2)):
        together = np.mean(seen[:, a] >> 1 == seen[:, b] >> 1)
        assert abs(together - 1 / 16) < 5 * (1 / 16 / 4000) ** 0.5


@pytest.mark.parametrize("models", [1, 3])
def test_learning_is_the_twins(models):
    rng = np.random.default_rng(models)
    n, p, k = 12, 6, 3
    X, codes = rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.7), rng.integers(0, max(2, models), n)
    codes[:models] = np.arange(models)
    peer = twin.sketched(k, 8, 3, 5)
    heap, cells = Heap(k), np.zeros((3, 8, models))
    for label in range(max(2, models)):
        peer.meet(label)
    args = (np.zeros(0, np.int64), codes, 0, n, 0.5, np.ones(n), 0, cells, models, SEEDS)
    mistakes = kernels.learn(
        X.ravel(), np.tile(np.arange(p, dtype=np.int32), n), np.arange(0, n * p + 1, p), *args,
        heap.ids, heap.keys, heap.heap, heap.place, heap.table, heap.count,
    )  # fmt: skip
    for row, code in zip(X, codes.tolist(), strict=True):
        peer.learn(dict(enumerate(row)), code)
    assert mistakes == peer.mistakes
    heap.check()
    content = heap.content()
    assert content.keys() == peer.keys.keys()
    for j, key in peer.keys.items():
        assert content[j] == pytest.approx(key, rel=1e-12)
