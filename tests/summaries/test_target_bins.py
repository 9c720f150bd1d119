"""Bins of a target: frozen at one row exactly, and equal to the offline computation."""

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve._cuts import classes_by_cuts, equal_frequency_cuts
from streamsieve.exceptions import BadValueError, MergeError, ParameterError, StateError
from streamsieve.state.tree import text
from streamsieve.summaries import CoMoments, Contingency, Moments, Quantiles, TargetBins, Window
from streamsieve.summaries.windows import row_store as held_rows
from tests.summaries.listing import (
    Listing,
    Segment,
    Twin,
    assert_same_rows,
    fed_together,
    random_segments,
    rows_of,
)
from tests.summaries.streams import Stream, assert_same_bits, check, snapshot


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    """Cut the rows held into short pieces, so that few rows make many."""
    monkeypatch.setattr(held_rows, "BLOCK", 4)


def bins_of(y, weight, n_bins):
    """Slow twin of the binning rule: a target's bin is the number of steps that lie below it.

    W is the total weight, d = max(1, floor(W / K)) if all weights are whole and W (1 - 1e-12) / K otherwise;
    the bin of a target is the number of i in 1..K-1 with i * d <= weight strictly below it.
    """
    y, weight = np.asarray(y, float), np.asarray(weight, float)
    total = sum(weight.tolist())
    whole = all(w == int(w) for w in weight.tolist())
    d = max(1, int(total) // n_bins) if whole else total * (1 - 1e-12) / n_bins
    below = [sum(weight[y < value].tolist()) for value in y]
    return [sum(i * d <= mass for i in range(1, n_bins)) for mass in below]


def offline(segments, n_bins, warm_up):
    """Return all rows with the bin of their target for a label; the first rows determine the cuts."""
    whole = Twin()
    for segment in segments:
        whole.update(*segment.batch(0, len(segment.y)))
    first = whole.rows[:warm_up]
    bins = bins_of([r.label for r in first], [r.weight for r in first], n_bins)
    for row, number in zip(first, bins, strict=True):
        row.y, row.label = row.label, number
    for row in whole.rows[warm_up:]:
        # a later target is in the bin of the smallest of the first ones that it does not exceed
        above = [r.label for r in first if r.y >= row.label]
        row.label = min(above) if above else n_bins - 1
    return whole


def test_targets_are_cut_by_the_rule():
    rng = np.random.default_rng(0)
    for _ in range(1000):
        n, n_bins = int(rng.integers(1, 30)), int(rng.integers(2, 8))
        y = rng.integers(-3, 4, n) / 2 if rng.random() < 0.5 else rng.normal(size=n)
        kind = rng.integers(3)
        weight = np.ones(n) if kind == 0 else rng.integers(1, 5, n) * (1.0 if kind == 1 else 0.1)
        cuts = equal_frequency_cuts(y, n_bins, weight)
        assert classes_by_cuts(y, cuts).tolist() == bins_of(y, weight, n_bins)


def test_bins_have_equal_numbers_where_they_can():
    for n_bins in (2, 3, 5, 10):
        y = np.arange(60.0 * n_bins)
        cuts = equal_frequency_cuts(y, n_bins)
        assert np.bincount(classes_by_cuts(y, cuts)).tolist() == [60] * n_bins
        repeated = equal_frequency_cuts(np.repeat(y, 3), n_bins)
        assert np.array_equal(repeated, equal_frequency_cuts(y, n_bins, np.full(len(y), 3.0)))


def test_rows_get_the_bin_of_their_target_in_any_batches():
    rng = np.random.default_rng(2)
    frozen = 0
    for _ in range(500):
        n_bins = int(rng.integers(2, 5))
        warm_up = int(rng.integers(n_bins, 20))
        segments = random_segments(rng, "numeric")
        binned = TargetBins(Listing(), bins=n_bins, warm_up=warm_up)
        seen = []
        for segment in segments:
            for X, y, w in segment.batches(rng, 6):
                binned.update(X, y, w)
                seen.append(
                    Segment(np.asarray(X.toarray() if sp.issparse(X) else X, float), y, w, segment.form)
                )
                assert (binned.cuts is None) == (binned.n_rows < warm_up)
                if rng.random() < 0.2 and binned.cuts is None:
                    # before the cuts are frozen, the summary is what the rows so far give offline
                    assert_same_rows(binned.current(), offline(seen, n_bins, 10**9))
        wanted = offline(segments, n_bins, warm_up)
        assert_same_rows(binned.current(), wanted)
        assert binned.n_rows == len(wanted.rows)
        if wanted.rows:
            assert binned.n_features == wanted.n_features
            assert binned.classes == sorted({row.label for row in wanted.rows})
        frozen += binned.cuts is not None
    assert 200 < frozen < 700


def test_the_warm_up_ends_at_one_row_exactly():
    X, y = np.arange(12.0)[:, None], np.arange(12.0)
    for step in (1, 5, 7, 8, 9, 12):
        binned = TargetBins(Listing(), bins=2, warm_up=8)
        for low in range(0, 12, step):
            binned.update(X[low : low + step], y[low : low + step])
        assert binned.cuts.tolist() == [3.0]
        assert [row.label for row in binned.current().rows] == [0] * 4 + [1] * 8


def test_rows_of_weight_0_do_not_warm_up():
    binned = TargetBins(Listing(), bins=2, warm_up=3)
    binned.update(np.ones((9, 1)), np.arange(9.0), np.zeros(9))
    assert (binned.n_rows, binned.n_features, binned.cuts) == (0, 0, None)
    assert binned.current().n_rows == 0
    binned.update(np.ones((4, 1)), np.arange(4.0), np.array([1.0, 0.0, 1.0, 1.0]))
    assert binned.cuts.tolist() == [0.0]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("half_life", [None, 3.0])
def test_the_summary_inside_may_fade(form, half_life):
    rng = np.random.default_rng(3)
    X, y, w = rng.normal(size=(60, 3)), rng.normal(size=60), rng.integers(1, 3, 60).astype(float)
    binned = TargetBins(Moments(half_life), bins=3, warm_up=20)
    for low in range(0, 60, 7):
        part = slice(low, low + 7)
        binned.update(form(X[part]), y[part], w[part])
    labels = classes_by_cuts(y, binned.cuts)
    assert labels[:20].tolist() == bins_of(y[:20], w[:20], 3)
    check(binned.current(), Stream(X, labels, w), half_life, 1e-11)


def test_every_summary_over_classes_works_inside():
    rng = np.random.default_rng(4)
    X, y = rng.integers(0, 3, (40, 2)).astype(float), rng.normal(size=40)
    for inner in (Moments(), Quantiles(), Contingency(), Window(Moments(), size=10)):
        binned = TargetBins(inner, bins=2, warm_up=10)
        binned.update(X, y)
        assert binned.current().n_rows == (10 if isinstance(inner, Window) else 40)
        assert binned.classes == [0, 1]
        again = TargetBins.from_state(snapshot(binned))
        assert_same_bits(snapshot(binned), snapshot(again))


def test_given_cuts_need_no_warm_up():
    binned = TargetBins(Listing(), bins=3, warm_up=5, cuts=[1.0, 2.0])
    assert binned.nbytes == 0
    binned.update(np.ones((4, 1)), np.array([1.0, 1.5, 2.0, 9.0]))
    assert [row.label for row in binned.current().rows] == [0, 1, 1, 2]
    assert binned.cuts.tolist() == [1.0, 2.0]


def fed(segments, n_bins=2, warm_up=8, cuts=None):
    binned = TargetBins(Listing(), bins=n_bins, warm_up=warm_up, cuts=cuts)
    for segment in segments:
        binned.update(*segment.batch(0, len(segment.y)))
    return binned


def test_merging_equals_one_stream_while_the_later_part_is_warming_up():
    rng = np.random.default_rng(5)
    cases = {True: 0, False: 0}
    for _ in range(200):
        first, second = random_segments(rng, "numeric"), random_segments(rng, "numeric")
        binned, other = fed(first, warm_up=12), fed(second, warm_up=12)
        if other.cuts is not None:
            continue
        cases[binned.cuts is None] += 1
        before = snapshot(other)
        binned.merge(other)
        assert_same_bits(before, snapshot(other))
        whole = fed([*first, *second], warm_up=12)
        assert_same_rows(binned.current(), whole.current())
        assert (binned.cuts is None) == (whole.cuts is None)
    assert min(cases.values()) > 20


def test_cuts_of_the_later_part_hold_for_rows_that_have_none():
    rng = np.random.default_rng(6)
    cases = 0
    for _ in range(300):
        first, second = random_segments(rng, "numeric"), random_segments(rng, "numeric")
        binned, other = fed(first), fed(second)
        if binned.cuts is not None or other.cuts is None:
            continue
        cases += 1
        binned.merge(other)
        whole = fed([*first, *second], cuts=other.cuts)
        assert_same_rows(binned.current(), whole.current())
        assert np.array_equal(binned.cuts, other.cuts)
        binned.update(np.ones((1, 1)), np.zeros(1))
        assert other.n_rows == fed(second).n_rows
    assert cases > 20


def test_parts_merge_if_their_cuts_are_equal():
    X, y = np.ones((8, 1)), np.arange(8.0)
    parts = [TargetBins(Listing(), bins=2, warm_up=4) for _ in range(3)]
    for part, shift in zip(parts, (0, 0, 5), strict=True):
        part.update(X, y + shift)
    parts[0].merge(parts[1])
    assert [row.label for row in parts[0].current().rows] == [0, 0, 1, 1, 1, 1, 1, 1] * 2
    before = snapshot(parts[0])
    with pytest.raises(MergeError, match=r"\(\[1\] here, \[6\] there\): give both the same cuts"):
        parts[0].merge(parts[2])
    assert_same_bits(before, snapshot(parts[0]))
    given = [TargetBins(Listing(), bins=2, warm_up=4, cuts=[3.0]) for _ in range(2)]
    for part in given:
        part.update(X, y)
    given[0].merge(given[1])
    assert given[0].n_rows == 16


@pytest.mark.parametrize("n", [3, 9])
def test_merging_with_itself_and_with_nothing(n):
    binned = TargetBins(Listing(), bins=2, warm_up=5)
    binned.update(np.ones((n, 1)), np.arange(float(n)))
    binned.merge(TargetBins(Listing(), bins=2, warm_up=5))
    assert binned.n_rows == n
    empty = TargetBins(Listing(), bins=2, warm_up=5)
    empty.merge(binned)
    assert_same_rows(empty.current(), binned.current())
    binned.merge(binned)
    assert binned.n_rows == 2 * n


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (TargetBins(Listing(), bins=3, warm_up=8), "bins is 2 here and 3 there"),
        (TargetBins(Listing(), bins=2, warm_up=9), "warm_up is 8 here and 9 there"),
        (TargetBins(Listing(note=1), bins=2, warm_up=8), "made with different parameters"),
        (TargetBins(Moments(), bins=2, warm_up=8), "made with different parameters"),
        (Moments(), "only merge with bins of a target, not with a Moments"),
    ],
)
def test_only_like_ones_merge(other, message):
    with pytest.raises(MergeError, match=message):
        TargetBins(Listing(), bins=2, warm_up=8).merge(other)


