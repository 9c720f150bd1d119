"""Tables beyond the exact regime: off by no more than the certified error explains, and never in a sum.

Let F_c(x) be the mass of class c up to x, G_c(x) what the summary says, E_c = rank_error * mass of the class,
so that |G_c - F_c| <= E_c; F, G and E are sums over the classes, so that |G - F| <= E.

**A cut.**  For a target t, the offline cut u is the smallest value with F(u) >= t, ours the smallest stored v
with G(v) >= t.  If v > u: G(x) < t for all x < v, so F(x) < t + E <= F(u) + E, and the mass in (u, v) is at
most E.  If v < u: F(v) >= G(v) - E >= t - E, and F(x) < t for all x < u, so the mass in (v, u) is at most E.
If G never reaches t, v is the largest stored value, G(v) = G(inf) >= W - E, so F(v) >= W - 2E.  In all cases
|F(v) - F(u)| <= 2E + the mass at the larger of the two cuts.

**A count** is G_c(v) - G_c(v') for two neighboring cuts, offline F_c(u) - F_c(u').  So it differs by at most
2 E_c + |F_c(v) - F_c(u)| + |F_c(v') - F_c(u')|: twice the error of its own class, and the shift of its cuts.
"""

import numpy as np
import pytest

from streamsieve.summaries import Quantiles
from tests.reference.moments import decay, existing
from tests.reference.quantiles import bin_size, cuts_of, tables
from tests.summaries.quantile_truth import QUICK, ROUNDING, WEIGHTS, all_orders, all_tables, learnt, scale_of
from tests.summaries.streams import Stream


def cuts_and_counts(summary, bins, scale):
    """Return our cuts, and counts as shares of the same mass as the twin's."""
    _, cuts = summary._store.tables(0, summary.n_features, bins, summary._rows, whole=summary._whole)
    counts, _ = all_tables(summary, bins)
    return cuts, counts / scale


def up_to(values, mass, points):
    """Return the mass up to each point."""
    order = np.argsort(values)
    sums = np.concatenate([[0.0], np.cumsum(mass[order])])
    return sums[np.searchsorted(values[order], points, side="right")]


def check_near_offline(summary, stream, half_life, bins):
    X, y, weight = existing(stream.X, stream.y, stream.weight)
    mass = weight * decay(len(y), half_life)
    whole = half_life is None and np.all(weight == np.floor(weight))
    cuts, counts = cuts_and_counts(summary, bins, scale_of(summary, mass))
    offline = tables(X, y, weight, half_life, bins)
    slack = ROUNDING * mass.sum()
    own = [y == label for label in summary.classes]
    errors = summary.rank_error() * [mass[of_class].sum() for of_class in own]
    for j in range(X.shape[1]):
        there = ~np.isnan(X[:, j])
        x, m = X[there, j], mass[there]
        u = np.array(cuts_of(x.tolist(), m.tolist(), bin_size(m.sum(), bins, whole), bins))
        v = cuts[j]
        at_cut = [m[x == max(pair)].sum() for pair in zip(u, v, strict=True)]
        assert np.all(np.abs(up_to(x, m, v) - up_to(x, m, u)) <= 2 * errors.sum() + at_cut + slack)
        for c, of_class in enumerate(own):
            of_c = of_class[there]
            shift = np.abs(up_to(x[of_c], m[of_c], v) - up_to(x[of_c], m[of_c], u))
            shift = np.concatenate([[0.0], shift, [0.0]])  # the ends are exact
            wanted = offline.counts[j, offline.classes.index(summary.classes[c])]
            off = np.abs(counts[j, c] - wanted)
            assert np.all(off <= 2 * errors[c] + shift[1:] + shift[:-1] + slack)
            np.testing.assert_allclose(counts[j, c].sum(), m[of_c].sum(), rtol=1e-10, atol=slack)


@pytest.mark.parametrize("bins", [2, 5, 12])
@pytest.mark.parametrize("weights", ["none", "copies", "exponential", "pareto", "one giant"])
def test_every_count_is_as_near_as_certified(weights, bins):
    rng = np.random.default_rng(1)
    stream = all_orders(rng, 3000)
    stream.weight = None if weights == "none" else WEIGHTS[weights](rng, 3000)
    check_near_offline(learnt(stream), stream, None, bins)


@pytest.mark.parametrize("half_life", [20.0, 1e3])
def test_every_count_under_fading(half_life):
    stream = all_orders(np.random.default_rng(2), 3000)
    check_near_offline(learnt(stream, half_life=half_life), stream, half_life, 5)


def test_every_count_after_merges():
    rng = np.random.default_rng(3)
    stream = all_orders(rng, 4000)
    whole = Quantiles(QUICK)
    for part in stream.cut(rng, 7):
        whole.merge(learnt(part))
    check_near_offline(whole, stream, None, 5)


def test_sums_are_exact_whole_numbers():
    rng = np.random.default_rng(4)
    stream = all_orders(rng, 5000)
    for weight in (None, rng.integers(0, 2**30, 5000) * 1.0):
        stream.weight = weight
        summary = learnt(stream)
        counts, n = all_tables(summary, 7)
        w = np.ones(5000) if weight is None else weight
        for c, label in enumerate(summary.classes):
            assert np.array_equal(counts[:, c].sum(axis=1), ((stream.y == label) * w) @ ~np.isnan(stream.X))
        assert np.array_equal(n, w @ ~np.isnan(stream.X))


def test_as_many_bins_as_rows_and_more():
    rng = np.random.default_rng(5)
    stream = Stream(rng.permutation(40.0 * np.arange(40))[:, None], np.arange(40) % 2)
    summary = learnt(stream)
    for bins in (39, 40, 41, 1000):
        wanted = tables(stream.X, stream.y, bins=bins)
        assert np.array_equal(all_tables(summary, bins)[0], wanted.counts)


def test_tables_come_in_blocks_that_cover_all_features_in_order(monkeypatch):
    stream = all_orders(np.random.default_rng(6), 800)
    summary = learnt(stream)
    counts, n = all_tables(summary, 5)
    monkeypatch.setattr("streamsieve.summaries.quantiles.summary.features_at_once", lambda classes, bins: 4)
    blocks = list(summary.tables(5))
    assert [len(b.n) for b in blocks] == [4, 4, 3]
    assert all(b.ordered for b in blocks)
    assert np.array_equal(np.concatenate([b.counts for b in blocks]), counts)
    assert np.array_equal(np.concatenate([b.n for b in blocks]), n)


def test_asking_changes_nothing_and_may_go_on_in_between():
    stream = all_orders(np.random.default_rng(7), 2000)
    asked, quiet = Quantiles(QUICK), Quantiles(QUICK)
    for low in range(0, 2000, 130):
        for summary in (asked, quiet):
            summary.update(stream.X[low : low + 130], stream.y[low : low + 130])
        list(asked.tables(5))
        asked.cdf(0, [0.0, 1.0])
    assert np.array_equal(all_tables(asked, 5)[0], all_tables(quiet, 5)[0])


def test_ranks_are_asked_for_in_any_order_and_once_or_often():
    summary = learnt(all_orders(np.random.default_rng(8), 2000))
    points = [3.0, -1.0, 3.0, 0.5]
    together = summary.cdf(0, points)
    assert together.shape == (3, 4)
    for i, x in enumerate(points):
        assert np.array_equal(summary.cdf(0, x)[:, 0], together[:, i])
    rising = summary.cdf(0, np.linspace(-4, 4, 500))
    assert np.all(np.diff(rising, axis=1) >= 0)
    assert not rising[:, 0].any()
