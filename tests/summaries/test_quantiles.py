"""What a summary of quantiles says of itself, features that come, go and move, and memory."""

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve.protocols import Stateful
from streamsieve.summaries import Quantiles
from streamsieve.summaries.quantiles.small_domain import MOST_VALUES
from tests.summaries.quantile_truth import QUICK, WEIGHTS, all_orders, all_tables, check_bound, joined, learnt
from tests.summaries.streams import Stream, assert_same_bits, feed, snapshot


def same_answers(a, b):
    """Assert that two summaries give the same tables and ranks, to the last bit."""
    assert (a.n_rows, a.n_features, a.classes) == (b.n_rows, b.n_features, b.classes)
    assert np.array_equal(a.rank_error(), b.rank_error())
    for left, right in zip(all_tables(a, 6), all_tables(b, 6), strict=True):
        assert np.array_equal(left, right)
    points = np.linspace(-5, 5, 41)
    for j in range(a.n_features):
        assert np.array_equal(a.cdf(j, points), b.cdf(j, points))


def test_facts():
    summary = Quantiles(0.05, half_life=9.0)
    assert isinstance(summary, Stateful)
    assert (summary.max_rank_error, summary.half_life, summary.target) == (0.05, 9.0, "classes")
    assert (summary.n_rows, summary.n_features, summary.classes, summary.nbytes) == (0, 0, [], 0)
    summary.update(np.zeros((0, 3)), np.zeros(0, int))
    assert summary.n_features == 0
    summary.update(np.zeros((2, 3)), np.array(["b", "a"]))
    assert (summary.n_rows, summary.n_features, summary.classes) == (2, 3, ["a", "b"])
    assert summary.nbytes > 0
    error = summary.rank_error()
    error += 1.0  # a copy
    assert not summary.rank_error().any()


@pytest.mark.parametrize("half_life", [None, 50.0])
@pytest.mark.parametrize("rows", [20, 700, 3333])
def test_forgetting_is_as_if_nan_had_come(rows, half_life):
    rng = np.random.default_rng(3)
    stream = all_orders(rng, rows + 900)
    stream.y[:3] = 0, 1, 2
    columns = [0, 3, 5, 10]
    missing = Stream(stream.X.copy(), stream.y)
    missing.X[:rows, columns] = np.nan
    forgot, wanted = learnt(stream[:rows], half_life=half_life), learnt(missing[:rows], half_life=half_life)
    forgot.forget(columns)
    same = same_answers if half_life is None else near_answers
    same(forgot, wanted)
    for part in stream[rows:].cut(rng, 4):
        feed(forgot, part)
        feed(wanted, part)
        same(forgot, wanted)
    check_bound(forgot, missing, half_life)


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("rows", [9, 40, 3333])
def test_a_class_without_values_of_a_feature_has_no_mass_in_it(rows, form):
    rng = np.random.default_rng(rows)
    stream = Stream(rng.normal(size=(rows, 2)), np.arange(rows) % 2, rng.exponential(size=rows))
    stream.X[stream.y == 1, 0] = np.nan
    X = stream.X if form == "dense" else sp.csr_array(stream.X)
    for half_life in (None, 7.0):
        summary = Quantiles(QUICK, half_life=half_life)
        summary.update(X, stream.y, stream.weight)
        counts, _ = all_tables(summary, 5)
        assert counts[0, 0].sum() > 0
        assert not counts[0, 1].any()  # not even the rounding of two sums of the same weights
        assert counts[1].any(axis=1).all()


def near_answers(a, b):
    """As above to rounding: fractions add up differently feature by feature."""
    for left, right in zip(all_tables(a, 6), all_tables(b, 6), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-9 * right.max())


@pytest.mark.parametrize("weights", ["none", "copies"])
@pytest.mark.parametrize("rows", [20, 700, 3333])
def test_reindexing_moves_columns_and_leaves_the_others_missing(rows, weights):
    rng = np.random.default_rng(4)
    stream = all_orders(rng, rows)
    stream.y[:3] = 0, 1, 2
    stream.weight = None if weights == "none" else WEIGHTS[weights](rng, rows)
    p = stream.X.shape[1]
    columns = rng.permutation(p + 3)[:p]
    moved = Stream(np.full((rows, p + 3), np.nan), stream.y, stream.weight)
    moved.X[:, columns] = stream.X
    summary = learnt(stream)
    before = snapshot(summary)
    twin, wanted = summary.reindexed(columns, p + 3), learnt(moved)
    assert_same_bits(before, snapshot(summary))
    same_answers(twin, wanted)
    later = Stream(rng.normal(size=(500, p + 3)), rng.integers(0, 3, 500))
    for one in (twin, wanted):
        feed(one, later)
    same_answers(twin, wanted)
    assert_same_bits(before, snapshot(summary))


@pytest.mark.parametrize("weights", ["none", "exponential"])
def test_features_that_come_late_and_vanish_after_many_rows(weights):
    rng = np.random.default_rng(6)
    wide = all_orders(rng, 2000)
    wide.weight = None if weights == "none" else WEIGHTS[weights](rng, 2000)
    summary, full = Quantiles(QUICK), Stream(wide.X.copy(), wide.y, wide.weight)
    for low, width in ((0, 4), (600, 11), (900, 2), (1300, 7), (1301, 11)):
        part = wide[low : {0: 600, 600: 900, 900: 1300, 1300: 1301, 1301: 2000}[low]]
        feed(summary, Stream(part.X[:, :width], part.y, part.weight))
        full.X[low : low + len(part), width:] = np.nan
    assert summary.n_features == 11
    check_bound(summary, full)


