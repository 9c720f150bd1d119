"""Rows that leave, features that are forgotten or stand elsewhere: as if it had always been so."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve.exceptions import CapabilityError, InputError
from streamsieve.summaries import Contingency
from tests.helpers.tier import cases
from tests.reference.contingency import OTHER, contingency
from tests.summaries.pieces import KINDS, SPARSE, Piece, counted, feed, random_piece, random_pieces, rows_of
from tests.summaries.streams import assert_same_bits, snapshot


def kept(summary):
    """Return what is counted, and how many rows of which mass."""
    mass = dict(zip(summary.classes, summary._mass.tolist(), strict=True))
    return counted(summary), summary.n_rows, {label: m for label, m in mass.items() if m}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_removed_are_rows_never_added(kind):
    rng = np.random.default_rng(18)
    for _ in range(cases(80)):
        pieces = random_pieces(rng, kind, 4, 2, weights=str(rng.choice(["none", "whole"])))
        summary = feed(Contingency(), *pieces)
        going = rng.random(4) < 0.5
        for piece, goes in zip(pieces, going, strict=True):
            if goes:
                order = rng.permutation(len(piece))
                for part in (order[:2], order[2:]):
                    summary.remove(*piece[part].batch())
        stays = [piece for piece, goes in zip(pieces, going, strict=True) if not goes]
        assert kept(summary) == kept(feed(Contingency(), *stays))
        late = random_pieces(rng, kind, 2, 2, weights="none")
        feed(summary, *late)
        assert kept(summary) == kept(feed(Contingency(), *stays, *late))


@pytest.mark.parametrize("form", ["C", "csr_array", "object"])
def test_a_sliding_window_stays_small(form):
    rng = np.random.default_rng(19)
    X = np.round(rng.normal(size=(2000, 3)) * 3 + np.arange(2000)[:, None] / 20).astype(object)
    stream = Piece(X, rng.integers(0, 3, 2000), None, form)
    summary, most = Contingency(), 0
    for low in range(0, 2000, 10):
        feed(summary, stream[low : low + 10])
        if low >= 100:
            summary.remove(*stream[low - 100 : low - 90].batch())
        most = max(most, summary.nbytes)
        if low % 500 == 490:
            assert kept(summary) == kept(feed(Contingency(), stream[low - 90 : low + 10]))
    assert most < 20_000


def test_beyond_the_cap_each_value_is_counted_by_its_own_or_as_other():
    rng = np.random.default_rng(20)
    for _ in range(cases(60)):
        stream = random_piece(rng, 60, 2, "mixed", weights="none")
        summary = Contingency(cap=2)
        for low in range(0, 60, 5):
            feed(summary, stream[low : low + 5])
            if low >= 20:
                summary.remove(*stream[low - 20 : low - 15].batch())
            window = contingency(stream[max(0, low - 15) : low + 5].rows(), 2)
            for (feature, label, value), count in counted(summary).items():
                if value is not OTHER:
                    assert window[feature, label, value] == count
            for j in range(2):
                assert summary.counts(j).sum() == sum(c for key, c in window.items() if key[0] == j)
        summary.remove(*stream[40:].batch())
        assert not counted(summary)
        assert not summary.overflowed.any()


def test_fractional_weights_leave_no_dust():
    rng = np.random.default_rng(21)
    for kind in KINDS:
        for _ in range(cases(50)):
            pieces = random_pieces(rng, kind, 3, 2, weights="fraction")
            summary = feed(Contingency(), *pieces)
            for piece in pieces[:2]:
                summary.remove(*piece.batch())
            left = feed(Contingency(), pieces[2])
            assert counted(summary).keys() == counted(left).keys()
            for key, count in counted(left).items():
                assert abs(counted(summary)[key] - count) <= 1e-9 * count
            summary.remove(*pieces[2].batch())
            assert kept(summary) == ({}, 0, {})


def never_added():
    """Yield rows that are not in the stream below, and what is said about them."""
    yield [[1.0, 2.0]], [0], None, "C", "feature 'x0' has no value 1.0 left in class 0"
    yield [[2.0, 1.0]], [0], None, "object", "feature 'x1' has no value 1.0 left in class 0"
    yield [["zz", 5.0]], [0], None, "object", "feature 'x0' has no value zz left in class 0"
    yield [[5.0, 5.0], [5.0, 5.0], [5.0, 5.0]], [0, 0, 0], None, "C", "feature 'x0' has no value 5.0 left"
    yield [[5.0, 5.0]], [0], [3.0], "C", "feature 'x0' has no value 5.0 left in class 0"
    yield [[0.0, 5.0]], [0], None, "C", "feature 'x0' has no value 0.0 left in class 0"
    yield [[0.0, 6.0]], [1], None, "csr_array", "feature 'x1' has no value 6.0 left in class 1"
    yield [[3.0, math.nan]], [1], [3.0], "csr_array", "feature 'x1' has no value nan left in class 1"
    yield [[3.0, 3.0]], [0], None, "csr_array", "fewer rows of class 0 were added"
    yield [[5.0, 5.0]], [7], None, "C", "no row of class 7 was ever added"
    yield [[5.0, 5.0, 5.0]], [0], None, "C", "rows with 3 features were never added"
    yield [[math.nan, math.nan]] * 5, [0] * 5, None, "C", "fewer rows of class 0 were added"


@pytest.mark.parametrize(("X", "y", "weight", "form", "why"), list(never_added()))
def test_rows_that_were_never_added_are_refused_and_nothing_is_changed(X, y, weight, form, why):
    summary = Contingency()
    dense = np.array([[5, 5], [5, 5], [2, 5], [2, 2]], float)
    summary.update(dense, np.array([0, 0, 1, 0]), np.array([1, 1, 0.1, 1]))
    summary.update(sp.csr_array(np.array([[3.0, 0], [3, 1], [3, 1]])), np.array([1, 1, 1]))
    before = snapshot(summary)
    piece = Piece(np.array(X, object), np.array(y), None if weight is None else np.array(weight), form)
    with pytest.raises(InputError, match=why):
        summary.remove(*piece.batch())
    assert_same_bits(before, snapshot(summary))


def test_nothing_is_removed_while_rows_fade():
    summary = Contingency(5.0)
    summary.update(np.ones((1, 1)), np.array([0]))
    with pytest.raises(CapabilityError, match="cannot be removed under half_life=5, where they fade"):
        summary.remove(np.ones((1, 1)), np.array([0]))


def test_a_feature_that_is_not_there_has_no_categories():
    summary = Contingency()
    summary.update(np.ones((2, 2)), np.array([0, 1]))
    for feature in (-1, 2):
        with pytest.raises(IndexError, match=f"there are 2 features, numbered from 0; got {feature}"):
            summary.categories(feature)


def without(piece, columns):
    """Return a piece in which some features are missing."""
    X = piece.X.copy()
    X[:, [c for c in columns if c < X.shape[1]]] = None
    return Piece(X, piece.y, piece.weight, piece.form)


def _padded_to(X, width, form):
    padded = np.full((len(X), width), 0.0 if form in SPARSE else None, object)
    padded[:, : X.shape[1]] = X[:, :width]
    return padded


def reindexed(piece, columns, width):
    """Return a piece whose features stand elsewhere among ``width`` of them."""
    X = _padded_to(np.empty((len(piece), 0), object), width, piece.form)
    X[:, columns] = _padded_to(piece.X, len(columns), piece.form)
    return Piece(X, piece.y, piece.weight, piece.form)


def existing_pieces(rng):
    pieces = random_pieces(rng, str(rng.choice(KINDS)), 2, weights=str(rng.choice(["none", "whole"])))
    return [piece for piece in pieces if len(piece) and (piece.weight is None or piece.weight.any())]


def test_any_sequence_of_operations_counts_what_is_left():
    rng = np.random.default_rng(30)
    for _ in range(cases(80)):
        summary, pieces = Contingency(), []
        for act in rng.choice(["update", "merge", "remove", "forget", "reindex", "state"], 10):
            width, new = summary.n_features, existing_pieces(rng)
            if act == "update":
                feed(summary, *new)
                pieces += new
            elif act == "merge":
                summary.merge(feed(Contingency(), *new))
                pieces += new
            elif act == "remove" and pieces:
                summary.remove(*pieces.pop(int(rng.integers(len(pieces)))).batch())
            elif act == "forget":
                columns = np.flatnonzero(rng.random(width) < 0.4)
                summary.forget(columns)
                pieces = [without(reindexed(p, np.arange(width), width), columns) for p in pieces]
            elif act == "reindex" and 0 < width < 6:
                columns = rng.permutation(width + 1)[:width]
                summary = summary.reindexed(columns, width + 1)
                pieces = [reindexed(p, columns, width + 1) for p in pieces]
            elif act == "state":
                summary = Contingency.from_state(snapshot(summary))
            assert counted(summary) == contingency(rows_of(pieces), summary.n_features)
