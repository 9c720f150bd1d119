"""Buffered rows, which come one or a few at a time, give the results and errors of rows learnt at once."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve import Screen
from streamsieve.base.row_buffer import MOST_ROWS, SMALL, RowBuffer
from streamsieve.exceptions import StreamSieveError

CRITERIA = ["t", "f", "mutual_info", "correlation"]


def rows(n=700, p=5, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, p)).astype(dtype)
    X[:, 1] += y
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def one_by_one(screen, X, y, size=1):
    for low in range(0, len(y), size):
        screen.partial_fit(X[low : low + size], y[low : low + size])
    return screen


def assert_equal(a, b):
    assert a.n_samples_seen_ == b.n_samples_seen_
    assert np.array_equal(a.scores_, b.scores_) or np.allclose(a.scores_, b.scores_, rtol=1e-12)
    assert np.array_equal(a.get_support(), b.get_support())


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("size", [1, 3, SMALL])
def test_gathered_rows_give_the_result_of_one_batch(criterion, size):
    X, y = rows()
    whole = Screen(criterion, k=2).fit(X, y)
    small = one_by_one(Screen(criterion, k=2), X, y, size)
    assert small._buffer is not None
    assert_equal(small, whole)
    assert small.summary_.n_rows == len(y)


@pytest.mark.parametrize("look", [
    lambda s: s.scores_, lambda s: s.pvalues_, lambda s: s.selected_, lambda s: s.get_support(),
    lambda s: s.ledger_, lambda s: s.summary_, lambda s: s.drift_, lambda s: s.transform(np.zeros((1, 5))),
    lambda s: s.get_feature_names_out(),
])  # fmt: skip
def test_every_access_sees_all_rows(look):
    X, y = rows(101)
    screen = one_by_one(Screen(k=2), X, y)
    assert screen._buffer.labels
    look(screen)
    assert not screen._buffer.labels


def test_every_way_on_includes_the_kept_rows(tmp_path):
    X, y = rows(150)
    whole = Screen(k=2).fit(X, y)
    part = one_by_one(Screen(k=2), X[:100], y[:100])
    for twin in (copy.deepcopy(part), pickle.loads(pickle.dumps(part))):  # noqa: S301
        assert_equal(one_by_one(twin, X[100:], y[100:]), whole)
    part.save(tmp_path / "part.sieve")
    loaded = Screen.load(tmp_path / "part.sieve")
    assert loaded.n_samples_seen_ == 100
    assert_equal(one_by_one(loaded, X[100:], y[100:]), whole)
    rest = one_by_one(Screen(k=2), X[100:], y[100:])
    assert_equal(copy.deepcopy(part).merge(rest), whole)
    assert_equal(part.partial_fit(sp.csr_array(np.nan_to_num(X[100:], nan=np.nan)), y[100:]), whole)


def test_reviews_fall_on_the_same_rows():
    X, y = rows(300)
    whole = Screen("f", k=2, review_every=40).fit(X, y)
    small = one_by_one(Screen("f", k=2, review_every=40), X, y)
    assert [d[:4] for d in small.ledger_] == [d[:4] for d in whole.ledger_]
    assert {d.step for d in whole.ledger_} <= {40, 80, 120, 160, 200, 240, 280, 300}


def test_fit_forgets_the_kept_rows():
    X, y = rows(120)
    screen = one_by_one(Screen(k=2), X[:50], y[:50])
    assert_equal(screen.fit(X, y), Screen(k=2).fit(X, y))


@pytest.mark.parametrize("bad", [
    (np.full((1, 5), np.inf), np.array([0])), (np.zeros((1, 4)), np.array([0])),
    (np.zeros((1, 5)), np.array([0, 1])), (np.zeros((1, 5)), np.array([np.nan])),
    (np.zeros((1, 5)), np.array(["a"])), (np.full((1, 5), 1e200), np.array([0])),
])  # fmt: skip
def test_bad_rows_are_refused_when_they_come_and_change_nothing(bad):
    X, y = rows(60)
    screen = one_by_one(Screen(k=2), X, y)
    with pytest.raises((StreamSieveError, ValueError)):
        screen.partial_fit(*bad)
    assert_equal(screen, Screen(k=2).fit(X, y))


def test_a_third_class_is_refused_at_once_where_two_are_compared():
    X, y = rows(60)
    screen = one_by_one(Screen("t", k=2), X, y)
    with pytest.raises(StreamSieveError, match="compares 2 classes"):
        screen.partial_fit(X[:1], np.array([7]))


def test_new_labels_and_types_go_the_long_way_and_are_learned():
    X, y = rows(200)
    y[150:] = 2
    mixed = Screen(k=2)
    for i in range(200):
        row = X[i : i + 1].astype(np.float32 if i % 2 else np.float64)
        mixed.partial_fit(row if i % 3 else row.tolist(), y[i : i + 1])
    exact = X.copy()
    exact[1::2] = X[1::2].astype(np.float32)
    np.testing.assert_allclose(mixed.scores_, Screen(k=2).fit(exact, y).scores_, rtol=1e-12)


def test_text_labels_and_weights():
    X, y = rows(100)
    names = np.array(["no", "yes"])[y]
    screen = one_by_one(Screen("fisher", k=2), X, names)
    screen.partial_fit(X[:10], names[:10], sample_weight=np.full(10, 2.0))
    twice = np.concatenate([np.arange(100), np.repeat(np.arange(10), 2)])
    np.testing.assert_allclose(
        screen.scores_, Screen("fisher", k=2).fit(X[twice], names[twice]).scores_, rtol=1e-10
    )


def test_the_buffer_is_bounded():
    X, y = rows(2 * MOST_ROWS + 10)
    screen = one_by_one(Screen(k=2), X, y)
    assert len(screen._buffer.rows) == MOST_ROWS
    assert len(screen._buffer.labels) <= MOST_ROWS
    assert len(RowBuffer(10**7, np.dtype(np.float64), numeric=False).rows) == 1