def test_a_merge_that_is_refused_inside_changes_nothing():
    dense, sparse = TargetBins(Quantiles(), bins=2, warm_up=8), TargetBins(Quantiles(), bins=2, warm_up=8)
    dense.update(np.ones((3, 1)), np.arange(3.0))
    sparse.update(sp.csr_array(np.ones((9, 1))), np.arange(9.0))
    before = snapshot(dense)
    with pytest.raises(MergeError, match="one summary began with dense rows"):
        dense.merge(sparse)
    assert_same_bits(before, snapshot(dense))


def test_forgetting_reindexing_and_saving_on_the_way():
    rng = np.random.default_rng(7)
    saved = forgot = moved = 0
    for _ in range(200):
        warm_up = int(rng.integers(2, 20))
        binned, twin = TargetBins(Listing(), bins=2, warm_up=warm_up), Twin()
        plain = TargetBins(Listing(), bins=2, warm_up=warm_up)  # never forgets: it knows the bins
        for _ in fed_together(rng, random_segments(rng, "numeric"), binned, plain, twin):
            if rng.random() < 0.2 and twin.n_features:
                columns = np.flatnonzero(rng.random(twin.n_features) < 0.5)
                binned.forget(columns)
                twin.forget(columns)
                forgot += 1
            if rng.random() < 0.2:
                before = snapshot(binned)
                vars(binned).update(vars(TargetBins.from_state(before)))
                assert_same_bits(before, snapshot(binned))
                saved += 1
        for row, label in zip(twin.rows, (r.label for r in plain.current().rows), strict=True):
            row.label = label
        assert_same_rows(binned.current(), twin)
        if twin.rows:
            n_features = twin.n_features + int(rng.integers(0, 3))
            columns = rng.permutation(n_features)[: twin.n_features]
            before = snapshot(binned)
            assert_same_rows(
                binned.reindexed(columns, n_features).current(), twin.reindexed(columns, n_features)
            )
            assert_same_bits(before, snapshot(binned))
            moved += 1
    assert min(saved, forgot, moved) > 100


