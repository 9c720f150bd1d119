"""A window is its last rows, whatever came before, in whatever batches and forms."""

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve import state
from streamsieve.exceptions import (
    BadValueError,
    InputTypeError,
    MergeError,
    ParameterError,
    SchemaError,
    StateError,
    TargetError,
)
from streamsieve.state.tree import pack_texts, text
from streamsieve.summaries import (
    CoMoments,
    Contingency,
    CrossProducts,
    Moments,
    Quantiles,
    TargetBins,
    Window,
)
from streamsieve.summaries.windows import row_store as held_rows
from tests.helpers.tier import cases
from tests.summaries.listing import (
    Listing,
    NumericListing,
    Tally,
    Twin,
    assert_same_rows,
    fed_together,
    random_segments,
)
from tests.summaries.streams import Stream, assert_same_bits, check, snapshot

LISTS = {"recomputed": Listing, "followed": Tally, "numeric": NumericListing}
each_list = pytest.mark.parametrize("kind", LISTS.values(), ids=LISTS)
REAL = {
    "Moments": Moments,
    "faded Moments": lambda: Moments(3.0),
    "CoMoments": CoMoments,
    "Quantiles": lambda: Quantiles(0.1),
    "Contingency": Contingency,
    "narrow Contingency": lambda: Contingency(cap=2),
    "TargetBins": lambda: TargetBins(Moments(), bins=2, warm_up=5),
}
each_real = pytest.mark.parametrize("make", REAL.values(), ids=REAL)


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    """Cut the rows held into short pieces, so that few rows make many."""
    monkeypatch.setattr(held_rows, "BLOCK", 4)


def window_and_twin(rng, inner):
    size = int(rng.integers(1, 12))
    return Window(inner, size=size), Twin(size)


def check_rows(window, twin):
    assert (window.n_rows, window.n_features) == (len(twin.rows), twin.n_features)
    assert_same_rows(window.current(), twin, ordered=not isinstance(window.current(), Tally))


@each_list
def test_a_window_holds_exactly_the_last_rows(kind):
    rng = np.random.default_rng(0)
    asked = 0
    for _ in range(cases(700)):
        window, twin = window_and_twin(rng, kind())
        for _ in fed_together(rng, random_segments(rng, kind.target), window, twin):
            assert (window.n_rows, window.n_features) == (len(twin.rows), twin.n_features)
            if rng.random() < 0.4:
                check_rows(window, twin)
                asked += 1
        check_rows(window, twin)
    assert asked > cases(700)


def test_a_summary_that_can_take_rows_back_follows():
    """Else the tests of this kind would be about nothing."""
    Tally.removed = 0
    window = Window(Tally(), size=5)
    for i in range(100):
        window.update(np.full((1, 2), float(i)), np.array([i % 2]))
        assert sorted(row.values[0] for row in window.current().rows) == list(range(max(0, i - 4), i + 1))
    assert Tally.removed > 60


@each_real
def test_the_summary_is_that_of_the_rows(make):
    rng = np.random.default_rng(1)
    for _ in range(cases(40)):
        window, twin = window_and_twin(rng, make())
        for _ in fed_together(rng, random_segments(rng, window.target), window, twin):
            if rng.random() < 0.3:
                same_knowledge(window.current(), recomputed(make(), twin))
        same_knowledge(window.current(), recomputed(make(), twin))


def recomputed(summary, twin):
    """Feed the twin's rows to a summary one by one."""
    for row in twin.rows:
        values = row.wide(twin.n_features)[None]
        X = sp.csr_array(np.nan_to_num(values, nan=99.0)) if row.sparse else values
        if row.sparse:
            X.data[X.data == 99.0] = np.nan
        summary.update(X, np.array([row.label]), np.array([row.weight]))
    return summary


