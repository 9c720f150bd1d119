"""Codes keep apart what differs, and their information is that of the contingency table."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import xlogy

from streamsieve._kernels import discrete as kernel
from streamsieve._kernels import table_tests
from streamsieve.column_types import few_levels
from tests.helpers.blocks import arrays
from tests.helpers.tier import cases, spread
from tests.reference.levels import are_levels
from tests.reference.saola import cut, entropies

TIE = 1e-12
REASONS = (0, 1, 2, 3)  # kept, constant, irrelevant, redundant
KEPT, CONSTANT, IRRELEVANT, REDUNDANT = REASONS


def c_ln_c(n):
    return xlogy(np.arange(n + 1.0), np.arange(n + 1.0))


def room(n, bins):
    """Return room for the counts of a column's codes."""
    return np.zeros(max(kernel.most_levels(n) + 1, bins), np.int64)


def listed(x, rows, bins, *, by_tables=False):
    """Return one code per row, and the counts, by a kernel that lists the rows whose code is not 0."""
    n = len(x)
    out_rows, out, counts = np.empty(n, np.int32), np.empty(n, np.uint16), room(n, bins)
    if by_tables:
        length, levels = table_tests._encode(
            x[rows], rows, n, bins, np.empty(kernel.most_levels(n) + 1), out_rows, out, counts
        )
    else:
        length, levels = kernel.encode(x[rows], rows, len(rows), n, bins, out_rows, out, counts)
    codes = np.zeros(n, np.int64)
    codes[out_rows[:length]] = out[:length]
    assert np.all(out[:length] > 0) or by_tables
    assert not by_tables or levels == len(np.unique(codes))
    return codes, counts[:levels]


def stored(x, rows, bins):
    """Return one code per row, and the counts, by the kernel that codes the stored values."""
    codes, out, counts = np.zeros(len(x), int), np.zeros(len(rows), np.uint16), room(len(x), bins)
    used, size = kernel.encode_stored(x[rows], len(x), bins, out, counts)
    codes[rows] = out
    assert used == len(np.unique(codes))
    return codes, counts[:size]


def same_partition(a, b):
    return len({*zip(a.tolist(), b.tolist(), strict=True)}) == len({*a.tolist()}) == len({*b.tolist()})


@pytest.mark.parametrize("bins", [2, 5, 7, 40])
@pytest.mark.parametrize("encoded", [listed, partial(listed, by_tables=True), stored])
def test_codes_are_names_of_values_or_of_bins_wherever_zeros_lie(encoded, bins):
    """One discretization, though each compiled file has its own."""
    rng = np.random.default_rng(0)
    for n in (1, 2, 30, 60, 120):
        normal = rng.normal(size=n)
        columns = [
            normal, np.abs(normal), -np.abs(normal) * (rng.random(n) < 0.6), normal * (rng.random(n) < 0.1),
            rng.integers(-2, 3, n), np.arange(n) % 31, np.arange(n) % 32 - 16, np.arange(n) % 33 - 16,
            np.zeros(n), np.where(rng.random(n) < 0.8, 5.0, normal), np.full(n, 3.0), normal * -0.0,
        ]  # fmt: skip
        for x in (np.asarray(column, float) for column in columns):
            wanted = x if are_levels(x) else cut(x, bins)
            for given in (np.ones(n, bool), x != 0, (x != 0) | (rng.random(n) < 0.5)):
                codes, counts = encoded(x, np.flatnonzero(given).astype(np.int32), bins)
                assert same_partition(codes, wanted)
                assert np.bincount(codes, minlength=len(counts)).tolist() == counts.tolist()
                assert np.all(codes[x == 0] == 0) or given.all()


