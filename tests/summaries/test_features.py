"""Forgotten features, as if NaN had come, and reindexed ones, as if they had always stood there."""

import numpy as np
import pytest

from streamsieve.exceptions import SchemaError
from tests.helpers.tier import cases
from tests.summaries.kinds import KINDS, each_kind
from tests.summaries.streams import HALF_LIVES, Stream, assert_same_bits, feed, learnt, snapshot

FORMS = ["C", "F", "csr_array"]
each_form = pytest.mark.parametrize("form", ["C", "csr_array"])


def forgotten(kind):
    """What all rows so far hold then."""
    return np.nan if kind.missing else 0.0


@each_kind
@pytest.mark.parametrize("forms", [["C", "F"], ["csr_array"], FORMS], ids=["dense", "sparse", "mixed"])
def test_forgotten_features_equal_the_twin_with_nan_put_in(kind, forms):
    rng = np.random.default_rng(1)
    for case in range(cases(150)):
        half_life = HALF_LIVES[case % len(HALF_LIVES)]
        stream = kind.stream(rng, n=int(rng.integers(4, 30)), p=4)
        summary, past = kind(half_life), 0
        for part in stream.cut(rng, 4):
            feed(summary, part, rng.choice(forms))
            past += len(part)
            if summary.n_features:
                columns = rng.permutation(4)[: rng.integers(0, 4)]
                summary.forget(columns)
                stream.X[:past, columns] = forgotten(kind)
        kind.check(summary, stream, half_life, 1e-11)


@pytest.mark.parametrize("kind", [KINDS["Moments"], KINDS["CoMoments"]])
@pytest.mark.parametrize("form", FORMS)
def test_everything_forgotten_starts_over_with_all_digits(kind, form):
    stream = kind.stream(np.random.default_rng(2), n=30, p=3)
    stream.weight, stream.X[np.isnan(stream.X)] = None, 2.0
    stream.X[:15] += 1e9
    summary = feed(kind(), stream[:15], form)
    summary.forget(np.arange(3))
    assert not np.any(summary.block(0, 3).n)
    feed(summary, stream[15:], form)
    stream.X[:15] = np.nan
    kind.check(summary, stream, tolerance=1e-11)


@each_kind
@pytest.mark.parametrize(
    "forms", [("C", "C"), ("csr_array", "csr_array"), ("C", "csr_array"), ("csr_array", "C")]
)
def test_what_was_forgotten_stays_so_in_a_merge_and_in_a_state(kind, forms):
    rng = np.random.default_rng(3)
    if not kind.mixes:
        forms = forms[:1] * 2
    for _ in range(20):
        stream = kind.stream(rng, n=24, p=3)
        stream.weight = None
        left, right = feed(kind(), stream[:12], forms[0]), feed(kind(), stream[12:], forms[1])
        left.forget([0])
        right.forget([2])
        left = kind.from_state(snapshot(left))
        left.merge(right)
        stream.X[:12, 0] = stream.X[12:, 2] = forgotten(kind)
        kind.check(left, stream, tolerance=1e-11)


@each_kind
@each_form
def test_features_and_labels_may_still_come_late(kind, form):
    stream = kind.stream(np.random.default_rng(4), n=20, p=4, labels=(0, 1))
    stream.weight = None
    summary = feed(kind(), Stream(stream.X[:10, :2], stream.y[:10]), form)
    summary.forget([1])
    late = stream[10:]
    if kind.target == "classes":
        late.y[3:] = 2
    feed(summary, late, form)
    stream.X[:10, 1], stream.X[:10, 2:] = forgotten(kind), kind.absent(form)
    kind.check(summary, stream, tolerance=1e-11)


