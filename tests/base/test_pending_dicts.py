"""Buffered dict rows give the results, errors and names of rows learnt at once."""

import copy
import pickle

import numpy as np
import pytest

from streamsieve import Screen
from streamsieve.base.row_buffer import MOST_ROWS, DictBuffer
from streamsieve.exceptions import SchemaError, StreamSieveError

CRITERIA = ["t", "f", "mutual_info", "correlation", "chi2"]


class Patient(Screen):
    """Learns every dict row at once, the long way."""

    _buffers_rows = False


def text(n=700, seed=0, words=60):
    """Return rows whose words keep coming, a few of them numbers for keys, some values missing."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        seen = 5 + min(words, i // 8)
        row = {f"w{j}": float(rng.integers(0, 4)) for j in rng.choice(seen, 4, replace=False)}
        if i % 50 == 0:
            row[7] = 1.0
        if i % 31 == 0:
            row["missing"] = np.nan
        rows.append(row)
    y = rng.integers(0, 2, n).tolist()
    for row, label in zip(rows, y, strict=True):
        row["good"] = label + rng.normal()
    return rows, y


def learnt(screen, rows, y):
    for x, label in zip(rows, y, strict=True):
        screen.learn_one(x, label)
    return screen


def assert_equal(a, b):
    assert a.n_samples_seen_ == b.n_samples_seen_
    assert a.feature_names_in_.tolist() == b.feature_names_in_.tolist()
    assert np.allclose(a.scores_, b.scores_, rtol=1e-12)
    assert a.get_feature_names_out().tolist() == b.get_feature_names_out().tolist()


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("seed", range(3))
def test_gathered_dicts_give_the_result_of_learning_each_at_once(criterion, seed):
    rows, y = text(seed=seed)
    kept = learnt(Screen(criterion, k=2), rows, y)
    assert isinstance(kept._buffer, DictBuffer)
    assert kept._buffer.labels, "rows are waiting"
    assert_equal(kept, learnt(Patient(criterion, k=2), rows, y))
    assert kept.summary_.n_rows == len(y)


def test_a_kept_row_is_a_copy():
    rows, y = text(20)
    screen = learnt(Screen(), rows, y)
    expected = copy.deepcopy(screen).scores_
    for row in rows:
        row.clear()
    assert np.array_equal(screen.scores_, expected)


def test_names_of_kept_rows_are_known_at_once():
    screen = Screen(k=1)
    screen.learn_one({"a": 1.0}, 0)
    screen.learn_one({"b": 1.0}, 0)
    assert screen._buffer.labels
    assert (screen.n_features_in_, screen.feature_names_in_.tolist()) == (2, ["a", "b"])


@pytest.mark.parametrize(
    ("bad", "label"),
    [
        ({"a": np.inf}, 0), ({"a": -np.inf}, 0), ({"a": 1e101}, 0), ({"a": "text"}, 0), ({"a": [1.0]}, 0),
        ({"a": 1.0}, None), ({"a": 1.0}, "zero"), ({"a": 1.0}, float("nan")),
        ({1: 1.0, "1": 1.0}, 0), (["a"], 0), ({"a": 1.0}, [0]), ({"new": np.inf}, 0), ({"a": 10**400}, 0),
    ],
)  # fmt: skip
def test_bad_rows_are_refused_when_they_come_and_leave_no_trace(bad, label):
    rows, y = text(100)
    screen = learnt(Screen(k=2), rows, y)
    with pytest.raises(StreamSieveError):
        screen.learn_one(bad, label)
    assert_equal(screen, learnt(Patient(k=2), rows, y))


def test_a_numeric_target_is_checked_when_it_comes():
    rows, y = text(30)
    screen = learnt(Screen("correlation", k=2), rows, y)
    for bad in (float("nan"), float("inf"), "1", 1e101):
        with pytest.raises(StreamSieveError):
            screen.learn_one(rows[0], bad)
    assert screen.n_samples_seen_ == 30


@pytest.mark.parametrize("again", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])  # noqa: S301
def test_copies_keep_the_rows_that_wait(again):
    rows, y = text(130)
    half = learnt(Screen(k=3), rows[:65], y[:65])
    rest = learnt(again(half), rows[65:], y[65:])
    assert_equal(rest, learnt(Patient(k=3), rows, y))
    assert half.n_samples_seen_ == half.summary_.n_rows == 65


def test_saved_rows_are_learnt_rows(tmp_path):
    rows, y = text(130)
    learnt(Screen(k=3), rows[:65], y[:65]).save(tmp_path / "half.sieve")
    resumed = learnt(Screen.load(tmp_path / "half.sieve"), rows[65:], y[65:])
    assert_equal(resumed, learnt(Patient(k=3), rows, y))


def test_after_a_merge_names_are_those_of_the_whole():
    rows, y = text(300)
    first, second = learnt(Screen(k=3), rows[:100], y[:100]), learnt(Screen(k=3), rows[150:200], y[150:200])
    merged = learnt(first.merge(second), rows[200:], y[200:])
    longer = [*rows[:100], *rows[150:]], [*y[:100], *y[150:]]
    assert_equal(merged, learnt(Patient(k=3), *longer))


def test_dataframes_and_dicts_take_turns():
    import pandas as pd

    rows, y = text(200)
    mixed = learnt(Screen(k=3), rows[:90], y[:90])
    frame = pd.DataFrame([{"good": r["good"], "late": 1.0} for r in rows[90:120]])
    mixed.learn_many(frame, pd.Series(y[90:120]))
    learnt(mixed, rows[120:], y[120:])
    slow = learnt(Patient(k=3), rows[:90], y[:90])
    slow.learn_many(frame, pd.Series(y[90:120]))
    assert_equal(mixed, learnt(slow, rows[120:], y[120:]))


def test_what_waits_is_bounded():
    screen = Screen()
    for i in range(3 * MOST_ROWS):
        screen.learn_one({"a": float(i)}, i % 2)
        assert len(screen._buffer.labels) <= MOST_ROWS


def test_rows_with_whole_numbers_for_keys_wait_too():
    rng = np.random.default_rng(3)
    y = [0, 1, *rng.integers(0, 2, 100).tolist()]
    rows = [{int(j): label + rng.normal() for j in rng.permutation(6)[:5]} for label in y]
    rows = [{**row, "good": 2.0 * label} for row, label in zip(rows, y, strict=True)]
    kept = learnt(Screen(k=2), rows, y)
    assert len(kept._buffer.labels) == 100
    assert_equal(kept, learnt(Patient(k=2), rows, y))


def test_keys_that_are_equal_but_differ_as_text_are_different_features():
    screen = learnt(Screen(), [{"1": 1.0, "2": 2.0}, {1: 1.0, 2: 2.0}], [0, 1])
    for row in ({1: 3.0, 2: 1.0}, {True: 1.0, 2: 2.0}, {1.0: 1.0, 2: 2.0}, {1: 4.0, 2: 1.0}):
        screen.learn_one(row, 1)
    assert screen.feature_names_in_.tolist() == ["1", "2", "True", "1.0"]
    with pytest.raises(SchemaError, match="'1' occurs twice in one row"):
        screen.learn_one({1: 1.0, "1": 2.0}, 0)
