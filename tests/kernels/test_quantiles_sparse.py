"""Hot slots, staged entries, sorted runs and tables over them, each against a slow version."""

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve._aligned import aligned_zeros
from streamsieve._kernels import entries as entry_kernel
from streamsieve._kernels import quantiles_sparse as kernel
from tests.helpers.blocks import arrays


def rows_of(rng, n, p, dtype=np.float64):
    X = np.round(rng.normal(size=(n, p)) * 2)
    X[rng.random((n, p)) < 0.3] = 0.0
    X[rng.random((n, p)) < 0.1] = np.nan
    return X, arrays(sp.csr_array(X.astype(dtype)))


def entries(rng, n, prefixes, values=5, weighted=True):
    prefix = rng.integers(0, prefixes, n)
    value = rng.integers(1, values + 1, n) * rng.choice([-1.0, 1.0], n)
    return prefix, value, rng.integers(1, 5, n).astype(np.float64) if weighted else None


def like(*arrays):
    return tuple(None if a is None else np.empty_like(a) for a in arrays)


def run_of(rng, n, prefixes, values=5):
    """Make a run: sorted, no two alike."""
    pairs = sorted({(int(p), float(v)) for p, v in zip(*entries(rng, n, prefixes, values)[:2], strict=True)})
    prefix, value = np.array([p for p, _ in pairs], np.int64), np.array([v for _, v in pairs], np.float64)
    return prefix, value, rng.integers(1, 5, len(pairs)).astype(np.float64)


def as_dict(prefix, value, mass):
    total = {}
    for p, v, m in zip(prefix.tolist(), value.tolist(), mass.tolist(), strict=True):
        total[p, v] = total.get((p, v), 0.0) + m
    return total


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [2, 9])
def test_first_values_are_counted_in_place_and_others_staged_in_order(classes, weighted, dtype):
    rng = np.random.default_rng(0)
    n, p, shift = 15, 4, 4
    X, csr = rows_of(rng, n, p, dtype)
    codes, w = rng.integers(0, classes, n), rng.integers(0, 3, n).astype(np.float64)
    hot, missing = aligned_zeros((p, 16)), np.zeros((p, classes))
    stage = np.zeros(n * p, np.int64), np.zeros(n * p), np.zeros(n * p)
    row, _, fill = kernel.ingest(
        *csr, codes, w if weighted else np.ones(1), weighted, hot, missing, shift, *stage, True, 0, 0, 0
    )
    first, counted, staged, absent = {}, {}, [], np.zeros((p, classes))
    for i in range(n):
        m = w[i] if weighted else 1.0
        for j in range(p):
            if m == 0.0 or X[i, j] == 0.0:
                continue
            if np.isnan(X[i, j]):
                absent[j, codes[i]] += m
            elif first.setdefault(j, X[i, j]) == X[i, j]:
                counted[j, codes[i]] = counted.get((j, codes[i]), 0.0) + m
            else:
                staged.append((j << shift | codes[i], X[i, j], m))
    assert row == n
    assert [(a, b, c) for a, b, c in zip(*(s[:fill].tolist() for s in stage), strict=True)] == staged
    assert np.array_equal(hot[:, 0], [first.get(j, 0.0) for j in range(p)])
    for j in range(p):
        assert hot[j, 1 : 1 + classes].tolist() == [counted.get((j, c), 0.0) for c in range(classes)]
    assert np.array_equal(missing, absent)


