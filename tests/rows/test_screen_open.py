"""Rows as dictionaries and as dataframes whose columns come and go.

Dictionaries and sparse dataframes are the rows of one CSR matrix, where absent means 0; dense dataframes
those of one array, where absent means missing.
"""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from streamsieve.exceptions import SchemaError
from streamsieve.protocols import RowBatch
from streamsieve.rows import Screen
from tests.reference import screen as twin
from tests.rows.toys import table_for, target_of

each_criterion = pytest.mark.parametrize("criterion", twin.CRITERIA)


def open_rows(criterion, n=40, seed=0):
    """Return rows as dictionaries in which words come and go, their target, and all as a matrix."""
    rng = np.random.default_rng(seed)
    rows, names = [], {}
    for i in range(n):
        words = rng.choice([f"w{j}" for j in range(5 + i // 4)], 4, replace=False)
        row = {str(word): float(rng.integers(1, 5)) for word in words}
        if i % 5 == 0:
            row["sometimes missing"] = np.nan
        rows.append(row)
        names |= dict.fromkeys(row)
    X = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    y = rng.normal(size=n) if target_of(criterion) == "numeric" else rng.integers(0, 2, n)
    return rows, y, list(names), X


@each_criterion
@pytest.mark.parametrize("half_life", [None, 10])
def test_learn_one_equals_the_rows_as_csr(criterion, half_life):
    rows, y, names, X = open_rows(criterion)
    one = Screen(criterion, k=5, half_life=half_life)
    for row, label in zip(rows, y, strict=True):
        one.learn_one(row, label)
    whole = Screen(criterion, k=5, half_life=half_life).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(one.scores_, whole.scores_, rtol=1e-9, atol=1e-12)
    assert one.feature_names_in_.tolist() == names
    assert one.n_features_in_ == len(names)
    assert one.n_samples_seen_ == len(rows)
    chosen = [names[j] for j in whole.get_support(indices=True)]
    assert one.get_feature_names_out().tolist() == chosen


@each_criterion
def test_sparse_dataframes_equal_the_rows_as_csr(criterion):
    rows, y, _, X = open_rows(criterion)
    many, weight = Screen(criterion, k=5), np.arange(40) % 3.0
    for low in range(0, 40, 8):
        frame = pd.DataFrame(rows[low : low + 8]).fillna(0.0).astype(pd.SparseDtype(float, 0.0))
        many.learn_many(frame, y[low : low + 8], weight[low : low + 8])
    X = np.nan_to_num(X)
    whole = Screen(criterion, k=5).fit(sp.csr_array(X), y, weight)
    np.testing.assert_allclose(many.scores_, whole.scores_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        many.scores_, twin.CRITERIA[criterion].score(X, y, weight), rtol=1e-8, atol=1e-10
    )


def coming_and_going(criterion, n=90, p=9, batches=9, seed=0):
    """Return dataframes whose columns come late and vanish, and their rows with NaN for absent columns."""
    X, y = table_for(criterion, n=n, p=p, seed=seed)
    rng = np.random.default_rng(seed)
    names, filled, frames = [f"c{j}" for j in range(p)], np.full_like(X, np.nan), []
    for i, part in enumerate(np.array_split(np.arange(n), batches)):
        there = rng.permutation(2 + i)[: 2 + i // 2]
        there = there[there < p]
        filled[np.ix_(part, there)] = X[np.ix_(part, there)]
        frames.append((pd.DataFrame(X[np.ix_(part, there)], columns=[names[j] for j in there]), y[part]))
    order = list(dict.fromkeys(name for frame, _ in frames for name in frame.columns))
    return frames, y, order, filled[:, [names.index(name) for name in order]]


@each_criterion
@pytest.mark.parametrize("half_life", [None, 20])
def test_dense_dataframes_equal_the_rows_with_nan_for_absent_columns(criterion, half_life):
    frames, y, names, X = coming_and_going(criterion)
    assert np.isnan(X[:10]).any()
    assert np.isnan(X[-10:]).any()
    weight = 1.0 + np.arange(len(y)) % 3
    many = Screen(criterion, k=3, half_life=half_life)
    for i, (frame, target) in enumerate(frames):
        many.learn_many(frame, target, weight[10 * i : 10 * i + 10])
    assert many.feature_names_in_.tolist() == names
    whole = Screen(criterion, k=3, half_life=half_life).fit(X, y, weight)
    np.testing.assert_allclose(many.scores_, whole.scores_, rtol=1e-9, atol=1e-12)
    wanted = twin.CRITERIA[criterion].score(X, y, weight, half_life)
    np.testing.assert_allclose(many.scores_, wanted, rtol=1e-8, atol=1e-10)


@pytest.mark.full
@pytest.mark.parametrize("criterion", ["f", "fisher"])
def test_labels_grow_to_1000_while_features_come_and_go(criterion):
    rng = np.random.default_rng(5)
    y = np.concatenate([[0, 1], rng.integers(0, np.repeat(np.arange(2, 1001), 2)), np.arange(1000)])
    X = rng.normal(size=(len(y), 8)) + np.outer(y % 7, np.linspace(0, 0.5, 8))
    filled, dense, dicts = np.full_like(X, np.nan), Screen(criterion, k=3), Screen(criterion, k=3)
    parts = [np.arange(2), *np.array_split(np.arange(2, len(y)), 30)]
    for i, part in enumerate(parts):
        there = [j for j in range(8) if 4 * j <= i and (i + j + 1) % 5]  # late, and now and then away
        filled[np.ix_(part, there)] = X[np.ix_(part, there)]
        frame = pd.DataFrame(X[np.ix_(part, there)], columns=[f"x{j}" for j in there])
        dense.learn_many(frame, y[part])
        dicts.learn_many(frame.astype(pd.SparseDtype(float, 0.0)), y[part])
    order = [int(name[1:]) for name in dense.feature_names_in_]
    assert sorted(order) == list(range(8))
    assert len(dense.summary_.classes) == 1000
    for screen, rows in ((dense, filled), (dicts, np.nan_to_num(filled))):
        wanted = twin.CRITERIA[criterion].score(rows[:, order], y)
        np.testing.assert_allclose(screen.scores_, wanted, rtol=1e-9)


@each_criterion
def test_dict_rows_then_dense_dataframes(criterion):
    """The rows of both kinds mean what they mean: 0 where a dict lacks a feature, missing in a dataframe."""
    X, y = table_for(criterion, n=60, p=5)
    screen, names = Screen(criterion, k=2), list("abcde")
    for row, label in zip(X[:30], y[:30], strict=True):
        screen.learn_one({name: v for name, v in zip(names, row, strict=True) if v}, label)
    screen.learn_many(pd.DataFrame(X[30:45, [4, 1]], columns=["e", "b"]), y[30:45])
    screen.learn(RowBatch(X[45:, [2]], y[45:], names=["c"]))
    X[30:45, [0, 2, 3]] = np.nan
    X[45:, [0, 1, 3, 4]] = np.nan
    wanted = twin.CRITERIA[criterion].score(X, y)
    order = [names.index(name) for name in screen.feature_names_in_]
    np.testing.assert_allclose(screen.scores_, wanted[order], rtol=1e-8, atol=1e-10)


def test_learn_many_wants_names():
    with pytest.raises(SchemaError, match="features are known by name here"):
        Screen().learn_many(np.eye(3), [0, 1, 0])


def test_empty_rows_count_as_rows():
    screen = Screen("f", k=1)
    for label in (0, 1):
        screen.learn_one({}, label)
    for label in (0, 1, 1):
        screen.learn_one({"a": float(label)}, label)
    whole = Screen("f", k=1).fit(sp.csr_array(np.array([[0.0], [0], [0], [1], [1]])), [0, 1, 0, 1, 1])
    np.testing.assert_allclose(screen.scores_, whole.scores_)


# ---------------------------------------------------------------- merging by name


@each_criterion
@pytest.mark.parametrize("half_life", [None, 10])
def test_dict_rows_merge_by_name_to_one_stream(criterion, half_life):
    rows, y, names, X = open_rows(criterion)
    parts = [Screen(criterion, k=5, half_life=half_life) for _ in range(4)]
    for i, (row, label) in enumerate(zip(rows, y, strict=True)):
        parts[i // 10].learn_one(dict(reversed(row.items())), label)
    first, *rest = parts
    for part in rest:
        before = part.scores_.copy()
        first.merge(part)
        assert np.array_equal(part.scores_, before)
    order = [names.index(name) for name in first.feature_names_in_]
    assert sorted(order) == list(range(len(names)))
    wanted = twin.CRITERIA[criterion].score(X[:, order], y, None, half_life)
    np.testing.assert_allclose(first.scores_, wanted, rtol=1e-8, atol=1e-10)
    assert first.n_samples_seen_ == 40
    assert set(first.get_feature_names_out()) <= set(names)


@each_criterion
def test_dense_dataframes_merge_by_name_to_one_stream(criterion):
    frames, y, names, X = coming_and_going(criterion)
    parts = []
    for frame, target in frames:
        parts.append(Screen(criterion, k=3))
        parts[-1].learn_many(frame[frame.columns[::-1]], target)
    first, *rest = parts
    for part in rest:
        first.merge(part)
    order = [names.index(name) for name in first.feature_names_in_]
    wanted = twin.CRITERIA[criterion].score(X[:, order], y)
    np.testing.assert_allclose(first.scores_, wanted, rtol=1e-8, atol=1e-10)


def test_a_screen_of_weightless_rows_merges_and_saves(tmp_path):
    mine, theirs = Screen("f", k=1), Screen("f", k=1)
    for i in range(6):
        mine.learn_one({"a": float(i)}, i % 2)
    theirs.learn_many(pd.DataFrame({"b": [1.0], "a": [2.0]}), [1], [0.0])
    mine.merge(theirs)
    assert mine.feature_names_in_.tolist() == ["a", "b"]
    assert mine.scores_.shape == (2,)
    mine.save(tmp_path / "mine.sieve")
    assert np.array_equal(Screen.load(tmp_path / "mine.sieve").scores_, mine.scores_)


# ---------------------------------------------------------------- hashed features


def slots_of(rows, screen):
    """Add the rows up in a matrix of slots."""
    X = np.zeros((len(rows), screen.n_features_in_))
    for values, row in zip(X, rows, strict=True):
        for name, value in row.items():
            values[screen._vocabulary()[name]] += value
    return X


@each_criterion
@pytest.mark.parametrize("slots", [1, 7, 500])
def test_hashed_features_equal_the_matrix_of_slots(criterion, slots, tmp_path):
    rows, y, _, _ = open_rows(criterion, n=60)
    screen, parts = Screen(criterion, k=3, hashed=slots), [Screen(criterion, k=3, hashed=slots) for _ in "ab"]
    for i, (row, label) in enumerate(zip(rows, y, strict=True)):
        screen.learn_one(row, label)
        parts[i // 30].learn_one(row, label)
        if i == 40:
            screen.save(tmp_path / "hashed.sieve")
            screen = Screen.load(tmp_path / "hashed.sieve")
    X = slots_of(rows, screen)
    wanted = twin.CRITERIA[criterion].score(X, y)
    np.testing.assert_allclose(screen.scores_, wanted, rtol=1e-8, atol=1e-10)
    merged = parts[0].merge(parts[1])
    np.testing.assert_allclose(merged.scores_, wanted, rtol=1e-8, atol=1e-10)
    names = {name for row in rows for name in row}
    assert merged.collisions_ == screen.collisions_
    assert (screen.collisions_ > 0) == (slots < len(names))
    assert merged.feature_names_in_.tolist() == screen.feature_names_in_.tolist()
    many = Screen(criterion, k=3, hashed=slots)
    for low in range(0, 60, 20):
        many.learn_many(pd.DataFrame(rows[low : low + 20]).fillna(0.0), y[low : low + 20])
    bare = [{name: v for name, v in row.items() if v == v} for row in rows]  # noqa: PLR0124 - drops NaN
    wanted = twin.CRITERIA[criterion].score(slots_of(bare, many), y)
    np.testing.assert_allclose(many.scores_, wanted, rtol=1e-8, atol=1e-10)


def test_a_stream_without_end_of_new_words_takes_no_more_memory():
    screen = Screen("f", k=3, hashed=256)
    for i in range(1500):
        row = {f"{kind}{i}": 1.0 for kind in ("id", "user", "session")}
        screen.learn_one({**row, "signal": float(i % 2)}, i % 2)
        if i == 10:
            early = screen.summary_.nbytes
    assert screen.summary_.nbytes == early
    assert len(screen._vocabulary_) == 256
    assert screen.collisions_ == 256
    assert "signal" in screen.transform_one({"signal": 1.0})