@pytest.mark.parametrize("encoded", [listed, partial(listed, by_tables=True), stored])
def test_whole_numbers_that_repeat_keep_their_levels(encoded):
    """A column of names may have more levels than 32; fractions and numbers that hardly repeat are binned."""
    rng = np.random.default_rng(3)
    for n in spread([659, 660, 661, 900, 5121, 6000], 3):
        for levels in (32, 33, 34, 45, 46, 254, 255, 256, 257, 258):
            whole = np.r_[np.arange(levels), rng.integers(0, levels, n)][:n].astype(float)
            late = np.r_[np.arange(levels) % 40, np.full(n - levels - 1, 3), 0.5].astype(float)
            for x in (whole, whole - 20.0, whole + 1.0, whole / 4, late, rng.permutation(late)):
                wanted = x if are_levels(x) else cut(x, 5)
                for given in (np.ones(n, bool), x != 0):
                    codes, counts = encoded(x, np.flatnonzero(given).astype(np.int32), 5)
                    assert same_partition(codes, wanted)
                    assert np.bincount(codes, minlength=len(counts)).tolist() == counts.tolist()


def test_one_rule_of_levels():
    """Compiled files stand alone, so each has its own copy."""
    for n in (1, 80, 639, 640, 660, 3000, 5119, 5120, 10**6):
        assert kernel.most_levels(n) == table_tests.most_levels(n) == max(32, few_levels(n))


def test_entropy_is_that_of_the_counts():
    counts = np.array([3, 0, 5, 2, 99])  # the last one is beyond the levels
    p = np.array([0.3, 0.5, 0.2])
    assert kernel.entropy(counts, 4, 10, c_ln_c(10)) == pytest.approx(-10 * np.sum(p * np.log(p)))
    assert kernel.entropy(np.array([10, 0]), 2, 10, c_ln_c(10)) == 0.0


def test_information_of_listed_columns_is_that_of_their_tables_and_never_negative():
    rng = np.random.default_rng(2)
    n, g = 30, c_ln_c(30)
    a = np.stack([np.r_[:k, rng.integers(0, k, n - k)] for k in (1, 2, 3, 5, 9)]).astype(np.uint16)
    columns, rows = np.nonzero(a)
    pointers = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=5))])
    levels = a.max(axis=1).astype(np.int64) + 1
    h = np.array([kernel.entropy(np.bincount(x), k, n, g) for x, k in zip(a, levels, strict=True)])
    wanted = np.array([3, 0, 4, 2, 1])
    for others in (2, 3, 6):
        b = np.r_[:others, rng.integers(0, others, n - others)].astype(np.uint16)
        b_h, out = kernel.entropy(np.bincount(b), others, n, g), np.zeros(5)
        for low, high in ((0, 1), (1, 5)):
            kernel.informations(
                pointers, rows.astype(np.int32), a[columns, rows], levels, h, wanted,
                b, np.bincount(b), b_h, g, low, high, out,
            )  # fmt: skip
        np.testing.assert_allclose(out, [n * entropies(a[j], b)[2] for j in wanted], atol=1e-10)
        assert np.all(out >= 0.0)


def test_information_and_entropy_of_blocks_and_of_one_against_many():
    rng = np.random.default_rng(1)
    n, bins = 60, 4
    y = rng.integers(0, 3, n).astype(np.uint16)
    X = np.column_stack([rng.normal(size=n) * (rng.random(n) < s) + y for s in (0.1, 0.5, 1)] + [np.ones(n)])
    X = np.column_stack([X, rng.integers(0, 3, (n, 3)) * (rng.random((n, 3)) < 0.4)])
    S = sp.csc_array(X)
    g = c_ln_c(n)
    shared, spread, levels = np.zeros(7), np.zeros(7), np.zeros(7, np.int64)
    counts = np.bincount(y)
    h = kernel.entropy(counts, 3, n, g)
    kernel.measure(*arrays(S), bins, y, counts, h, g, shared, spread, levels, 0, 7)
    names = [x if are_levels(x) else cut(x, bins) for x in X.T]
    expected = [entropies(x, y) for x in names]
    np.testing.assert_allclose(shared / n, [e[2] for e in expected], atol=1e-12)
    np.testing.assert_allclose(spread / n, [e[0] for e in expected], atol=1e-12)
    assert levels.tolist() == [len(np.unique(x)) for x in names]

    kept, kept_counts, kept_spread = np.zeros((7, n), np.uint16), np.zeros((7, 33), np.int64), np.zeros(7)
    for s in range(7):
        part = slice(S.indptr[s], S.indptr[s + 1])
        row, row_counts, found = np.zeros(n, np.uint16), np.zeros(33, np.int64), np.zeros(7)
        kept_spread[s] = kernel.compare(
            S.indices[part], S.data[part], bins, kept, kept_counts, kept_spread, s, g, found, row, row_counts
        )
        kept[s], kept_counts[s] = row, row_counts
        wanted = [entropies(names[s], names[t])[2] for t in range(s)]
        np.testing.assert_allclose(found[:s] / n, wanted, atol=1e-12)
        assert row_counts.tolist() == np.bincount(row, minlength=33).tolist()