def test_rows_are_taken_in_pieces_of_any_size():
    rng = np.random.default_rng(1)
    _, csr = rows_of(rng, 12, 3)
    codes, one = rng.integers(0, 2, 12), np.ones(1)

    def learn(room):
        hot, missing, staged = aligned_zeros((3, 4)), np.zeros((0, 1)), []
        stage, row, entry = (np.zeros(room, np.int64), np.zeros(room), one), 0, 0
        while row < 12:
            before = row, entry
            row, entry, fill = kernel.ingest(
                *csr, codes, one, False, hot, missing, 1, *stage, False, 0, row, entry
            )
            staged += list(zip(stage[0][:fill].tolist(), stage[1][:fill].tolist(), strict=True))
            if fill < room and row < 12:
                assert len(missing) == 0  # that is what it stopped for
                missing = np.zeros((3, 2))
            assert (row, entry) != before or fill < room
        return hot, missing, staged

    wanted = learn(100)
    assert len(wanted[2]) > 5
    assert wanted[1].any()
    for room in (1, 2, 3, 7):
        got = learn(room)
        assert np.array_equal(got[0], wanted[0])
        assert np.array_equal(got[1], wanted[1])
        assert got[2] == wanted[2]


def test_hot_slots_of_another_add_up_or_are_staged():
    hot = np.array([[0.0, 0, 0, 0], [2.0, 1, 0, 0], [3.0, 1, 1, 0], [4.0, 2, 0, 0]])
    other = np.array([[5.0, 1, 2], [2.0, 3, 4], [1.0, 5, 0], [0.0, 0, 0]])
    stage, classes = (np.zeros(1, np.int64), np.zeros(1), np.zeros(1)), np.array([2, 0])
    # no masses: it stops at the first entry that has to be staged
    assert kernel.absorb_hot(other, classes, hot, 2, *stage[:2], np.zeros(0), 0, 0) == (4, 0)
    assert kernel.absorb_hot(other, classes, hot, 2, *stage, 0, 4) == (8, 1)
    assert hot.tolist() == [[5.0, 2, 0, 1], [2.0, 5, 0, 3], [3.0, 1, 1, 0], [4.0, 2, 0, 0]]
    assert [s[0] for s in stage] == [2 << 2 | 2, 1.0, 5.0]


@pytest.mark.parametrize("top", [1, 2, 50, 2**13, 2**24, 2**30, 2**48, 2**50, 2**63 - 1])
@pytest.mark.parametrize("weighted", [False, True])
def test_entries_sort_by_prefix_and_keep_their_order(weighted, top):
    rng = np.random.default_rng(2)
    for n in (0, 1, 2, 40):
        prefix, value, mass = entries(rng, n, top, weighted=weighted)
        order = np.argsort(prefix, kind="stable")
        wanted = [None if a is None else a[order] for a in (prefix, value, mass)]
        entry_kernel.by_prefix(prefix, value, mass, *like(prefix, value, mass))
        for got, want in zip((prefix, value, mass), wanted, strict=True):
            assert want is None or np.array_equal(got, want)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 31, 33, 64, 65, 100])
def test_a_stage_is_sorted_by_prefix_and_value_and_equal_entries_keep_their_order(n, weighted):
    rng = np.random.default_rng(n)
    for values in (1, 3, 1000):
        for kind in ("random", "up", "down"):
            prefix, value, mass = entries(rng, n, 2, values, weighted=weighted)
            if kind != "random":
                value = np.sort(value) if kind == "up" else np.sort(value)[::-1].copy()
            if weighted:
                mass = np.arange(1.0, n + 1)  # shows the order
            order = np.lexsort((value, prefix))
            wanted = [None if a is None else a[order] for a in (prefix, value, mass)]
            entry_kernel.sort_stage(prefix, value, mass, *like(prefix, value, mass))
            for got, want in zip((prefix, value, mass), wanted, strict=True):
                assert want is None or np.array_equal(got, want)


def test_a_range_of_prefixes_is_taken_in_order():
    rng = np.random.default_rng(3)
    for weighted in (False, True):
        staged = entries(rng, 30, 9, weighted=weighted)
        for low, high in ((0, 2**63 - 1), (0, 4), (4, 9), (5, 5)):
            out = tuple(None if a is None else np.empty(31, a.dtype) for a in staged)
            n = entry_kernel.take_range(*staged, low, high, *out)
            chosen = (staged[0] >= low) & (staged[0] < high)
            for got, want in zip(out, staged, strict=True):
                assert want is None or np.array_equal(got[:n], want[chosen])


