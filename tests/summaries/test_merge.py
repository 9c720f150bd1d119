"""Merging the summaries of parts equals one summary of the whole, in any tree."""

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve.exceptions import MergeError, TargetError
from streamsieve.summaries import CoMoments, Contingency, CrossProducts, Moments, Quantiles
from tests.summaries.kinds import KINDS, each_kind, merged, over_classes
from tests.summaries.streams import FORMS, Stream, assert_same_bits, feed, random_stream, same_block, snapshot

each_forms = pytest.mark.parametrize(
    "forms", [["C"], ["csr_array"], list(FORMS)], ids=["dense", "sparse", "mixed"]
)


def shards(rng, kind, stream, n, forms, half_life=None):
    chosen = kind.forms(rng, forms, n)
    return [feed(kind(half_life), part, form) for part, form in zip(stream.cut(rng, n), chosen, strict=True)]


@each_kind
@each_forms
@pytest.mark.parametrize("n", [1, 2, 7, 64])
def test_any_tree_over_shards_equals_the_whole(kind, forms, n):
    rng = np.random.default_rng(n)
    for _ in range(3):
        stream = kind.stream(rng, n=130, p=3)
        whole = merged(rng, shards(rng, kind, stream, n, forms), in_order=False)
        kind.check(whole, stream, tolerance=1e-11)


@each_kind
@each_forms
@pytest.mark.parametrize("half_life", [1.0, 3.0, 100.0, 1e5])
def test_with_fading_the_other_comes_after(kind, forms, half_life):
    rng = np.random.default_rng(int(half_life))
    for n in (2, 7, 64):
        stream = kind.stream(rng, n=150, p=2)
        whole = merged(rng, shards(rng, kind, stream, n, forms, half_life), in_order=True)
        kind.check(whole, stream, half_life, 1e-11)


@each_kind
def test_with_fading_the_order_matters(kind):
    stream = kind.stream(np.random.default_rng(0), n=40, p=1)
    stream.X[:, 0], stream.weight = np.arange(40), None
    a, b = feed(kind(3.0), stream[:20]), feed(kind(3.0), stream[20:])
    b.merge(a)
    kind.check(b, Stream(np.roll(stream.X, 20, axis=0), np.roll(stream.y, 20)), 3.0)
    with pytest.raises(AssertionError):
        kind.check(b, stream, 3.0)


@each_kind
@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_fading_merges_on_after_the_factor_was_taken_out(kind, form):
    stream = kind.stream(np.random.default_rng(1), n=900, p=2)
    stream.weight, stream.X = None, np.round(np.nan_to_num(stream.X, nan=1.0))
    a, b = feed(kind(1.0), stream[:450], form), feed(kind(1.0), stream[450:890], form)
    a.merge(b)
    kind.check(feed(a, stream[890:], form), stream, 1.0, 1e-10)


@pytest.mark.parametrize("kind", [KINDS["Moments"], KINDS["CoMoments"]])
@each_forms
def test_merging_commutes_and_associates(kind, forms):
    rng = np.random.default_rng(2)
    for _ in range(30):
        stream = random_stream(rng, kind.target, n=30, p=3)
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
        whole = merged(rng, shards(rng, KINDS["Moments"], stream, n, [form]), in_order=False)
        order = [whole.classes.index(label) for label in twin.classes]
        for name in ("mass", "n"):
            found, wanted = getattr(whole.block(0, 3), name), getattr(twin.block(0, 3), name)
            assert np.array_equal(found[order], wanted)


@each_kind
@pytest.mark.parametrize("form", ["C", "csr_array"])
@pytest.mark.parametrize("widths", [(2, 4), (4, 2), (1, 9)])
def test_labels_and_features_that_only_one_side_knows(kind, form, widths):
    rng = np.random.default_rng(4)
    stream = kind.stream(rng, n=20, p=max(widths))
    stream.weight = None
    if kind.target == "classes":
        stream.y = np.repeat(["a", "b", "a", "c", "d", "c"], 4)[:20]
    left, right = stream[:10], stream[10:]
    a = feed(kind(), Stream(left.X[:, : widths[0]], left.y), form)
    a.merge(feed(kind(), Stream(right.X[:, : widths[1]], right.y), form))
    left.X[:, widths[0] :] = right.X[:, widths[1] :] = kind.absent(form)
    kind.check(a, stream)


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
        KINDS["Moments"].check(mine, stream)