class Store:
    """Room for some coded columns, and what the kernel fills."""

    def __init__(self, y, slots, m):
        n = len(y)
        self.y = y.astype(np.uint16)
        self.g = c_ln_c(n)
        self.y_counts = np.bincount(y).astype(np.int64)
        self.y_h = kernel.entropy(self.y_counts, len(self.y_counts), n, self.g)
        self.kept = (
            np.zeros((slots, n), np.uint16), np.zeros((slots, 33), np.int64), np.zeros(slots, np.int64),
            np.zeros(slots), np.zeros(slots), np.zeros(slots, np.int64),
        )  # fmt: skip
        self.reason, self.statistic, self.by = np.zeros(m, np.uint8), np.zeros(m), np.full(m, -1, np.int64)
        self.evicted, self.evicted_by = np.empty((2, slots + m), np.int64)
        self.evicted_pair = np.empty(slots + m)
        self.cell = np.zeros(33 * 33, np.int64)

    def decide(self, X, normalized, delta, two_phase, use_max, first=0, q=0, n_evicted=0):
        return kernel.decide(
            *arrays(sp.csc_array(X)), first, 100, 5,
            self.y, self.y_counts, self.y_h, normalized, delta, two_phase, use_max, TIE,
            *self.kept, q, self.reason, self.statistic, self.by,
            self.evicted, self.evicted_by, self.evicted_pair, n_evicted, self.g, self.cell, REASONS,
        )  # fmt: skip


def settled(X, y, normalized, delta, two_phase, use_max):
    """Return reasons, statistics, by and evictions of columns 100, 101, ... in a few lines."""
    columns = [np.unique(x, return_inverse=True)[1] for x in X.T]

    def depend(a, b):
        h_a, h_b, shared = entropies(a, b)
        return 2 * shared / (h_a + h_b) if normalized else shared

    relevance = [depend(x, y) if x.any() else 0.0 for x in columns]
    kept, verdicts, evictions = [], [], []
    for j, x in enumerate(columns):
        if not x.any():
            verdicts.append((CONSTANT, 0.0, -1))
            continue
        if relevance[j] <= delta + TIE:
            verdicts.append((IRRELEVANT, relevance[j], -1))
            continue
        verdict, dropped = (KEPT, relevance[j], -1), []
        for i in kept:
            pair, both = depend(x, columns[i]), (relevance[i], relevance[j])
            bound = max(delta, max(both) if use_max else min(both))
            if abs(both[0] - both[1]) <= TIE or pair <= bound + TIE:
                continue
            if relevance[i] > relevance[j]:
                verdict = (REDUNDANT, pair, 100 + i)
                break
            dropped.append((i, pair))
        if verdict[0] == KEPT or not two_phase:
            evictions += [(100 + i, 100 + j, pair) for i, pair in dropped]
            kept = [i for i in kept if i not in [d[0] for d in dropped]]
        if verdict[0] == KEPT:
            kept.append(j)
        verdicts.append(verdict)
    return verdicts, evictions, [100 + j for j in kept]


