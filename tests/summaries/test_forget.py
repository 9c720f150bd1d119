"""Forgetting features: as if all rows so far had held NaN there."""

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
    random_stream,
    snapshot,
)

both = pytest.mark.parametrize(("kind", "target"), KINDS.values(), ids=KINDS)
FORMS = ["C", "F", "csr_array"]


@both
@pytest.mark.parametrize("forms", [["C", "F"], ["csr_array"], FORMS], ids=["dense", "sparse", "mixed"])
def test_forgotten_features_equal_the_twin_with_nan_put_in(kind, target, forms):
    rng = np.random.default_rng(1)
    for case in range(cases(150)):
        half_life = HALF_LIVES[case % len(HALF_LIVES)]
        stream = random_stream(rng, target, n=int(rng.integers(4, 30)), p=4)
        summary, past = kind(half_life), 0
        for part in stream.cut(rng, 4):
            feed(summary, part, rng.choice(forms))
            past += len(part)
            if summary.n_features:
                columns = rng.permutation(4)[: rng.integers(0, 4)]
                summary.forget(columns)
                stream.X[:past, columns] = np.nan
        check(summary, stream, half_life, 1e-11)


@both
@pytest.mark.parametrize("form", FORMS)
def test_everything_forgotten_begins_anew(kind, target, form):
    rng = np.random.default_rng(2)
    stream = random_stream(rng, target, n=30, p=3)
    stream.weight, stream.X[np.isnan(stream.X)] = None, 2.0
    stream.X[:15] += 1e9  # what is forgotten must not cost digits
    summary = feed(kind(), stream[:15], form)
    summary.forget(np.arange(3))
    assert not np.any(summary.block(0, 3).n)
    feed(summary, stream[15:], form)
    stream.X[:15] = np.nan
    check(summary, stream, tolerance=1e-11)


@both
@pytest.mark.parametrize(
    "forms", [("C", "C"), ("csr_array", "csr_array"), ("C", "csr_array"), ("csr_array", "C")]
)
def test_what_was_forgotten_stays_so_in_a_merge_and_in_a_state(kind, target, forms):
    rng = np.random.default_rng(3)
    for _ in range(20):
        stream = random_stream(rng, target, n=24, p=3)
        stream.weight = None
        left, right = feed(kind(), stream[:12], forms[0]), feed(kind(), stream[12:], forms[1])
        left.forget([0])
        right.forget([2])
        left = kind.from_state(snapshot(left))
        left.merge(right)
        stream.X[:12, 0], stream.X[12:, 2] = np.nan, np.nan
        check(left, stream, tolerance=1e-11)


@both
@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_features_and_labels_may_still_come_late(kind, target, form):
    rng = np.random.default_rng(4)
    stream = random_stream(rng, target, n=20, p=4, labels=(0, 1))
    stream.weight = None
    narrow = Stream(stream.X[:10, :2], stream.y[:10])
    summary = feed(kind(), narrow, form)
    summary.forget([1])
    late = stream[10:]
    if target == "classes":
        late.y[3:] = 2
    feed(summary, late, form)
    stream.X[:10, 1], stream.X[:10, 2:] = np.nan, np.nan if form == "C" else 0.0
    check(summary, stream, tolerance=1e-11)


@both
@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_forgetting_nothing_changes_nothing(kind, target, form):
    stream = random_stream(np.random.default_rng(5), target, n=9, p=3)
    summary = feed(kind(), stream, form)
    before = snapshot(summary)
    summary.forget([])
    assert_same_bits(before, snapshot(summary))


@both
@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_features_that_are_not_there_are_refused(kind, target, form):
    stream = random_stream(np.random.default_rng(6), target, n=9, p=3)
    stream.weight = None
    summary = feed(kind(), stream, form)
    before = snapshot(summary)
    for columns, message in (
        ([0, 3], "there is no feature 3: they go from 0 to 2"),
        ([-1], "there is no feature -1"),
        ([1, 1], "named twice"),
    ):
        with pytest.raises(SchemaError, match=message):
            summary.forget(columns)
    assert_same_bits(before, snapshot(summary))