@each_kind
@pytest.mark.parametrize(
    "forms", [("C", "C"), ("csr_array", "csr_array"), ("C", "csr_array"), ("csr_array", "C")]
)
def test_merging_leaves_the_other_as_it_was_and_apart(kind, forms):
    rng = np.random.default_rng(5)
    if not kind.mixes:
        forms = forms[:1] * 2
    for empty in (False, True):
        stream = kind.stream(rng, n=20, p=2)
        mine = kind() if empty else feed(kind(), stream[:10], forms[0])
        other = feed(kind(), stream[10:], forms[1])
        before = snapshot(other)
        mine.merge(other)
        feed(mine, stream, forms[0])
        assert_same_bits(before, snapshot(other))


@each_kind
@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_merging_with_itself_and_with_nothing(kind, form):
    rng = np.random.default_rng(6)
    for half_life in (None, 4.0):
        stream = kind.stream(rng, n=20, p=2)
        twice, empty = feed(kind(half_life), stream, form), kind(half_life)
        before = snapshot(twice)
        twice.merge(empty)
        assert_same_bits(before, snapshot(twice))
        empty.merge(twice)
        assert_same_bits(before, snapshot(empty))
        twice.merge(twice)
        weight = None if stream.weight is None else np.tile(stream.weight, 2)
        kind.check(twice, Stream(np.vstack([stream.X] * 2), np.tile(stream.y, 2), weight), half_life)


UNLIKE = [
    (Moments(3.0), Moments(), r"only moments of equal half_life merge: 3\.0 here, None there"),
    (Moments(), CoMoments(), "moments only merge with moments, not with a CoMoments"),
    (CoMoments(), Moments(), "co-moments only merge with co-moments, not with a Moments"),
    *(
        (CrossProducts(), other, "only products of equal half_life and target merge: None and")
        for other in (CrossProducts(3.0), CrossProducts(target="numeric"), Moments())
    ),
    (Contingency(3.0), Contingency(), r"tables of equal half_life merge: 3\.0 here, None there"),
    (Contingency(), Contingency(cap=8), "tables of equal cap merge: 256 here, 8 there"),
    (Contingency(), Moments(), "contingency tables only merge with contingency tables, not with a Moments"),
    (Quantiles(0.1), Quantiles(1e-3), r"of equal max_rank_error merge: 0\.1 here, 0\.001 there"),
    (Quantiles(), Quantiles(half_life=5.0), r"of equal half_life merge: None here, 5\.0 there"),
    (Quantiles(), Moments(), "quantiles only merge with quantiles, not with a Moments"),
]


@pytest.mark.parametrize(("mine", "other", "message"), UNLIKE)
def test_what_does_not_belong_together_does_not_merge(mine, other, message):
    for summary in (mine, feed(mine.copy(), Stream(np.ones((2, 1)), np.array([0.0, 1.0])))):
        before = snapshot(summary)
        with pytest.raises(MergeError, match=message):
            summary.merge(other)
        assert_same_bits(before, snapshot(summary))


def test_quantiles_of_dense_and_of_sparse_rows_do_not_merge():
    mine, other = (
        feed(Quantiles(), Stream(np.ones((2, 1)), np.array([0, 1])), *form) for form in ((), (sp.csr_array,))
    )
    test_what_does_not_belong_together_does_not_merge(mine, other, "begin both with the same kind")


@over_classes
@pytest.mark.parametrize("act", ["merge", "update"])
def test_text_labels_do_not_mix_with_numbers_and_nothing_is_changed(kind, act):
    X = np.arange(6.0).reshape(3, 2)
    numbers, text = kind(), kind()
    numbers.update(X, np.array([0, 1, 0]))
    text.update(np.hstack([X, X]), np.array(["a", "b", "a"]))
    before = snapshot(numbers)
    with pytest.raises(
        TargetError, match="labels so far were like 0, but this batch has 'a': use text or numbers throughout"
    ):
        numbers.merge(text) if act == "merge" else numbers.update(
            np.hstack([X, X]), np.array(["a", "b", "a"])
        )
    assert_same_bits(before, snapshot(numbers))
