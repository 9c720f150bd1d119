"""Neither batches nor threads nor the type of floats change a bit; and what weights mean."""

import numpy as np
import pytest

from streamsieve import _threads as threads
from streamsieve.summaries import Quantiles
from tests.summaries.quantile_truth import (
    QUICK,
    WEIGHTS,
    all_orders,
    all_tables,
    check_bound,
    check_tables,
    learnt,
)
from tests.summaries.streams import Stream, assert_same_bits, feed, snapshot

HALF_LIVES = (None, 1.5, 40.0, 1e4)


def streams(rng, n):
    """Yield streams with all kinds of weights; the labels come in order, so every cut numbers them alike."""
    for name in ("none", "copies", "exponential", "pareto", "late", "fits and starts"):
        stream = all_orders(rng, n)
        stream.X = stream.X[:, [0, 3, 5, -1]]
        stream.y[:3] = 0, 1, 2
        if name == "late":
            stream.weight = np.ones(n)
            stream.weight[n // 2 :: 3] = 0.3
        elif name == "fits and starts":
            stream.weight = np.where(np.arange(n) // 50 % 2, 1.0, rng.random(n))
            stream.weight[:200] = 1.0
            stream.weight[5::7] = 0.0
        elif name != "none":
            stream.weight = WEIGHTS[name](rng, n)
        yield stream


def in_pieces(stream, sizes, half_life):
    summary, low = Quantiles(QUICK, half_life=half_life), 0
    for size in sizes:
        feed(summary, stream[low : low + size])
        low += size
    assert low >= len(stream)
    return snapshot(summary)


@pytest.mark.parametrize("half_life", HALF_LIVES)
def test_any_cut_gives_the_same_bits(half_life):
    rng = np.random.default_rng(1)
    for stream in streams(rng, 1200):
        whole = in_pieces(stream, [1200], half_life)
        for sizes in ([1] * 1200, [32] * 38, [3, 1197], rng.integers(1, 99, 200), rng.integers(1, 400, 50)):
            assert_same_bits(whole, in_pieces(stream, sizes, half_life))


@pytest.mark.parametrize("n_threads", [1, 2, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_any_number_of_threads_gives_the_same_bits(monkeypatch, n_threads, weighted):
    rng = np.random.default_rng(2)
    stream = Stream(rng.normal(size=(1500, 45)), np.arange(1500) % 2)
    stream.X[rng.random((1500, 45)) < 0.05] = np.nan
    stream.X[:, 7] = np.round(stream.X[:, 7])
    stream.weight = rng.exponential(size=1500) + 0.1 if weighted else None
    alone = learnt(stream)
    wanted = snapshot(alone), all_tables(alone, 5)[0]
    monkeypatch.setattr(threads, "_threads", lambda: n_threads)
    monkeypatch.setattr(threads, "SMALL", 1)
    ranges = []
    over_features = threads.over_features

    def watched(n_features, n_values, work):
        def noted(low, high):
            ranges.append((low, high))
            work(low, high)

        over_features(n_features, n_values, noted)

    for module in ("sketch", "dense"):
        monkeypatch.setattr(f"streamsieve.summaries.quantiles.{module}.over_features", watched)
    summary = learnt(stream)
    assert_same_bits(wanted[0], snapshot(summary))
    assert np.array_equal(wanted[1], all_tables(summary, 5)[0])
    assert len(set(ranges)) == n_threads


@pytest.mark.parametrize("weights", ["none", "copies"])
def test_the_type_may_change_in_mid_stream(weights):
    """Values that float32 holds give the same summary; from the first float64 on it is all float64."""
    rng = np.random.default_rng(3)
    stream = all_orders(rng, 2000, np.float32)
    stream.weight = None if weights == "none" else WEIGHTS[weights](rng, 2000)
    stream.y[:3] = 0, 1, 2
    wanted = snapshot(learnt(stream))
    for types in ((np.float32, np.float64), (np.float64, np.float32)):
        for cut in (3, 640, 1000):
            summary = feed(Quantiles(QUICK), stream[:cut], lambda X, dtype=types[0]: X.astype(dtype))
            assert summary._store.dtype == types[0]
            feed(summary, stream[cut:], lambda X, dtype=types[1]: X.astype(dtype))
            assert summary._store.dtype == np.float64
            assert_same_bits(wanted, snapshot(summary))


@pytest.mark.parametrize(
    "layout", [np.ascontiguousarray, np.asfortranarray, lambda X: np.repeat(X, 2, 1)[:, ::2]]
)
def test_the_layout_of_an_array_changes_nothing(layout):
    stream = all_orders(np.random.default_rng(4), 1500)
    summary = Quantiles(QUICK)
    summary.update(layout(stream.X), stream.y)
    assert_same_bits(snapshot(learnt(stream)), snapshot(summary))


def test_rows_are_copied():
    stream = all_orders(np.random.default_rng(5), 50)
    X = stream.X.copy()
    summary = Quantiles(QUICK)
    summary.update(X, stream.y)
    before = snapshot(summary)
    X[:] = 7.0
    assert_same_bits(before, snapshot(summary))


@pytest.mark.parametrize("half_life", [None, 30.0])
def test_no_weights_are_ones_and_weight_0_is_no_row(half_life):
    rng = np.random.default_rng(6)
    stream = all_orders(rng, 1500)
    plain = learnt(stream, half_life=half_life)
    ones = learnt(Stream(stream.X, stream.y, np.ones(1500)), half_life=half_life)
    assert_same_bits(snapshot(plain), snapshot(ones))
    weight = rng.exponential(size=1500) * (rng.random(1500) < 0.7)
    some = learnt(Stream(stream.X, stream.y, weight), half_life=half_life)
    there = weight > 0
    left = learnt(Stream(stream.X[there], stream.y[there], weight[there]), half_life=half_life)
    assert_same_bits(snapshot(left), snapshot(some))
    assert some.n_rows == there.sum()


def test_only_rows_of_weight_0_leave_no_trace():
    stream = all_orders(np.random.default_rng(7), 50)
    stream.weight = np.zeros(50)
    summary = learnt(stream)
    assert (summary.n_rows, summary.n_features, summary.classes, summary.nbytes) == (0, 0, [], 0)
    assert list(summary.tables(5)) == []
    assert summary.rank_error().shape == (0,)
    assert summary.cdf(0, [1.0]).shape == (0, 1)


@pytest.mark.parametrize("factor", [2.0**-60, 2.0**70])
def test_only_shares_of_weights_matter(factor):
    rng = np.random.default_rng(9)
    stream = all_orders(rng, 2000)
    stream.weight = rng.exponential(size=2000) + 0.01
    scaled = learnt(Stream(stream.X, stream.y, stream.weight * factor))
    for a, b in zip(scaled.tables(5), learnt(stream).tables(5), strict=True):
        assert np.array_equal(a.counts, b.counts * factor)


@pytest.mark.parametrize("weight", [5e-324, 1e-310, 1e-290])
def test_rows_too_light_for_a_number_count_as_weight_0(weight):
    stream = all_orders(np.random.default_rng(10), 500)
    stream.weight = np.where(np.arange(500) % 2, weight, 1.5)
    summary = learnt(stream)
    assert summary.n_rows == 250
    assert_same_bits(snapshot(learnt(stream[::2])), snapshot(summary))


def test_the_lightest_rows_that_count():
    stream = all_orders(np.random.default_rng(11), 1000)
    stream.weight = np.full(1000, 1e-279)
    summary = learnt(stream)
    assert summary.n_rows == 1000
    check_bound(summary, stream)


def test_counters_beyond_32_bits():
    rng = np.random.default_rng(12)
    stream = Stream(rng.integers(0, 30, (3000, 2)) * 1.0, rng.integers(0, 2, 3000))
    stream.weight = rng.integers(2**33, 2**36, 3000) * 1.0
    summary = learnt(stream)
    assert all_tables(summary, 5)[1][0] == stream.weight.sum() > 2**44
    check_tables(summary, stream)
    counts, _ = all_tables(summary, 5)
    assert np.array_equal(counts, np.floor(counts))
