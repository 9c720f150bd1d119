"""Every summary equals its slow twin, whatever the rows look like and however they are cut."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from streamsieve.summaries import CoMoments, Moments
from streamsieve.testing._summary_rows import known
from tests.helpers.tier import cases
from tests.summaries.kinds import KINDS, each_kind, over_classes
from tests.summaries.streams import DENSE, FORMS, HALF_LIVES, SPARSE, Stream, feed, learnt, values

each_moments = pytest.mark.parametrize("kind", [KINDS["Moments"], KINDS["CoMoments"]])


@each_kind
@pytest.mark.parametrize("form", FORMS)
def test_one_form_of_rows_however_cut(kind, form):
    rng = np.random.default_rng(1)
    for case in range(cases(40)):
        stream, half_life = kind.stream(rng), HALF_LIVES[case % len(HALF_LIVES)]
        parts = stream.cut(rng, int(rng.integers(1, 5)))
        kind.check(learnt(kind, parts, [form] * len(parts), half_life), stream, half_life)


@each_kind
def test_mixed_dense_and_sparse_batches(kind):
    rng = np.random.default_rng(2)
    for case in range(cases(200)):
        stream, half_life = kind.stream(rng), HALF_LIVES[case % len(HALF_LIVES)]
        kind.check(learnt(kind, stream.cut(rng, 4), rng.choice(list(FORMS), 4), half_life), stream, half_life)


CELLS = st.one_of(
    st.sampled_from([0.0, -0.0, np.nan, 5e-324, 1.0, -1.0]),
    st.integers(-3, 3).map(float),
    st.floats(-1e3, 1e3),
)


@each_kind
@settings(max_examples=60)
@given(data=st.data())
def test_any_values_in_any_cut(kind, data):
    n, p = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 3))
    X = data.draw(hnp.arrays(np.float64, (n, p), elements=CELLS))
    labels = st.integers(-2, 2) if kind.target == "classes" else st.floats(-100, 100)
    y = data.draw(hnp.arrays(np.int64 if kind.target == "classes" else np.float64, n, elements=labels))
    w = data.draw(st.none() | hnp.arrays(np.float64, n, elements=st.sampled_from([0.0, 0.25, 1.0, 3.0])))
    stream, cut = Stream(X if kind.missing else np.nan_to_num(X), y, w), data.draw(st.integers(0, n))
    forms = data.draw(st.tuples(*[st.sampled_from(["C", "F", "csr_array"])] * 2))
    half_life = data.draw(st.sampled_from(HALF_LIVES))
    kind.check(learnt(kind, [stream[:cut], stream[cut:]], forms, half_life), stream, half_life)


def test_sparse_rows_may_store_zeros():
    rng = np.random.default_rng(14)
    for kind in KINDS.values():
        stream = kind.stream(rng, n=9, p=3)
        n, p = stream.X.shape
        stored = stream.X.ravel(), np.tile(np.arange(p), n), np.arange(n + 1) * p
        kind.check(feed(kind(), stream, lambda X, csr=stored: sp.csr_array(csr, shape=X.shape)), stream)


@each_kind
@pytest.mark.parametrize("form", ["C", "F", "csr_array"])
def test_weight_k_is_k_copies_and_weight_0_is_no_row(kind, form):
    rng = np.random.default_rng(3)
    for _ in range(cases(60)):
        stream = kind.stream(rng)
        stream.weight = rng.integers(0, 4, len(stream)).astype(np.float64)
        copies = stream[np.repeat(np.arange(len(stream)), stream.weight.astype(int))]
        copies.weight = None
        weighted, repeated = feed(kind(), stream, form), feed(kind(), copies, form)
        assert weighted.n_rows == np.count_nonzero(stream.weight)
        assert repeated.n_rows == stream.weight.sum()
        for a, b in zip(known(weighted), known(repeated), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)


@each_kind
@pytest.mark.parametrize("form", ["C", "F", "csr_array"])
@pytest.mark.parametrize(("half_life", "n"), [(1.0, 500), (1.5, 500), (3.0, 900)])
def test_one_batch_longer_than_the_largest_factor(kind, form, half_life, n):
    rng = np.random.default_rng(4)
    stream = kind.stream(rng, n=n, p=2)
    stream.weight, stream.X = None, np.round(np.nan_to_num(stream.X, nan=1.0))
    kind.check(feed(kind(half_life), stream, form), stream, half_life, 1e-10)
    kind.check(learnt(kind, stream.cut(rng, 9), [form] * 9, half_life), stream, half_life, 1e-10)


@each_moments
def test_a_half_life_of_many_rows_fades_little_but_exactly(kind):
    rng = np.random.default_rng(5)
    stream = kind.stream(rng, n=3000, p=2)
    stream.X[:1500] += 4.0  # the older half is elsewhere
    faded = learnt(kind, stream.cut(rng, 6), ["C"] * 6, 1e5)
    kind.check(faded, stream, 1e5)
    plain = learnt(kind, [stream], ["C"])
    assert not np.allclose(faded.block(0, 2).mean, plain.block(0, 2).mean, rtol=1e-4)


@each_kind
@pytest.mark.parametrize("form", ["C", "csr_array"])
@pytest.mark.parametrize("factor", [0.5, 0.3])
def test_all_rows_so_far_may_be_made_lighter(kind, form, factor):
    rng = np.random.default_rng(15)
    for _ in range(10):
        stream = kind.stream(rng, n=20, p=3)
        stream.weight = rng.random(20) + 0.5
        summary = feed(kind(), stream[:12], form)
        summary.fade(factor)
        feed(summary, stream[12:], form)
        stream.weight[:12] *= factor
        for a, b in zip(blocks(summary), blocks(feed(kind(), stream, form)), strict=True):
            for name in set(a._fields) - {"n"}:  # a unit of faded weight carries less information
                np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-9, atol=1e-9)


def blocks(summary):
    if hasattr(summary, "moments"):
        return [summary.moments()]
    return summary.tables(4) if hasattr(summary, "tables") else summary.blocks()


@over_classes
@pytest.mark.parametrize(
    "labels",
    [("no", "yes", "ümlaut"), (-1, 1), (0.0, 2.0), (False, True), (2**40, -(2**40))],
    ids=["text", "signs", "floats", "bools", "large"],
)
@pytest.mark.parametrize("size", [10, 100])  # below and above the size at which labels are sorted
def test_labels_of_any_type(kind, labels, size):
    rng = np.random.default_rng(6)
    stream = kind.stream(rng, n=size, p=2, labels=labels)
    kind.check(learnt(kind, stream.cut(rng, 3), ["C", "csr_array", "F"]), stream)


@over_classes
@pytest.mark.parametrize("form", ["C", pytest.param("csr_array", marks=pytest.mark.full)])
def test_labels_grow_from_2_to_1000(kind, form):
    rng = np.random.default_rng(7)
    X = np.round(values(rng, 4000, 2))
    y = np.minimum(rng.integers(0, 1000, 4000), np.linspace(1, 1000, 4000).astype(int))
    y[:2], y[-1000:] = (0, 1), np.arange(1000)
    stream, summary = Stream(X, y), kind()
    for low in range(0, 4000, 250):
        feed(summary, stream[low : low + 250], form)
        if low == 0:
            assert 2 <= len(summary.classes) < 100
    assert len(summary.classes) == 1000
    kind.check(summary, stream)


@each_kind
@pytest.mark.parametrize("form", [*DENSE, *SPARSE])
def test_features_that_arrive_late_or_vanish(kind, form):
    rng = np.random.default_rng(8)
    for case in range(cases(30)):
        half_life = HALF_LIVES[case % len(HALF_LIVES)]
        widths = rng.integers(1, 6, 4)
        stream = kind.stream(rng, n=12, p=int(max(widths)))
        summary, width = kind(half_life), 0
        for i, p in enumerate(widths):
            part = stream[3 * i : 3 * i + 3]
            feed(summary, Stream(part.X[:, :p], part.y, part.weight), form)
            part.X[:, p:] = kind.absent(form)
            if part.weight is None or part.weight.any():  # a batch without weight brings no feature
                width = max(width, p)
        kind.check(summary, Stream(stream.X[:, :width], stream.y, stream.weight), half_life)


@each_kind
@pytest.mark.parametrize("forms", [("csr_array", "C"), ("C", "csr_array")])
def test_a_narrow_batch_of_the_other_form_lacks_values_or_holds_zeros(kind, forms):
    rng = np.random.default_rng(12)
    for _ in range(20):
        stream = kind.stream(rng, n=12, p=4)
        stream.weight = None
        summary = feed(kind(), stream[:6], forms[0])
        feed(summary, Stream(stream.X[6:, :2], stream.y[6:]), forms[1])
        stream.X[6:, 2:] = kind.absent(forms[1])
        kind.check(summary, stream)


@pytest.mark.parametrize("size", [1, 50])  # below and above the size at which labels are sorted
def test_new_labels_of_a_batch_stand_in_sorted_order_whatever_the_order_of_rows(size):
    summary = Moments()
    for labels in (["c", "a", "b"], ["z", "a", "x"]):
        summary.update(np.zeros((3 * size, 1)), np.repeat(labels, size))
    assert summary.classes == ["a", "b", "c", "x", "z"]


@each_moments
def test_wide_batches_on_several_threads(kind):
    stream = kind.stream(np.random.default_rng(9), n=256, p=301)
    for fill in (np.nan, 0.5):
        stream.X[np.isnan(stream.X)] = fill
        for form in ("C", "F"):
            kind.check(feed(kind(), stream, form), stream, tolerance=1e-11)


@each_kind
def test_an_empty_batch_and_rows_of_no_weight_leave_no_trace(kind):
    stream = kind.stream(np.random.default_rng(10), n=5, p=2)
    stream.weight = np.zeros(5)
    for form in FORMS:
        summary = kind(3.0)
        feed(feed(summary, stream, form), stream[:0], form)
        assert (summary.n_rows, summary.n_features, summary.classes) == (0, 0, [])
        assert summary.nbytes < 100
        assert not any(np.any(array) for array in known(summary))


@pytest.mark.parametrize("form", ["C", "csr_array"])
@each_moments
def test_blocks_are_the_features_in_order(kind, form, monkeypatch):
    monkeypatch.setattr(f"{kind.make.__module__}.BLOCK", 3)
    summary = feed(kind(), kind.stream(np.random.default_rng(11), n=9, p=8), form)
    blocks = list(summary.blocks())
    assert [block.mean.shape[-1] for block in blocks] == [3, 3, 2]
    joined = np.concatenate([block.mean for block in blocks], axis=-1)
    assert np.array_equal(joined, summary.block(0, 8).mean)


def test_memory_is_as_promised():
    X, y = np.arange(24.0).reshape(4, 6), np.array([0, 1, 2, 0])
    missing = np.where(X == 3, np.nan, X)
    bytes_of = [feed(Moments(), Stream(rows, y), np.asarray).nbytes for rows in (X, missing)]
    assert [*bytes_of, feed(Moments(), Stream(X, y), sp.csr_array).nbytes] == [16 * 18, 24 * 18, 32 * 18]
    numeric = [feed(CoMoments(), Stream(X, y * 1.0), form).nbytes for form in (np.asarray, sp.csr_array)]
    assert numeric == [48 * 6, 64 * 6]
