"""A copy of a summary whose features stand elsewhere: the summary of rows whose columns were moved."""

import numpy as np
import pytest

from streamsieve.exceptions import SchemaError
from tests.helpers.tier import cases
from tests.summaries.streams import (
    HALF_LIVES,
    KINDS,
    Stream,
    assert_same_bits,
    check,
    feed,
    learnt,
    random_stream,
    snapshot,
)

both = pytest.mark.parametrize(("kind", "target"), KINDS.values(), ids=KINDS)
each_form = pytest.mark.parametrize(("form", "absent"), [("C", np.nan), ("csr_array", 0.0)])


def moved(stream, columns, n_features, absent):
    """Return the stream with its columns at other places, and something in between."""
    X = np.full((len(stream), n_features), absent)
    X[:, columns] = stream.X
    return Stream(X, stream.y, stream.weight)


def places(rng, p, n_features):
    return rng.permutation(n_features)[:p].astype(np.int64)


@both
@each_form
def test_moved_features_equal_the_rows_with_moved_columns(kind, target, form, absent):
    rng = np.random.default_rng(1)
    for case in range(cases(100)):
        half_life = HALF_LIVES[case % len(HALF_LIVES)]
        stream = random_stream(rng, target, p=3)
        n_features = int(rng.integers(3, 8))
        columns = places(rng, 3, n_features)
        parts = stream.cut(rng, 3)
        summary = learnt(kind, parts, [form] * 3, half_life)
        before = snapshot(summary)
        copy = summary.reindexed(columns, n_features)
        assert_same_bits(before, snapshot(summary))
        check(copy, moved(stream, columns, n_features, absent), half_life)


@both
@each_form
def test_a_copy_goes_on_by_itself(kind, target, form, absent):
    rng = np.random.default_rng(2)
    for half_life in HALF_LIVES:
        stream = random_stream(rng, target, n=20, p=2)
        columns = places(rng, 2, 4)
        summary = feed(kind(half_life), stream[:10], form)
        before = snapshot(summary)
        wide = moved(stream, columns, 4, absent)
        copy = feed(summary.reindexed(columns, 4), wide[10:], form)
        check(copy, wide, half_life)
        assert_same_bits(before, snapshot(summary))


@both
@pytest.mark.parametrize("ours", ["C", "csr_array"])
@pytest.mark.parametrize("theirs", ["C", "csr_array"])
@pytest.mark.parametrize("half_life", [None, 5.0])
def test_features_merge_wherever_they_stand(kind, target, ours, theirs, half_life):
    """Ours are 0, 1, 2; theirs were counted otherwise, lack some of ours, and have new ones."""
    rng = np.random.default_rng(3)
    absent = {"C": np.nan, "csr_array": 0.0}
    for _ in range(cases(30)):
        left, right = (random_stream(rng, target, n=8, p=p) for p in (3, 4))
        left.weight = right.weight = None
        columns = places(rng, 4, 6)
        whole = feed(kind(half_life), left, ours)
        whole.merge(feed(kind(half_life), right, theirs).reindexed(columns, 6))
        left = moved(left, np.arange(3), 6, absent[ours])
        right = moved(right, columns, 6, absent[theirs])
        both_parts = Stream(np.vstack([left.X, right.X]), np.concatenate([left.y, right.y]))
        check(whole, both_parts, half_life, 1e-11)


@both
@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_only_changing_places_takes_no_more_memory(kind, target, form):
    stream = random_stream(np.random.default_rng(4), target, n=9, p=3)
    stream.X[np.isnan(stream.X)] = 1.0
    stream.weight = None
    summary = feed(kind(), stream, form)
    assert summary.reindexed([2, 0, 1], 3).nbytes == summary.nbytes
    back = summary.reindexed([2, 0, 1], 3).reindexed([1, 2, 0], 3)
    assert_same_bits(snapshot(summary), snapshot(back))


@both
def test_a_summary_of_nothing_has_nothing_to_move(kind, target):
    copy = kind(3.0).reindexed(np.array([4, 2]), 5)
    assert (copy.n_rows, copy.n_features, copy.half_life) == (0, 0, 3.0)


@both
def test_places_beyond_those_seen_are_for_features_to_come(kind, target):
    stream = random_stream(np.random.default_rng(5), target, n=9, p=2)
    copy = feed(kind(), stream, "csr_array").reindexed(np.array([3, 1, 0]), 4)
    check(copy, moved(stream, [3, 1], 4, 0.0))


@both
@pytest.mark.parametrize("form", ["C", "csr_array"])
@pytest.mark.parametrize(
    ("columns", "message"),
    [([0, 2], "there is no feature 2: they go from 0 to 1"), ([0, -1], "no feature -1"), ([1, 1], "twice")],
)
def test_places_that_are_not_there_are_refused(kind, target, form, columns, message):
    stream = random_stream(np.random.default_rng(6), target, n=9, p=2)
    stream.weight = None
    summary = feed(kind(), stream, form)
    with pytest.raises(SchemaError, match=message):
        summary.reindexed(columns, 2)
