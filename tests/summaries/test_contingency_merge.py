"""Merging contingency tables of parts equals counting the whole, in any tree."""

import numpy as np
import pytest

from streamsieve.exceptions import MergeError, TargetError
from streamsieve.summaries import Contingency, Moments
from tests.reference.contingency import contingency
from tests.summaries.pieces import (
    KINDS,
    assert_same_bits,
    check,
    feed,
    random_piece,
    random_pieces,
    rows_of,
    snapshot,
    width_of,
)


def merged(rng, summaries, *, in_order):
    summaries = list(summaries)
    while len(summaries) > 1:
        i = int(rng.integers(len(summaries) - 1))
        j = i + 1
        if not in_order:
            i, j = rng.permutation(len(summaries))[:2]
        summaries[i].merge(summaries[j])
        del summaries[j]
    return summaries[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 7, 64])
def test_any_tree_over_shards_equals_the_whole(kind, n):
    rng = np.random.default_rng(n)
    for _ in range(200 // (n + 9)):
        pieces = random_pieces(rng, kind, n)
        whole = merged(rng, [feed(Contingency(), piece) for piece in pieces], in_order=False)
        check(whole, pieces)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("half_life", [1.0, 3.0, 100.0, 1e5])
def test_with_fading_the_other_comes_after(kind, half_life):
    rng = np.random.default_rng(12)
    for n in (2, 3, 7) * 5:
        pieces = random_pieces(rng, kind, n)
        whole = merged(rng, [feed(Contingency(half_life), piece) for piece in pieces], in_order=True)
        check(whole, pieces, half_life)


@pytest.mark.parametrize("kind", KINDS)
def test_two_that_have_not_overflowed_merge_exactly_even_if_together_they_do(kind):
    rng = np.random.default_rng(13)
    overflows = 0
    for cap in (2, 3, 4, 6) * 60:
        pieces = random_pieces(rng, kind, 3, weights="whole")
        first, second = feed(Contingency(cap=cap), *pieces[:2]), feed(Contingency(cap=cap), pieces[2])
        if second.overflowed.any():
            continue
        first.merge(second)
        check(first, pieces, cap=cap)
        overflows += first.overflowed.any()
    assert overflows > 20


def test_a_merge_with_one_that_has_overflowed_keeps_all_mass():
    rng = np.random.default_rng(14)
    for _ in range(50):
        pieces = random_pieces(rng, "mixed", 2, weights="whole")
        first, second = (feed(Contingency(cap=2), piece) for piece in pieces)
        first.merge(second)
        twin = contingency(rows_of(pieces), width_of(pieces))
        for j in range(first.n_features):
            assert first.counts(j).sum() == sum(count for key, count in twin.items() if key[0] == j)
            assert len(first.categories(j)) <= 2 + 2


def test_merging_leaves_the_other_as_it_was_and_apart():
    rng = np.random.default_rng(15)
    for case in range(40):
        pieces = random_pieces(rng, "mixed", 2)
        mine = feed(Contingency(), pieces[0]) if case % 2 else Contingency()
        other = feed(Contingency(), pieces[1])
        before = snapshot(other)
        mine.merge(other)
        feed(mine, *pieces)
        assert_same_bits(before, snapshot(other))


def test_a_summary_merges_with_itself():
    rng = np.random.default_rng(16)
    pieces = random_pieces(rng, "mixed", 3)
    summary = feed(Contingency(), *pieces)
    summary.merge(summary)
    check(summary, pieces + pieces)


def test_an_empty_summary_is_the_neutral_element():
    rng = np.random.default_rng(17)
    for _ in range(20):
        full = feed(Contingency(3.0), random_piece(rng, 5, 3, "mixed", weights="none"))
        before = snapshot(full)
        full.merge(Contingency(3.0))
        assert_same_bits(before, snapshot(full))
        empty = Contingency(3.0)
        empty.merge(full)
        assert_same_bits(before, snapshot(empty))


def test_only_equals_merge():
    with pytest.raises(MergeError, match=r"half_life and cap merge: \(3\.0, 256\) here, \(None, 256\) there"):
        Contingency(3.0).merge(Contingency())
    with pytest.raises(MergeError, match=r"\(None, 256\) here, \(None, 8\) there"):
        Contingency().merge(Contingency(cap=8))
    with pytest.raises(MergeError, match=r"\(None, 256\) here, Moments there"):
        Contingency().merge(Moments())


@pytest.mark.parametrize("act", ["merge", "update"])
def test_text_labels_do_not_mix_with_numbers_and_nothing_is_changed(act):
    X = np.array([["a", 1.0], ["b", 2.0]], object)
    numbers, text = Contingency(), Contingency()
    numbers.update(X, np.array([0, 1]))
    text.update(np.array([["c", "d", "e"]], object), np.array(["x"]))
    before = snapshot(numbers)
    with pytest.raises(TargetError, match="labels so far were like 0, now 'x' came"):
        numbers.merge(text) if act == "merge" else numbers.update(X, np.array(["x", "y"]))
    assert_same_bits(before, snapshot(numbers))
