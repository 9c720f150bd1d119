"""Cross products: digits at any offset, memory of all pairs, and states that do not fit."""

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve.exceptions import CapabilityError, ParameterError, StateError
from streamsieve.state.tree import text
from streamsieve.summaries import CrossProducts, Window
from streamsieve.summaries.cross_products.sums import Sums
from tests.reference.cross_products import joint_moments
from tests.summaries.kinds import KINDS
from tests.summaries.streams import Stream, feed, learnt, snapshot, ways

PRODUCTS = {name: kind for name, kind in KINDS.items() if "CrossProducts" in name}
both = pytest.mark.parametrize("kind", PRODUCTS.values(), ids=PRODUCTS)


@both
@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_wide_rows_with_many_and_with_few_zeros(kind, form):
    """Sparse rows are added pair by pair, or by a matrix product where that is faster."""
    rng = np.random.default_rng(3)
    for share in (0.02, 0.1, 0.5, 1.0):
        X = rng.normal(size=(60, 40)) * (rng.random((60, 40)) < share)
        stream = Stream(X, rng.integers(0, 12, 60) * 1.0)
        kind.check(learnt(kind, stream.cut(rng, 3), [form] * 3), stream)


@both
def test_blocks_of_a_large_batch_are_no_different(kind, monkeypatch):
    for constant in ("BLOCK_VALUES", "BLOCK_ROWS"):
        monkeypatch.setattr(f"streamsieve.summaries.cross_products.targets.{constant}", 7)
    rng = np.random.default_rng(6)
    for form in ("C", "csr_array"):
        for half_life in (None, 3.0):
            stream = kind.stream(rng, n=60, p=4)
            kind.check(feed(kind(half_life), stream, form), stream, half_life)
            mixed = feed(feed(kind(half_life), stream[:5], "C"), stream[5:], form)
            kind.check(mixed, stream, half_life)


@both
def test_the_order_of_rows_does_not_matter(kind):
    rng = np.random.default_rng(10)
    for form in ("C", "csr_array"):
        stream = kind.stream(rng, n=50, p=4)
        kind.check(feed(kind(), stream[rng.permutation(50)], form), stream)


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


def test_a_target_of_another_kind_is_refused():
    with pytest.raises(ParameterError, match="target must be one"):
        CrossProducts(target="number")


@both
@pytest.mark.parametrize("form", ["C", "csr_array"])
@pytest.mark.parametrize(("offset", "bound"), [(1e3, 1e-11), (1e9, 1e-7)])
@pytest.mark.parametrize("half_life", [None, 100.0])
def test_naive_covariance_trap(kind, form, offset, bound, half_life):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 3)) @ np.array([[1, 0.5, 0], [0, 1, -0.9], [0, 0, 1]]) + offset
    y = rng.integers(0, 2, 300) if kind.target == "classes" else offset + X[:, 0] + rng.normal(size=300)
    if kind.target == "classes":
        y[0] = 0  # labels are known in order of appearance
    wanted = joint_moments(X, y, None, half_life, [0, 1] if kind.target == "classes" else None)
    for products in ways(kind, Stream(X, y), form, half_life, (100, 1)):
        found = products.moments()
        np.testing.assert_allclose(found.mean, wanted.mean, rtol=1e-14)
        np.testing.assert_allclose(found.covariance, wanted.covariance, atol=5 * bound)
        np.testing.assert_allclose(found.target_covariance, wanted.target_covariance, atol=5 * bound)
        np.testing.assert_allclose(found.target_variance, wanted.target_variance, rtol=5 * bound)


@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_a_clock_among_the_features_keeps_its_digits(form):
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
    for products in ways(CrossProducts, stream, form, sizes=(100, 1)):
        np.testing.assert_allclose(products.moments().covariance, wanted.covariance, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_a_constant_has_no_variance_at_any_size(form):
    rng = np.random.default_rng(7)
    for value in (0.1, 1e9, -1e9 / 3, 1e-9, 1e90):
        X = np.c_[np.full(30, value), rng.normal(size=30)]
        for weight in (None, rng.random(30)):
            for products in ways(CrossProducts, Stream(X, np.arange(30) % 3, weight), form, sizes=(1,)):
                found = products.moments()
                assert not found.covariance[0].any()
                assert not found.target_covariance[:, 0].any()
                assert found.mean[0] == value


def test_rows_are_counted_beyond_int32_and_weights_beyond_float32():
    stream = Stream(np.array([[1.0], [2.0], [3.0]]), np.array([0, 0, 1]), np.array([2.0**40, 1.0, 2.0**40]))
    products = learnt(CrossProducts, [stream, stream[:2]], ["C", "csr_array"])
    assert products.moments().n == 3 * 2.0**40 + 2
    state = products.state()
    large = CrossProducts.from_state({**state, "n_rows": np.asarray(state["n_rows"] + 2**32)})
    assert feed(large, stream).n_rows == 2**32 + 8


def test_sums_of_other_targets_or_rows_are_refused():
    stream = KINDS["CrossProducts"].stream(np.random.default_rng(9), n=12, p=3, labels=(0, 1))
    state = snapshot(feed(CrossProducts(7.0), stream))
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
    sums = {"centered": np.array(True), "totals": np.zeros(2), "origin": np.zeros(20_001)}
    state = {**sums, "cross": np.zeros((2, 20_001)), "triangle": np.zeros(1)}
    with pytest.raises(StateError, match="1 products of 20001 features"):
        Sums.from_state(state)


def test_a_window_over_products_holds_the_last_rows():
    rng, kind = np.random.default_rng(10), KINDS["CrossProducts"]
    stream = kind.stream(rng, n=60, p=3)
    stream.weight = None
    window = Window(CrossProducts(), size=25)
    for part in stream.cut(rng, 6):
        feed(window, part)
    kind.check(window.current(), stream[35:])
