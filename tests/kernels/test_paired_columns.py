"""Columns with missing values: standardized, compared over complete pairs, settled by SAOLA's rule."""

import numpy as np
import pytest

from streamsieve._kernels import paired_columns
from tests.helpers.blocks import pieces
from tests.reference import fisher_z
from tests.reference.paired_saola import paired_saola


def with_missing(rng, n, m):
    X = rng.normal(size=(n, m)) * (rng.random((n, m)) < 0.8)
    X[rng.random((n, m)) < rng.choice([0.0, 0.2, 0.5], m)] = np.nan
    return X


def standardized(X, sparse):
    out, seen = np.full(X.shape[::-1], 7.0), np.zeros(X.shape[1], np.int64)
    paired_columns.standardize(*pieces(X, sparse), out, seen)
    return out, seen


@pytest.mark.parametrize("sparse", [False, True])
def test_columns_get_length_one_over_the_rows_seen(sparse):
    rng = np.random.default_rng(0)
    X = with_missing(rng, 30, 5)
    X[:, 1] += 1e9  # an offset costs few digits
    X[:, 2] = np.nan
    X[:, 3] = 4.0
    out, seen = standardized(X, sparse)
    assert seen.tolist() == (~np.isnan(X)).sum(axis=0).tolist()
    np.testing.assert_array_equal(np.isnan(out.T), np.isnan(X))
    for j in (0, 1, 4):
        there = ~np.isnan(X[:, j])
        np.testing.assert_allclose(
            out[j, there], fisher_z.unit(X[there, j : j + 1])[:, 0], atol=1e-6 if j == 1 else 1e-14
        )
        assert abs(out[j, there].sum()) < 1e-14
    assert not out[3].any()


def test_dense_and_sparse_columns_become_the_same_numbers():
    X = with_missing(np.random.default_rng(1), 25, 6)
    for one, other in zip(standardized(X, sparse=False), standardized(X, sparse=True), strict=True):
        np.testing.assert_array_equal(one, other)


def test_pairs_are_compared_over_complete_pairs():
    rng = np.random.default_rng(2)
    X = with_missing(rng, 30, 6)
    X[3:, 5] = np.nan  # three rows at most
    X[:20, 4], X[20:, 4] = 1.0, np.arange(10)
    X[20:, 3] = np.nan  # constant where both are seen
    columns = X.T.copy()
    for a in columns:
        for b in columns:
            both = ~np.isnan(a + b)
            r, rows = paired_columns.together(a, b)
            assert rows == both.sum()
            enough = rows >= 4
            expected = abs(fisher_z.correlation(a[both], b[both])) if enough else 0.0
            assert r == pytest.approx(expected, abs=1e-12)
    whole = standardized(rng.normal(size=(20, 2)), sparse=False)[0]
    assert paired_columns.product(*whole) == pytest.approx(paired_columns.together(*whole)[0], abs=1e-15)


@pytest.mark.parametrize("bound", ["min", "max"])
@pytest.mark.parametrize("variant", ["paper", "corrected"])
def test_decisions_are_those_of_the_twin_also_with_few_slots(bound, variant):
    rng = np.random.default_rng(3)
    happened = 0
    for slots in (2, 3, 16):
        n, m = 30, 12
        y = rng.normal(size=n)
        X = with_missing(rng, n, m)
        X += np.where(rng.random(m) < 0.7, y[:, None], 0) + np.where(rng.random(m) < 0.5, X[:, :1] * 0.3, 0)
        kept, decisions = paired_saola(X, y, "regression", alpha=0.5, bound=bound, variant=variant)
        relevant = [
            d.feature for d in decisions if d.event != "evicted" and d.reason in {"relevant", "redundant"}
        ]
        fresh, seen = standardized(X[:, relevant], sparse=False)
        relevance = np.array(
            [abs(fisher_z.correlation(x[~np.isnan(x)], y[~np.isnan(x)])) for x in X[:, relevant].T]
        )
        store = Store(n, slots, len(relevant))
        done, q, n_evicted = store.decide(fresh, seen, relevance, np.array(relevant), bound, variant)
        while done < len(relevant):
            assert q == len(store.order)
            store.grow()
            done, q, n_evicted = store.decide(
                fresh, seen, relevance, np.array(relevant), bound, variant, done, q, n_evicted
            )
        assert store.feature[store.order[:q]].tolist() == kept
        lost = {d.feature: d for d in decisions if d.event == "rejected" and d.by}
        assert store.by.tolist() == [lost[j].by[0] if j in lost else -1 for j in relevant]
        gone = [(d.feature, *d.by) for d in decisions if d.event == "evicted"]
        assert [*zip(store.evicted[:n_evicted], store.evicted_by[:n_evicted], strict=True)] == gone
        for k, j in enumerate(relevant):
            if j in lost:
                assert store.pair[k] == pytest.approx(lost[j].statistic, abs=1e-12)
                assert store.rows[k] == np.sum(~np.isnan(X[:, j] + X[:, lost[j].by[0]]))
        assert sorted(store.order) == list(range(len(store.order)))
        happened += len(gone) + len(lost)
    assert happened > 5


class Store:
    """Room for kept columns, and what the kernel fills."""

    def __init__(self, n, slots, m):
        self.columns, self.relevance = np.zeros((slots, n)), np.zeros(slots)
        self.seen, self.feature = np.zeros((2, slots), np.int64)
        self.order = np.arange(slots)
        self.by, self.rows = np.zeros((2, m), np.int64)
        self.pair, self.evicted_pair = np.zeros(m), np.zeros(2 * m)
        self.evicted, self.evicted_by, self.evicted_rows = np.zeros((3, 2 * m), np.int64)

    def grow(self):
        more = len(self.order)
        self.columns = np.pad(self.columns, ((0, more), (0, 0)))
        self.relevance, self.seen, self.feature = (
            np.pad(a, (0, more)) for a in (self.relevance, self.seen, self.feature)
        )
        self.order = np.concatenate([self.order, np.arange(more, 2 * more)])

    def decide(self, fresh, seen, relevance, feature, bound, variant, first=0, q=0, n_evicted=0):
        return paired_columns.decide(
            fresh, seen, relevance, feature, first, variant == "corrected", bound == "max", 1e-12,
            self.columns, self.seen, self.relevance, self.feature, self.order, q,
            self.by, self.pair, self.rows,
            self.evicted, self.evicted_by, self.evicted_pair, self.evicted_rows, n_evicted,
        )  # fmt: skip