def same_knowledge(got, wanted):
    """Compare what two summaries know, to rounding; labels without rows may be listed or not."""
    assert got.n_rows == wanted.n_rows
    assert got.n_features == wanted.n_features
    if isinstance(got, TargetBins):
        got, wanted = got.current(), wanted.current()
    if isinstance(got, CoMoments):
        pairs = zip(got.block(0, got.n_features), wanted.block(0, got.n_features), strict=True)
    elif isinstance(got, Moments):
        a, b = got.block(0, got.n_features), wanted.block(0, got.n_features)
        order = [wanted.classes.index(label) for label in got.classes]
        # the mass of faded rows has a common factor, which depends on nothing that counts
        a = a._replace(mass=a.mass / max(a.mass.sum(), 1e-300))
        b = b._replace(mass=b.mass / max(b.mass.sum(), 1e-300))
        pairs = [(x, y[order]) for x, y in zip(a, b, strict=True)]
    elif isinstance(got, Quantiles):
        order = [wanted.classes.index(label) for label in got.classes]
        pairs = []
        for x, y in zip(got.tables(3), wanted.tables(3), strict=True):
            pairs += [(x.counts, y.counts[:, order]), (x.n, y.n)]
    else:
        pairs = [(counted(got, j), counted(wanted, j)) for j in range(got.n_features)]
        assert all(a == b for a, b in pairs)
        return
    for x, y in pairs:
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)


def counted(table, feature):
    """What a contingency table knows of a feature: the mass of (label, level), where there is any."""
    counts, levels = table.counts(feature), table.categories(feature)
    return {
        (label, level): round(counts[c, v], 9)
        for c, label in enumerate(table.classes)
        for v, level in enumerate(levels)
        if counts[c, v] > 1e-12
    }


def test_digits_do_not_leave_with_a_large_value():
    window = Window(Moments(), size=3)
    values = np.array([1e9, 0.1, 0.2, 0.4])
    for value in values:
        window.update(np.array([[value]]), np.array([0]))
        window.current()
    check(window.current(), Stream(values[1:, None], np.zeros(3, np.int64)), tolerance=1e-15)


@each_list
def test_the_cut_into_batches_leaves_no_trace(kind):
    rng = np.random.default_rng(2)
    for _ in range(cases(200)):
        size, segments = int(rng.integers(1, 12)), random_segments(rng, kind.target)
        ones, some, whole = (Window(kind(), size=size) for _ in range(3))
        for window, longest in ((ones, 1), (some, 6)):
            for _ in fed_together(rng, segments, window, longest=longest):
                if rng.random() < 0.2:
                    window.current()
        for segment in segments:
            whole.update(*segment.batch(0, len(segment.y)))
        for window in (ones, some):
            assert_same_bits(snapshot(whole), snapshot(window))
            assert sorted(window.classes) == sorted(whole.classes)


@pytest.mark.parametrize("name", [name for name in REAL if "Contingency" not in name])  # those follow
def test_a_recomputed_summary_is_the_same_to_the_last_bit(name):
    make, rng = REAL[name], np.random.default_rng(3)
    for _ in range(cases(25)):
        size, segments = int(rng.integers(1, 30)), random_segments(rng, make().target)
        ones, some = Window(make(), size=size), Window(make(), size=size)
        for window, longest in ((ones, 1), (some, 20)):
            for _ in fed_together(rng, segments, window, longest=longest):
                if rng.random() < 0.2:
                    window.current()
        assert_same_bits(snapshot(ones.current()), snapshot(some.current()))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_long_windows_do_not_depend_on_batches_either(form, monkeypatch):
    monkeypatch.setattr(held_rows, "BLOCK", 1024)
    rng = np.random.default_rng(10)
    X, y, w = rng.normal(size=(6000, 3)), rng.integers(0, 2, 6000), rng.random(6000)
    rolled = []
    for longest in (1500, 100, 6000):
        window, low = Window(Moments(), size=2500), 0
        while low < 6000:
            high = low + int(rng.integers(1, longest + 1))
            window.update(form(X[low:high]), y[low:high], w[low:high])
            low = high
        check(window.current(), Stream(X[-2500:], y[-2500:], w[-2500:]), tolerance=1e-11)
        rolled.append(snapshot(window) | {f"s/{k}": v for k, v in snapshot(window.current()).items()})
        assert window.nbytes < 2 * 2500 * 60
    assert_same_bits(rolled[0], rolled[1])
    assert_same_bits(rolled[0], rolled[2])


