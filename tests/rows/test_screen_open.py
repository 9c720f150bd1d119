"""Rows as dictionaries and as dataframes whose columns come and go: the same rows as one CSR matrix."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from streamsieve.exceptions import BadValueError, InputTypeError, SchemaError
from streamsieve.rows import Screen
from tests.reference import screen as twin
from tests.rows.toys import target_of

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
    assert one.n_rows_seen_ == len(rows)
    chosen = [names[j] for j in whole.get_support(indices=True)]
    assert one.get_feature_names_out().tolist() == chosen


@each_criterion
def test_learn_many_equals_the_rows_as_csr(criterion):
    rows, y, _, X = open_rows(criterion)
    many, weight = Screen(criterion, k=5), np.arange(40) % 3.0
    for low in range(0, 40, 8):
        frame = pd.DataFrame(rows[low : low + 8]).fillna(0.0)
        many.learn_many(frame, y[low : low + 8], weight[low : low + 8])
    X = np.nan_to_num(X)
    whole = Screen(criterion, k=5).fit(sp.csr_array(X), y, weight)
    np.testing.assert_allclose(many.scores_, whole.scores_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        many.scores_, twin.CRITERIA[criterion].score(X, y, weight), rtol=1e-8, atol=1e-10
    )


def test_partial_fit_goes_on_with_an_open_vocabulary():
    rows, y, _, _ = open_rows("f")
    rows = [{name: v for name, v in row.items() if v == v} for row in rows]  # noqa: PLR0124 - drops NaN
    ones, mixed = Screen("f", k=3), Screen("f", k=3)
    for row, label in zip(rows, y, strict=True):
        ones.learn_one(row, label)
    mixed.learn_one(rows[0], y[0])
    mixed.partial_fit(pd.DataFrame(rows[1:]).fillna(0.0), y[1:])
    np.testing.assert_allclose(mixed.scores_, ones.scores_, rtol=1e-10, atol=1e-12)


def test_transform_one_keeps_the_selected_features():
    screen = Screen("f", k=1)
    for i in range(20):
        screen.learn_one({"clock": i % 2, "noise": i // 2 % 2, "late": 1.0 if i > 15 else 0.0}, i % 2)
    assert screen.transform_one({"noise": 1.0, "clock": 5.0, "never seen": 7.0}) == {"clock": 5.0}
    assert screen.transform_one({}) == {}


def test_dictionaries_suit_a_screen_that_began_with_a_dataframe():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    whole = Screen(k=1).fit(frame, y)
    mixed = Screen(k=1).partial_fit(frame[:20], y[:20])
    for i in range(20, 30):
        mixed.learn_one(dict(zip("cab", X[i, [2, 0, 1]], strict=True)), y[i])
    np.testing.assert_allclose(mixed.scores_, whole.scores_, rtol=1e-10)
    assert mixed.transform_one({"a": 1.0, "b": 2.0, "c": 3.0}).keys() == {whole.get_feature_names_out()[0]}
    with pytest.raises(SchemaError, match=r"feature 'd' was not among those of the first batch.*learn_one"):
        mixed.learn_one({"d": 1.0}, 0)


def test_text_among_the_values_is_refused_by_name():
    with pytest.raises(
        InputTypeError, match="feature 'colour' holds 'red', but a number is wanted: encode text"
    ):
        Screen().learn_one({"size": 1.0, "colour": "red"}, 0)


def test_infinity_is_refused_by_name_and_leaves_no_trace():
    screen = Screen("f", k=2)
    screen.learn_one({"a": 1.0}, 0)
    screen.learn_one({"a": 2.0, "b": 1.0}, 1)
    before = screen.scores_.copy()
    with pytest.raises(BadValueError, match="feature 'new' holds inf; clip it or mark it missing"):
        screen.learn_one({"b": 1.0, "new": np.inf}, 1)
    assert screen.feature_names_in_.tolist() == ["a", "b"]
    assert np.array_equal(screen.scores_, before)
    assert screen.n_rows_seen_ == 2


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
