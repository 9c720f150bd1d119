"""Moments and CoMoments equal the slow twins, whatever the rows look like and however they are cut."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from streamsieve.summaries import CoMoments, Moments
from tests.helpers.tier import cases
from tests.summaries.streams import (
    DENSE,
    FORMS,
    HALF_LIVES,
    KINDS,
    SPARSE,
    Stream,
    check,
    feed,
    learnt,
    random_stream,
    values,
)

both = pytest.mark.parametrize(("kind", "target"), KINDS.values(), ids=KINDS)


@both
@pytest.mark.parametrize("form", FORMS)
def test_one_form_of_rows_however_cut(kind, target, form):
    rng = np.random.default_rng(1)
    for case in range(cases(40)):
        stream = random_stream(rng, target)
        half_life = HALF_LIVES[case % len(HALF_LIVES)]
        parts = stream.cut(rng, int(rng.integers(1, 5)))
        check(learnt(kind, parts, [form] * len(parts), half_life), stream, half_life)


@both
def test_mixed_dense_and_sparse_batches(kind, target):
    rng = np.random.default_rng(2)
    for case in range(cases(150)):
        stream = random_stream(rng, target)
        half_life = HALF_LIVES[case % len(HALF_LIVES)]
        parts = stream.cut(rng, 4)
        check(learnt(kind, parts, rng.choice(list(FORMS), 4), half_life), stream, half_life)


CELLS = st.one_of(
    st.sampled_from([0.0, -0.0, np.nan, 5e-324, 1.0, -1.0]),
    st.integers(-3, 3).map(float),
    st.floats(-1e3, 1e3),
)


@st.composite
def streams(draw, target):
    n, p = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    X = draw(hnp.arrays(np.float64, (n, p), elements=CELLS))
    labels = st.integers(-2, 2) if target == "classes" else st.floats(-100, 100)
    y = draw(hnp.arrays(np.int64 if target == "classes" else np.float64, n, elements=labels))
    w = draw(st.none() | hnp.arrays(np.float64, n, elements=st.sampled_from([0.0, 0.25, 1.0, 3.0])))
    return Stream(X, y, w)


@both
@given(data=st.data())
def test_any_values_in_any_cut(kind, target, data):
    stream = data.draw(streams(target))
    cut = data.draw(st.integers(0, len(stream)))
    forms = data.draw(st.tuples(*[st.sampled_from(["C", "F", "csr_array"])] * 2))
    half_life = data.draw(st.sampled_from(HALF_LIVES))
    summary = learnt(kind, [stream[:cut], stream[cut:]], forms, half_life)
    check(summary, stream, half_life)


def every(summary):
    return summary.block(0, summary.n_features)


@both
@pytest.mark.parametrize("form", ["C", "F", "csr_array"])
def test_weight_k_is_k_copies_and_weight_0_is_no_row(kind, target, form):
    rng = np.random.default_rng(3)
    for _ in range(cases(60)):
        stream = random_stream(rng, target)
        stream.weight = rng.integers(0, 4, len(stream)).astype(np.float64)
        copies = stream[np.repeat(np.arange(len(stream)), stream.weight.astype(int))]
        copies.weight = None
        weighted, repeated = feed(kind(), stream, form), feed(kind(), copies, form)
        assert weighted.n_rows == np.count_nonzero(stream.weight)
        assert repeated.n_rows == stream.weight.sum()
        for a, b in zip(every(weighted), every(repeated), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)


@both
@pytest.mark.parametrize("form", ["C", "F", "csr_array"])
@pytest.mark.parametrize(("half_life", "n"), [(1.0, 900), (1.5, 900), (3.0, 1500), (100.0, 25_000)])
def test_one_batch_longer_than_the_largest_factor(kind, target, form, half_life, n):
    rng = np.random.default_rng(4)
    stream = random_stream(rng, target, n=n, p=3)
    stream.weight = None
    stream.X[np.isnan(stream.X)] = 1.0
    whole = feed(kind(half_life), stream, form)
    parts = learnt(kind, stream.cut(rng, 9), [form] * 9, half_life)
    check(whole, stream, half_life, 1e-10)
    check(parts, stream, half_life, 1e-10)


@both
def test_a_half_life_of_many_rows_fades_little_but_exactly(kind, target):
    rng = np.random.default_rng(5)
    stream = random_stream(rng, target, n=3000, p=2)
    stream.X[:1500] += 4.0  # the older half is elsewhere
    faded = learnt(kind, stream.cut(rng, 6), ["C"] * 6, 1e5)
    check(faded, stream, 1e5)
    plain = learnt(kind, [stream], ["C"])
    assert not np.allclose(faded.block(0, 2).mean, plain.block(0, 2).mean, rtol=1e-4)


@pytest.mark.parametrize(
    "labels",
    [("no", "yes", "ümlaut"), (-1, 1), (0.0, 2.0), (False, True), (2**40, -(2**40))],
    ids=["text", "signs", "floats", "bools", "large"],
)
@pytest.mark.parametrize("size", [10, 100])  # below and above the size at which labels are sorted
def test_labels_of_any_type(labels, size):
    rng = np.random.default_rng(6)
    stream = random_stream(rng, "classes", n=size, p=2, labels=labels)
    parts = stream.cut(rng, 3)
    check(learnt(Moments, parts, ["C", "csr_array", "F"]), stream)


@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_labels_grow_from_2_to_1000(form):
    rng = np.random.default_rng(7)
    X = values(rng, 4000, 2)
    y = np.minimum(rng.integers(0, 1000, 4000), np.linspace(1, 1000, 4000).astype(int))
    y[:2], y[-1000:] = (0, 1), np.arange(1000)
    stream, summary = Stream(X, y), Moments()
    for low in range(0, 4000, 250):
        feed(summary, stream[low : low + 250], form)
        if low == 0:
            assert 2 <= len(summary.classes) < 100
    assert len(summary.classes) == 1000
    check(summary, stream)


def widths(rng, n, fill):
    """Return pieces of a stream whose features arrive late and vanish, and the same rows in full width."""
    sizes = rng.integers(1, 6, 4)
    pieces = [values(rng, n, p) for p in sizes]
    full = np.full((4 * n, max(sizes)), fill)
    for i, piece in enumerate(pieces):
        full[i * n : (i + 1) * n, : piece.shape[1]] = piece
    return pieces, full


@both
@pytest.mark.parametrize(
    ("form", "absent"), [*((f, np.nan) for f in DENSE), *((f, 0.0) for f in SPARSE)]
)  # a dense row without the feature lacks a value, a sparse one holds a zero
def test_features_that_arrive_late_or_vanish(kind, target, form, absent):
    rng = np.random.default_rng(8)
    for case in range(cases(30)):
        half_life = HALF_LIVES[case % len(HALF_LIVES)]
        pieces, full = widths(rng, 3, absent)
        stream = random_stream(rng, target, n=len(full), p=1)
        summary = kind(half_life)
        for i, piece in enumerate(pieces):
            part = stream[3 * i : 3 * i + 3]
            feed(summary, Stream(piece, part.y, part.weight), form)
        check_known(summary, Stream(full, stream.y, stream.weight), half_life, pieces)


def check_known(summary, stream, half_life, pieces):
    """Compare over the features that came in rows of positive weight."""
    counted = [stream.weight is None or stream.weight[3 * i : 3 * i + 3].any() for i in range(4)]
    known = max((piece.shape[1] for piece, there in zip(pieces, counted, strict=True) if there), default=0)
    check(summary, Stream(stream.X[:, :known], stream.y, stream.weight), half_life)


@both
def test_a_narrow_dense_batch_in_a_sparse_stream_lacks_values(kind, target):
    rng = np.random.default_rng(12)
    for _ in range(20):
        stream = random_stream(rng, target, n=12, p=4)
        stream.weight = None
        summary = feed(kind(), stream[:6], "csr_array")
        feed(summary, Stream(stream.X[6:, :2], stream.y[6:]), "C")
        stream.X[6:, 2:] = np.nan
        check(summary, stream)


def test_a_narrow_sparse_batch_in_a_dense_stream_holds_zeros():
    rng = np.random.default_rng(13)
    for _ in range(20):
        stream = random_stream(rng, "classes", n=12, p=4)
        stream.weight = None
        summary = feed(Moments(), stream[:6], "C")
        feed(summary, Stream(stream.X[6:, :2], stream.y[6:]), "csr_array")
        stream.X[6:, 2:] = 0.0
        check(summary, stream)


@pytest.mark.parametrize("size", [1, 50])  # below and above the size at which labels are sorted
def test_new_labels_of_a_batch_stand_in_sorted_order_whatever_the_order_of_rows(size):
    summary = Moments()
    for labels in (["c", "a", "b"], ["z", "a", "x"]):
        summary.update(np.zeros((3 * size, 1)), np.repeat(labels, size))
    assert summary.classes == ["a", "b", "c", "x", "z"]


@both
def test_wide_batches_on_several_threads(kind, target):
    rng = np.random.default_rng(9)
    stream = random_stream(rng, target, n=256, p=301)
    for form in ("C", "F"):
        check(feed(kind(), stream, form), stream, tolerance=1e-11)
    stream.X[np.isnan(stream.X)] = 0.5
    for form in ("C", "F"):
        check(feed(kind(), stream, form), stream, tolerance=1e-11)


@both
def test_an_empty_batch_and_rows_of_no_weight_leave_no_trace(kind, target):
    rng = np.random.default_rng(10)
    stream = random_stream(rng, target, n=5, p=2)
    stream.weight = np.zeros(5)
    for form in ("C", "csr_array"):
        summary = kind(3.0)
        feed(summary, stream, form)
        feed(summary, stream[:0], form)
        assert (summary.n_rows, summary.n_features, summary.nbytes) == (0, 0, 0)
        assert list(summary.blocks()) == []


@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_blocks_are_the_features_in_order(form, monkeypatch):
    rng = np.random.default_rng(11)
    for kind, target in KINDS.values():
        module = __import__(kind.__module__, fromlist=["BLOCK"])
        monkeypatch.setattr(module, "BLOCK", 3)
        summary = feed(kind(), random_stream(rng, target, n=9, p=8), form)
        blocks = list(summary.blocks())
        assert [block.mean.shape[-1] for block in blocks] == [3, 3, 2]
        joined = np.concatenate([block.mean for block in blocks], axis=-1)
        assert np.array_equal(joined, summary.block(0, 8).mean)


def test_memory_is_as_promised():
    X, y = np.arange(24.0).reshape(4, 6), np.array([0, 1, 2, 0])
    dense, sparse, missing = Moments(), Moments(), Moments()
    dense.update(X, y)
    sparse.update(sp.csr_array(X), y)
    missing.update(np.where(X == 3, np.nan, X), y)
    assert (dense.nbytes, missing.nbytes, sparse.nbytes) == (16 * 18, 24 * 18, 32 * 18)
    dense, sparse = CoMoments(), CoMoments()
    dense.update(X, y * 1.0)
    sparse.update(sp.csr_array(X), y * 1.0)
    assert (dense.nbytes, sparse.nbytes) == (48 * 6, 64 * 6)
