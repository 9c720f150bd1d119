"""Merged quantiles keep the bound of the whole stream, whatever the tree, and leave the other alone."""

import numpy as np
import pytest

from streamsieve.summaries import Quantiles
from tests.helpers.tier import cases
from tests.reference.moments import decay
from tests.summaries.kinds import merged
from tests.summaries.quantile_truth import (
    ORDERS,
    QUICK,
    WEIGHTS,
    all_orders,
    all_tables,
    check_bound,
    check_tables,
    joined,
    learnt,
)
from tests.summaries.streams import Stream, assert_same_bits, snapshot


def shards(rng, stream, n, half_life=None):
    return [learnt(part, QUICK, half_life) for part in stream.cut(rng, n) if len(part)]


def check_mass(summary, stream):
    """Assert that nothing is lost: rows, and the mass of every class in every table; and a sound state."""
    Quantiles.from_state(summary.state())
    weight = np.ones(len(stream)) if stream.weight is None else stream.weight
    there = ~np.isnan(stream.X)
    assert summary.n_rows == np.count_nonzero(weight)
    counts, _ = all_tables(summary, 4)
    for c, label in enumerate(summary.classes):
        mass = ((stream.y == label) * weight) @ there
        np.testing.assert_allclose(counts[:, c].sum(axis=1), mass, rtol=1e-11)


@pytest.mark.parametrize("weights", ["none", "exponential", "pareto"])
@pytest.mark.parametrize("n", [2, 7, 64])
def test_any_tree_over_shards(n, weights):
    rng = np.random.default_rng(n)
    for rows in (1500, 8000):
        stream = all_orders(rng, rows)
        stream.weight = None if weights == "none" else WEIGHTS[weights](rng, rows)
        whole = merged(rng, shards(rng, stream, n), in_order=False)
        check_bound(whole, stream)
        check_mass(whole, stream)


@pytest.mark.parametrize("weighted", [False, True])
def test_lopsided_and_of_different_widths(weighted):
    """Runs of a long stream are wider than those of a short one, and either may take in the other."""
    rng = np.random.default_rng(1)
    sizes, widths = (20_000, 3000, 600, 40, 1), []
    parts = [Stream(rng.normal(size=(n, 2)), np.zeros(n, int)) for n in sizes]
    for part in parts:
        part.weight = rng.exponential(size=len(part)) + 0.01 if weighted else None
        widths.append(learnt(part)._store.classes[0].k)
    assert len(set(widths)) >= 3
    for a in parts:
        for b in parts:
            summary = learnt(a)
            summary.merge(learnt(b))
            check_bound(summary, joined(a, b))
            check_mass(summary, joined(a, b))


