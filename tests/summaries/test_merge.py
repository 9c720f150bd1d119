"""Merging the summaries of parts equals one summary of the whole, in any tree."""

import numpy as np
import pytest

from streamsieve.exceptions import MergeError, TargetError
from streamsieve.summaries import CoMoments, Moments
from tests.helpers.tier import cases
from tests.summaries.streams import (
    FORMS,
    KINDS,
    Stream,
    assert_same_bits,
    check,
    feed,
    learnt,
    random_stream,
    same_block,
    snapshot,
)

both = pytest.mark.parametrize(("kind", "target"), KINDS.values(), ids=KINDS)


def merged(rng, summaries, *, in_order):
    """Merge two at a time until one is left: neighbours only, or any two in any order."""
    summaries = list(summaries)
    while len(summaries) > 1:
        i = int(rng.integers(len(summaries) - 1))
        j = i + 1
        if not in_order:
            i, j = rng.permutation(len(summaries))[:2]
        summaries[i].merge(summaries[j])
        del summaries[j]
    return summaries[0]


def shards(rng, kind, stream, n, forms, half_life=None):
    parts = stream.cut(rng, n)
    return [feed(kind(half_life), part, rng.choice(forms)) for part in parts]


@both
@pytest.mark.parametrize("forms", [["C"], ["csr_array"], list(FORMS)], ids=["dense", "sparse", "mixed"])
@pytest.mark.parametrize("n", [1, 2, 7, 64])
def test_any_tree_over_shards_equals_the_whole(kind, target, forms, n):
    rng = np.random.default_rng(n)
    for _ in range(4):
        stream = random_stream(rng, target, n=130, p=3)
        whole = merged(rng, shards(rng, kind, stream, n, forms), in_order=False)
        check(whole, stream, tolerance=1e-11)


@both
@pytest.mark.parametrize("forms", [["C"], ["csr_array"], list(FORMS)], ids=["dense", "sparse", "mixed"])
@pytest.mark.parametrize("half_life", [1.0, 3.0, 100.0, 1e5])
def test_with_fading_the_other_comes_after(kind, target, forms, half_life):
    rng = np.random.default_rng(int(half_life))
    for n in (2, 7, 64):
        stream = random_stream(rng, target, n=150, p=2)
        whole = merged(rng, shards(rng, kind, stream, n, forms, half_life), in_order=True)
        check(whole, stream, half_life, 1e-11)


@both
def test_with_fading_the_order_matters(kind, target):
    rng = np.random.default_rng(0)
    stream = random_stream(rng, target, n=40, p=1)
    stream.X[:, 0], stream.weight = np.arange(40), None
    a, b = learnt(kind, [stream[:20]], "C", 3.0), learnt(kind, [stream[20:]], "C", 3.0)
    b.merge(a)
    later_first = Stream(np.roll(stream.X, 20, axis=0), np.roll(stream.y, 20))
    check(b, later_first, 3.0)
    with pytest.raises(AssertionError):
        check(b, stream, 3.0)


@both
@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_fading_merges_on_after_the_factor_was_taken_out(kind, target, form):
    rng = np.random.default_rng(1)
    stream = random_stream(rng, target, n=900, p=2)
    stream.weight, stream.X[np.isnan(stream.X)] = None, 1.0
    a, b = feed(kind(1.0), stream[:450], form), feed(kind(1.0), stream[450:890], form)
    a.merge(b)
    feed(a, stream[890:], form)
    check(a, stream, 1.0, 1e-11)


@both
@pytest.mark.parametrize("forms", [["C"], ["csr_array"], list(FORMS)], ids=["dense", "sparse", "mixed"])
def test_merging_commutes_and_associates(kind, target, forms):
    rng = np.random.default_rng(2)
    for _ in range(cases(30)):
        stream = random_stream(rng, target, n=30, p=3)
        parts, size = stream.cut(rng, 3), max(np.nanmax(np.abs(stream.X)), np.max(np.abs(stream.y)))
        chosen = rng.choice(forms, 3)

        def fresh(i, parts=parts, chosen=chosen):
            return feed(kind(), parts[i], chosen[i])

        left, right, turned, tail = fresh(0), fresh(0), fresh(2), fresh(1)
        left.merge(fresh(1))
        left.merge(fresh(2))  # (0 + 1) + 2
        tail.merge(fresh(2))
        right.merge(tail)  # 0 + (1 + 2)
        turned.merge(fresh(1))
        turned.merge(fresh(0))  # (2 + 1) + 0
        same_block(left, right, size)
        same_block(left, turned, size)