@pytest.mark.parametrize("classes", [1, 2, 5])
def test_classes_are_pooled_by_value(classes):
    rng = np.random.default_rng(4)
    shift = 3
    for n in (0, 1, 20, 60):
        prefix, value, mass = run_of(rng, n, 3 * classes, 9)
        prefix = prefix // classes << shift | prefix % classes
        order = np.lexsort((prefix, value, prefix >> shift))
        wanted = prefix[order], value[order], mass[order]
        entry_kernel.pool_classes(prefix, value, mass, shift, *like(prefix, value, mass), 0, len(prefix))
        for got, want in zip((prefix, value, mass), wanted, strict=True):
            assert np.array_equal(got, want)


@pytest.mark.parametrize("sizes", [(1, 1), (1, 9), (9, 1), (20, 20), (20, 13), (60, 3), (5, 0), (0, 5)])
def test_runs_merge_in_order_and_equal_entries_become_one(sizes):
    rng = np.random.default_rng(5)
    for _ in range(10):
        a, b = (run_of(rng, n, 4) for n in sizes)
        n = len(a[0]) + len(b[0])
        prefix, value, mass = np.empty(n, np.int64), np.empty(n), np.empty(n)
        entry_kernel.merge_runs(*a, *b, prefix, value, mass)
        assert np.array_equal(np.lexsort((value, prefix)), np.arange(n))
        length, error = entry_kernel.compact(prefix, value, mass, mass, n + 1)
        assert error == 0.0
        both = as_dict(*(np.concatenate(arrays) for arrays in zip(a, b, strict=True)))
        assert as_dict(prefix[:length], value[:length], mass[:length]) == both
        assert length == len(both)


@pytest.mark.parametrize("weighted", [False, True])
def test_equal_neighbors_are_summed(weighted):
    prefix, value = np.array([1, 1, 1, 2, 2, 3]), np.array([5.0, 5, 6, 6, 6, 6])
    mass = np.array([1.0, 2, 3, 4, 5, 6]) if weighted else None
    out = mass if weighted else np.empty(6)
    assert entry_kernel.compact(prefix, value, mass, out, 9) == (4, 0.0)
    assert prefix[:4].tolist() == [1, 1, 2, 3]
    assert value[:4].tolist() == [5, 6, 6, 6]
    assert out[:4].tolist() == ([3, 3, 9, 6] if weighted else [2, 1, 2, 1])


def test_thinning_keeps_masses_and_errs_within_its_share():
    rng = np.random.default_rng(6)
    thinned = 0
    for case in range(60):
        n, most = int(rng.integers(1, 60)), int(rng.integers(1, 20))
        whole, large, powers = (
            rng.integers(1, 50, n),
            rng.integers(1, 3, n) ** 12,
            2.0 ** rng.integers(0, 9, n),
        )
        masses = (np.ones(n), whole, large, powers)[case % 4].astype(np.float64)
        prefix, value, mass = np.repeat(7, n), np.arange(1.0, n + 1), masses.copy()
        before = np.full(4, 3), np.arange(4.0), np.ones(4)  # another prefix, which has few enough
        all_of = [np.concatenate(pair) for pair in zip(before, (prefix, value, mass), strict=True)]
        length, error = entry_kernel.compact(*all_of, all_of[2], most)
        rest = all_of[0][:length] == 7
        left, left_mass = all_of[1][:length][rest], all_of[2][:length][rest]
        assert len(left) <= most
        assert len(left) == n or n > most
        assert left_mass.sum() == masses.sum()
        assert np.all(np.diff(left) > 0)
        assert np.isin(left, value).all()
        x = np.arange(0.0, n + 2)
        true = np.array([masses[value <= t].sum() for t in x])
        estimate = np.array([left_mass[left <= t].sum() for t in x])
        worst = np.max(np.abs(true - estimate)) / masses.sum()
        if most >= 4:
            assert np.isclose(worst, error)
            assert error <= 1 / most + 1e-12
        thinned += error > 0
    assert thinned > 20


