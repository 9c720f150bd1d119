"""Where a stream fits the budget, tables and ranks are those of the whole data: few rows, or few values."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from streamsieve.summaries import Quantiles
from tests.helpers.tier import cases
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
from tests.summaries.streams import DENSE, FORMS, HALF_LIVES, Stream, feed, random_stream, values

#: Weights whose sums tie with the edges of bins, up to rounding.
TIES = (0.1, 1 / 3, 0.25)


def small_stream(rng, **shape):
    """A stream of any kind, now and then of rows that all weigh the same fraction or of values that tie."""
    stream = random_stream(rng, "classes", **shape)
    if rng.random() < 0.2:
        stream.weight = np.full(len(stream), rng.choice(TIES))
    if rng.random() < 0.3:
        stream.X = np.round(stream.X)
    return stream


# ------------------------------------------------------------------------------------ few rows


def test_small_streams_in_any_form_and_cut():
    rng = np.random.default_rng(1)
    for case in range(cases(1000)):
        stream, half_life = small_stream(rng), HALF_LIVES[case % len(HALF_LIVES)]
        summary = Quantiles(half_life=half_life)
        for part in stream.cut(rng, int(rng.integers(1, 5))):
            feed(summary, part, rng.choice(list(DENSE)))
        check_tables(summary, stream, half_life, bins=int(rng.integers(2, 8)))
        if summary.n_rows and case % 4 == 0:
            assert rank_errors(summary, stream, half_life).max() <= ROUNDING


def test_mixed_dense_and_sparse_batches():
    rng = np.random.default_rng(2)
    for case in range(cases(400)):
        stream, half_life = small_stream(rng), HALF_LIVES[case % len(HALF_LIVES)]
        summary = Quantiles(half_life=half_life)
        for part in stream.cut(rng, 4):
            feed(summary, part, rng.choice(list(FORMS)))
        check_tables(summary, stream, half_life, bins=int(rng.integers(2, 8)))


@pytest.mark.parametrize("narrow", ["dense", "sparse"])
def test_late_features_and_narrower_batches(narrow):
    """What a dense row does not have is missing, what a sparse row does not have is 0."""
    rng = np.random.default_rng(3)
    for case in range(cases(150)):
        half_life = HALF_LIVES[case % len(HALF_LIVES)]
        summary = Quantiles(half_life=half_life)
        p = rng.integers(1, 5, 5)
        stream = small_stream(rng, n=15, p=p.max())
        if stream.weight is not None:
            stream.weight += 0.5  # a batch without any weight brings no feature
        for i, width in enumerate(p):
            part = stream[3 * i : 3 * i + 3]
            sparse = narrow == "sparse" and i > 0 and rng.random() < 0.5
            feed(summary, Stream(part.X[:, :width], part.y, part.weight), "csr_array" if sparse else "C")
            known = p[: i + 1].max()
            part.X[:, width:known], part.X[:, known:] = 0.0 if sparse else np.nan, np.nan
        check_tables(summary, stream, half_life, bins=3)


def test_late_labels():
    rng = np.random.default_rng(4)
    for _ in range(100):
        stream = small_stream(rng, n=20)
        stream.y = np.minimum(stream.y + rng.integers(0, 9, 20), np.arange(20) // 2)
        summary = Quantiles()
        for part in stream.cut(rng, 6):
            feed(summary, part)
        check_tables(summary, stream)


CELLS = st.one_of(
    st.sampled_from([0.0, -0.0, np.nan, 5e-324, 1e99, -1e99, 1.0]),
    st.integers(-3, 3).map(float),
    st.floats(-1e3, 1e3),
)


@given(data=st.data())
def test_any_values_in_any_cut(data):
    n, p = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 3))
    X = data.draw(hnp.arrays(np.float64, (n, p), elements=CELLS))
    y = data.draw(hnp.arrays(np.int64, n, elements=st.integers(-2, 2)))
    w = data.draw(st.none() | hnp.arrays(np.float64, n, elements=st.sampled_from([0.0, 0.25, 1.0, 3.0])))
    stream, cut = Stream(X, y, w), data.draw(st.integers(0, n))
    half_life = data.draw(st.sampled_from(HALF_LIVES))
    summary = Quantiles(half_life=half_life)
    for part in (stream[:cut], stream[cut:]):
        feed(summary, part)
    check_tables(summary, stream, half_life, data.draw(st.integers(2, 6)))


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


# ------------------------------------------------------------------------------------ few values


def few_valued(rng, n, distinct=64):
    """Columns of few values, with gaps in some, beside a continuous one that collapses all the time."""
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


# ------------------------------------------------------------------------------------ after forgetting


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