def test_the_users_arrays_may_change_afterwards():
    for make in (np.ones, lambda shape: sp.csr_array(np.ones(shape))):
        window = Window(Listing(), size=5)
        X, y, w = make((3, 2)), np.array([0, 1, 0]), np.ones(3)
        window.update(X, y, w)
        (X.data if sp.issparse(X) else X)[:] = 7
        y[:], w[:] = 7, 7.0
        assert [row.label for row in window.current().rows] == [0, 1, 0]
        assert all(np.array_equal(row.values, [1, 1]) and row.weight == 1 for row in window.current().rows)


def test_memory_is_that_of_two_windows_at_most():
    for form in (np.asarray, sp.csr_array):
        window = Window(Listing(), size=100)
        most = 0
        for n in (1, 7, 1000, 1, 99, 30) * 3:
            window.update(form(np.ones((n, 20))), np.zeros(n, np.int64), np.ones(n))
            most = max(most, window.nbytes)
        values = 20 * 8 if form is np.asarray else 20 * 12 + 8
        assert 100 * values <= most <= 2 * 100 * (values + 16)


def test_what_is_asked_for_counts_as_memory_and_stays_until_the_next_row():
    window = Window(Listing(), size=10)
    window.update(np.ones((4, 2)), np.zeros(4, np.int64))
    before = window.nbytes
    summary = window.current()
    assert window.current() is summary
    assert window.nbytes == before + summary.nbytes
    window.update(np.ones((1, 2)), np.zeros(1, np.int64), np.zeros(1))  # this row does not exist
    assert window.current() is summary
    window.update(np.ones((1, 2)), np.zeros(1, np.int64))
    assert window.current() is not summary


def test_labels_and_values_that_are_long_gone_take_no_room():
    window = Window(Contingency(), size=10)
    for i in range(1000):
        window.update(np.array([[float(i)]]), np.array([f"label {i}"]))
    assert window.classes == sorted(f"label {i}" for i in range(990, 1000))
    assert len(window.current().classes) <= 20
    assert not window.current().overflowed.any()


def test_mixtures_of_dense_and_sparse_rows_keep_what_late_features_are():
    """Missing in the dense row, 0 in the sparse one, whichever came first."""
    dense, sparse = np.array([[1.0]]), sp.csr_array(np.array([[1.0]]))
    for kind in (Listing, Tally):
        for first, second in ((dense, sparse), (sparse, dense)):
            window = Window(kind(), size=3)
            window.update(first, np.array([0]))
            window.update(second, np.array([1]))
            window.update(np.array([[5.0, 5.0]]), np.array([2]))
            rows = {row.label: row.wide(2)[1] for row in window.current().rows}
            wanted = {0: np.nan, 1: 0.0, 2: 5.0} if first is dense else {0: 0.0, 1: np.nan, 2: 5.0}
            np.testing.assert_array_equal(list(rows.values()), [wanted[label] for label in rows])


@each_list
def test_merging_is_the_other_stream_afterwards(kind):
    rng = np.random.default_rng(4)
    for _ in range(cases(100)):
        size, parts = int(rng.integers(1, 15)), []
        first, second = random_segments(rng, kind.target), random_segments(rng, kind.target)
        while (second[0].y.dtype.kind == "U") != (first[0].y.dtype.kind == "U"):
            second = random_segments(rng, kind.target)
        for segments in (first, second):
            window, twin = Window(kind(), size=size), Twin(size)
            for _ in fed_together(rng, segments, window, twin):
                if rng.random() < 0.15 and twin.n_features:
                    columns = rng.integers(0, twin.n_features, 1)
                    window.forget(columns)
                    twin.forget(columns)
            parts.append((window, twin))
        (window, twin), (other, other_twin) = parts
        if rng.random() < 0.5:
            window.current()
        before = snapshot(other)
        window.merge(other)
        twin.merge(other_twin)
        check_rows(window, twin)
        assert_same_bits(before, snapshot(other))
        check_rows(other, other_twin)


