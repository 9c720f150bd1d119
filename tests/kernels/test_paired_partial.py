"""Separating sets where columns have missing values, against the slow judge."""

from itertools import combinations

import numpy as np
import pytest

from streamsieve._kernels import paired_columns, paired_partial
from tests.helpers.blocks import orthogonal, pieces
from tests.reference import fisher_z
from tests.reference.paired_partial import PairedPartialCorrelations, partial

BOTH = pytest.mark.parametrize("task", ["regression", "multiclass"])


def correlated(rng, task, n, p):
    """Return columns that share factors, with missing values, and a target that shares them too."""
    factors = rng.normal(size=(n, 3))
    X = factors @ rng.normal(size=(3, p)) + rng.normal(size=(n, p))
    y = factors @ rng.normal(size=3) + rng.normal(size=n)
    X[rng.random((n, p)) < rng.choice([0.0, 0.1, 0.3], p)] = np.nan
    return X, y if task == "regression" else np.searchsorted(np.quantile(y, [0.3, 0.6]), y)


def unit(y):
    return (y - y.mean()) / np.linalg.norm(y - y.mean())


def fresh(X):
    out, seen = np.empty(X.shape[::-1]), np.empty(X.shape[1], np.int64)
    paired_columns.standardize(*pieces(X, sparse=False), out, seen)
    return out


class Store:
    """Room for kept columns, and what the kernel fills."""

    def __init__(self, y, task, slots, m):
        n, many = len(y), task == "multiclass"
        self.y = np.zeros(0) if many else unit(y)
        self.labels = y.astype(np.int64) if many else np.zeros(0, np.int64)
        self.lost = 3
        self.columns = np.zeros((slots, n))
        self.pairs = np.zeros((3, slots, slots))
        self.total, self.within, self.alone = self.pairs
        self.joint = np.zeros((slots, slots), np.int64)
        self.loads = np.zeros((slots, 3 if many else 1))
        self.feature, self.order = np.zeros(slots, np.int64), np.arange(slots)
        self.record, self.statistic = np.full((2 * m + slots, 7), -1), np.zeros(2 * m + slots)
        self.record[:, 2] = 0

    def decide(self, X, share, most=3, newcomer_first=True, skip=True, first=0, q=0, n_evicted=0, tests=99):
        return paired_partial.decide(
            fresh(X), 100 + np.arange(X.shape[1]), first, newcomer_first, most, skip, tests, self.lost, share,
            self.y, self.labels, self.columns, self.pairs, self.loads, self.joint,
            self.feature, self.order, q, self.record, self.statistic, n_evicted,
        )  # fmt: skip


@BOTH
def test_pairs_of_columns_are_what_the_judge_says_of_complete_rows(task):
    rng = np.random.default_rng(0)
    X, y = correlated(rng, task, 40, 6)
    X[3:, 5] = np.nan  # too few rows
    X[y == y[0], 4] = np.nan
    store = Store(y, task, 8, 6)
    assert store.decide(X, np.full(41, 2.0), most=0)[:2] == (6, 6)
    judge = PairedPartialCorrelations(X, y, task, alpha=0.5)
    for a, b in combinations(range(6), 2):
        r, rows = judge.pair(a, b)
        assert (store.total[a, b], store.joint[a, b]) == pytest.approx((r, rows), abs=1e-12)
        assert (store.total[b, a], store.joint[b, a]) == (store.total[a, b], store.joint[a, b])
        for x, z in ((a, b), (b, a)):
            both = np.array([judge.loads(c, (a, b)) for c in (z, x)])
            M = np.block([[np.array([[1, r], [r, 1]]), both], [both.T, np.eye(both.shape[1])]])
            assert store.alone[x, z] == pytest.approx(partial(M, 1), abs=1e-12)
    np.testing.assert_allclose(store.loads[:6], [judge.loads(j) for j in range(6)], atol=1e-12)
    left = store.total - store.loads @ store.loads.T
    np.testing.assert_allclose(store.within[:6, :6], left[:6, :6], atol=1e-12)