@pytest.mark.parametrize("two_phase", [False, True])
@pytest.mark.parametrize("use_max", [False, True])
@pytest.mark.parametrize("normalized", [False, True])
def test_decisions_are_those_of_a_few_lines(normalized, use_max, two_phase):
    rng = np.random.default_rng(3)
    for case in range(cases(30)):
        n, m = 20, 20
        y = np.concatenate([[0, 1, 2], rng.integers(0, 3, n - 3)])
        noise = rng.random((n, m)) < rng.random(m)
        X = np.where(noise, rng.integers(0, 3, (n, m)), y[:, None] * rng.integers(0, 3, m)).astype(float)
        X[:, 9] = X[:, 3]
        delta = (0.0, 0.07)[case % 2]
        store = Store(y, 24, m)
        done, q, n_evicted = store.decide(X, normalized, delta, two_phase, use_max)
        verdicts, evictions, kept = settled(X, y, normalized, delta, two_phase, use_max)
        assert done == m
        assert store.reason.tolist() == [v[0] for v in verdicts]
        assert store.by.tolist() == [v[2] for v in verdicts]
        np.testing.assert_allclose(store.statistic, [v[1] for v in verdicts], atol=1e-12)
        assert store.evicted[:n_evicted].tolist() == [e[0] for e in evictions]
        assert store.evicted_by[:n_evicted].tolist() == [e[1] for e in evictions]
        np.testing.assert_allclose(store.evicted_pair[:n_evicted], [e[2] for e in evictions], atol=1e-12)
        assert store.kept[5][:q].tolist() == kept
        assert all(same_partition(store.kept[0][i], X[:, f - 100]) for i, f in enumerate(kept))


@pytest.mark.parametrize("normalized", [False, True])
def test_a_column_at_delta_is_irrelevant_and_one_above_is_not(normalized):
    y, x = np.array([0, 0, 1, 1]), np.array([[0.0, 1, 0, 1], [0, 0, 1, 1]]).T
    shared = 1.0 if normalized else np.log(2)
    for delta, wanted in (
        (0.0, [IRRELEVANT, KEPT]),
        (shared - 1e-9, [IRRELEVANT, KEPT]),
        (shared, [IRRELEVANT] * 2),
    ):
        store = Store(y, 4, 2)
        store.decide(x, normalized, delta, False, False)
        assert store.reason.tolist() == wanted


def test_a_doomed_column_evicts_only_what_it_met_before_it_fell():
    """What the column before evicted further down the list must not be evicted again."""
    rng = np.random.default_rng(5)
    met = 0
    for _ in range(200):
        y = np.concatenate([[0, 1], rng.integers(0, 2, 22)])
        X = np.where(rng.random((24, 9)) < rng.random(9) * 0.5, rng.integers(0, 3, (24, 9)), y[:, None])
        store = Store(y, 12, 9)
        _, q, n_evicted = store.decide(X.astype(float), True, 0.0, False, False)
        verdicts, evictions, kept = settled(X, y, True, 0.0, two_phase=False, use_max=False)
        assert store.evicted[:n_evicted].tolist() == [e[0] for e in evictions]
        assert store.kept[5][:q].tolist() == kept
        met += any(verdicts[by - 100][0] == REDUNDANT for _, by, _ in evictions)
    assert met > 0


def test_when_all_slots_are_taken_the_kernel_comes_back_and_can_go_on():
    rng = np.random.default_rng(4)
    y = np.array([0, 1] * 8)
    X = np.repeat(np.where(rng.random(16) < 0.2, 1 - y, y)[:, None], 5, axis=1).astype(float)
    store = Store(y, 3, 5)
    done, q, n_evicted = store.decide(X, True, 0.0, False, False)
    assert (done, q, n_evicted) == (3, 3, 0)
    store.kept = tuple(np.concatenate([a, np.zeros_like(a)]) for a in store.kept)
    done, q, n_evicted = store.decide(X, True, 0.0, False, False, first=done, q=q)
    assert (done, q, n_evicted) == (5, 5, 0)
    assert store.kept[5][:5].tolist() == [100, 101, 102, 103, 104]