def test_a_window_merges_with_itself_and_with_an_empty_one():
    window = Window(Listing(), size=5)
    window.update(np.arange(6.0).reshape(3, 2), np.arange(3))
    window.merge(Window(Listing(), size=5))
    assert [row.label for row in window.current().rows] == [0, 1, 2]
    window.merge(window)
    assert [row.label for row in window.current().rows] == [1, 2, 0, 1, 2]
    empty = Window(Listing(), size=5)
    empty.merge(window)
    assert [row.label for row in empty.current().rows] == [1, 2, 0, 1, 2]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (Window(Listing(), size=4), "Listing over 5 rows here, Listing over 4 rows there"),
        (Window(Listing(note=1), size=5), "only windows of equal size over equal summaries merge"),
        (Window(Tally(), size=5), "Listing over 5 rows here, Tally over 5 rows there"),
        (Listing(), "Listing over 5 rows here, Listing there"),
    ],
)
def test_only_like_windows_merge(other, message):
    with pytest.raises(MergeError, match=message):
        Window(Listing(), size=5).merge(other)


@each_list
def test_forgotten_features_are_missing_in_the_rows_so_far(kind):
    rng = np.random.default_rng(5)
    forgot = 0
    for _ in range(cases(120)):
        window, twin = window_and_twin(rng, kind())
        for _ in fed_together(rng, random_segments(rng, kind.target), window, twin):
            if rng.random() < 0.3 and twin.n_features:
                columns = np.flatnonzero(rng.random(twin.n_features) < 0.5)
                window.forget(columns)
                twin.forget(columns)
                forgot += 1
            if rng.random() < 0.3:
                check_rows(window, twin)
            if rng.random() < 0.1:
                vars(window).update(vars(Window.from_state(snapshot(window))))
        check_rows(window, twin)
    assert forgot > cases(100)


@each_real
def test_real_summaries_forget_too(make):
    rng = np.random.default_rng(6)
    for _ in range(30):
        window, twin = window_and_twin(rng, make())
        for _ in fed_together(rng, random_segments(rng, window.target), window, twin):
            if rng.random() < 0.3 and twin.n_features:
                columns = np.flatnonzero(rng.random(twin.n_features) < 0.5)
                window.forget(columns)
                twin.forget(columns)
        same_knowledge(window.current(), recomputed(make(), twin))


@each_list
def test_features_move_to_other_places(kind):
    rng = np.random.default_rng(7)
    for _ in range(cases(120)):
        window, twin = window_and_twin(rng, kind())
        list(fed_together(rng, random_segments(rng, kind.target), window, twin))
        if rng.random() < 0.5 and twin.n_features:
            window.forget(np.array([0]))
            twin.forget([0])
        n_features = twin.n_features + int(rng.integers(0, 3))
        columns = rng.permutation(n_features)[: twin.n_features]
        before = snapshot(window)
        moved, moved_twin = window.reindexed(columns, n_features), twin.reindexed(columns, n_features)
        assert_same_bits(before, snapshot(window))
        if twin.rows:
            check_rows(moved, moved_twin)
        assert_same_bits(snapshot(moved), snapshot(Window.from_state(snapshot(moved))))


@each_list
def test_a_state_goes_on_where_it_was_saved(kind):
    rng = np.random.default_rng(8)
    for _ in range(cases(120)):
        window, twin = window_and_twin(rng, kind())
        again = None
        for batch in fed_together(rng, random_segments(rng, kind.target), window, twin):
            if again is not None:
                again.update(*batch)
                assert_same_bits(snapshot(window), snapshot(again))
            if rng.random() < 0.3:
                saved = snapshot(window)
                again = Window.from_state(saved)
                assert_same_bits(saved, snapshot(again))
                assert (again.n_rows, again.n_features, again.size) == (
                    window.n_rows, window.n_features, window.size,
                )  # fmt: skip
        check_rows(window, twin)
        if again is not None:
            check_rows(again, twin)


@each_real
def test_windows_over_real_summaries_live_in_files(make, tmp_path):
    rng = np.random.default_rng(9)
    window = Window(make(), size=7)
    list(fed_together(rng, random_segments(rng, window.target), window))
    state.write(tmp_path / "w.sieve", {"class": "Window"}, window.state())
    again = Window.from_state(state.read(tmp_path / "w.sieve")[1])
    assert_same_bits(snapshot(window), snapshot(again))
    same_knowledge(window.current(), again.current())


@state.register
class Mute(state.Part):
    """A part of states that is not a summary."""

    fields = {}


def learnt(summary, form=np.asarray, labels=(0, 1, 0), weight=None):
    summary.update(form(np.array([[1.0, 2.0], [0.0, 4.0], [5.0, 6.0]])), np.array(labels), weight)
    return summary


