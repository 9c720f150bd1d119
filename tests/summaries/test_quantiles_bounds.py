"""The error of every rank stays within the certified one, and that within epsilon, at every moment."""

from bisect import bisect_left, insort

import numpy as np
import pytest

from streamsieve.summaries import Quantiles
from tests.summaries.quantile_truth import (
    ORDERS,
    QUICK,
    ROUNDING,
    WEIGHTS,
    all_orders,
    check_bound,
    learnt,
    rank_errors,
)
from tests.summaries.streams import Stream


def watched(summary, stream, stops, half_life=None, dtype=np.float64):
    """Feed a stream and check it at some numbers of rows."""
    done = 0
    for stop in stops:
        weight = None if stream.weight is None else stream.weight[done:stop]
        summary.update(stream.X[done:stop].astype(dtype), stream.y[done:stop], weight)
        done = stop
        check_bound(summary, stream[:stop], half_life)
    return summary


def widths(summary):
    """Return the width of the runs of every class: doublings show there."""
    return [runs.k for runs in summary._store.classes]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("epsilon", "n"), [(1e-1, 2000), (QUICK, 6000), (1e-2, 8000), (1e-3, 20_000)])
def test_any_order_of_rows(epsilon, n, dtype):
    stream = all_orders(np.random.default_rng(1), n, dtype)
    summary = watched(Quantiles(epsilon), stream, np.linspace(0, n, 6).astype(int)[1:], dtype=dtype)
    assert summary.rank_error().max() > 0.3 * epsilon  # it is not exact by chance
    assert summary._store.dtype == dtype


def test_the_bound_is_nearly_attained():
    """So nothing is given away: a smaller certificate would be false."""
    stream = Stream(np.random.default_rng(2).normal(size=(20_000, 8)), np.zeros(20_000, int))
    summary = learnt(stream, 1e-3)
    assert rank_errors(summary, stream)[0] > 0.5 * summary.rank_error()[0]


def test_row_by_row_through_collapses_and_doublings():
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(size=1200), np.arange(1200.0), rng.integers(0, 80, 1200)])
    stream, summary = Stream(X, np.zeros(1200, int)), Quantiles(QUICK)
    watched(summary, stream, range(1, 1201))
    assert widths(summary) == [64]  # one doubling


def test_several_doublings_of_the_runs():
    rng = np.random.default_rng(4)
    n = 20_000
    X = np.column_stack([rng.normal(size=n), np.arange(n), ORDERS["zoom in"](rng, n)])
    summary = Quantiles(QUICK)
    watched(summary, Stream(X, np.zeros(n, int)), [400, 600, 4000, 16_000, 16_500, n])
    assert widths(summary) == [128]


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("epsilon", [1e-1, QUICK])
def test_weights(name, epsilon):
    rng = np.random.default_rng(5)
    stream = all_orders(rng, 2500)
    stream.weight = WEIGHTS[name](rng, 2500)
    summary = watched(Quantiles(epsilon), stream, [40, 100, 500, 1200, 2500])
    assert summary.rank_error().max() > 0.02 * epsilon


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_of_float32_rows_at_a_small_epsilon(name):
    rng = np.random.default_rng(6)
    stream = all_orders(rng, 6000, np.float32)
    stream.weight = WEIGHTS[name](rng, 6000)
    watched(Quantiles(1e-2), stream, [1500, 6000], dtype=np.float32)


def test_weights_row_by_row():
    rng = np.random.default_rng(7)
    stream = Stream(rng.normal(size=(700, 2)), np.zeros(700, int), rng.pareto(0.5, 700) + 0.1)
    watched(Quantiles(QUICK), stream, range(1, 701))


@pytest.mark.parametrize("half_life", [10.0, 100.0, 1e3, 1e4, 1e5])
@pytest.mark.parametrize("epsilon", [1e-1, QUICK, 1e-2])
def test_fading(half_life, epsilon):
    stream = all_orders(np.random.default_rng(8), 4000)
    watched(Quantiles(epsilon, half_life=half_life), stream, [300, 1500, 4000], half_life)


def test_fading_with_weights():
    rng = np.random.default_rng(9)
    stream = all_orders(rng, 3000)
    for name in ("pareto", "copies", "one giant"):
        stream.weight = WEIGHTS[name](rng, 3000)
        watched(Quantiles(QUICK, half_life=200.0), stream, [500, 3000], 200.0)