@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_counts_are_exact_in_any_tree(form):
    rng = np.random.default_rng(3)
    stream = random_stream(rng, "classes", n=200, p=3)
    stream.weight = rng.integers(0, 2**20, 200).astype(np.float64)
    twin = feed(Moments(), stream, form)
    for n in (2, 7, 64):
        whole = merged(rng, shards(rng, Moments, stream, n, [form]), in_order=False)
        for label in whole.classes:
            ours, theirs = whole.classes.index(label), twin.classes.index(label)
            assert np.array_equal(whole.block(0, 3).mass[ours], twin.block(0, 3).mass[theirs])
            assert np.array_equal(whole.block(0, 3).n[ours], twin.block(0, 3).n[theirs])


@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_labels_that_only_one_side_knows(form):
    X = np.arange(12.0).reshape(6, 2)
    y = np.array(["a", "b", "a", "c", "d", "c"])
    left, right = feed(Moments(), Stream(X[:3], y[:3]), form), feed(Moments(), Stream(X[3:], y[3:]), form)
    left.merge(right)
    assert left.classes == ["a", "b", "c", "d"]
    check(left, Stream(X, y))


@both
@pytest.mark.parametrize(("form", "absent"), [("C", np.nan), ("csr_array", 0.0)])
@pytest.mark.parametrize("widths", [(2, 4), (4, 2)])
def test_features_that_only_one_side_knows(kind, target, form, absent, widths):
    rng = np.random.default_rng(4)
    stream = random_stream(rng, target, n=20, p=4)
    stream.weight = None
    left, right = stream[:10], stream[10:]
    a = feed(kind(), Stream(left.X[:, : widths[0]], left.y), form)
    a.merge(feed(kind(), Stream(right.X[:, : widths[1]], right.y), form))
    left.X[:, widths[0] :], right.X[:, widths[1] :] = absent, absent
    check(a, stream)


@pytest.mark.parametrize("forms", [("C", "C"), ("C", "csr_array"), ("csr_array", "C")])
def test_features_are_merged_block_by_block_wherever_values_are_missing(forms, monkeypatch):
    monkeypatch.setattr("streamsieve.summaries.moments.summary.BLOCK", 2)
    rng = np.random.default_rng(7)
    for column in range(5):
        stream = random_stream(rng, "classes", n=20, p=5)
        stream.X[np.isnan(stream.X)] = 1.0
        stream.X[15:, column] = np.nan
        mine = feed(Moments(), stream[:10], forms[0])
        mine.merge(feed(Moments(), stream[10:], forms[1]))
        check(mine, stream)


@both
@pytest.mark.parametrize(
    "forms", [("C", "C"), ("csr_array", "csr_array"), ("C", "csr_array"), ("csr_array", "C")]
)
def test_merging_leaves_the_other_as_it_was_and_apart(kind, target, forms):
    rng = np.random.default_rng(5)
    for empty in (False, True):
        stream = random_stream(rng, target, n=20, p=2)
        mine = kind() if empty else feed(kind(), stream[:10], forms[0])
        other = feed(kind(), stream[10:], forms[1])
        before = snapshot(other)
        mine.merge(other)
        feed(mine, stream, forms[0])
        assert_same_bits(before, snapshot(other))


@both
def test_an_empty_summary_is_the_neutral_element(kind, target):
    rng = np.random.default_rng(6)
    stream = random_stream(rng, target, n=20, p=2)
    for form in ("C", "csr_array"):
        full = feed(kind(3.0), stream, form)
        before = snapshot(full)
        full.merge(kind(3.0))
        assert_same_bits(before, snapshot(full))
        empty = kind(3.0)
        empty.merge(full)
        assert_same_bits(before, snapshot(empty))


@both
def test_different_half_lives_do_not_merge(kind, target):
    with pytest.raises(MergeError, match=r"equal half_life merge: 3\.0 here, None there"):
        kind(3.0).merge(kind())


def test_different_kinds_of_summaries_do_not_merge():
    with pytest.raises(MergeError, match="only moments of equal half_life merge: None here"):
        Moments().merge(CoMoments())
    with pytest.raises(MergeError, match="only co-moments of equal half_life merge: None here"):
        CoMoments().merge(Moments())


@pytest.mark.parametrize("act", ["merge", "update"])
def test_text_labels_do_not_mix_with_numbers_and_nothing_is_changed(act):
    X = np.arange(6.0).reshape(3, 2)
    numbers, text = Moments(), Moments()
    numbers.update(X, np.array([0, 1, 0]))
    text.update(X, np.array(["a", "b", "a"]))
    before = snapshot(numbers)
    with pytest.raises(
        TargetError, match="labels so far were like 0, now 'a' came: keep to text or to numbers"
    ):
        numbers.merge(text) if act == "merge" else numbers.update(X, np.array(["a", "b", "a"]))
    assert_same_bits(before, snapshot(numbers))