def example(kind=Listing, **rows):
    return snapshot(learnt(Window(kind(), size=5), **rows))


def test_windows_in_windows_are_read_up_to_a_depth():
    arrays = example()
    rows = {name: array for name, array in arrays.items() if name.startswith("rows/")}
    for _ in range(30):
        inner = {f"inner/{name}": array for name, array in arrays.items()}
        arrays = {**inner, **rows, "inner/$kind": text("streamsieve.Window")}
    with pytest.raises(StateError, match="nested too deeply"):
        Window.from_state(arrays)


def changed(name, value, **kwargs):
    return lambda: {**example(**kwargs), name: np.asarray(value)}


def without(name, **kwargs):
    return lambda: {k: v for k, v in example(**kwargs).items() if k != name}


#: What holds between the parts of a window; the fuzzer damages the arrays themselves.
HOSTILE = {
    "no size": (without("rows/size"), "size must be a whole number at least 1"),
    "a size smaller than the rows": (changed("rows/size", 2), "holds 3 rows of 3, more than"),
    "more rows than came": (changed("rows/seen", 2), "holds 3 rows of 2, more than"),
    "unknown class": (changed("inner/$kind", text("Popen")), "unknown class 'Popen'"),
    "a class that is no summary": (
        changed("inner/$kind", text("tests.Mute")),
        "Mute, which is not a summary",
    ),
    "a class that is no part": (
        changed("inner/$kind", text("streamsieve.WelchT")),
        "WelchT, which is not a summary",
    ),
    "no class": (without("inner/$kind"), "should be a summary and name its class"),
    "a summary that has rows": (
        lambda: {**example(), **{f"inner/{k}": a for k, a in learnt(Listing()).state().items()}},
        "needs an empty summary; this one has 3 rows",
    ),
    "wider rows than features": (changed("rows/n_features", 1), "rows do not fit 1 features"),
    "a huge number of features": (changed("rows/n_features", 2**40), "n_features must be"),
    "two kinds of rows": (changed("rows/runs/0/data", np.zeros(3)), "either dense or sparse"),
    "no target": (without("rows/runs/0/numbers"), "either numbers or labels as target"),
    "whole numbers as targets": (
        changed("rows/runs/0/numbers", np.array([0, 1, 2]), kind=NumericListing),
        "a numeric target has rows with labels",
    ),
    "features out of range": (
        changed("rows/runs/0/indices", np.array([0, 1, 1, 0, 2], np.int32), form=sp.csr_array),
        "out of order or out of range",
    ),
    "features out of order": (
        changed("rows/runs/0/indices", np.array([1, 0, 1, 0, 1], np.int32), form=sp.csr_array),
        "out of order or out of range",
    ),
    "a feature twice": (
        changed("rows/runs/0/indices", np.array([1, 1, 1, 0, 1], np.int32), form=sp.csr_array),
        "out of order or out of range",
    ),
    "rows beyond the values": (
        changed("rows/runs/0/indptr", np.array([0, 2, 3, 9], np.int32), form=sp.csr_array),
        "end elsewhere than their values",
    ),
    "forgotten in the future": (changed("rows/since", np.array([9, 0])), "rows do not fit 2 features and 3"),
    "forgotten features that are none": (changed("rows/since", np.array([1])), "rows do not fit 2 features"),
}


@pytest.mark.parametrize(("make", "message"), HOSTILE.values(), ids=HOSTILE)
def test_states_that_do_not_fit_are_refused(make, message):
    with pytest.raises(StateError, match=message):
        Window.from_state(make())


def test_the_examples_of_hostile_states_are_sound_before_they_are_changed():
    for kwargs in ({}, {"form": sp.csr_array}, {"labels": ("a", "b", "a")}, {"weight": np.ones(3)}):
        assert Window.from_state(example(**kwargs)).n_rows == 3


def test_text_and_numbers_do_not_mix_in_a_state_either():
    window = Window(Listing(), size=5)
    window.update(np.ones((1, 2)), np.array([0]))
    window.update(sp.csr_array(np.ones((1, 2))), np.array([0]))
    arrays = snapshot(window)
    del arrays["rows/runs/1/numbers"]
    arrays |= {f"rows/runs/1/labels/{key}": a for key, a in pack_texts(["a"]).items()}
    with pytest.raises(StateError, match="some rows have text as labels, others numbers"):
        Window.from_state(arrays)