def test_merging_when_the_budget_is_spent_widens_more_than_once():
    """Runs that wait to be placed are narrower than the others by then.  All sizes, so that none escapes."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(6000, 1))
    for _ in range(cases(100)):
        a, b = (Stream(x[:n], np.zeros(n, int)) for n in rng.integers(1, 6000, 2))
        summary = learnt(a, 0.02)
        summary.merge(learnt(b, 0.02))
        runs = summary._store.classes[0]
        assert {run.values.shape[1] for run in runs.runs} <= {runs.k}
        assert max(len(level) for level in runs.levels) <= 1
        check_bound(summary, joined(a, b))


def test_one_by_one_into_a_long_one():
    """The shape of a reduce: every shard into the first, and more rows in between."""
    rng = np.random.default_rng(3)
    stream = all_orders(rng, 6000)
    summary, done = learnt(stream[:500]), 500
    for size in rng.integers(1, 400, 20).tolist():
        summary.merge(learnt(stream[done : done + size]))
        done += size
        summary.update(stream.X[done : done + 7], stream.y[done : done + 7])
        done += 7
        check_bound(summary, stream[:done])


def test_weighted_with_unweighted():
    rng = np.random.default_rng(4)
    plain, heavy = all_orders(rng, 3000), all_orders(rng, 3000)
    heavy.weight = rng.exponential(size=3000) + 0.01
    for a, b in ((plain, heavy), (heavy, plain)):
        summary = learnt(a)
        summary.merge(learnt(b))
        check_bound(summary, joined(a, b))
        check_mass(summary, joined(a, b))


def test_float32_with_float64():
    rng = np.random.default_rng(5)
    a, b = all_orders(rng, 1500, np.float32), all_orders(rng, 1500)
    for first, second in (((a, np.float32), (b, np.float64)), ((b, np.float64), (a, np.float32))):
        summary = learnt(first[0], dtype=first[1])
        summary.merge(learnt(second[0], dtype=second[1]))
        check_bound(summary, joined(first[0], second[0]))


@pytest.mark.parametrize("weighted", [False, True])
def test_labels_and_features_that_only_one_side_knows(weighted):
    rng = np.random.default_rng(6)
    wide = Stream(rng.normal(size=(900, 4)), rng.choice(["b", "c"], 900))
    narrow = Stream(rng.normal(size=(800, 2)), rng.choice(["a", "c"], 800))
    if weighted:
        narrow.weight = rng.exponential(size=800) + 0.1
    full = Stream(np.pad(narrow.X, ((0, 0), (0, 2)), constant_values=np.nan), narrow.y, narrow.weight)
    for (a, whole_a), (b, whole_b) in (((wide, wide), (narrow, full)), ((narrow, full), (wide, wide))):
        summary = learnt(a)
        summary.merge(learnt(b))
        assert sorted(summary.classes) == ["a", "b", "c"]
        assert summary.n_features == 4
        check_bound(summary, joined(whole_a, whole_b))
        check_mass(summary, joined(whole_a, whole_b))


@pytest.mark.parametrize("weighted", [False, True])
def test_merging_with_oneself(weighted):
    rng = np.random.default_rng(7)
    stream = all_orders(rng, 2000)
    stream.weight = rng.exponential(size=2000) + 0.1 if weighted else None
    summary = learnt(stream)
    summary.merge(summary)
    check_bound(summary, joined(stream, stream))
    check_mass(summary, joined(stream, stream))


@pytest.mark.parametrize("weights", [("none", "none"), ("none", "copies"), ("pareto", "none")])
def test_the_other_is_unchanged_bit_for_bit(weights):
    rng = np.random.default_rng(9)
    for rows in ((300, 4000), (4000, 300), (2000, 2000)):
        streams = [all_orders(rng, n) for n in rows]
        for stream, name in zip(streams, weights, strict=True):
            stream.weight = None if name == "none" else WEIGHTS[name](rng, len(stream))
        a, b = (learnt(stream) for stream in streams)
        before = snapshot(b)
        a.merge(b)
        assert_same_bits(before, snapshot(b))
        state = snapshot(a)
        b.update(streams[1].X, streams[1].y, streams[1].weight)
        assert_same_bits(state, snapshot(a))


@pytest.mark.parametrize("half_life", [10.0, 300.0, 1e5])
@pytest.mark.parametrize("n", [2, 7, 64])
def test_with_fading_the_other_comes_after(n, half_life):
    rng = np.random.default_rng(n)
    stream = all_orders(rng, 3000)
    stream.weight = WEIGHTS["copies"](rng, 3000) if n == 7 else None
    whole = merged(rng, shards(rng, stream, n, half_life), in_order=True)
    check_bound(whole, stream, half_life)


@pytest.mark.parametrize("rows", [(200, 1500), (1500, 200), (900, 900), (5000, 5000)])
def test_with_fading_a_long_other_makes_one_vanish(rows):
    """At a half-life of one row, 1500 rows divide a mass by more than the smallest number there is."""
    rng = np.random.default_rng(10)
    a, b = (Stream(rng.normal(size=(n, 2)), np.arange(n) % 2) for n in rows)
    summary = learnt(a, 0.1, 1.0)
    summary.merge(learnt(b, 0.1, 1.0))
    check_bound(summary, joined(a, b), 1.0)
    check_tables_are_finite(summary)
    summary.update(a.X, a.y)
    check_bound(summary, joined(a, b, a), 1.0)


def test_a_class_that_fades_away_leaves_no_garbage():
    rng = np.random.default_rng(11)
    first = Stream(rng.normal(size=(40, 2)), np.zeros(40, int))
    then = Stream(rng.normal(size=(3000, 2)), np.ones(3000, int))
    summary = learnt(first, 0.1, 1.0)
    for low in range(0, 3000, 100):
        summary.update(then.X[low : low + 100], then.y[low : low + 100])
        check_bound(summary, joined(first, then[: low + 100]), 1.0)
        check_tables_are_finite(summary)
        Quantiles.from_state(summary.state())
    assert not all_tables(summary, 3)[0][:, 0].any()
    summary.update(first.X, first.y)  # it may come back
    check_bound(summary, joined(first, then, first), 1.0)


def check_tables_are_finite(summary):
    counts, n = all_tables(summary, 3)
    assert np.all(np.isfinite(counts))
    assert np.all(counts >= 0)
    assert np.all(np.isfinite(n))
    assert np.all(counts.sum(axis=(1, 2)) > 0)


def test_fading_merges_on_after_the_factor_was_taken_out():
    rng = np.random.default_rng(12)
    stream = Stream(rng.normal(size=(4000, 2)), rng.integers(0, 2, 4000))
    a, b = learnt(stream[:2000], half_life=5.0), learnt(stream[2000:3500], half_life=5.0)
    a.merge(b)
    a.update(stream.X[3500:], stream.y[3500:])
    check_bound(a, stream, 5.0)
    counts, _ = all_tables(a, 5)
    shares = counts.sum(axis=2) / counts.sum(axis=(1, 2))[:, None]
    mass = decay(4000, 5.0)
    wanted = [mass[stream.y == label].sum() / mass.sum() for label in a.classes]
    np.testing.assert_allclose(shares, np.tile(wanted, (2, 1)), rtol=1e-9)


@pytest.mark.parametrize("weights", ["none", "copies", "exponential"])
def test_few_values_stay_exact_in_any_tree(weights):
    rng = np.random.default_rng(13)
    for _ in range(5):
        n = int(rng.integers(500, 3000))
        X = np.column_stack([ORDERS["few"](rng, n), rng.integers(0, 64, n), rng.normal(size=n)])
        X[rng.random(n) < 0.2, 1] = np.nan
        stream = Stream(X, rng.integers(0, 2, n))
        stream.weight = None if weights == "none" else WEIGHTS[weights](rng, n)
        whole = merged(rng, shards(rng, stream, 9), in_order=False)
        assert whole.rank_error().max() > 0  # the third column is far from exact
        check_tables(whole, Stream(X[:, :2], stream.y, stream.weight))
