"""OGFS decides as its slow twin does, whatever the blocks, and keeps its laws."""

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import Lasso

from streamsieve.columns.ogfs import OGFS
from tests.columns.streams import TASKS, columns, lines, target
from tests.real_data import load_real


def standardized(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def scores(X, y):
    """Variance between classes over that within them, column by column."""
    Z, high = standardized(X), y == 1
    means = np.array([Z[~high].mean(axis=0), Z[high].mean(axis=0)])
    between = (1 - high.mean()) * means[0] ** 2 + high.mean() * means[1] ** 2
    return between / (1 - between)


def test_sorted_from_best_to_worst_one_column_is_accepted_and_nearly_all_the_other_way():
    """A ratio of sums grows if and only if the new ratio is above it: the mediant."""
    rng = np.random.default_rng(2)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 50)) + y[:, None] * rng.random(50)
    order = np.argsort(scores(X, y))
    sieve = OGFS(min_gain=0, alpha=1e-9, l1=1e-6, group_size=50)
    assert sieve.fit(X[:, order[::-1]], y).selected_.tolist() == [0]
    assert len(sieve.fit(X[:, order], y).selected_) == 50


def test_a_group_that_is_accepted_whole_meets_the_lasso():
    rng = np.random.default_rng(3)
    found = 0
    for penalty in (0.02, 0.1, 0.3):
        y = rng.integers(0, 2, 60)
        X = rng.normal(size=(60, 12)) + y[:, None] * rng.random(12)
        X = X[:, np.argsort(scores(X, y))]
        model = Lasso(penalty, tol=1e-12, max_iter=100_000).fit(standardized(X), (y - y.mean()) / y.std())
        sieve = OGFS(min_gain=0, l1=penalty, group_size=12).fit(X, y)
        assert sieve.selected_.tolist() == np.flatnonzero(model.coef_).tolist()
        found += len(sieve.selected_)
    assert found > 10


def test_after_every_group_the_model_is_at_its_optimum():
    """A kept column's product with the residual is the penalty, times the sign of its weight."""
    rng = np.random.default_rng(4)
    for task in TASKS:
        y = target(rng, task, 60)
        X = rng.normal(size=(60, 60)) + rng.random(60) * y[:, None]
        sieve = OGFS(min_gain=0, l1=0.05, group_size=4).begin(y)
        for low in range(0, 60, 4):
            sieve.offer(X[:, low : low + 4])
            groups = sieve._process_.store
            Z, W = (groups.slots[name][groups.kept] for name in ("columns", "weights"))
            rest = Z @ (groups.test.basis - Z.T @ W)
            lengths = np.linalg.norm(W, axis=1, keepdims=True)
            assert np.all(lengths > 0)
            np.testing.assert_allclose(rest, 0.05 * W / lengths, atol=1e-8)
            assert np.array_equal(groups.kept_gram().shape, (len(Z), len(Z)))
            np.testing.assert_allclose(groups.kept_gram(), Z @ Z.T, atol=1e-12)
        assert len(sieve.selected_) > 2


def test_a_copy_of_a_kept_column_is_redundant():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 80)
    x = y + rng.normal(size=80)
    sieve = OGFS(group_size=1).fit(np.c_[x, -3 * x, x], y)
    assert sieve.selected_.tolist() == [0]
    assert [(d.reason, d.by) for d in sieve.ledger_][1:] == [("redundant", ("x0",))] * 2


def test_units_do_not_matter():
    rng = np.random.default_rng(7)
    y = rng.integers(0, 3, 60)
    X = columns(rng, y, 30, far=False)
    expected = lines(OGFS(l1=0.05).fit(X, y))
    assert lines(OGFS(l1=0.05).fit(X * 2.0 ** rng.integers(-40, 40, 30) + 3, y)) == expected


def test_more_columns_than_slots():
    rng = np.random.default_rng(8)
    Q = np.linalg.qr(np.c_[np.ones(100), rng.normal(size=(100, 70))])[0][:, 1:]
    y = Q.sum(axis=1) + 0.01
    sieve = OGFS(l1=0.01, min_gain=0, group_size=1).fit(Q, y)
    assert sieve.selected_.tolist() == list(range(70))
    assert sieve.ledger_.counts() == {"kept": 70}


def toy():
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    return rng.normal(size=(100, 12)) + y[:, None] * (np.arange(12) % 3 == 0), y


def test_leukemia_in_groups_of_ten():
    X, y = load_real("leukemia_golub_raw")
    sieve = OGFS().fit(X, y)
    assert 10 < len(sieve.selected_) < 40
    accepted = X[:, sieve.selected_]
    model = Lasso(0.15, tol=1e-10, max_iter=100_000).fit(standardized(accepted), (y - y.mean()) / y.std())
    assert np.all(model.coef_ != 0)
    sparse = OGFS().fit(sp.csc_array(X), y)
    assert lines(sparse) == lines(sieve)