@pytest.mark.parametrize(
    ("inner", "size", "message"),
    [
        (Listing(), 0, "size must be a whole number at least 1"),
        (Listing(), 2.5, "size must be a whole number"),
        (Listing, 5, "a window needs a summary, .* got <class"),
        (None, 5, "a window needs a summary, .* got None"),
    ],
)
def test_bad_parameters_are_refused(inner, size, message):
    with pytest.raises(ParameterError, match=message):
        Window(inner, size=size)


def test_a_summary_with_rows_is_no_beginning():
    full = Moments()
    full.update(np.ones((2, 2)), np.array([0, 1]))
    with pytest.raises(ParameterError, match="needs an empty summary; this one has 2 rows"):
        Window(full, size=5)


@pytest.mark.parametrize("kind", [Listing, Tally])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("rows", [3, 30])
def test_bad_rows_are_refused_at_once_and_leave_no_trace(kind, form, rows):
    window = Window(kind(), size=5)
    window.update(form(np.ones((4, 2))), np.zeros(4, np.int64))
    before = snapshot(window)
    X = np.ones((rows, 3))
    X[0, 1] = np.inf
    with pytest.raises(BadValueError, match="feature 'x1' holds inf"):
        window.update(form(X), np.zeros(rows, np.int64))
    with pytest.raises(TargetError, match="labels so far were like 0, but this batch has 'a'"):
        window.update(form(np.ones((rows, 3))), np.full(rows, "a"))
    assert_same_bits(before, snapshot(window))
    assert window.current().n_rows == 4


def test_text_features_are_refused():
    with pytest.raises(InputTypeError, match="rows are held as numbers, but these are object"):
        Window(Contingency(), size=5).update(np.array([["a"]], object), np.array([0]))


def test_whole_numbers_and_labels_of_any_kind_are_welcome():
    window = Window(Listing(), size=9)
    window.update(np.array([[1, 2]]), np.array([True]))
    window.update(np.array([[True, False]]), np.array([3], np.uint8))
    window.update(np.array([[0.5, 1.0]]), np.array([0.5]))
    assert [row.label for row in window.current().rows] == [1, 3, 0.5]
    assert window.classes == [0.5, 1, 3]
    assert_same_bits(snapshot(window), snapshot(Window.from_state(snapshot(window))))


def test_a_summary_that_refuses_rows_is_asked_before_they_are_held():
    class Picky(Tally):
        def update(self, X, y, weight=None):
            if np.any(X == 13):
                raise TargetError("not 13")
            super().update(X, y, weight)

    state.register(Picky)
    window = Window(Picky(), size=5)
    window.update(np.ones((3, 1)), np.zeros(3, np.int64))
    before = snapshot(window)
    for n in (1, 10):
        with pytest.raises(TargetError, match="not 13"):
            window.update(np.full((n, 1), 13.0), np.zeros(n, np.int64))
        assert_same_bits(before, snapshot(window))
        assert window.current().n_rows == 3


def held(inner):
    """Ways to hold rows for a summary, with the target that each takes."""
    yield Window(inner.copy(), size=20), np.arange(8) % 2
    yield TargetBins(inner.copy(), bins=2, warm_up=20), np.arange(8) / 7
    yield TargetBins(Window(inner.copy(), size=20), bins=2, warm_up=20), np.arange(8) / 7


def test_missing_values_are_refused_at_the_door_if_the_summary_inside_takes_none():
    X = np.random.default_rng(0).normal(size=(8, 3))
    bad = X.copy()
    bad[2, 1] = np.nan
    for rows, y in held(CrossProducts()):
        rows.update(X, y)
        before = snapshot(rows)
        with pytest.raises(BadValueError, match="Input X contains NaN: feature 'x1'"):
            rows.update(bad, y)
        with pytest.raises(SchemaError, match=r"rows have 2 features, those held 3: .* takes no missing val"):
            rows.update(X[:, :2], y)
        assert_same_bits(snapshot(rows), before)
    for rows, y in held(Moments()):
        rows.update(bad, y)
        rows.update(X[:, :2], y)
        assert rows.n_rows == 16
