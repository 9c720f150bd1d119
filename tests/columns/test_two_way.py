"""Rows and columns at once: whatever the order of events, the result is that of computing all of it again."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve import state
from streamsieve.columns.two_way.table import GrowingTable
from streamsieve.exceptions import NotBegunError, ParameterError, SchemaError, StateError, TargetError
from streamsieve.protocols import RowBatch
from tests.columns.streams import reloaded
from tests.reference.two_way import SlowTwoWay

PAIRS = {
    "saola": (ss.SAOLA(alpha=0.1), None),
    "fast_osfs, screen": (ss.FastOSFS(alpha=0.1), ss.Screen("f", alpha=0.2)),
    "alpha_investing, fading": (ss.AlphaInvesting(), ss.Screen("f", alpha=0.3, half_life=40)),
    "su, k best": (ss.SAOLA(measure="su", delta=0.02), ss.Screen("mutual_info", k=3)),
    "top k": (ss.TopK(k=4), ss.Screen("fisher", k=3)),
    "fdr": (ss.SAOLA(alpha=0.3, fdr="addis"), ss.Screen("f", percentile=60)),
}


class World:
    """An endless table whose columns are relevant, redundant or noise, and lose their relevance with time."""

    def __init__(self, seed, n=400, p=24, *, numeric=False):
        rng = np.random.default_rng(seed)
        self.y = rng.integers(0, 2, n)
        X = rng.normal(size=(n, p))
        X[:, ::3] += 0.8 * self.y[:, None]
        X[:, 1::6] = X[:, ::6] + 0.4 * X[:, 1::6]
        fades = rng.random(p) < 0.3
        X[n // 3 :, fades] = rng.normal(size=(n - n // 3, fades.sum()))
        self.X = np.round(X, 3)
        if numeric:
            self.y = np.round(X[:, 0] + X[:, 3] + rng.normal(size=n), 3)


def story(seed, n=400, p=24):
    """Yield what happens, in a random order: ("columns", how many) and ("rows", how many)."""
    rng = np.random.default_rng(seed + 1000)
    rows, columns = int(rng.integers(20, 60)), 0
    yield "begin", rows
    while columns < p:
        step = int(rng.integers(1, 6))
        if rng.random() < 0.5:
            step = min(step, p - columns)
            columns += step
            yield "columns", step
        elif rows < n:
            step = min(step * int(rng.integers(1, 12)), n - rows)
            rows += step
            yield "rows", step


def tell(both, seed, world, slow=None, after=lambda both: both, **more):
    """Let a story happen to a selector, which ``after`` may replace after every event, and to its twin."""
    n = p = 0
    for what, step in story(seed, **more):
        if what == "begin":
            n = step
            both.begin(world.y[:n])
            slow = slow and slow.begin(world.y[:n])
        elif what == "columns":
            held = slice(n - both.n_samples_held_, n)
            both.offer(world.X[held, p : p + step])
            for j in range(p, p + step) if slow else ():
                slow.offer(world.X[held, j])
            p += step
        else:
            rows = slice(n, n + step)
            both.learn_rows(world.X[rows, :p][:, both.selected_], world.y[rows])
            slow and slow.learn(world.X[rows], world.y[rows])
            n += step
        both = after(both)
        if slow:
            assert both.selected_.tolist() == slow.kept()
    return both


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize(
    "options", [{}, {"window": 90}, {"review_every": 13}, {"window": 64, "review_every": 50}]
)
def test_equals_recomputation_from_scratch(pair, options):
    column_selector, row_screen = PAIRS[pair]
    for seed in (0, 1):
        both = ss.TwoWay(column_selector, row_screen=row_screen, **options)
        slow = SlowTwoWay(column_selector, row_screen, **options)
        tell(both, seed, World(seed, n=200), slow, n=200, p=14)
        both.review()
        slow.review()
        assert both.selected_.tolist() == slow.kept()
        assert both.n_samples_seen_ == len(slow.y)
        gone = {(step, f"x{column}") for step, column in slow.gone}
        assert gone <= {(d.step, d.feature) for d in both.ledger_ if str(d.event) == "evicted"}


@pytest.mark.parametrize("pair", PAIRS)
def test_reviews_do_evict_in_these_stories(pair, monkeypatch):
    left, real = [], ss.TwoWay._review

    def noted(both):
        evicted = real(both)
        left.extend(evicted)
        return evicted

    monkeypatch.setattr(ss.TwoWay, "_review", noted)
    for seed in (0, 1):
        both = ss.TwoWay(PAIRS[pair][0], row_screen=PAIRS[pair][1], window=64)
        tell(both, seed, World(seed, n=200), n=200, p=14)
    assert left


@pytest.mark.parametrize("seed", range(3))
def test_equals_recomputation_for_a_numeric_target(seed):
    column_selector, row_screen = ss.FastOSFS(alpha=0.1), ss.Screen("correlation", alpha=0.2)
    both, slow = ss.TwoWay(column_selector, row_screen=row_screen), SlowTwoWay(column_selector, row_screen)
    tell(both, seed, World(seed, numeric=True), slow)
    assert both.task_ == "regression"


@pytest.mark.parametrize("pair", PAIRS)
def test_after_a_review_it_is_a_fresh_selector_over_all_rows(pair):
    column_selector, row_screen = PAIRS[pair]
    world = World(7)
    both = ss.TwoWay(column_selector, row_screen=row_screen).begin(world.y[:50])
    both.offer(world.X[:50, :20])
    both.learn_rows(world.X[50:, both.selected_], world.y[50:])
    before = both.selected_
    if row_screen is not None:
        before = before[both.screen_.get_support()]
    both.review()
    fresh = type(column_selector)(**column_selector.get_params()).begin(world.y)
    fresh.offer(world.X[:, before])
    assert both.selected_.tolist() == before[fresh.selected_].tolist()
    np.testing.assert_array_equal(both._table_.values(), world.X[:, both.selected_])
    np.testing.assert_array_equal(both._table_.y, world.y)


def test_without_rows_it_is_the_selector_itself():
    world = World(3)
    both = ss.TwoWay(ss.SAOLA(), row_screen=ss.Screen("f", k=1)).fit(world.X, world.y)
    alone = ss.SAOLA().fit(world.X, world.y)
    assert [d[:4] for d in both.ledger_] == [d[:4] for d in alone.ledger_]
    np.testing.assert_allclose([d.p_value for d in both.ledger_], [d.p_value for d in alone.ledger_])
    assert both.review() == []


@pytest.mark.parametrize("options", [{}, {"window": 150}, {"review_every": 17}])
def test_batches_of_any_size_and_any_container_give_the_same(options):
    world = World(5)
    names = [f"f{j}" for j in range(24)]

    def run(size, form):
        both = ss.TwoWay(ss.FastOSFS(alpha=0.1), row_screen=ss.Screen("f", alpha=0.2), **options).begin(
            world.y[:60]
        )
        both.offer(world.X[:60, :16], names=names[:16])
        for low in range(60, 400, size):
            part = slice(low, min(low + size, 400))
            kept = both.get_feature_names_out().tolist()
            form(both, world.X[part, :16], world.y[part], kept)
        both.offer(world.X[400 - both.n_samples_held_ :, 16:], names=names[16:])
        return [d[:4] for d in both.ledger_], both.get_feature_names_out().tolist()

    forms = {
        "kept": lambda both, X, y, _: both.learn_rows(X[:, both.selected_], y),
        "all": lambda both, X, y, _: both.learn_rows(X, y),
        "sparse": lambda both, X, y, _: both.learn_rows(sp.csr_array(X[:, both.selected_]), y),
        "names": lambda both, X, y, _: both.learn_rows(X[:, ::-1], y, names=names[15::-1]),
        "pandas": lambda both, X, y, _: both.learn_rows(pd.DataFrame(X[:, ::-1], columns=names[15::-1]), y),
        "polars": lambda both, X, y, kept: both.learn_rows(pl.DataFrame(X, schema=names[:16])[kept[::-1]], y),
        "batch": lambda both, X, y, _: both.learn_rows(RowBatch(X, y, None, names[:16])),
    }
    expected = run(400, forms["kept"])
    assert any(event == "evicted" for _, _, event, _ in expected[0])
    for size in (1, 23):
        assert run(size, forms["kept"]) == expected
    for form in forms.values():
        assert run(50, form) == expected


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("options", [{}, {"window": 90, "review_every": 31}])
def test_saved_and_loaded_at_any_moment_it_goes_on(pair, options):
    world = World(2)
    whole, parted = (
        tell(ss.TwoWay(PAIRS[pair][0], row_screen=PAIRS[pair][1], **options), 2, world, after=after)
        for after in (lambda both: both, reloaded)
    )
    assert [d[:4] for d in parted.ledger_] == [d[:4] for d in whole.ledger_]
    assert parted.selected_.tolist() == whole.selected_.tolist()
    n = parted.n_samples_seen_
    parted.same_rows(world.y[n - parted.n_samples_held_ : n])


def test_the_ledger_says_who_left_and_why():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    both = ss.TwoWay(ss.SAOLA(), row_screen=ss.Screen("f", alpha=0.01, half_life=200)).begin(y)
    both.offer(np.c_[y + rng.normal(size=200), y - rng.normal(size=200)], names=["dose", "fad"])
    new = rng.integers(0, 2, 1000)
    both.learn_rows(np.c_[new + rng.normal(size=1000), rng.normal(size=1000)], new)
    (left,) = both.review()
    assert left == both.ledger_.why("fad")._replace(effect=None)
    assert left[:4] == (2, "fad", "evicted", "left the top set")
    assert left.p_value > 0.01
    assert both.ledger_.counts() == {"kept": 1, "evicted": 1}
    assert both.review() == []
    whole = np.r_[y, new]
    alone = ss.TwoWay(ss.SAOLA()).begin(y)
    alone.offer(np.c_[y + rng.normal(size=200), y - rng.normal(size=200)], names=["dose", "fad"])
    alone.learn_rows(np.c_[new + rng.normal(size=1000), rng.normal(size=1000) - 0.6 * new], new)
    decisions = alone.offer(whole + rng.normal(size=1200), names="age")
    assert [(d.feature, str(d.event)) for d in decisions][-1] == ("age", "kept")


@pytest.mark.parametrize("keep", ["kept", "none"])
def test_names_of_what_left_are_forgotten_where_the_ledger_does_not_need_them(keep):
    world = World(1)
    names = [f"f{j}" for j in range(24)]
    both = ss.TwoWay(ss.SAOLA(alpha=0.1), row_screen=ss.Screen("f", k=2), ledger=keep).begin(world.y[:60])
    both.offer(world.X[:60], names=names)
    assert len(both.selected_) > 2
    both.learn_rows(world.X[60:], world.y[60:])
    left = both.review()
    assert left
    assert set(both.names_.known.values()) == set(both.get_feature_names_out())
    again = both.offer(world.X[:, 0], names=left[0].feature)  # a name that is free again
    assert again[-1].feature == left[0].feature


def test_memory_holds_the_kept_columns_and_the_window():
    world = World(1, n=3000)
    both = ss.TwoWay(ss.SAOLA(), window=200).begin(world.y[:100])
    both.offer(world.X[:100])
    for low in range(100, 3000, 50):
        both.learn_rows(world.X[low : low + 50], world.y[low : low + 50])
    assert both.n_samples_held_ == 200
    assert both.n_samples_seen_ == 3000
    table = both._table_
    assert list(table._columns) == both.selected_.tolist()
    assert all(len(column) <= 2 * 250 + 16 for column in table._columns.values())
    np.testing.assert_array_equal(table.values(), world.X[2800:, both.selected_])


def test_a_target_of_text_and_labels_that_appear_late():
    rng = np.random.default_rng(0)
    labels = np.array(["a", "bb", "ccc"])
    y = np.r_[rng.integers(0, 2, 100), rng.integers(0, 3, 300)]
    X = rng.normal(size=(400, 6))
    X[:, 2] += y
    both = ss.TwoWay(ss.SAOLA(), row_screen=ss.Screen("f", k=3)).begin(labels[y[:100]])
    both.offer(X[:100])
    both.learn_rows(X[100:], labels[y[100:]])
    assert both.task_ == "binary"
    both.review()
    assert both.task_ == "multiclass"
    np.testing.assert_array_equal(both._table_.y, labels[y])
    fresh = ss.SAOLA().fit(X[:, both._numbering_.first], labels[y])
    assert both.selected_.tolist() == both._numbering_.first[fresh.selected_].tolist()


def test_the_accuracy_sees_the_values_over_all_rows():
    world = World(1)
    seen = []
    stop = ss.Stop(target=9, accuracy=lambda kept: seen.append(kept.copy()) or 0.0)
    both = ss.TwoWay(ss.SAOLA(), stop=stop).begin(world.y[:100])
    both.offer(world.X[:100, :8])
    both.learn_rows(world.X[100:, :8], world.y[100:])
    both.offer(world.X[:, 8:])
    np.testing.assert_array_equal(seen[-1], world.X[:, both.selected_])


def test_columns_can_run_from_a_source():
    world = World(1)
    both = ss.TwoWay(ss.FastOSFS(alpha=0.1)).begin(world.y[:100])
    ss.run(ss.features([world.X[:100, j] for j in range(12)], world.y[:100]), both)
    both.learn_rows(world.X[100:, :12], world.y[100:])
    ss.run(ss.features([lambda j=j: world.X[:, j] for j in range(12, 24)], world.y), both)
    with pytest.raises(TargetError, match="y has 100 rows, but begin"):
        ss.run(ss.features([world.X[:100, 0]], world.y[:100]), both)
    assert both.n_features_in_ == 24
    assert len(both.ledger_.seconds) == 24


def test_rows_without_any_kept_column_are_counted():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    both = ss.TwoWay(ss.SAOLA(alpha=1e-6), row_screen=ss.Screen("f", k=2)).begin(y[:30])
    both.offer(rng.normal(size=(30, 3)))
    assert both.screen_ is None
    both.learn_rows(np.zeros((10, 0)), y[30:40])
    both.learn_rows(pd.DataFrame({"other": range(20)}), y[40:])
    assert both.n_samples_held_ == 60
    both.offer(y + 0.01 * rng.normal(size=60))
    assert both.selected_.tolist() == [3]
    assert both.screen_.n_features_in_ == 1


def test_rows_are_known_again_by_their_identifiers():
    world = World(1)
    ids = [f"customer {i}" for i in range(400)]
    frame = pd.DataFrame(world.X, index=ids, columns=[f"f{j}" for j in range(24)])
    both = ss.TwoWay(ss.SAOLA(), window=300).begin(world.y[:100], rows=ids[:100])
    both.offer(frame.iloc[:100, :10])
    both.learn_rows(frame.iloc[100:200], world.y[100:200])
    both.learn_rows(world.X[200:, :10], world.y[200:], rows=ids[200:])
    both.same_rows(world.y[100:], ids[100:])
    with pytest.raises(SchemaError, match="300 of 300 identifiers differ"):
        both.offer(frame.iloc[:300, 10:])
    both.offer(frame.iloc[100:, 10:])
    both.learn_rows(world.X[:5], world.y[:5])
    with pytest.raises(SchemaError, match="no identifiers to compare with"):
        both.same_rows(rows=ids[105:])


def test_parameters_are_refused_by_name():
    y = [0, 1] * 20
    for parameters, message in (
        ({"column_selector": ss.Screen("f")}, "column_selector must be a selector over columns"),
        ({"column_selector": ss.GroupSAOLA()}, "must decide on every column at once, which GroupSAOLA"),
        ({"column_selector": ss.TwoWay()}, "must decide on every column at once, which TwoWay does not"),
        ({"column_selector": ss.SAOLA(stop=ss.Stop(max_offers=3))}, "give stop to TwoWay"),
        ({"row_screen": ss.SAOLA()}, "row_screen must be a selector over rows"),
        ({"window": 1}, "window must be a whole number at least 2; got 1"),
        ({"window": 39}, "window=39, but 40 rows are there to begin with: choose window >= 40"),
        ({"review_every": 0}, "review_every must be a whole number at least 1; got 0"),
    ):
        with pytest.raises(ParameterError, match=message):
            ss.TwoWay(**parameters).begin(y)
    with pytest.raises(
        ParameterError, match="row_screen needs a binary or multiclass target, but y is regre"
    ):
        ss.TwoWay(row_screen=ss.Screen("fisher")).begin(np.arange(40) / 8)
    with pytest.raises(ParameterError, match="row_screen needs numbers, but y holds text such as 'a'"):
        ss.TwoWay(row_screen=ss.Screen("correlation")).begin(["a", "b"] * 20)


def begun():
    world = World(1)
    both = ss.TwoWay(ss.FastOSFS(), row_screen=ss.Screen("f", alpha=0.1)).begin(world.y[:100])
    both.offer(world.X[:100], names=[f"f{j}" for j in range(24)])
    assert len(both.selected_) > 1
    return both, world


def test_rows_that_do_not_fit_are_refused_and_change_nothing():
    both, world = begun()
    kept = both.get_feature_names_out().tolist()
    frame = pd.DataFrame(world.X[100:], columns=[f"f{j}" for j in range(24)])
    X, y = world.X[100:, both.selected_], world.y[100:]
    bad = X.copy()
    bad[3, 1] = np.nan
    others = [f"g{j}" for j in range(24)]
    text = frame.assign(**{kept[0]: "a"})
    for rows, target, more, error, message in (
        (frame.drop(columns=kept[0]), y, {}, SchemaError, f"the kept feature '{kept[0]}' is not among"),
        (X, y, {"names": ["a"] * X.shape[1]}, SchemaError, "'a' occurs twice"),
        (X, y, {"names": ["a"]}, SchemaError, "names has 1 entries"),
        (world.X[100:], y, {"names": others}, SchemaError, "new rows need a value for every"),
        (world.X[100:, :9], y, {}, SchemaError, r"the rows have 9 columns; give the \d+ kept columns"),
        (X[:, 0], y, {}, SchemaError, "X must be a matrix of rows"),
        (bad, y, {}, ValueError, f"contains NaN: feature '{kept[1]}'"),
        (X + np.inf, y, {}, ValueError, f"contains infinity: feature '{kept[0]}'"),
        (X.astype(str), y[:-1], {}, ValueError, "one label per row"),
        (np.full(X.shape, "a"), y, {}, ValueError, "the rows must hold numbers"),
        (text, y, {}, ValueError, f"column '{kept[0]}' does not hold numbers"),
        (X, y[:-1], {}, TargetError, "one label per row"),
        (X, None, {}, TargetError, "y is None"),
        (X, y + 0.5, {}, TargetError, "fractional numbers"),
        (X, np.array(["a", "b"])[y], {}, TargetError, "labels so far were like 0, but this batch has '.'"),
        (X, y, {"rows": [1, 2]}, SchemaError, "rows must name 300 rows"),
    ):  # fmt: skip
        with pytest.raises(error, match=message):
            both.learn_rows(rows, target, **more)
    fresh, _ = begun()
    for one in (both, fresh):
        one.learn_rows(X, y)
        one.review()
    assert list(both.ledger_) == list(fresh.ledger_)
    np.testing.assert_array_equal(both.screen_.scores_, fresh.screen_.scores_)


def test_a_third_class_is_refused_where_two_are_all_there_may_be():
    world = World(1)
    for both in (ss.TwoWay(ss.AlphaInvesting()), ss.TwoWay(ss.SAOLA(), row_screen=ss.Screen("t", k=1))):
        both.begin(world.y[:100])
        both.offer(world.X[:100])
        with pytest.raises(
            TargetError, match=r"a label that was not there before, 2, and .* takes two classes only"
        ):
            both.learn_rows(world.X[100:103], [0, 1, 2])
        assert both.n_samples_held_ == 100


def test_columns_must_have_a_value_for_every_row_held():
    both, world = begun()
    both.learn_rows(world.X[100:150], world.y[100:150])
    for X in (world.X[:100], pd.DataFrame(world.X[:100]), world.X[:100, 0], sp.csc_array(world.X[:100])):
        with pytest.raises(SchemaError, match=r"has 100 rows, but 150 rows are held \(150 seen so far\)"):
            both.offer(X)
    with pytest.raises(NotBegunError, match="before learning rows"):
        ss.TwoWay().learn_rows(world.X, world.y)


def test_a_window_of_one_class_waits_for_another():
    rng = np.random.default_rng(0)
    y = np.r_[rng.integers(0, 2, 40), np.ones(40, int), rng.integers(0, 2, 40)]
    X = rng.normal(size=(120, 3)) + y[:, None]
    both = ss.TwoWay(ss.SAOLA(), window=40, review_every=40).begin(y[:40])
    both.offer(X[:40])
    before = both.selected_.tolist()
    both.learn_rows(X[40:80], y[40:80])
    assert both.selected_.tolist() == before
    with pytest.raises(TargetError, match="one class only"):
        both.review()
    with pytest.raises(TargetError, match="one class only"):
        both.offer(X[40:80, 0], names="late")
    both.learn_rows(X[80:], y[80:])
    both.offer(X[80:, 0], names="late")
    assert both.n_features_in_ == 4


def test_an_inner_selector_of_other_parameters_is_refused():
    both, world = begun()
    both.learn_rows(world.X[100:200], world.y[100:200])
    header, arrays = both._saved()
    assert ss.TwoWay._from_state("a file", header, arrays).selected_.tolist() == both.selected_.tolist()
    for name, other in (
        ("column_selector", ss.SAOLA()),
        ("column_selector", ss.FastOSFS(alpha=0.2)),
        ("row_screen", ss.Screen("f", alpha=0.2)),
        ("row_screen", None),
    ):
        parameters = header["parameters"] | {name: state.encode(name, other)}
        with pytest.raises(StateError, match="the inner selectors are not those of the parameters"):
            ss.TwoWay._from_state("a file", header | {"parameters": parameters}, arrays)


def test_a_stopped_run_is_saved_and_goes_on():
    """Columns after the stop are never seen by the inner selector, whose numbers differ from then on."""
    world = World(1)
    both = ss.TwoWay(ss.SAOLA(alpha=0.1), stop=ss.Stop(max_offers=6)).begin(world.y)
    both.offer(world.X[:, :10])
    both = reloaded(both).set_params(stop=None)
    both.offer(world.X[:, 10:])
    alone = ss.SAOLA(alpha=0.1).begin(world.y)
    alone.offer(world.X[:, :6])
    alone.offer(world.X[:, 10:])
    outer = np.r_[:6, 10:24]
    assert both.selected_.tolist() == outer[alone.selected_].tolist()
    np.testing.assert_array_equal(both._table_.values(), world.X[:, both.selected_])
    causes = [(d.feature, d.by) for d in both.ledger_ if d.reason == "redundant"]
    expected = [(d.feature, d.by) for d in alone.ledger_ if d.reason == "redundant"]
    named = {f"x{i}": f"x{j}" for i, j in enumerate(outer)}
    assert causes == [(named[feature], tuple(named[b] for b in by)) for feature, by in expected]


def test_a_table_round_trips_whatever_its_labels():
    for y, classes in (
        (np.array([1, 0, 1]), True), (np.array(["b", "a", "é"]), True), (np.array([True, False]), True),
        (np.array([0.5, 2.0, -1.0]), False), (np.array([2.0, 7.0]), True),
    ):  # fmt: skip
        table = GrowingTable(y, classes=classes)
        table.keep(np.array([3]), np.arange(len(y) * 2.0).reshape(-1, 2), 2)
        table.append(np.array([[9.0]]), y[:1], None)
        again = GrowingTable.from_state(table.state())
        np.testing.assert_array_equal(again.y, np.r_[y, y[:1]])
        assert again.y.dtype.kind == y.dtype.kind
        np.testing.assert_array_equal(again.values(), table.values())