@pytest.mark.parametrize("factor", [0.5, 0.3])
def test_all_rows_so_far_may_be_made_lighter(factor):
    rng = np.random.default_rng(7)
    for n in (12, 3000):
        stream = all_orders(rng, n)
        summary = learnt(stream)
        summary.fade(factor)
        feed(summary, stream)
        lighter = Stream(stream.X, stream.y, np.full(n, factor))
        whole = joined(lighter, stream)
        check_bound(summary, whole)
        wanted = all_tables(learnt(whole), 5)[0].sum(axis=2)
        np.testing.assert_allclose(all_tables(summary, 5)[0].sum(axis=2), wanted, rtol=1e-11)
        # weights f of old rows carry (sum f)^2 / sum f^2 rows of information
        n_all = (n * factor + n) ** 2 / (n * factor**2 + n)
        assert all_tables(summary, 5)[1][0] == pytest.approx(n_all)


def test_fading_by_hand_thousands_of_times():
    rng = np.random.default_rng(8)
    summary = Quantiles(0.1)
    for _ in range(1500):
        summary.fade(0.5)
        summary.update(rng.normal(size=(8, 1)), np.zeros(8, int))
    counts, n = all_tables(summary, 4)
    assert counts.sum() == pytest.approx(16)
    assert n[0] == pytest.approx(24)
    assert summary.rank_error()[0] <= 0.1


def test_masses_that_get_too_small_for_a_number_are_forgotten_before_they_lose_their_digits():
    rng = np.random.default_rng(14)
    for _ in range(4):
        stream = Stream(rng.normal(size=(300, 2)), np.zeros(300, int), rng.exponential(size=300) + 0.1)
        summary = learnt(stream)
        for _ in range(48):
            summary.fade(2.0**-25 * rng.uniform(0.5, 1))
            assert np.all(np.isfinite(all_tables(summary, 3)[0]))
            Quantiles.from_state(summary.state())
        assert not all_tables(summary, 3)[0].any()
        feed(summary, stream)
        check_bound(summary, stream)


def most_bytes(summary):
    """Return what (levels + 3) * k values a feature and class take, and its small tables."""
    store = summary._store
    tables = 2 * 8 * MOST_VALUES + 16
    return sum(
        summary.n_features * ((len(runs.levels) + 3) * runs.k * store.dtype.itemsize + tables) + 8 * runs.k
        for runs in store.classes
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weights", ["none", *WEIGHTS])
def test_memory_is_a_few_runs_a_level(weights, dtype):
    rng = np.random.default_rng(9)
    stream = all_orders(rng, 8000)
    stream.weight = None if weights == "none" else WEIGHTS[weights](rng, 8000)
    summary = Quantiles(0.1)
    for low in range(0, 8000, 500):
        feed(summary, stream[low : low + 500], lambda X: X.astype(dtype))
        assert summary.nbytes <= most_bytes(summary)
        for runs in summary._store.classes:
            assert len(runs.levels) <= 2 + max(0, np.log2(max(runs.mass, low + 500) / runs.k))


def test_weights_do_not_cost_memory_with_every_row():
    """Ten times as many rows are three or four more levels, also where weights vary a little."""
    rng = np.random.default_rng(10)
    summary, sizes = Quantiles(0.1), []
    for _ in range(10):
        summary.update(rng.normal(size=(12_000, 1)), np.zeros(12_000, int), rng.random(12_000) + 0.5)
        sizes.append(len(summary._store.classes[0].runs))
    assert max(sizes) <= 13
    assert summary.rank_error()[0] < 0.1


def test_the_width_of_runs_is_as_documented():
    """k is 1024 below 32,768 rows of a class and 2048 below half a million, at epsilon 1e-3."""
    rng = np.random.default_rng(11)
    summary = Quantiles(1e-3)
    summary.update(rng.random((32_767, 1)).astype(np.float32), np.zeros(32_767, int))
    assert summary._store.classes[0].k == 1024
    summary.update(rng.random((1, 1)).astype(np.float32), np.zeros(1, int))
    assert summary._store.classes[0].k == 2048
    n = 2**19 - 32_768
    summary.update(rng.random((n - 1, 1)).astype(np.float32), np.zeros(n - 1, int))
    assert summary._store.classes[0].k == 2048
    summary.update(rng.random((1, 1)).astype(np.float32), np.zeros(1, int))
    assert summary._store.classes[0].k == 4096


@pytest.mark.parametrize("half_life", [5.0, 100.0, 1000.0])
def test_under_a_half_life_memory_does_not_depend_on_the_rows(half_life):
    rng = np.random.default_rng(12)
    X, y = rng.normal(size=(60_000, 1)), np.zeros(60_000, int)
    summary, sizes = Quantiles(QUICK, half_life=half_life), []
    for low in range(0, 60_000, 600):
        summary.update(X[low : low + 600], y[low : low + 600])
        sizes.append(summary.nbytes)
    assert max(sizes[50:]) <= max(sizes[:50])


def test_short_streams_are_short():
    summary = Quantiles(1e-3)
    summary.update(np.zeros((10, 7)), np.zeros(10, int))
    assert summary.nbytes <= 16 * 7 * 8 + 7 * 16
    for _ in range(10):
        summary.update(np.zeros((1, 7)), np.zeros(1, int))
    assert summary.nbytes <= 32 * 7 * 8 + 7 * 16


def test_memory_of_continuous_columns_has_no_tables_of_few_values():
    stream = Stream(np.random.default_rng(13).normal(size=(3000, 4)), np.zeros(3000, int))
    summary = learnt(stream)
    assert not summary._store.classes[0].few.useful
    stream.X[:, 2] = 5.0
    assert learnt(stream)._store.classes[0].few.useful
