"""Compact quantiles: the certified error holds after every reduction, in every tree of merges."""

import numpy as np
import pytest

from streamsieve.exceptions import MergeError, ParameterError
from streamsieve.summaries import Quantiles
from streamsieve.summaries.quantiles.compact import fitting_width, joined
from streamsieve.summaries.quantiles.weighted import WeightedSketch
from tests.helpers.tier import cases
from tests.reference.compact import thinned

EPSILON = 0.02


def columns(rng, n, order):
    """Return columns of many shapes: normal, heavy tails, few values, rounded, many missing."""
    X = np.c_[
        rng.normal(size=n), rng.standard_cauchy(n), rng.integers(0, 5, n), np.round(rng.normal(size=n), 1),
        np.where(rng.random(n) < 0.3, np.nan, rng.exponential(size=n)),
    ]  # fmt: skip
    if order != "random":
        X.sort(axis=0)
    return X[::-1] if order == "reversed" else X


def assert_certified(summary, X, y, weight):
    assert summary.rank_error().max(initial=0) <= summary.max_rank_error
    Quantiles.from_state(summary.state())
    for c, label in enumerate(summary.classes):
        inside = y == label
        w = weight[inside]
        for j in range(X.shape[1]):
            values = X[inside, j]
            x = np.unique(values[~np.isnan(values)])[:: max(1, len(values) // 50)]
            truth = np.array([w[values <= at].sum() for at in x])
            far = np.abs(summary.cdf(j, x)[c] - truth).max(initial=0)
            assert far <= summary.rank_error()[c] * w.sum() + 1e-6 * w.sum()
            if j == 2:
                assert far <= 1e-9 * w.sum()  # few values are exact


@pytest.mark.parametrize("order", ["random", "sorted", "reversed"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_certified_error_holds_in_every_tree(order, weighted):
    reduced = 0
    for seed in range(cases(40, 6)):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(50, 6000))
        X, y = columns(rng, n, order), rng.integers(0, 2, n)
        weight = rng.exponential(size=n) if weighted else np.ones(n)
        parts = []
        edges = np.sort(rng.integers(0, n, int(rng.integers(0, 12))))
        for low, high in zip([0, *edges], [*edges, n], strict=True):
            part = Quantiles(EPSILON)
            of_engine = rng.random() < 0.5
            if of_engine:
                part.begin_part()
            part.update(X[low:high], y[low:high], weight[low:high] if weighted else None)
            before = part.nbytes
            if of_engine:
                part.end_part()
            elif rng.random() < 0.7:
                part.compact()
            reduced += part.nbytes < before
            parts.append(part)
        while len(parts) > 1:
            fan = int(rng.integers(2, 5))
            level = []
            for low in range(0, len(parts), fan):
                first, *others = parts[low : low + fan]
                first.merge_many(others)
                level.append(first)
            parts = level
        assert_certified(parts[0], X, y, weight)
        more = columns(rng, 500, "random")  # it goes on like any other
        parts[0].update(more, np.zeros(500, int))
        y, weight = np.concatenate([y, np.zeros(500, int)]), np.concatenate([weight, np.ones(500)])
        assert_certified(parts[0], np.vstack([X, more]), y, weight)
    assert reduced


def test_a_run_holds_the_values_at_the_mass_positions():
    for seed in range(cases(200, 40)):
        rng = np.random.default_rng(seed)
        sketches, pairs = [], []
        for _ in range(rng.integers(1, 4)):
            sketch = WeightedSketch(1, 0.05, np.float64)
            # whole weights and a power of two for k: sums are exact
            x, w = rng.integers(0, 40, (300, 1)).astype(float), rng.integers(1, 4, 300).astype(float)
            sketch.add(x, None, w)
            for run in sketch.runs:
                pairs += [(value, run.weight) for value in run.values[0].tolist()]
            pairs += zip(
                sketch.rows[: sketch.filled, 0].tolist(), sketch.weights[: sketch.filled], strict=True
            )
            sketches.append(sketch)
        found = joined(sketches, 64).runs[0].values[0]
        wanted = np.array(thinned(pairs, 64))
        assert np.mean(found != wanted) <= 0.05  # a position may fall on the edge between two values
        ranks = np.sort([value for value, _ in pairs])
        gap = np.abs(np.searchsorted(ranks, found) - np.searchsorted(ranks, wanted))
        assert gap.max() <= len(ranks) / 20


def test_compact_states_are_as_small_as_promised():
    rng = np.random.default_rng(0)
    summary = Quantiles(0.01)
    summary.update(rng.normal(size=(40_000, 3)), np.zeros(40_000, int))
    before, error = summary.nbytes, summary.rank_error()[0]
    summary.compact(512)
    assert summary.nbytes < 3 * (512 * 8 + 64) < before
    assert summary.rank_error()[0] == pytest.approx(error + 1 / 1024)
    width = fitting_width(summary._store.classes, None)
    again = summary.copy()
    again.compact()
    assert again.nbytes <= summary.nbytes
    assert width is None or width >= 64


def test_nothing_is_reduced_where_nothing_is_gained_or_the_error_has_no_room():
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.zeros(30, int)
    few, twin = Quantiles(0.01), Quantiles(0.01)
    few.update(X, y)
    twin.update(X, y)
    few.compact()
    assert few.rank_error()[0] == 0
    np.testing.assert_array_equal(few.cdf(0, X[:, 0]), twin.cdf(0, X[:, 0]))
    empty = Quantiles(0.01)
    empty.compact()
    empty.merge_many([few, Quantiles(0.01)])
    assert empty.n_rows == 30


def test_merging_many_changes_no_other_and_refuses_strangers():
    rng = np.random.default_rng(1)
    parts = [Quantiles(EPSILON) for _ in range(4)]
    for k, part in enumerate(parts):
        part.update(rng.normal(size=(2000, 2)), np.full(2000, k % 3))
    before = [part.state() for part in parts]
    parts[0].merge_many(parts[1:])
    assert parts[0].n_rows == 8000
    assert sorted(parts[0].classes) == [0, 1, 2]
    for part, known in zip(parts[1:], before[1:], strict=True):
        assert all(np.array_equal(known[name], array) for name, array in part.state().items())
    with pytest.raises(MergeError, match="only quantiles of equal max_rank_error merge"):
        parts[0].merge_many([Quantiles(0.5)])
    with pytest.raises(ParameterError, match="k"):
        parts[0].compact(3)
    assert parts[0].n_rows == 8000


def test_fading_and_sparse_quantiles_merge_one_by_one():
    import scipy.sparse as sp

    rng = np.random.default_rng(2)
    for make, kind in (
        (lambda: Quantiles(EPSILON, half_life=300), np.asarray),
        (lambda: Quantiles(EPSILON), sp.csr_array),
    ):
        parts = [make() for _ in range(3)]
        for part in parts:
            part.update(kind(rng.integers(0, 3, (500, 2)).astype(float)), rng.integers(0, 2, 500))
        wanted = parts[0].copy()
        for part in parts[1:]:
            wanted.merge(part)
        parts[0].merge_many(parts[1:])
        found = parts[0].state()
        assert all(np.array_equal(found[name], array) for name, array in wanted.state().items())


def test_a_part_leaves_half_of_the_error_to_merges_and_states_stay_small():
    rng, parts, sizes = np.random.default_rng(0), [], []
    for _ in range(64):
        part = Quantiles(EPSILON)
        part.begin_part()
        part.update(rng.normal(size=(3_000, 2)), np.zeros(3_000, int))
        assert part.rank_error().max() <= EPSILON / 2
        part.end_part()
        assert 0 < part.rank_error().max() <= 3 / 4 * EPSILON
        Quantiles.from_state(part.state())
        parts.append(part)
    while len(parts) > 1:
        sizes.append(max(sum(array.nbytes for array in part.state().values()) for part in parts))
        for low in range(0, len(parts), 4):
            parts[low].merge_many(parts[low + 1 : low + 4])
        parts = parts[::4]
    assert parts[0].rank_error().max() <= EPSILON
    assert sizes[1] <= 2.1 * sizes[0]
    assert sizes[2] <= 2.1 * sizes[1]


def test_a_part_that_was_declared_begins_with_what_was_declared():
    part, whole = Quantiles(EPSILON), Quantiles(EPSILON)
    X, y = np.arange(20.0).reshape(10, 2), np.arange(10) % 2
    for each in (part, whole):
        each.update(X[:0], y[:0])
    part.begin_part()
    for each in (part, whole):
        each.update(X, y)
    part.end_part()
    np.testing.assert_array_equal(part.cdf(1, X[:, 1]), whole.cdf(1, X[:, 1]))
    whole.merge_many([part])
    assert whole.cdf(0, [100.0]).sum() == 20


@pytest.mark.parametrize("compacted", [True, False])
def test_merging_many_leaves_the_others_as_they_are(compacted):
    rng, parts = np.random.default_rng(4), []
    for n in (400, 900, 1_300):
        part = Quantiles(EPSILON)
        if compacted:
            part.begin_part()
        part.update(columns(rng, n, "random"), rng.integers(0, 2, n))
        if compacted:
            part.end_part()
        parts.append(part)
    before = [part.state() for part in parts]
    merged = parts[0].copy()
    merged.merge_many(parts[1:])
    merged.update(columns(rng, 5_000, "random"), rng.integers(0, 2, 5_000))  # writes to what it holds
    for part, known in zip(parts, before, strict=True):
        for name, values in part.state().items():
            assert np.array_equal(values, known[name], equal_nan=values.dtype.kind == "f")
