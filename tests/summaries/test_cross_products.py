"""Products equal the slow twin, whatever the rows look like and however they are cut."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from streamsieve.exceptions import BadValueError, CapabilityError, ParameterError, SchemaError, TargetError
from streamsieve.summaries.cross_products import CrossProducts
from tests.helpers.tier import cases
from tests.reference.cross_products import joint_moments
from tests.reference.moments import existing
from tests.summaries.streams import (
    DENSE,
    FORMS,
    HALF_LIVES,
    SPARSE,
    Stream,
    assert_same_bits,
    feed,
    learnt,
    random_stream,
    snapshot,
)

KINDS = {"classes": CrossProducts, "numeric": partial(CrossProducts, target="numeric")}
both = pytest.mark.parametrize(("target", "kind"), KINDS.items())


def full_stream(rng, target, n=None, p=None, **how):
    """Make a stream without missing values."""
    stream = random_stream(rng, target, n, p, **how)
    stream.X[np.isnan(stream.X)] = 0.0
    return stream


def check(products, stream, half_life=None, tolerance=1e-11):
    """Compare with the slow twin over the whole stream."""
    X, y, _ = existing(stream.X, stream.y, stream.weight)
    assert products.n_rows == len(y)
    if products.target == "classes":
        assert sorted(products.classes) == sorted(set(y.tolist()))
    if len(y) == 0:
        return
    assert products.n_features == X.shape[1]
    classes = products.classes if products.target == "classes" else None
    twin = joint_moments(stream.X, stream.y, stream.weight, half_life, classes)
    found = products.moments()
    size = np.maximum(np.abs(X).max(axis=0), 1e-300)
    spread = np.maximum(np.sqrt(twin.target_variance), 1e-300 if classes is None else 1.0)
    if classes is None:
        spread[0] = max(np.abs(y).max(), 1e-300)
    np.testing.assert_allclose(found.n, twin.n, rtol=tolerance)
    near(found.mean, twin.mean, size, tolerance)
    near(found.covariance, twin.covariance, np.outer(size, size), tolerance)
    near(found.target_mean, twin.target_mean, spread, tolerance)
    near(found.target_variance, twin.target_variance, spread**2, tolerance)
    near(found.target_covariance, twin.target_covariance, np.outer(spread, size), tolerance)
    assert np.array_equal(found.covariance, found.covariance.T)


def near(got, wanted, size, tolerance):
    assert got.shape == wanted.shape
    assert np.all(np.abs(got - wanted) <= tolerance * size), f"{got} should be {wanted}"


@both
@pytest.mark.parametrize("form", FORMS)
def test_one_form_of_rows_however_cut(target, kind, form):
    rng = np.random.default_rng(1)
    for case in range(cases(20)):
        stream = full_stream(rng, target)
        half_life = HALF_LIVES[case % len(HALF_LIVES)]
        parts = stream.cut(rng, int(rng.integers(1, 5)))
        check(learnt(kind, parts, [form] * len(parts), half_life), stream, half_life)


@both
def test_mixed_dense_and_sparse_batches(target, kind):
    rng = np.random.default_rng(2)
    for case in range(80):
        stream = full_stream(rng, target)
        half_life = HALF_LIVES[case % len(HALF_LIVES)]
        check(learnt(kind, stream.cut(rng, 4), rng.choice(list(FORMS), 4), half_life), stream, half_life)


CELLS = st.one_of(st.sampled_from([0.0, -0.0, 5e-324, 1.0, -1.0]), st.integers(-3, 3).map(float),
                  st.floats(-1e3, 1e3))  # fmt: skip


@both
@settings(max_examples=cases(40))
@given(data=st.data())
def test_any_values_in_any_cut(target, kind, data):
    n, p = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 3))
    X = data.draw(hnp.arrays(np.float64, (n, p), elements=CELLS))
    labels = st.integers(-2, 2) if target == "classes" else st.floats(-100, 100)
    y = data.draw(hnp.arrays(np.int64 if target == "classes" else np.float64, n, elements=labels))
    w = data.draw(st.none() | hnp.arrays(np.float64, n, elements=st.sampled_from([0.0, 0.25, 1.0, 3.0])))
    stream, cut = Stream(X, y, w), data.draw(st.integers(0, n))
    forms = data.draw(st.tuples(*[st.sampled_from(["C", "F", "csr_array"])] * 2))
    half_life = data.draw(st.sampled_from(HALF_LIVES))
    check(learnt(kind, [stream[:cut], stream[cut:]], forms, half_life), stream, half_life)


@both
@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_wide_rows_with_many_and_with_few_zeros(target, kind, form):
    """Sparse rows are added pair by pair, or by a matrix product where that is faster."""
    rng = np.random.default_rng(3)
    for share in (0.02, 0.1, 0.5, 1.0):
        X = rng.normal(size=(60, 40)) * (rng.random((60, 40)) < share)
        stream = Stream(X, rng.integers(0, 12, 60) * 1.0)
        check(learnt(kind, stream.cut(rng, 3), [form] * 3), stream)


@both
@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_weight_k_is_k_copies_and_weight_0_is_no_row(target, kind, form):
    rng = np.random.default_rng(4)
    for _ in range(40):
        stream = full_stream(rng, target)
        stream.weight = rng.integers(0, 4, len(stream)).astype(np.float64)
        copies = stream[np.repeat(np.arange(len(stream)), stream.weight.astype(int))]
        copies.weight = None
        weighted, repeated = feed(kind(), stream, form), feed(kind(), copies, form)
        for a, b in zip(weighted.moments(), repeated.moments(), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)


@both
@pytest.mark.parametrize("form", ["C", "csr_array"])
@pytest.mark.parametrize(("half_life", "n"), [(1.0, 400), (3.0, 700)])
def test_one_batch_longer_than_the_largest_factor(target, kind, form, half_life, n):
    rng = np.random.default_rng(5)
    stream = full_stream(rng, target, n=n, p=3)
    stream.weight = None
    check(feed(kind(half_life), stream, form), stream, half_life, 1e-10)
    check(learnt(kind, stream.cut(rng, 9), [form] * 9, half_life), stream, half_life, 1e-10)


@both
def test_blocks_of_a_large_batch_are_no_different(target, kind, monkeypatch):
    for constant in ("BLOCK_VALUES", "BLOCK_ROWS"):
        monkeypatch.setattr(f"streamsieve.summaries.cross_products.sums.{constant}", 7)
    rng = np.random.default_rng(6)
    for form in ("C", "csr_array"):
        for half_life in (None, 3.0):
            stream = full_stream(rng, target, n=60, p=4)
            check(feed(kind(half_life), stream, form), stream, half_life)
            mixed = feed(feed(kind(half_life), stream[:5], "C"), stream[5:], form)
            check(mixed, stream, half_life)


@both
@pytest.mark.parametrize("forms", [["C"], ["csr_array"], ["C", "csr_array"]], ids=str)
def test_features_come_late_and_vanish_and_are_0_elsewhere(target, kind, forms):
    rng = np.random.default_rng(7)
    for case in range(cases(25)):
        half_life = HALF_LIVES[case % len(HALF_LIVES)]
        parts = [full_stream(rng, target, n=5, p=int(p)) for p in rng.integers(1, 15, 4)]
        widest = max(part.X.shape[1] for part in parts)
        for part in parts:
            part.weight = None
        products = learnt(kind, parts, rng.choice(forms, 4), half_life)
        X = np.vstack([np.pad(part.X, ((0, 0), (0, widest - part.X.shape[1]))) for part in parts])
        check(products, Stream(X, np.concatenate([part.y for part in parts])), half_life)


@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_labels_grow_from_2_to_300(form):
    rng = np.random.default_rng(8)
    y = np.minimum(rng.integers(0, 300, 1500), np.linspace(1, 300, 1500).astype(int))
    y[:2], y[-300:] = (0, 1), np.arange(300)
    stream, products = Stream(rng.normal(size=(1500, 2)), y), CrossProducts()
    for low in range(0, 1500, 100):
        feed(products, stream[low : low + 100], form)
    assert len(products.classes) == 300
    check(products, stream)


@pytest.mark.parametrize("labels", [("no", "yes"), (-1, 1), (0.0, 2.0), (False, True)], ids=str)
def test_labels_of_any_type(labels):
    rng = np.random.default_rng(9)
    stream = full_stream(rng, "classes", n=100, p=2, labels=labels)
    check(learnt(CrossProducts, stream.cut(rng, 3), ["C", "csr_array", "F"]), stream)


@both
def test_the_order_of_rows_does_not_matter(target, kind):
    rng = np.random.default_rng(10)
    for form in ("C", "csr_array"):
        stream = full_stream(rng, target, n=50, p=4)
        check(feed(kind(), stream[rng.permutation(50)], form), stream)


@both
@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_fading_by_hand(target, kind, form):
    rng = np.random.default_rng(11)
    stream = full_stream(rng, target, n=20, p=3)
    stream.weight = rng.random(20) + 0.5
    products = feed(kind(), stream[:12], form)
    products.fade(0.25)
    feed(products, stream[12:], form)
    stream.weight[:12] *= 0.25
    faded, weighted = products.moments(), joint_moments(*vars(stream).values(), classes=classes_of(products))
    for a, b in list(zip(faded, weighted, strict=True))[1:]:  # the first is the information
        np.testing.assert_allclose(a, b, atol=1e-9)


def classes_of(products):
    return products.classes if products.target == "classes" else None


# -------------------------------------------------------------------------------- memory and refusals


def test_memory_is_that_of_the_pairs():
    products = feed(CrossProducts(), Stream(np.ones((3, 200)), np.array([0, 1, 0])))
    assert products.nbytes <= 8 * 200**2 * 1.05
    assert CrossProducts().nbytes < 100


def test_memory_grows_with_the_features_not_with_the_rows():
    rng = np.random.default_rng(0)
    products = CrossProducts()
    for width in range(1, 101):
        products.update(sp.csr_array(rng.random((2, width))), np.array([0, 1]))
    assert products.nbytes <= 8 * (1.3 * 101) ** 2 * 1.05
    before = products.nbytes
    for _ in range(50):
        products.update(sp.csr_array(rng.random((20, 100))), rng.integers(0, 2, 20))
    assert products.nbytes == before


@pytest.mark.parametrize("shape", [(1, 20_001), (3, 10**6)])
def test_too_many_features_are_refused_with_the_memory_they_would_take(shape):
    with pytest.raises(CapabilityError, match=r"take [\d,.]+ GB \(8 p\^2 bytes\).*screen first"):
        CrossProducts().update(sp.csr_array(shape), np.zeros(shape[0], int))
    small = feed(CrossProducts(), Stream(np.ones((2, 2)), np.array([0, 1])))
    with pytest.raises(CapabilityError, match=r"30,000 features take 7\.2 GB"):
        small.reindexed(np.arange(2), 30_000)


BAD = [np.nan, np.inf, -np.inf, 1e308, -1e308]


@both
@pytest.mark.parametrize("value", BAD)
@pytest.mark.parametrize("form", [*DENSE, *SPARSE])
def test_bad_values_are_refused_by_column_and_leave_no_trace(target, kind, form, value):
    if "float32" in form and abs(value) == 1e308:
        pytest.skip("a float32 cannot hold it")
    X = np.arange(1.0, 25).reshape(8, 3) % 7
    good, bad = Stream(X, np.arange(8) % 2 * 1.0), Stream(np.hstack([X, X]), np.arange(8) % 3 * 1.0)
    bad.X[5, 4] = value
    for half_life in (None, 1.0):
        products = feed(kind(half_life), good, form)
        before = snapshot(products)
        with pytest.raises(BadValueError, match="feature 'x4'") as caught:
            feed(products, bad, form)
        assert caught.value.feature == 4
        assert_same_bits(before, snapshot(products))
        first = kind(half_life)
        with pytest.raises(BadValueError, match="feature 'x4'"):
            feed(first, bad, form)
        assert (first.n_rows, first.n_features) == (0, 0)
        bad.weight = np.ones(8)
        bad.weight[5] = 0.0  # a row of weight 0 does not exist
        feed(products, bad, form)
        bad.weight = None


def test_text_labels_do_not_mix_with_numbers_and_nothing_is_changed():
    products = feed(CrossProducts(), Stream(np.ones((3, 2)), np.array([0, 1, 0])))
    before = snapshot(products)
    with pytest.raises(TargetError, match="keep to text or to numbers"):
        feed(products, Stream(np.ones((2, 3)), np.array(["a", "b"])))
    assert_same_bits(before, snapshot(products))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"half_life": 0.5}, "half_life must be a number at least 1"),
        ({"target": "number"}, "target must be one"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        CrossProducts(**parameters)


def test_nothing_seen_nothing_known():
    for kind in KINDS.values():
        products = kind()
        products.update(np.zeros((0, 3)), np.zeros(0))
        products.update(np.zeros((2, 3)), np.zeros(2), np.zeros(2))
        found = products.moments()
        assert (found.n, len(found.mean), found.covariance.shape) == (0.0, 0, (0, 0))


# -------------------------------------------------------------------------------- features


@both
@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_forgotten_features_were_0_so_far(target, kind, form):
    rng = np.random.default_rng(12)
    for case in range(20):
        half_life = HALF_LIVES[case % len(HALF_LIVES)]
        stream = full_stream(rng, target, n=20, p=4)
        columns = rng.permutation(4)[: rng.integers(0, 4)]
        products = feed(kind(half_life), stream[:10], form)
        if products.n_rows:
            products.forget(columns)
            stream.X[:10, columns] = 0.0
        check(feed(products, stream[10:], form), stream, half_life)


@both
@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_moved_features_equal_the_rows_with_moved_columns(target, kind, form):
    rng = np.random.default_rng(13)
    for case in range(20):
        half_life = HALF_LIVES[case % len(HALF_LIVES)]
        stream = full_stream(rng, target, n=12, p=3)
        columns = rng.permutation(6)[:3]
        wide = Stream(np.zeros((12, 6)), stream.y, stream.weight)
        wide.X[:, columns] = stream.X
        products = feed(kind(half_life), stream[:8], form)
        before = snapshot(products)
        copy = products.reindexed(columns, 6)
        assert_same_bits(before, snapshot(products))
        check(feed(copy, wide[8:], form), wide, half_life)
    back = products.reindexed([2, 0, 1], 3).reindexed([1, 2, 0], 3)
    assert_same_bits(snapshot(products), snapshot(back))
    assert kind(3.0).reindexed(np.array([4, 2]), 5).n_features == 0


def test_features_that_are_not_there_are_refused():
    products = feed(CrossProducts(), Stream(np.ones((3, 2)), np.array([0, 1, 0])))
    for act in (products.forget, lambda columns: products.reindexed(columns, 2)):
        for columns, message in (([0, 2], "no feature 2"), ([-1], "no feature -1"), ([1, 1], "twice")):
            with pytest.raises(SchemaError, match=message):
                act(columns)
