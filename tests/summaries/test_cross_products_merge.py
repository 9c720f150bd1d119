"""Products of parts merge to those of the whole; digits survive offsets; states come back bit for bit."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve.exceptions import MergeError, StateError
from streamsieve.state.tree import text
from streamsieve.summaries import Moments, Window
from streamsieve.summaries.cross_products import CrossProducts
from streamsieve.summaries.cross_products.sums import Sums
from tests.reference.cross_products import joint_moments
from tests.summaries.streams import HALF_LIVES, Stream, assert_same_bits, feed, learnt, snapshot
from tests.summaries.test_cross_products import KINDS, both, check, full_stream

forms = pytest.mark.parametrize(
    "forms", [["C"], ["csr_array"], ["C", "F", "csr_array"]], ids=["dense", "sparse", "mixed"]
)


def merged(rng, parts, *, in_order):
    parts = list(parts)
    while len(parts) > 1:
        i = int(rng.integers(len(parts) - 1))
        i, j = (i, i + 1) if in_order else rng.permutation(len(parts))[:2]
        parts[i].merge(parts[j])
        del parts[j]
    return parts[0]


@both
@forms
@pytest.mark.parametrize("n", [2, 7, 64])
def test_any_tree_over_shards_equals_the_whole(target, kind, forms, n):
    rng = np.random.default_rng(n)
    for _ in range(2):
        stream = full_stream(rng, target, n=130, p=3)
        shards = [feed(kind(), part, rng.choice(forms)) for part in stream.cut(rng, n)]
        check(merged(rng, shards, in_order=False), stream)


@both
@forms
@pytest.mark.parametrize("half_life", [1.0, 3.0, 100.0])
def test_with_fading_the_other_comes_after(target, kind, forms, half_life):
    rng = np.random.default_rng(int(half_life))
    for n in (2, 7):
        stream = full_stream(rng, target, n=150, p=2)
        shards = [feed(kind(half_life), part, rng.choice(forms)) for part in stream.cut(rng, n)]
        check(merged(rng, shards, in_order=True), stream, half_life)


@both
@forms
def test_features_and_labels_that_only_one_side_knows(target, kind, forms):
    rng = np.random.default_rng(1)
    for widths in ((2, 4), (4, 2), (1, 9)):
        a, b = (full_stream(rng, target, n=9, p=p, labels=(0, p)) for p in widths)
        a.weight = b.weight = None
        both_parts = feed(kind(), a, rng.choice(forms))
        both_parts.merge(feed(kind(), b, rng.choice(forms)))
        wide = [np.pad(s.X, ((0, 0), (0, max(widths) - s.X.shape[1]))) for s in (a, b)]
        check(both_parts, Stream(np.vstack(wide), np.concatenate([a.y, b.y])))


@both
@forms
def test_merging_leaves_the_other_as_it_was_and_apart(target, kind, forms):
    rng = np.random.default_rng(2)
    for empty in (False, True):
        stream = full_stream(rng, target, n=20, p=2)
        mine = kind() if empty else feed(kind(), stream[:10], rng.choice(forms))
        other = feed(kind(), stream[10:], rng.choice(forms))
        before = snapshot(other)
        mine.merge(other)
        feed(mine, stream, rng.choice(forms))
        assert_same_bits(before, snapshot(other))


@both
@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_merging_with_itself_and_with_nothing(target, kind, form):
    stream = full_stream(np.random.default_rng(3), target, n=20, p=2)
    for half_life in (None, 4.0):
        twice = feed(kind(half_life), stream, form)
        twice.merge(twice)
        weight = None if stream.weight is None else np.tile(stream.weight, 2)
        check(twice, Stream(np.vstack([stream.X] * 2), np.tile(stream.y, 2), weight), half_life)
        before = snapshot(twice)
        twice.merge(kind(half_life))
        assert_same_bits(before, snapshot(twice))


def test_what_does_not_belong_together_does_not_merge():
    for other in (CrossProducts(3.0), CrossProducts(target="numeric"), Moments()):
        with pytest.raises(MergeError, match="only products of equal half_life and target merge: None and"):
            CrossProducts().merge(other)


# -------------------------------------------------------------------------------- digits


def ways(kind, stream, form, half_life=None):
    """Yield the summary of a stream: at once, in batches, row by row, merged from 7 and from 64 shards."""
    yield learnt(kind, [stream], [form], half_life)
    for size in (100, 1):
        parts = [stream[low : low + size] for low in range(0, len(stream), size)]
        yield learnt(kind, parts, [form] * len(parts), half_life)
    for n in (7, 64):
        size = -(-len(stream) // n)
        first, *rest = [
            feed(kind(half_life), stream[low : low + size], form) for low in range(0, len(stream), size)
        ]
        for shard in rest:
            first.merge(shard)
        yield first


@both
@pytest.mark.parametrize("form", ["C", "csr_array"])
@pytest.mark.parametrize(("offset", "bound"), [(1e3, 1e-11), (1e9, 1e-7)])
@pytest.mark.parametrize("half_life", [None, 100.0])
def test_naive_covariance_trap(target, kind, form, offset, bound, half_life):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 3)) @ np.array([[1, 0.5, 0], [0, 1, -0.9], [0, 0, 1]]) + offset
    y = rng.integers(0, 2, 300) if target == "classes" else offset + X[:, 0] + rng.normal(size=300)
    if target == "classes":
        y[0] = 0  # labels are known in order of appearance
    wanted = joint_moments(X, y, None, half_life, sorted(set(y.tolist())) if target == "classes" else None)
    for products in ways(kind, Stream(X, y), form, half_life):
        found = products.moments()
        np.testing.assert_allclose(found.mean, wanted.mean, rtol=1e-14)
        np.testing.assert_allclose(found.covariance, wanted.covariance, atol=5 * bound)
        np.testing.assert_allclose(found.target_covariance, wanted.target_covariance, atol=5 * bound)
        np.testing.assert_allclose(found.target_variance, wanted.target_variance, rtol=5 * bound)


@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_a_clock_among_the_features_keeps_its_digits_for_ever(form):
    """Where old rows fade, the mean moves as far as it likes from where the stream began."""
    rng = np.random.default_rng(5)
    X = np.c_[1.7e9 + np.arange(8_000.0), rng.normal(size=8_000)]
    stream = Stream(X, rng.integers(0, 2, 8_000))
    for products in (learnt(CrossProducts, [stream], [form], 50.0),
                     learnt(CrossProducts, stream.cut(rng, 40), [form] * 40, 50.0)):  # fmt: skip
        wanted = joint_moments(X[-3000:], stream.y[-3000:], None, 50.0, products.classes)
        np.testing.assert_allclose(products.moments().covariance, wanted.covariance, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_an_outlier_in_the_first_row_costs_no_digits(form):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(600, 2)) + 3
    X[0] = 1e6
    stream = Stream(X, rng.integers(0, 2, 600), np.r_[1e-9, np.ones(599)])
    wanted = joint_moments(X, stream.y, stream.weight, None, [0, 1])
    for products in ways(CrossProducts, stream, form):
        np.testing.assert_allclose(products.moments().covariance, wanted.covariance, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_a_constant_has_no_variance_at_any_size(form):
    rng = np.random.default_rng(7)
    for value in (0.1, 1e9, -1e9 / 3, 1e-9, 1e90):
        X = np.c_[np.full(30, value), rng.normal(size=30)]
        for weight in (None, rng.random(30)):
            for products in ways(CrossProducts, Stream(X, np.arange(30) % 3, weight), form):
                found = products.moments()
                assert not found.covariance[0].any()
                assert not found.target_covariance[:, 0].any()
                assert found.mean[0] == value


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_large_values_in_range_are_welcome(form):
    X = np.array([[1e99, 1.0], [-1e99, 2.0], [3e99, 0.0], [0.0, 1.0]])
    for kind in KINDS.values():
        found = feed(kind(), Stream(X, np.array([0.0, 1.0, 0.0, 1.0])), form).moments()
        assert all(np.all(np.isfinite(part)) for part in found)


def test_rows_are_counted_beyond_int32_and_weights_beyond_float32():
    stream = Stream(np.array([[1.0], [2.0], [3.0]]), np.array([0, 0, 1]), np.array([2.0**40, 1.0, 2.0**40]))
    products = learnt(CrossProducts, [stream, stream[:2]], ["C", "csr_array"])
    assert products.moments().n == 3 * 2.0**40 + 2
    state = products.state()
    large = CrossProducts.from_state({**state, "n_rows": np.asarray(state["n_rows"] + 2**32)})
    assert feed(large, stream).n_rows == 2**32 + 8


# -------------------------------------------------------------------------------- states


@both
def test_state_round_trips_bit_for_bit_and_goes_on_identically(target, kind):
    rng = np.random.default_rng(8)
    for case in range(30):
        half_life = HALF_LIVES[case % len(HALF_LIVES)]
        before, after = full_stream(rng, target, p=3), full_stream(rng, target, p=4)
        products = feed(kind(half_life), before, rng.choice(["C", "csr_array"]))
        saved = snapshot(products)
        again = CrossProducts.from_state(saved)
        assert_same_bits(saved, snapshot(again))
        assert (again.half_life, again.target, again.classes) == (half_life, target, products.classes)
        form = rng.choice(["C", "csr_array"])
        feed(products, after, form)
        feed(again, after, form)
        assert_same_bits(snapshot(products), snapshot(again))


def examples():
    rng = np.random.default_rng(9)
    for target, kind in KINDS.items():
        for form in ("C", "csr_array"):
            yield f"{target} {form}", feed(kind(7.0), full_stream(rng, target, n=12, p=3), form)
    yield "text", feed(CrossProducts(), full_stream(rng, "classes", n=12, p=3, labels=("yes", "no")), "C")


EXAMPLES = dict(examples())


def test_sums_of_other_targets_or_rows_are_refused():
    state = snapshot(EXAMPLES["classes C"])
    changes = {
        "sums/totals": (-state["sums/totals"], "negative weights"),
        "sums/triangle": (-state["sums/triangle"], "a sum of squares is negative"),
        "n_rows": (np.array(0), "no rows have a weight"),
        "sums/origin": (np.zeros(20_001), "should be float64 of shape"),
        "target": (text("numeric"), "do not go with 2 labels"),
    }
    for name, (value, message) in changes.items():
        with pytest.raises(StateError, match=message):
            CrossProducts.from_state({**state, name: value})


def test_an_absurd_number_of_features_is_refused_before_any_memory_is_taken():
    sums = {"centred": np.array(True), "totals": np.zeros(2), "origin": np.zeros(20_001)}
    state = {**sums, "cross": np.zeros((2, 20_001)), "triangle": np.zeros(1)}
    with pytest.raises(StateError, match="1 products of 20001 features"):
        Sums.from_state(state)


def test_a_rebuilt_summary_owns_its_arrays():
    saved = snapshot(EXAMPLES["numeric C"])
    kept = {name: array.copy() for name, array in saved.items()}
    again = CrossProducts.from_state(saved)
    again.merge(partial(CrossProducts, target="numeric")(7.0))
    again.fade(0.5)
    assert_same_bits(kept, saved)


def test_a_window_over_products_holds_the_last_rows():
    rng = np.random.default_rng(10)
    stream = full_stream(rng, "classes", n=60, p=3)
    stream.weight = None
    window = Window(CrossProducts(), size=25)
    for part in stream.cut(rng, 6):
        feed(window, part, "C")
    check(window.current(), stream[35:])
