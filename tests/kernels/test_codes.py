"""Codes keep apart what differs, and their information is that of the contingency table."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import xlogy

from streamsieve._kernels import codes
from tests.helpers.tier import cases

TIE = 1e-12
REASONS = (0, 1, 2, 3)  # kept, constant, irrelevant, redundant
KEPT, CONSTANT, IRRELEVANT, REDUNDANT = REASONS


def table_of_c_ln_c(n):
    return xlogy(np.arange(n + 1.0), np.arange(n + 1.0))


def encoded(x, bins=5, *, explicit_zeros=False):
    """Return one code a row, and the counts of the levels, as the kernel sees the column."""
    n = len(x)
    rows = np.arange(n, dtype=np.int32) if explicit_zeros else np.flatnonzero(x).astype(np.int32)
    out_rows, out_codes = np.empty(n, np.int32), np.empty(n, np.uint16)
    counts = np.empty(max(codes.LEVELS + 1, bins), np.int64)
    stored = len(rows)
    length, levels = codes.encode(x[rows], rows, stored, n, bins, out_rows, out_codes, counts)
    code = np.zeros(n, np.int64)
    code[out_rows[:length]] = out_codes[:length]
    assert np.all(out_codes[:length] > 0)
    assert np.array_equal(np.bincount(code, minlength=levels), counts[:levels])
    return code, levels


def same_partition(a, b):
    """Whether two codings put the same rows together."""
    return np.array_equal(a[:, None] == a[None, :], b[:, None] == b[None, :])


def cut(x, bins):
    cuts = np.sort(x)[np.arange(1, bins) * (len(x) // bins) - 1]
    return np.searchsorted(cuts, x, side="left")


def information_of(a, b):
    """Return the mutual information of two lists of codes, in nats, and their entropies."""
    joint = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(joint, (a, b), 1 / len(a))
    h_a, h_b, h_ab = (-xlogy(p, p).sum() for p in (joint.sum(axis=1), joint.sum(axis=0), joint))
    return h_a + h_b - h_ab, h_a, h_b


# ------------------------------------------------------------------------------------ coding


@pytest.mark.parametrize("explicit_zeros", [False, True])
def test_few_values_get_a_code_each(explicit_zeros):
    rng = np.random.default_rng(0)
    for levels in (1, 2, 5, 31, codes.LEVELS):
        x = rng.permutation(np.arange(70) % levels - levels // 2) * 0.5
        code, _ = encoded(x, explicit_zeros=explicit_zeros)
        assert same_partition(code, x)
        assert np.all(code[x == 0] == 0)


@pytest.mark.parametrize("explicit_zeros", [False, True])
@pytest.mark.parametrize("bins", [2, 5, 7, 40])
def test_many_values_are_cut_into_bins_of_equal_frequency(bins, explicit_zeros):
    rng = np.random.default_rng(1)
    for share in (0.0, 0.1, 0.4):
        for sign in (np.abs, np.negative, np.asarray):
            x = sign(rng.normal(size=80)) * (rng.random(80) >= share)
            code, levels = encoded(x, bins, explicit_zeros=explicit_zeros)
            assert same_partition(code, cut(x, bins))
            assert levels == bins
            assert np.all(code[x == 0] == 0)


def test_negative_zero_is_zero():
    assert encoded(np.array([0.0, -0.0, 1.0]), explicit_zeros=True)[0].tolist() == [0, 0, 1]


# ------------------------------------------------------------------------------------ information


def test_entropy_is_that_of_the_counts():
    counts = np.array([3, 0, 5, 2, 99])  # the last one is beyond the levels
    p = np.array([0.3, 0.5, 0.2])
    assert codes.entropy(counts, 4, 10, table_of_c_ln_c(10)) == pytest.approx(-10 * np.sum(p * np.log(p)))
    assert codes.entropy(np.array([10, 0]), 2, 10, table_of_c_ln_c(10)) == 0.0


def test_information_is_that_of_the_table_and_never_negative():
    rng = np.random.default_rng(2)
    n = 30
    g = table_of_c_ln_c(n)
    for levels, others in ((2, 2), (3, 5), (6, 2), (2, 9)):
        a, b = rng.integers(0, levels, n), rng.integers(0, others, n).astype(np.uint16)
        a[:levels], b[:others] = np.arange(levels), np.arange(others)
        rows = np.flatnonzero(a).astype(np.int32)
        b_counts = np.bincount(b).astype(np.int64)
        h_a, h_b = (
            codes.entropy(np.bincount(c).astype(np.int64), k, n, g) for c, k in ((a, levels), (b, others))
        )
        cell = np.full(64, 77, np.int64)  # what was left there must not matter
        found = codes.information(
            rows, a[rows].astype(np.uint16), len(rows), levels, h_a, b, b_counts, others, h_b, g, cell
        )
        assert found == pytest.approx(n * information_of(a, b)[0], abs=1e-10)
        assert found >= 0.0


# ------------------------------------------------------------------------------------ deciding


class Store:
    """Room for some coded columns, and what the kernel fills."""

    def __init__(self, y, slots, m):
        n = len(y)
        self.y = y.astype(np.uint16)
        self.g = table_of_c_ln_c(n)
        self.y_counts = np.bincount(y).astype(np.int64)
        self.y_h = codes.entropy(self.y_counts, len(self.y_counts), n, self.g)
        self.kept = (
            np.zeros((slots, n), np.uint16), np.zeros((slots, 33), np.int64), np.zeros(slots, np.int64),
            np.zeros(slots), np.zeros(slots), np.zeros(slots, np.int64),
        )  # fmt: skip
        self.reason, self.statistic, self.by = np.zeros(m, np.uint8), np.zeros(m), np.full(m, -1, np.int64)
        self.evicted, self.evicted_by = np.empty((2, slots + m), np.int64)
        self.evicted_pair = np.empty(slots + m)
        self.cell = np.zeros(33 * 33, np.int64)

    def decide(self, X, normalised, delta, two_phase, use_max, first=0, q=0, n_evicted=0):
        S = sp.csc_array(X)
        return codes.decide(
            S.indptr.astype(np.int64), S.indices.astype(np.int32), S.data, first, 100, 5,
            self.y, self.y_counts, self.y_h, normalised, delta, two_phase, use_max, TIE,
            *self.kept, q, self.reason, self.statistic, self.by,
            self.evicted, self.evicted_by, self.evicted_pair, n_evicted, self.g, self.cell, REASONS,
        )  # fmt: skip


def settled(X, y, normalised, delta, two_phase, use_max):
    """Return reasons, statistics, by and evictions of columns 100, 101, ... in a few lines."""
    columns = [np.unique(x, return_inverse=True)[1] for x in X.T]

    def depend(a, b):
        shared, h_a, h_b = information_of(a, b)
        return 2 * shared / (h_a + h_b) if normalised else shared

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
@pytest.mark.parametrize("normalised", [False, True])
def test_decisions_are_those_of_a_few_lines(normalised, use_max, two_phase):
    rng = np.random.default_rng(3)
    for case in range(cases(30)):
        n, m = 20, 20
        y = np.concatenate([[0, 1, 2], rng.integers(0, 3, n - 3)])
        noise = rng.random((n, m)) < rng.random(m)
        X = np.where(noise, rng.integers(0, 3, (n, m)), y[:, None] * rng.integers(0, 3, m)).astype(float)
        X[:, 9] = X[:, 3]
        delta = (0.0, 0.07)[case % 2]
        store = Store(y, 24, m)
        done, q, n_evicted = store.decide(X, normalised, delta, two_phase, use_max)
        verdicts, evictions, kept = settled(X, y, normalised, delta, two_phase, use_max)
        assert done == m
        assert store.reason.tolist() == [v[0] for v in verdicts]
        assert store.by.tolist() == [v[2] for v in verdicts]
        np.testing.assert_allclose(store.statistic, [v[1] for v in verdicts], atol=1e-12)
        assert store.evicted[:n_evicted].tolist() == [e[0] for e in evictions]
        assert store.evicted_by[:n_evicted].tolist() == [e[1] for e in evictions]
        np.testing.assert_allclose(store.evicted_pair[:n_evicted], [e[2] for e in evictions], atol=1e-12)
        assert store.kept[5][:q].tolist() == kept
        assert all(same_partition(store.kept[0][i], X[:, f - 100]) for i, f in enumerate(kept))


@pytest.mark.parametrize("normalised", [False, True])
def test_a_column_at_delta_is_irrelevant_and_one_above_is_not(normalised):
    y, x = np.array([0, 0, 1, 1]), np.array([[0.0, 1, 0, 1], [0, 0, 1, 1]]).T
    shared = 1.0 if normalised else np.log(2)
    for delta, wanted in (
        (0.0, [IRRELEVANT, KEPT]),
        (shared - 1e-9, [IRRELEVANT, KEPT]),
        (shared, [IRRELEVANT] * 2),
    ):
        store = Store(y, 4, 2)
        store.decide(x, normalised, delta, False, False)
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