@each_kind
@each_form
def test_features_that_are_not_there_are_refused(kind, form):
    stream = kind.stream(np.random.default_rng(6), n=9, p=3)
    stream.weight = None
    summary = feed(kind(), stream, form)
    before = snapshot(summary)
    for columns, message in (
        ([0, 3, 1], "there is no feature 3: they go from 0 to 2"),
        ([-1, 0, 1], "there is no feature -1"),
        ([1, 1, 0], "named twice"),
    ):
        with pytest.raises(SchemaError, match=message):
            summary.forget(columns)
        with pytest.raises(SchemaError, match=message):
            summary.reindexed(columns, 3)
    with pytest.raises(SchemaError, match="3 features needs a new place; got 1 columns"):
        summary.reindexed([0], 3)
    summary.forget([])
    assert_same_bits(before, snapshot(summary))


def moved(stream, columns, n_features, absent):
    """Return the stream with its columns at other places, and something in between."""
    X = np.full((len(stream), n_features), absent)
    X[:, columns] = stream.X
    return Stream(X, stream.y, stream.weight)


@each_kind
@each_form
def test_moved_features_equal_the_rows_with_moved_columns_and_go_on(kind, form):
    rng = np.random.default_rng(7)
    for case in range(cases(100)):
        half_life = HALF_LIVES[case % len(HALF_LIVES)]
        stream, n_features = kind.stream(rng, n=20, p=3), int(rng.integers(3, 8))
        columns = rng.permutation(n_features)[:3]
        wide = moved(stream, columns, n_features, kind.absent(form))
        summary = learnt(kind, stream[:15].cut(rng, 3), [form] * 3, half_life)
        before = snapshot(summary)
        copy = summary.reindexed(columns, n_features)
        if summary.n_rows:
            kind.check(copy, wide[:15], half_life)
            kind.check(feed(copy, wide[15:], form), wide, half_life)
        assert_same_bits(before, snapshot(summary))


@each_kind
@pytest.mark.parametrize("ours", ["C", "csr_array"])
@pytest.mark.parametrize("theirs", ["C", "csr_array"])
@pytest.mark.parametrize("half_life", [None, 5.0])
def test_features_merge_wherever_they_stand(kind, ours, theirs, half_life):
    """Ours are 0, 1, 2; theirs were counted otherwise, lack some of ours, and have new ones."""
    rng = np.random.default_rng(3)
    theirs = theirs if kind.mixes else ours
    for _ in range(20):
        left, right = (kind.stream(rng, n=8, p=p) for p in (3, 4))
        left.weight = right.weight = None
        columns = rng.permutation(6)[:4]
        whole = feed(kind(half_life), left, ours)
        whole.merge(feed(kind(half_life), right, theirs).reindexed(columns, 6))
        left = moved(left, np.arange(3), 6, kind.absent(ours))
        right = moved(right, columns, 6, kind.absent(theirs))
        both_parts = Stream(np.vstack([left.X, right.X]), np.concatenate([left.y, right.y]))
        kind.check(whole, both_parts, half_life, 1e-11)


@each_kind
@each_form
def test_moving_there_and_back_changes_no_bit_and_takes_no_memory(kind, form):
    stream = kind.stream(np.random.default_rng(4), n=9, p=3)
    stream.X[np.isnan(stream.X)], stream.weight = 1.0, None
    summary = feed(kind(), stream, form)
    there = summary.reindexed([2, 0, 1], 3)
    assert there.nbytes <= summary.nbytes
    assert_same_bits(snapshot(summary), snapshot(there.reindexed([1, 2, 0], 3)))


@each_kind
def test_places_beyond_those_seen_are_for_features_to_come(kind):
    stream = kind.stream(np.random.default_rng(5), n=9, p=2)
    stream.weight = None
    copy = feed(kind(), stream, "csr_array").reindexed(np.array([3, 1, 0]), 4)
    kind.check(copy, moved(stream, [3, 1], 4, 0.0))
    empty = kind(3.0).reindexed(np.array([4, 2]), 5)
    assert (empty.n_rows, empty.n_features, empty.half_life) == (0, 0, 3.0)