def test_rows_over_which_the_target_is_constant_count_as_none():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 2))
    X[:15, 0] = X[20:, 1] = np.nan
    for y, task in ((np.arange(30) // 15, "multiclass"), ((np.arange(30) >= 15).astype(float), "regression")):
        store = Store(y, task, 4, 2)
        store.decide(X, np.full(31, 2.0), most=0)
        assert store.joint[:2, :2].tolist() == [[0, 0], [0, 20]]


def settled(judge, X, most, newcomer_first):
    """Return verdicts on candidates 100, 101, ..., evictions, and kept, in a few lines."""
    kept, verdicts, evictions = [], [], []

    def separator(t, others, member=None):
        for size in range(1, most + 1):
            sets = [Z for Z in combinations(others, size) if member in (None, *Z)]
            for Z in judge.in_turn(t, sets):
                answer = judge.given(t, Z)
                if answer is not None:
                    return answer[0], answer[1], tuple(100 + i for i in Z)
        return None

    for new in range(X.shape[1]):
        fallen = separator(new, kept) if newcomer_first else None
        for old in list(kept) if fallen is None else []:
            found = separator(old, [*(k for k in kept if k != old), new], new)
            if found is not None:
                kept.remove(old)
                evictions.append((100 + old, 100 + new, *found))
        fallen = fallen if newcomer_first else separator(new, kept)
        kept += [] if fallen else [new]
        verdicts.append(fallen)
    return verdicts, evictions, kept


CODE = {"redundant": 1, "collinear": 2, "unreliable test": 3}


@BOTH
@pytest.mark.parametrize("newcomer_first", [True, False])
def test_decisions_are_those_of_the_judge(newcomer_first, task):
    rng = np.random.default_rng(3)
    happened = 0
    for case in range(4):
        X, y = correlated(rng, task, 30, 7)
        skip, most, alpha = case % 2 == 0, 1 + case % 3, 0.05
        if case == 3:
            X[:, 4] = 2 * X[:, 1] - 1
            X[: int(rng.integers(22, 27)), 2] = np.nan
        judge = PairedPartialCorrelations(
            X, y, task, alpha=alpha, unreliable="skip" if skip else "independent"
        )
        verdicts, evictions, kept = settled(judge, X, most, newcomer_first)
        share = np.array([-1.0, *(1 - judge.critical(f) ** 2 for f in range(1, 31))])
        store = Store(y, task, 8, 7)
        store.lost = 30 - judge.freedom(30, 0)
        done, q, n_evicted = store.decide(X, share, most, newcomer_first, skip)
        assert done == 7
        assert store.feature[store.order[:q]].tolist() == [100 + j for j in kept]
        for k, v in enumerate(verdicts):
            assert store.record[k, 2] == (CODE[v[0]] if v else 0)
            if v:
                assert store.statistic[k] == pytest.approx(v[1], abs=1e-9)
                assert tuple(i for i in store.record[k, 4:].tolist() if i >= 0) == v[2]
                if v[0] != "unreliable test":
                    complete = judge.seen[:, [k, *(i - 100 for i in v[2])]].all(axis=1)
                    assert store.record[k, 3] == judge.freedom(complete.sum(), len(v[2]))
        for row, (old, new, reason, statistic, by) in enumerate(evictions, start=7):
            assert store.record[row, :3].tolist() == [old, new, CODE[reason]]
            assert store.statistic[row] == pytest.approx(statistic, abs=1e-9)
            assert tuple(i for i in store.record[row, 4:].tolist() if i >= 0) == by
        assert n_evicted == len(evictions)
        assert sorted(store.order) == list(range(8))
        happened += len(evictions) + sum(v is not None for v in verdicts)
    assert happened > 5


def test_when_all_slots_are_taken_the_kernel_comes_back_and_goes_on_with_more():
    X = orthogonal(30, 6)
    X[0, 2] = np.nan
    y = np.nan_to_num(X).sum(axis=1)
    share = np.full(31, 2.0)  # no column leaves
    store, whole = Store(y, "regression", 4, 6), Store(y, "regression", 8, 6)
    assert store.decide(X, share, most=1)[:2] == (4, 4)
    grown = Store(y, "regression", 8, 6)
    for name in ("columns", "loads", "feature"):
        getattr(grown, name)[:4] = getattr(store, name)
    grown.pairs[:, :4, :4], grown.joint[:4, :4] = store.pairs, store.joint
    assert grown.decide(X, share, most=1, first=4, q=4) == whole.decide(X, share, most=1)
    np.testing.assert_array_equal(grown.pairs, whole.pairs)
    np.testing.assert_array_equal(grown.columns, whole.columns)


def test_complete_columns_have_their_plain_partial_correlations():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 4)) + rng.normal(size=(40, 1))
    y = X.sum(axis=1) + rng.normal(size=40)
    store = Store(y, "regression", 4, 4)
    store.decide(X, np.full(41, 2.0), most=0)
    for size in (2, 3):
        some = [*range(size), 3]
        r = paired_partial.strength(
            store.total[np.ix_(some, some)], store.loads[some], size, True, np.empty((4, 1)), np.empty((9, 9))
        )
        expected = fisher_z.partial(X[:, 3], y[:, None], X[:, :size])
        assert r == pytest.approx(expected, abs=1e-12)