def test_a_state_goes_on_to_the_last_bit():
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    for at in range(0, 40, 3):
        binned = TargetBins(Moments(5.0), bins=3, warm_up=20)
        binned.update(X[:at], y[:at])
        again = TargetBins.from_state(snapshot(binned))
        for part in (binned, again):
            part.update(X[at:], y[at:])
        assert_same_bits(snapshot(binned), snapshot(again))


def example(rows):
    binned = TargetBins(Listing(), bins=3, warm_up=5)
    binned.update(np.ones((rows, 2)), np.arange(float(rows)))
    return snapshot(binned)


HOSTILE = {
    "other bins": ({"bins": 4}, "2 cuts and 0 rows do not go with 4 bins"),
    "a short warm-up": ({"warm_up": 2}, "warm_up must be a whole number at least 3"),
    "cuts that fall": ({"cuts": [2.0, 1.0]}, "cuts should be sorted"),
    "cuts that are none": ({"cuts": [1.0, np.nan]}, "cuts should be sorted"),
    "an unknown class": ({"inner/$kind": text("os.system")}, "unknown class 'os.system'"),
    "another class": ({"current/$kind": text("tests.Tally")}, "is not of the class it was made with"),
    "a target that does not serve": (
        {"inner/$kind": text("tests.NumericListing")},
        "NumericListing is numeric",
    ),
}


