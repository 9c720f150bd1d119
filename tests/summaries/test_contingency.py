"""Contingency equals its slow twin, whatever the rows look like; exactly, where weights are whole."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from streamsieve.summaries import Contingency, table_block
from streamsieve.summaries.contingency import Category, category_encoder
from tests.helpers.tier import cases
from tests.reference.contingency import contingency, effective_rows
from tests.summaries.kinds import merged
from tests.summaries.pieces import (
    HALF_LIVES,
    KINDS,
    Piece,
    check,
    check_tables,
    counted,
    feed,
    random_piece,
    random_pieces,
    rows_of,
    width_of,
)
from tests.summaries.streams import snapshot


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("half_life", HALF_LIVES)
def test_any_rows_in_any_forms_widths_and_cuts(kind, half_life):
    rng = np.random.default_rng(1)
    for _ in range(cases(60)):
        pieces = random_pieces(rng, kind)
        check(feed(Contingency(half_life), *pieces), pieces, half_life)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cap", [1, 2, 3])
def test_values_beyond_the_cap_are_counted_together(kind, cap):
    rng = np.random.default_rng(3)
    for case in range(cases(60)):
        half_life = HALF_LIVES[case % len(HALF_LIVES)]
        pieces = random_pieces(rng, kind)
        check(feed(Contingency(half_life, cap=cap), *pieces), pieces, half_life, cap)


CELLS = st.one_of(
    st.sampled_from([0, 0.0, -0.0, math.nan, None, 5e-324, 9.9e99, -9.9e99, "", "a", "0"]),
    st.integers(-3, 3),
    st.floats(-1e3, 1e3),
    st.text(max_size=2),
)


@given(
    st.lists(st.tuples(st.lists(CELLS, min_size=2, max_size=2), st.integers(0, 2)), min_size=1, max_size=12),
    st.integers(0, 12),
    st.sampled_from([1, 2, 256]),
)
def test_any_cells_in_any_cut(rows, cut, cap):
    X = np.empty((len(rows), 2), object)
    X[:] = [cells for cells, _ in rows]
    whole = Piece(X, np.array([label for _, label in rows]), None, "object")
    pieces = [whole[:cut], whole[cut:]]
    check(feed(Contingency(cap=cap), *pieces), pieces, cap=cap)


@pytest.mark.parametrize("cap", [2, 256])
def test_the_cut_changes_no_bit(cap):
    rng = np.random.default_rng(5)
    for case in range(40):
        half_life = HALF_LIVES[case % len(HALF_LIVES)]
        piece = random_piece(rng, 12, 3, "mixed", weights="fraction", labels=(0,))
        whole, single = feed(Contingency(half_life, cap=cap), piece), Contingency(half_life, cap=cap)
        for i in range(12):
            feed(single, piece[i : i + 1])
        a, b = counted(whole), counted(single)
        assert a.keys() == b.keys()
        assert list(a.values()) == list(b.values())


def test_dense_and_sparse_rows_give_the_same():
    rng = np.random.default_rng(6)
    for case in range(40):
        piece = random_piece(rng, 30, 3, weights="whole", forms=["C"])
        results = []
        for form in ("C", "F", "csr_array", "csr with zeros", "object"):
            piece.form = form
            results.append(counted(feed(Contingency(cap=1 + case % 5), piece)))
        assert all(result == results[0] for result in results)


def test_what_has_faded_below_all_rounding_is_forgotten():
    for form in ("C", "csr_array"):
        old = Piece(np.arange(1.0, 9)[:, None].astype(object), np.zeros(8, int), None, form)
        new = Piece(np.full((700, 1), 9.0, object), np.zeros(700, int), None, form)
        summary = feed(Contingency(1.0, cap=4), old)
        assert summary.overflowed[0]
        feed(summary, new)
        assert summary.categories(0) == [9.0]
        assert not summary.overflowed[0]


def test_a_feature_seen_long_ago_keeps_the_shares_of_its_values():
    X = np.array([[1.0, 0.0], [2.0, 0.0], [2.0, 0.0]])
    summary = Contingency(1.0)
    summary.update(X, np.array([0, 1, 1]))
    summary.update(np.column_stack([np.full(300, np.nan), np.zeros(300)]), np.zeros(300, int))
    assert summary.categories(0) == [1.0, 2.0]
    np.testing.assert_allclose(summary.counts(0) / summary.counts(0).max(), [[1 / 6, 0], [0, 1]])


def test_labels_come_one_by_one_with_features_and_values():
    summary, pieces = Contingency(), []
    for i in range(40):
        X = np.array(
            [[f"v{(i * j) % 7}" if j % 2 else float(i % (j + 2)) for j in range(1 + i // 4)]], object
        )
        pieces.append(Piece(X, np.array([i % 13]), None, "object"))
        feed(summary, pieces[-1])
    check(summary, pieces)


def test_wide_batches_on_several_threads():
    rng = np.random.default_rng(10)
    n, p = 2200, 500
    X = np.round(rng.normal(size=(n, p)) * rng.choice([0.5, 3, 40], p))
    X[rng.random((n, p)) < 0.05] = np.nan
    y = rng.integers(0, 3, n)
    for form in (np.ascontiguousarray, np.asfortranarray, np.float32):
        summary = Contingency()
        summary.update(form(X), y)
        for j in (0, 7, 8, 63, 64, 250, 251, 499):
            present = ~np.isnan(X[:, j])
            levels, codes = np.unique(X[present, j], return_inverse=True)
            wanted = np.zeros((3, len(levels)))
            np.add.at(wanted, (y[present], codes), 1.0)
            assert summary.categories(j) == levels.tolist()
            assert np.array_equal(summary.counts(j), wanted)


def test_many_values_of_many_sparse_features():
    rng = np.random.default_rng(11)
    X = sp.random_array((3000, 400), density=0.05, format="csr", random_state=rng)
    X.data = np.round(X.data * 30)
    y = rng.integers(0, 2, 3000)
    summary, dense = Contingency(), Contingency()
    for low in range(0, 3000, 700):
        summary.update(X[low : low + 700], y[low : low + 700])
    dense.update(X.toarray(), y)
    for j in range(400):
        assert summary.categories(j) == dense.categories(j)
        assert np.array_equal(summary.counts(j), dense.counts(j))


@pytest.mark.parametrize("form", ["C", "csr_array", "object"])
@pytest.mark.parametrize("power", [24, 32, 40, 51])
def test_counts_beyond_float32_and_int32_are_exact(form, power):
    X = np.array([[1], [2], [0], [0]], object)
    piece = Piece(X, np.array([0, 0, 0, 1]), np.array([2.0**power, 1, 3, 2.0**power + 1]), form)
    summary = feed(Contingency(), piece, piece[1:], piece[1:2])
    summary.merge(feed(Contingency(), piece[2:3]))
    assert summary.categories(0) == [0.0, 1.0, 2.0]
    assert summary.counts(0).tolist() == [[9, 2**power, 3], [2 * 2**power + 2, 0, 0]]
    summary.remove(*piece.batch())
    assert summary.counts(0).tolist() == [[6, 2], [2**power + 1, 0]]


def test_one_zero_among_many_sparse_rows_is_not_taken_for_rounding():
    X = np.array([[1], [0]], object)
    summary = feed(Contingency(), Piece(X, np.array([0, 0]), np.array([1e8, 1.0]), "csr_array"))
    state = snapshot(summary)
    many = Contingency.from_state({**state, "rows": np.array([10**8])})
    assert many.counts(0).tolist() == [[1.0, 1e8]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 7, 64])
def test_any_tree_over_shards_equals_the_whole(kind, n):
    rng = np.random.default_rng(n)
    for _ in range(200 // (n + 9)):
        pieces = random_pieces(rng, kind, n)
        whole = merged(rng, [feed(Contingency(), piece) for piece in pieces], in_order=False)
        check(whole, pieces)


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


def test_an_alphabet_grows_past_the_cap_and_stays_small(monkeypatch):
    monkeypatch.setattr(category_encoder, "FEW_TEXTS", 16)
    summary = Contingency(cap=8)
    summary._encoder._enough = 16
    pieces = []
    for batch in range(40):
        X = np.array([[f"user {batch}", f"city {batch % 5}"], [f"user {batch}", "city 0"]], object)
        pieces.append(Piece(X, np.array(["a", "b"]), None, "object"))
        feed(summary, pieces[-1])
        assert len(summary._encoder._keys) <= 2 * 16 + 3
    check(summary, pieces, cap=8)
    assert summary.overflowed.tolist() == [True, False]
    assert summary.categories(0)[-1] is Category.OTHER
    assert summary.counts(0)[:, -1].tolist() == [32.0, 32.0]
    again = Contingency.from_state(snapshot(summary))
    feed(again, *pieces)
    check(again, pieces + pieces, cap=8)


def test_texts_stand_in_order_after_numbers_and_before_the_rest():
    summary = Contingency(cap=5)
    X = np.array([["b"], [2], ["a"], [-1], ["0"], ["z"], [7], [0]], object)
    summary.update(X, np.arange(8) % 2)
    assert summary.categories(0) == [-1.0, 0.0, 2.0, "0", "a", "b", "other"]
    assert summary.categories(0)[-1] is Category.OTHER
    assert summary.counts(0).tolist() == [[0, 0, 0, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0, 1]]


@pytest.mark.parametrize("dtype", ["U", "T"])
def test_arrays_of_text(dtype):
    X = np.array([["red", "1"], ["blue", ""], ["red", "1"]])
    summary = Contingency()
    summary.update(X.astype(np.dtypes.StringDType() if dtype == "T" else X.dtype), np.array([0, 0, 1]))
    assert summary.categories(0) == ["blue", "red"]
    assert summary.categories(1) == ["", "1"]
    assert summary.counts(1).tolist() == [[1, 1], [0, 1]]


def test_cells_that_are_equal_are_one_value():
    cells = [1, 1.0, True, np.True_, np.int8(1), np.float32(1), "1", np.str_("1"), None, math.nan, np.nan]
    summary = Contingency()
    summary.update(np.array(cells, object)[:, None], np.zeros(len(cells), int))
    assert summary.categories(0) == [1.0, "1"]
    assert summary.counts(0).tolist() == [[6.0, 2.0]]


def test_whole_numbers_and_bools_are_welcome():
    for dtype in (np.int64, np.uint8, np.bool_, np.longdouble):
        X = np.array([[0, 1], [1, 1]], dtype)
        dense, sparse = Contingency(), Contingency()
        dense.update(X, np.array([0, 1]))
        sparse.update(sp.csr_array(X), np.array([0, 1]))
        assert counted(dense) == counted(sparse)


def test_blocks_cover_all_features_in_order(monkeypatch):
    monkeypatch.setattr(table_block, "BLOCK_VALUES", 200)
    rng = np.random.default_rng(24)
    X = np.round(rng.normal(size=(60, 120)) * rng.choice([0.3, 5], 120)).astype(object)
    X[:, 40:43] = "text"
    X[::2, 90] = "more"
    for form in ("object", "C"):
        piece = Piece(
            np.where([[isinstance(v, str) for v in r] for r in X], None, X), np.arange(60) % 3, None, form
        )
        if form == "object":
            piece.X = X
        summary = feed(Contingency(cap=12), piece)
        check_tables(summary, effective_rows(piece.rows(), 120))
        assert len(list(summary.tables(5))) >= 120 // 16


def test_a_feature_without_values_has_an_empty_table():
    summary = Contingency()
    summary.update(np.full((2, 1), np.nan), np.array([0, 1]))
    assert summary.categories(0) == []
    assert summary.counts(0).shape == (2, 0)
    (block,) = summary.tables(5)
    assert block.counts.tolist() == [[[0.0], [0.0]]]
    assert block.n.tolist() == [0.0]