@BOTH
def test_correlations_over_complete_rows_are_those_of_the_rows(task):
    rng = np.random.default_rng(6)
    for case in range(8):
        X, y = correlated(rng, task, 60, 4)
        X[rng.random(X.shape) < 0.2] = np.nan
        size, t = 2 + case % 2, 3
        store = Store(y, task, 4, 4)
        store.decide(X, np.full(61, 2.0), most=0)
        some, contrasts = [*range(size), t], store.loads.shape[1]
        seen = ~np.isnan(X[:, some]).any(axis=1)

        def over_complete_rows(y, labels, store=store, some=some, contrasts=contrasts):
            sums, counts, by_class = np.zeros(21), np.zeros(contrasts, np.int64), np.zeros((4, contrasts))
            total, loads, size = np.zeros((9, 9)), np.zeros((4, contrasts)), len(some) - 1
            for low in range(0, 60, 17):
                rows = low, min(low + 17, 60)
                paired_partial.add_rows(
                    store.columns, 3, np.arange(3), size, y, labels, *rows, sums, counts, by_class
                )
            n = paired_partial.correlations(
                sums, counts, by_class, size, contrasts == 1, total, loads, np.empty(9)
            )
            return n, total[: size + 1, : size + 1], loads[: size + 1]

        rows, total, loads = over_complete_rows(store.y, store.labels)
        assert rows == seen.sum()
        np.testing.assert_allclose(total, np.corrcoef(X[np.ix_(seen, some)].T), atol=1e-12)
        ratios = [
            fisher_z.correlation_ratio(X[seen, j], y[seen]) if contrasts > 1
            else abs(np.corrcoef(X[seen, j], y[seen])[0, 1])
            for j in some
        ]  # fmt: skip
        np.testing.assert_allclose(np.linalg.norm(loads, axis=1), ratios, atol=1e-12)
        y_there = np.where(seen, 0.5, store.y) if contrasts == 1 else store.y
        labels = np.where(seen, 1, store.labels) if contrasts > 1 else store.labels
        assert over_complete_rows(y_there, labels)[0] == 0


def test_no_more_sets_than_asked_for_are_tested_row_by_row():
    """x is independent of y given {0, 1} over complete rows, which pairwise correlations deny."""
    rng = np.random.default_rng(7)
    Z = rng.normal(size=(2000, 2))
    y = Z.sum(axis=1) + rng.normal(size=2000)
    x = Z.sum(axis=1) + rng.normal(size=2000)
    X = np.column_stack([Z, np.where(y > 0.4, np.nan, x)])
    judge = PairedPartialCorrelations(X, y, "regression", alpha=0.01)
    share = np.array([-1.0, *(1 - judge.critical(f) ** 2 for f in range(1, 2001))])
    assert judge.looks_dependent(2, (0, 1))
    for tests, found in ((0, 0), (1, CODE["redundant"])):
        store = Store(y, "regression", 4, 3)
        store.decide(X, share, tests=tests)
        assert store.record[2, 2] == found