@pytest.mark.parametrize(("change", "message"), HOSTILE.values(), ids=HOSTILE)
def test_states_that_do_not_fit_are_refused(change, message):
    with pytest.raises(StateError, match=message):
        TargetBins.from_state({**example(9), **{name: np.asarray(value) for name, value in change.items()}})


def test_a_state_that_should_have_been_frozen_is_refused():
    with pytest.raises(StateError, match="rows are held back though the target has been cut"):
        TargetBins.from_state({**example(4), "warm_up": np.array(3)})
    with pytest.raises(StateError, match="rows are held back though the target has been cut"):
        TargetBins.from_state({k: v for k, v in example(9).items() if k != "cuts"})
    assert TargetBins.from_state(example(4)).n_rows == 4
    assert TargetBins.from_state(example(9)).n_rows == 9


def test_cuts_of_fewer_rows_than_bins_are_saved_too():
    binned = TargetBins(Moments(), bins=5)
    binned.update(np.ones((2, 2)), np.array([0.5, 1.5]))
    binned.fade(0.5)  # ends the warm-up: the last cuts are infinite
    assert_same_bits(snapshot(binned), snapshot(TargetBins.from_state(snapshot(binned))))
    binned.update(np.ones((2, 2)), np.array([0.5, 9.0]))
    assert binned.classes == [0, 1, 2]


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"inner": CoMoments()}, "needs a summary whose target is classes; that of CoMoments is numeric"),
        ({"inner": 3}, "bins of a target needs a summary, .* got 3"),
        ({"bins": 1}, "bins must be a whole number at least 2"),
        ({"bins": 8, "warm_up": 7}, "warm_up must be a whole number at least 8"),
        ({"cuts": [1.0, 2.0]}, r"5 bins want 4 cuts; got an array of shape \(2,\)"),
        ({"cuts": [1.0, 2.0, 3.0, 2.5]}, r"finite numbers that do not fall; got \[1, 2, 3, 2\.5\]"),
        ({"cuts": ["a", "b", "c", "d"]}, "cuts must be numbers; got"),
    ],
)
def test_bad_parameters_are_refused(kwargs, message):
    with pytest.raises(ParameterError, match=message):
        TargetBins(**{"inner": Moments(), **kwargs})


@pytest.mark.parametrize("rows", [2, 6, 12])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_bad_rows_leave_no_trace_before_during_and_after_the_warm_up(rows, form):
    for already in (0, 3, 20):
        binned = TargetBins(Listing(), bins=2, warm_up=8)
        binned.update(form(np.ones((already, 2))), np.arange(float(already)))
        before = snapshot(binned)
        X = np.ones((rows, 3))
        X[-1, 2] = np.inf
        with pytest.raises(BadValueError, match="feature 'x2' holds inf"):
            binned.update(form(X), np.arange(float(rows)))
        assert_same_bits(before, snapshot(binned))


def test_the_list_of_rows_is_what_it_seems():
    """The twin of all tests here, on one case that is seen at a glance."""
    rows = rows_of(sp.csr_array(np.array([[1.0, 0.0]])), np.array([2]))
    assert rows[0].wide(3).tolist() == [1.0, 0.0, 0.0]
    assert np.isnan(rows_of(np.array([[1.0]]), np.array([2]))[0].wide(2)[1])
