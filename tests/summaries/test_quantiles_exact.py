"""Where a stream fits the budget, tables and ranks are those of the whole data: few rows, or few values."""

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve.summaries import Quantiles
from tests.summaries.quantile_truth import (
    QUICK,
    ROUNDING,
    WEIGHTS,
    all_tables,
    check_bound,
    check_tables,
    learnt,
    rank_errors,
)
from tests.summaries.streams import Stream, feed, random_stream, values

#: Weights whose sums tie with the edges of bins, up to rounding.


@pytest.mark.parametrize("epsilon", [0.5, 0.1, QUICK, 1e-2, 1e-3])
def test_the_first_rows_of_a_class_are_exact(epsilon):
    rng = np.random.default_rng(5)
    n = int(np.ceil(1 / epsilon)) - 1
    for half_life, weight in ((None, None), (None, rng.pareto(0.3, 2 * n) + 0.1), (20.0, None)):
        stream = Stream(rng.normal(size=(2 * n, 3)), np.arange(2 * n) % 2, weight)
        summary = learnt(stream, epsilon, half_life)
        assert not summary.rank_error().any()
        assert rank_errors(summary, stream, half_life).max() <= ROUNDING
        check_tables(summary, stream, half_life)


def few_valued(rng, n, distinct=64):
    """Columns of few values, one with missing values, beside a continuous one that collapses all the time."""
    levels = np.unique(rng.normal(size=200))[:distinct]
    X = np.column_stack([
        rng.choice(levels, n), rng.integers(0, 2, n), np.full(n, 3.5), rng.choice(levels[:7], n),
        rng.normal(size=n),
    ])  # fmt: skip
    X[rng.random(n) < 0.3, 3] = np.nan
    return Stream(X, rng.choice(3, n, p=[0.6, 0.3, 0.1]))


def first(stream, n_features):
    return Stream(stream.X[:, :n_features], stream.y, stream.weight)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weights", ["none", "copies", "exponential", "pareto", "blocks"])
def test_up_to_64_values_a_class_are_exact_however_many_rows(weights, dtype):
    rng = np.random.default_rng(6)
    stream = few_valued(rng, 5000)
    stream.X = stream.X.astype(dtype).astype(np.float64)
    stream.weight = None if weights == "none" else WEIGHTS[weights](rng, 5000)
    summary = Quantiles(QUICK)
    for part in stream.cut(rng, 5):
        summary.update(part.X.astype(dtype), part.y, part.weight)
    assert summary.rank_error().min() > 0
    check_tables(summary, first(stream, 4))
    assert rank_errors(summary, first(stream, 4), features=range(4)).max() <= ROUNDING
    check_bound(summary, stream)


@pytest.mark.parametrize("half_life", [30.0, 1e3])
def test_few_values_under_fading(half_life):
    rng = np.random.default_rng(7)
    stream = few_valued(rng, 4000)
    summary = Quantiles(QUICK, half_life=half_life)
    for part in stream.cut(rng, 5):
        feed(summary, part)
    check_tables(summary, first(stream, 4), half_life)


def test_each_class_may_have_64_values_of_its_own():
    rng = np.random.default_rng(8)
    y = rng.integers(0, 3, 6000)
    X = (rng.integers(0, 64, 6000) + 100.0 * y)[:, None]
    check_tables(learnt(Stream(X, y)), Stream(X, y), bins=9)


def test_a_65th_value_costs_exactness_but_not_the_bound():
    rng = np.random.default_rng(9)
    X = np.column_stack([rng.integers(0, 64, 6000), rng.integers(0, 64, 6000)]).astype(float)
    X[3000, 1] = 64.5
    stream = Stream(X, np.zeros(6000, int))
    summary = learnt(stream)
    errors = [rank_errors(summary, stream, features=[j])[0] for j in range(2)]
    assert errors[0] <= ROUNDING < errors[1]
    check_bound(summary, stream)


def test_a_column_that_was_all_missing_may_become_few_valued():
    rng = np.random.default_rng(10)
    stream = few_valued(rng, 5000)
    stream.X[:2500, :2] = np.nan
    check_tables(learnt(stream), first(stream, 4))


@pytest.mark.parametrize("weights", ["none", "exponential"])
@pytest.mark.parametrize("rows", [1000, 3328, 5000])  # with another number of rows in the buffer each
def test_what_comes_after_forgetting_is_exact_again(rows, weights):
    """Also where the column had been continuous, and before its first run is full."""
    rng = np.random.default_rng(11)
    for later in (1, 20, 31, 500, 3000):
        stream = Stream(values(rng, rows + later, 3), rng.integers(0, 2, rows + later))
        stream.weight = None if weights == "none" else WEIGHTS[weights](rng, len(stream))
        stream.X[rows:, 0] = rng.integers(0, 50, later)
        stream.X[rows:, 1] = rng.integers(0, 2, later)
        summary = learnt(stream[:rows])
        summary.forget([0, 1])
        feed(summary, stream[rows:])
        stream.X[:rows, :2] = np.nan
        check_tables(summary, first(stream, 2))
        check_bound(summary, stream)


def test_late_features_among_collapsed_ones_are_exact():
    rng = np.random.default_rng(12)
    for rows, later in ((3328, 20), (5000, 700)):
        stream = Stream(values(rng, rows + later, 3), rng.integers(0, 2, rows + later))
        stream.X[rows:, 2] = rng.integers(0, 40, later)
        summary = Quantiles(QUICK)
        summary.update(stream.X[:rows, :2], stream.y[:rows])
        feed(summary, stream[rows:])
        stream.X[:rows, 2] = np.nan
        late = Stream(stream.X[:, [2, 0, 1]], stream.y)
        check_tables(summary.reindexed(np.array([1, 2, 0]), 3), first(late, 1))


def test_sparse_rows_in_a_dense_stream_of_many_features_are_made_dense_bit_by_bit(monkeypatch):
    rng = np.random.default_rng(13)
    stream = random_stream(rng, "classes", n=40, p=5)
    stream.weight = None
    whole = feed(Quantiles(), stream)
    monkeypatch.setattr("streamsieve.summaries.quantiles.summary.DENSE_VALUES", 16)
    parts = feed(Quantiles(), stream[:1])
    parts.update(sp.csr_array(stream.X[1:]), stream.y[1:])
    for label in whole.classes:
        a, b = whole.classes.index(label), parts.classes.index(label)
        assert np.array_equal(all_tables(whole, 4)[0][:, a], all_tables(parts, 4)[0][:, b])