def test_entries_that_cannot_be_are_noticed():
    hot = np.array([[1.0, 1, 1], [0.0, 0, 0], [2.0, 1, 0]])
    good = np.array([0, 0, 4, 5]), np.array([1.0, 2.0, -1.0, -1.0]), np.ones(4)

    def sound(prefix=good[0], value=good[1], mass=good[2], ordered=True):
        return kernel.is_sound(prefix, value, mass, 1, 2, hot, ordered)

    assert sound()
    assert sound(mass=None)
    assert sound(prefix=good[0][::-1].copy(), ordered=False)
    assert not sound(prefix=good[0][::-1].copy())
    assert not sound(value=np.array([2.0, 1.0, 1.0, 1.0]))
    assert not sound(value=np.array([1.0, 1.0, 1.0, 1.0]))
    for bad in (-1, 2, 3, 6, 2**62, -(2**63)):
        assert not sound(prefix=np.array([0, 0, 4, bad]), ordered=False)
    for bad in (0.0, -0.0, np.nan, np.inf, -np.inf):
        assert not sound(value=np.array([1.0, 2.0, -1.0, bad]), ordered=False)
    for bad in (0.0, -1.0, np.nan, np.inf):
        assert not sound(mass=np.array([1.0, 1.0, 1.0, bad]))
    assert not kernel.is_sound(np.array([3]), np.ones(1), None, 2, 3, hot, True)  # class 3 of 3


@pytest.mark.parametrize("whole", [True, False])
def test_tables_cut_where_the_mass_below_a_value_passes_a_share(whole):
    rng = np.random.default_rng(7)
    shift, p, classes = 2, 6, 3
    for _ in range(20):
        prefix, value, mass = run_of(rng, int(rng.integers(0, 40)), p * classes)
        prefix = prefix // classes << shift | prefix % classes
        order = np.lexsort((prefix, value, prefix >> shift))
        prefix, value, mass = prefix[order], value[order], mass[order]
        hot = np.zeros((p, 4))
        hot[:, 0] = rng.integers(-2, 3, p)
        hot[hot[:, 0] != 0, 1:] = rng.integers(0, 5, (int((hot[:, 0] != 0).sum()), classes))
        zeros = rng.integers(0, 4, (p, classes)).astype(np.float64) * (rng.random((p, 1)) < 0.7)
        first, high, bins = 1, 5, int(rng.integers(2, 7))
        stored = hot[first:high, 1:].copy()
        kernel.add_stored(prefix, mass, shift, first, high, stored)
        counts = np.zeros((high - first, classes, bins))
        slices = hot[first:high], zeros[first:high], (stored + zeros[first:high]).sum(axis=1), whole
        for low, end in ((0, 2), (2, 4)):
            kernel.fill_tables(prefix, value, mass, shift, first, *slices, low, end, counts)
        for f in range(first, high):
            here = prefix >> shift == f
            all_of = [(v, c, m) for v, c, m in zip(value[here], prefix[here] & 3, mass[here], strict=True)]
            all_of += [(hot[f, 0], c, hot[f, 1 + c]) for c in range(classes)]
            all_of += [(0.0, c, zeros[f, c]) for c in range(classes)]
            weight = sum(m for _, _, m in all_of)
            assert weight == stored[f - first].sum() + zeros[f].sum()
            d = max(1, weight // bins) if whole else weight * (1 - 1e-12) / bins
            wanted = np.zeros((classes, bins))
            for v, c, m in all_of:
                below = sum(other for u, _, other in all_of if u < v)
                wanted[c, sum(i * d <= below for i in range(1, bins))] += m
            assert np.array_equal(counts[f - first], wanted)


def test_the_first_entry_of_a_feature_is_found():
    prefix = np.array([1, 0, 5, 4, 4, 9])  # features 0, 2 and 4, their classes mixed
    assert [kernel.first_of(prefix, 1, f) for f in range(6)] == [0, 2, 2, 5, 5, 6]
    assert kernel.first_of(prefix[:0], 1, 3) == 0
