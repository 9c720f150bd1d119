"""RecentRows holds exactly the last rows, and gives their columns."""

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve.exceptions import (
    BadValueError,
    InputError,
    MergeError,
    ParameterError,
    SchemaError,
    StateError,
    TargetError,
)
from streamsieve.state.tree import text
from streamsieve.summaries import Moments, RecentRows
from streamsieve.summaries.windows import recent_rows
from streamsieve.summaries.windows import row_store as held_rows
from tests.helpers.tier import cases
from tests.summaries.listing import Listing, Twin, fed_together, random_segments

each_target = pytest.mark.parametrize("target", ["classes", "numeric"])


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    """Cut rows and columns into short pieces, so that few of them make many."""
    monkeypatch.setattr(held_rows, "BLOCK", 4)
    monkeypatch.setattr(recent_rows, "BLOCK_VALUES", 16)


def table_of(rows):
    """Return X, targets and copies as the columns say."""
    blocks = list(rows.blocks())
    if not blocks:
        return np.zeros((0, 0)), np.zeros(0), np.zeros(0)
    n = len(blocks[0].y)
    columns = [
        sp.csc_array((b.data, b.indices, b.indptr), shape=(n, len(b.indptr) - 1)).toarray() for b in blocks
    ]
    return np.hstack(columns), blocks[0].y, blocks[0].copies


def check(rows, twin):
    assert (rows.n_rows, rows.n_features) == (len(twin.rows), twin.n_features)
    X, y, copies = table_of(rows)
    if not twin.rows:
        assert not len(y)
        return
    wanted, labels, weights = twin.table()
    np.testing.assert_array_equal(X, wanted)
    assert copies.tolist() == weights.tolist()
    if rows.target == "numeric":
        assert y.tolist() == labels.tolist()
    else:
        assert np.array(rows.classes)[y].tolist() == labels.tolist()
    listing = Listing()
    rows.replay(listing)
    np.testing.assert_array_equal(listing.table()[0], wanted)


@each_target
def test_columns_are_those_of_the_last_rows(target):
    rng = np.random.default_rng(0)
    for _ in range(cases(150)):
        size = int(rng.integers(1, 12))
        rows, twin = RecentRows(target, size=size), Twin(size)
        list(fed_together(rng, random_segments(rng, target, weights=("none", "whole")), rows, twin))
        check(rows, twin)
        if twin.n_features and rng.random() < 0.5:
            gone = np.flatnonzero(rng.random(twin.n_features) < 0.5)
            rows.forget(gone)
            twin.forget(gone)
            check(rows, twin)
        again = RecentRows.from_state(rows.state())
        check(again, twin)
        places = rng.permutation(twin.n_features + 2)[: twin.n_features]
        check(again.reindexed(places, twin.n_features + 2), twin.reindexed(places, twin.n_features + 2))


@each_target
def test_merging_is_going_on(target):
    rng = np.random.default_rng(1)
    for _ in range(cases(80)):
        parts = []
        for segment in random_segments(rng, target, weights=("none", "whole")):
            rows, twin = RecentRows(target, size=7), Twin(7)
            list(fed_together(rng, [segment], rows, twin))
            parts.append((rows, twin))
        rows, twin = parts[0]
        for other, other_twin in parts[1:]:
            rows.merge(other)
            twin.merge(other_twin)
        check(rows, twin)


def test_some_columns_of_all_rows_are_replayed():
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 3, (9, 6)) * 1.0, rng.integers(0, 2, 9)
    for form in (np.asarray, sp.csr_array):
        rows = RecentRows(size=9)
        rows.update(form(X), y)
        listing, pooled = Listing(), Moments()
        rows.replay(listing, np.array([1, 4]))
        np.testing.assert_array_equal(listing.table()[0], X[:, [1, 4]])
        rows.replay(pooled, pooled=True)
        np.testing.assert_allclose(pooled.block(0, 6).mean, X.mean(axis=0)[None])
        assert rows.sparse_rows == (9 if form is sp.csr_array else 0)


def test_rows_that_do_not_fit_are_refused_and_change_nothing():
    rows = RecentRows(size=3)
    X, y = np.ones((2, 2)), np.array([0, 1])
    rows.update(X, y)
    refusals = [
        (np.full((2, 2), np.inf), y, None, BadValueError, "holds inf"),
        (X, np.array(["a", "b"]), None, TargetError, "use text or numbers throughout"),
        (X, y, np.array([1.0, 0.5]), InputError, "how often a row counts among neighbors; got 0.5"),
        (X, y, np.array([1.0, 2.0**32]), InputError, "whole numbers up to 2147483648"),
    ]
    for bad, labels, weight, error, message in refusals:
        with pytest.raises(error, match=message):
            rows.update(bad, labels, weight)
        assert (rows.n_rows, rows.nbytes > 0) == (2, True)
    for other in (RecentRows(size=4), RecentRows("numeric", size=3), Moments()):
        with pytest.raises(MergeError, match="only windows of equal size and target merge: 3 rows"):
            rows.merge(other)
    with pytest.raises(SchemaError):
        rows.forget(np.array([5]))
    for target, size in (("labels", 3), ("classes", 0)):
        with pytest.raises(ParameterError):
            RecentRows(target, size=size)


@pytest.mark.parametrize(
    "change",
    [
        {"target": text("labels")},
        {"target": text("numeric")},
        {"rows/size": np.array(1)},
        {"rows/runs/0/weight": np.array([1.0, 0.5])},
        {"rows/runs/0/weight": np.array([1.0, 2.0**40])},
        {"rows/seen": np.array(1)},
    ],
    ids=str,
)
def test_states_that_do_not_fit_are_refused(change):
    rows = RecentRows(size=3)
    rows.update(np.ones((2, 2)), np.array([0, 1]), np.array([1.0, 2.0]))
    good = rows.state()
    RecentRows.from_state(good)
    with pytest.raises(StateError):
        RecentRows.from_state({**good, **change})