def test_weights_that_come_late():
    """Runs of equal weight go on as runs with a weight; their centered error stays centered."""
    rng = np.random.default_rng(10)
    stream = all_orders(rng, 4000)
    stream.weight = np.ones(4000)
    stream.weight[2500:] = rng.exponential(size=1500) + 0.01
    watched(Quantiles(QUICK), stream, [2500, 2501, 2600, 4000])


def test_missing_values_count_among_the_rows():
    """Where most values are missing, the error is a share of the rows, not of the values."""
    rng = np.random.default_rng(11)
    stream = Stream(rng.normal(size=(5000, 3)), np.zeros(5000, int))
    for j, share in enumerate((0.5, 0.9, 0.99)):
        stream.X[rng.random(5000) < share, j] = np.nan
    watched(Quantiles(QUICK), stream, [1000, 5000])
    stream.weight = rng.exponential(size=5000) + 0.01
    watched(Quantiles(QUICK), stream, [1000, 5000])


def test_far_from_zero():
    """Mean 1e9, deviation 1: float32 cannot tell the values apart, so nothing may go through it."""
    rng = np.random.default_rng(12)
    stream = Stream(rng.normal(1e9, 1, (4000, 3)), rng.integers(0, 2, 4000))
    watched(Quantiles(QUICK), stream, [4000])
    stream.weight = rng.exponential(size=4000) + 0.01
    watched(Quantiles(QUICK), stream, [4000])


def test_values_beyond_float32_and_denormal_ones():
    rng = np.random.default_rng(13)
    X = np.column_stack([
        rng.normal(size=3000) * 1e60,
        rng.normal(size=3000) * 1e-310,
        np.where(rng.random(3000) < 0.3, rng.choice([0.0, -0.0], 3000), rng.normal(size=3000)),
        rng.choice([-1.0, 1.0], 3000) * 10.0 ** rng.uniform(-99, 99, 3000),
    ])  # fmt: skip
    stream = Stream(X, np.zeros(3000, int))
    watched(Quantiles(QUICK), stream, [3000])
    stream.weight = rng.exponential(size=3000) + 0.01
    watched(Quantiles(QUICK), stream, [100, 3000])


def kept(summary):
    """Return all values that the summary still holds of its only feature, in order."""
    runs = summary._store.classes[0]
    values = [runs.rows[: runs.filled, 0], *(run.values[0] for run in runs.runs)]
    return np.unique(np.concatenate(values))


def between(known, x):
    """Return a number between x and the next smaller one there is."""
    place = bisect_left(known, x)
    return (known[place - 1] + x) / 2 if place else x - 1.0


def into_the_largest_gap(summary, known):
    """Return a value where most rows lie between two neighbors that are kept."""
    values = kept(summary)
    ranks = np.searchsorted(known, values, side="right")
    place = int(np.argmax(np.diff(ranks, prepend=0)))
    return between(known, values[place])


def where_it_is_wrong(summary, known):
    """Return a value beside the one whose rank is furthest off."""
    points = np.array(known)
    error = summary.cdf(0, points)[0] - np.searchsorted(points, points, side="right")
    return between(known, points[int(np.argmax(np.abs(error)))])


@pytest.mark.parametrize("choose", [into_the_largest_gap, where_it_is_wrong])
@pytest.mark.parametrize("weight", [None, 1.5])
def test_rows_chosen_by_looking_at_what_is_kept(choose, weight):
    summary, known = Quantiles(QUICK), []
    w = None if weight is None else np.array([weight])
    worst = 0.0
    for _ in range(1200):
        x = choose(summary, known) if known else 0.0
        summary.update(np.array([[x]]), np.zeros(1, int), w)
        insort(known, x)
        points = np.array(known)
        truth = np.searchsorted(points, points, side="right") * (weight or 1.0)
        error = np.abs(summary.cdf(0, points)[0] - truth).max() / truth[-1]
        certified = summary.rank_error()[0]
        assert error <= certified + ROUNDING
        assert certified <= QUICK
        worst = max(worst, error)
    assert worst > QUICK / 4  # the adversary has achieved something
