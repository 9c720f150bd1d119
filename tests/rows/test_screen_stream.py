"""A screen over time: drift, the ledger of the top set, merging, and saving in the middle of a stream."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from streamsieve.criteria import WelchT
from streamsieve.exceptions import SchemaError
from streamsieve.protocols import Event, Reason, RowBatch
from streamsieve.rows import Screen
from tests.reference import screen as twin
from tests.rows.toys import drift, table, table_for

PERIODS = [[0, 1], [0, 1], [2, 3], [4, 3]]


def as_set(screen):
    return set(screen.get_support(indices=True).tolist())


# ---------------------------------------------------------------- drift and the ledger


def test_a_half_life_follows_the_drift_and_none_does_not():
    following, remembering = Screen(k=2, half_life=30), Screen(k=2)
    for columns, (X, y) in zip(PERIODS, drift(PERIODS), strict=True):
        following.partial_fit(X, y)
        remembering.partial_fit(X, y)
        assert as_set(following) == set(columns)
    assert as_set(remembering) != {3, 4}


def test_faded_scores_are_those_of_the_twin():
    parts = list(drift(PERIODS, rows=50))
    X, y = np.concatenate([X for X, _ in parts]), np.concatenate([y for _, y in parts])
    for half_life in (1, 10, 1000.5):
        screen = Screen("fisher", k=2, half_life=half_life)
        for X_part, y_part in parts:
            screen.partial_fit(X_part, y_part)
        wanted = twin.CRITERIA["fisher"].score(X, y, half_life=half_life)
        np.testing.assert_allclose(screen.scores_, wanted, rtol=1e-8)


def test_the_ledger_says_which_features_left_and_entered_when_and_at_what_score():
    screen, scores = Screen(k=2, half_life=30), []
    for X, y in drift(PERIODS):
        screen.partial_fit(X, y).get_support()
        scores.append(screen.scores_.copy())
    lines = [(d.step, d.feature, str(d.event)) for d in screen.ledger_]
    assert lines == [
        (200, "x0", "kept"),
        (200, "x1", "kept"),
        (600, "x0", "evicted"),
        (600, "x1", "evicted"),
        (600, "x2", "kept"),
        (600, "x3", "kept"),
        (800, "x2", "evicted"),
        (800, "x4", "kept"),
    ]
    for d in screen.ledger_:
        assert d.statistic == scores[d.step // 200 - 1][int(d.feature[1:])]
        assert np.isnan(d.p_value)
        assert d.reason is (Reason.ENTERED_TOP if d.event is Event.KEPT else Reason.LEFT_TOP)
    assert screen.ledger_.why("x2").event is Event.EVICTED
    assert screen.ledger_.counts() == {"kept": 2, "evicted": 3}


def test_replaying_the_ledger_gives_the_selection_at_any_time():
    rng = np.random.default_rng(1)
    screen, top, seen = Screen("fisher", k=3, half_life=5), set(), 0
    for step in range(40):
        y = rng.integers(0, 2, 10)
        screen.partial_fit(rng.normal(size=(10, 8)), y)
        if step % 3 == 0:
            continue  # not read now
        for d in screen.ledger_[seen:]:  # reading brings the ledger up to date
            (top.add if d.event is Event.KEPT else top.remove)(int(d.feature[1:]))
        seen = len(screen.ledger_)
        assert top == as_set(screen)
    assert len(screen.ledger_) > 20


def test_asking_again_writes_nothing():
    X, y = table()
    screen = Screen(k=3).fit(X, y)
    for _ in range(3):
        screen.transform(X)
        screen.get_support()
        assert len(screen.ledger_) == 3
    assert screen.ranked_.tolist() == screen.ranked_.tolist()


def test_the_ledger_knows_features_by_their_names_and_can_be_switched_off():
    X, y = table(p=4)
    frame = pd.DataFrame(X, columns=["age", "height", "x0", "weight"])
    screen = Screen(k=4).fit(frame, y)
    screen.get_support()
    assert [d.feature for d in screen.ledger_] == ["age", "height", "x0", "weight"]
    silent = Screen(k=4, ledger="none").fit(frame, y)
    silent.get_support()
    assert len(silent.ledger_) == 0


# ---------------------------------------------------------------- batches of a source


def test_a_sources_batches_are_learnt_with_their_names_and_weights():
    X, y = table(p=3)
    weight, names = np.arange(60) % 3.0, ["a", "b", "c"]
    screen, wanted = Screen(k=1), Screen(k=1).fit(pd.DataFrame(X, columns=names), y, weight)
    for low in range(0, 60, 20):
        part = slice(low, low + 20)
        assert screen.learn(RowBatch(X[part], y[part], weight[part], names)) is screen
    np.testing.assert_allclose(screen.scores_, wanted.scores_, rtol=1e-11)
    assert screen.get_feature_names_out().tolist() == wanted.get_feature_names_out().tolist()
    for others, message in (
        (["a", "b", "d"], "'d' is new"),
        (["b", "a", "c"], "missing or in another order"),
    ):
        with pytest.raises(SchemaError, match=message):
            screen.learn(RowBatch(X, y, None, others))
    assert screen.n_samples_seen_ == 60


# ---------------------------------------------------------------- merging


def test_a_merge_is_noticed_by_a_screen_that_was_asked_before():
    (X1, y1), (X2, y2) = drift([[0, 1], [4, 5]])
    first, second = Screen(k=2, half_life=20).fit(X1, y1), Screen(k=2, half_life=20).fit(X2, y2)
    assert as_set(first) == {0, 1}
    first.merge(second)
    assert as_set(first) == {4, 5}
    assert as_set(second) == {4, 5}
    in_order = Screen(k=2, half_life=20).fit(X1, y1).partial_fit(X2, y2)
    np.testing.assert_allclose(first.scores_, in_order.scores_, rtol=1e-9)


# ---------------------------------------------------------------- saving


def assert_goes_on_identically(screen, path, feed):
    """Save, load, and compare bit for bit: at once, and after the same further rows."""
    screen.save(path)
    again = type(screen).load(path)
    for step in range(3):
        assert np.array_equal(again.scores_, screen.scores_)
        assert np.array_equal(again.pvalues_, screen.pvalues_)
        assert again.ranked_.tolist() == screen.ranked_.tolist()
        assert again.get_feature_names_out().tolist() == screen.get_feature_names_out().tolist()
        assert repr(list(again.ledger_)) == repr(list(screen.ledger_))
        assert again.n_samples_seen_ == screen.n_samples_seen_
        for one in (screen, again):
            feed(one, step)
    assert repr(again) == repr(screen)
    return again


@pytest.mark.parametrize("criterion", [*twin.CRITERIA, WelchT(ddof=0)], ids=str)
@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("half_life", [None, 10])
def test_a_loaded_screen_goes_on_as_if_it_had_never_stopped(criterion, wrap, half_life, tmp_path):
    X, y = table_for("t" if isinstance(criterion, WelchT) else criterion)
    screen = Screen(criterion, k=3, half_life=half_life)
    for low in (0, 10, 20):
        screen.partial_fit(wrap(X[low : low + 10]), y[low : low + 10]).get_support()

    def feed(one, step):
        part = slice(30 + 10 * step, 40 + 10 * step)
        one.partial_fit(wrap(X[part]), y[part])

    assert_goes_on_identically(screen, tmp_path / "screen.sieve", feed)


def test_names_text_labels_and_missing_values_survive(tmp_path):
    X, y = table(p=4)
    X[::5, 2] = np.nan
    frame, labels = pd.DataFrame(X, columns=["ä", "b", "c d", "x0"]), np.array(["no", "yes", "maybe"])[y]
    screen = Screen("fisher", k=2).partial_fit(frame[:30], labels[:30])
    again = assert_goes_on_identically(
        screen,
        tmp_path / "named.sieve",
        lambda one, step: one.partial_fit(frame[30 + 10 * step :][:10], labels[30 + 10 * step :][:10]),
    )
    assert again.feature_names_in_.tolist() == ["ä", "b", "c d", "x0"]
    with pytest.raises(ValueError, match="feature names"):
        again.partial_fit(frame.rename(columns={"b": "B"}), labels)
