"""Screens know names from numbers: levels are counted, never cut into bins or correlated."""

from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.exceptions import CapabilityError, MergeError, ParameterError, SchemaError
from streamsieve.rows import Screen
from tests.helpers import tier
from tests.reference import screen_by_type as twin

CRITERIA = ("auto", "mutual_info", "su", "chi2", "gini")


def hub(levels, n=5000, seed=0):
    """A nominal hub of y and of ten other columns, which are associated with y through it only."""
    rng = np.random.default_rng(seed)
    column, f = rng.integers(0, levels, n), rng.integers(0, 3, (11, levels))

    def noisy(values):
        return np.where(rng.random(n) < 0.1, rng.integers(0, 3, n), values)

    y = noisy(f[0][column])
    return np.c_[column, *[noisy(f[i][column]) for i in range(1, 11)]].astype(float), y


def mixed(seed, n=200):
    """Quantities, codes, and a quantity with missing values."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = np.c_[
        rng.normal(size=n) + y,
        (y + rng.integers(0, 4, n)) % 4,
        np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
        np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 7, n)),
    ]
    return X, y


TYPES = {"x1": "nominal", "x3": "ordinal"}


@pytest.mark.parametrize("levels", [33, 60, 200])
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("types", ["auto", "nominal", {"x0": "nominal"}], ids=str)
def test_a_hub_of_many_levels_ranks_first(levels, criterion, types):
    X, y = hub(levels)
    assert Screen(criterion, types=types).fit(X, y).ranked_[0] == 0


@pytest.mark.parametrize("library", ["text", "category", "polars", "arrow"])
def test_names_are_known_by_their_dtype(library):
    X, y = hub(60)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(11)])
    frame["c0"] = frame["c0"].map("level {:.0f}".format)
    if library == "category":
        frame["c0"] = frame["c0"].astype("category")
    if library == "polars":
        frame = pl.from_pandas(frame)
    elif library == "arrow":
        frame = pl.from_pandas(frame).to_arrow()
    screen = Screen(k=1).fit(frame, y)
    assert screen.get_feature_names_out().tolist() == ["c0"]
    assert screen.column_types_ == {"c0": "nominal"} | {f"c{j}": "numeric" for j in range(1, 11)}
    wanted = Screen(types={"x0": "nominal"}).fit(X, y)
    np.testing.assert_allclose(screen.scores_, wanted.scores_)
    np.testing.assert_allclose(screen.pvalues_, wanted.pvalues_)


def test_scores_equal_the_slow_twin():
    for seed in range(tier.cases(40)):
        X, y = mixed(seed)
        wanted = [
            twin.score_of_numbers(X[:, 0], y), twin.score_of_levels(X[:, 1], y),
            twin.score_of_numbers(X[:, 2], y), twin.score_of_levels(X[:, 3], y),
        ]  # fmt: skip
        for form in (np.asarray, np.asfortranarray, sp.csr_array):
            np.testing.assert_allclose(Screen(types=TYPES).fit(form(X), y).scores_, wanted, atol=1e-12)


def test_p_values_are_those_of_the_criterion_that_suits_the_type():
    X, y = mixed(1)
    found = Screen(types=TYPES).fit(X, y).pvalues_
    numbers = Screen("f").fit(X, y).pvalues_
    levels = Screen(ss.criteria.MutualInfo(discrete=True)).fit(X, y).pvalues_
    np.testing.assert_allclose(found, [numbers[0], levels[1], numbers[2], levels[3]])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    "parameters",
    [{}, {"half_life": 50}, {"window": 90}, {"criterion": "mutual_info"}, {"task": "regression"}],
    ids=str,
)
def test_batches_and_merges_are_immaterial(form, parameters):
    X, y = mixed(2)
    X = np.nan_to_num(X)
    y = y + 0.25 * (np.arange(len(y)) % 3) if "task" in parameters else y

    def learned(*cuts):
        screen = Screen(types=TYPES, **parameters)
        for low, high in pairwise(cuts):
            screen.partial_fit(form(X[low:high]), y[low:high])
        return screen

    whole = learned(0, 200)
    for other in (learned(0, 1, 7, 50, 51, 200), learned(0, 100).merge(learned(100, 200))):
        np.testing.assert_allclose(other.scores_, whole.scores_, rtol=1e-9, atol=1e-12)
    again = Screen.from_bytes(whole.to_bytes())
    assert again.column_types_ == whole.column_types_
    assert np.array_equal(again.scores_, whole.scores_)
    again.partial_fit(form(X), y)


def test_with_a_numeric_target_names_are_compared_by_their_levels():
    rng = np.random.default_rng(3)
    code = rng.integers(0, 40, 2000)
    y = rng.normal(size=40)[code] + rng.normal(size=2000)
    X = np.c_[code, y + 3 * rng.normal(size=2000)]
    assert Screen(k=1).fit(X, y).selected_.tolist() == [1]
    assert Screen(k=1, types={"x0": "nominal"}).fit(X, y).selected_.tolist() == [0]


@pytest.mark.parametrize("on_drift", ["reset", "reweigh"])
def test_drift_of_names_is_noticed(on_drift):
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, 4000)
    X = rng.integers(0, 3, (4000, 4)).astype(float)
    X[:2000, 0], X[2000:, 1] = (2 * y[:2000]) % 3, (2 * y[2000:]) % 3
    screen = Screen(k=1, types="nominal", on_drift=on_drift).fit(X, y)
    assert {drift.feature for drift in screen.drift_} >= {0, 1}


def test_without_names_nothing_changes():
    X, y = mixed(5)
    plain, declared = Screen().fit(X, y), Screen(types="numeric").fit(X, y)
    assert np.array_equal(plain.scores_, declared.scores_)
    with pytest.raises(AttributeError, match="here all columns are quantities"):
        _ = plain.column_types_


def test_text_in_a_column_of_numbers_is_refused():
    screen = Screen().fit(pd.DataFrame({"a": [1.0, 2.0, 3.0], "plan": [1.0, 2.0, 2.0]}), [0, 1, 1])
    before = screen.scores_.copy()
    with pytest.raises(SchemaError, match=r"column 'plan' holds text, .* types=\{'plan': 'nominal'\}"):
        screen.partial_fit(pd.DataFrame({"a": [1.0, 2.0], "plan": ["x", "y"]}), [0, 1])
    assert screen.n_samples_seen_ == 3
    assert np.array_equal(screen.scores_, before)


def test_what_does_not_fit_is_refused():
    X, y = mixed(6)
    with pytest.raises(CapabilityError, match="'x1' is nominal, and criterion='f' compares numbers"):
        Screen("f", types=TYPES).fit(X, y)
    with pytest.raises(SchemaError, match="types declares column 'zap'.*"):
        Screen(types={"zap": "nominal"}).fit(X, y)
    with pytest.raises(ParameterError, match="types must be one of .* or 'auto'; got 'nominl'"):
        Screen(types="nominl").fit(X, y)
    with pytest.raises(CapabilityError, match="use partial_fit or learn, or declare no types"):
        Screen(types={"a": "nominal"}).learn_one({"a": 1.0}, 0)
    guessed = [Screen(types="auto").fit(part, y[:3]) for part in (np.eye(3), np.eye(3) / 2)]
    other = Screen(types="auto").fit(np.c_[X[:, 1], X[:, 0], X[:, 0]], y)
    guessed[0].merge(guessed[1])
    with pytest.raises(MergeError, match="the two parts took different types"):
        guessed[0].merge(other)


def test_an_engine_decides_on_types_once():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 2000)
    X = np.c_[(2 * y + rng.integers(0, 2, 2000)) % 3, np.arange(2000) // 40, rng.normal(size=2000)]
    source = ss.open(X.astype(float), target=y)
    found = ss.run(
        source, ss.Screen(types="auto"), engine="dask", workers=2, rows_per_task=300, batch_size=2000
    )
    one = ss.run(source, ss.Screen(types="auto"), batch_size=2000)
    assert found.column_types_ == one.column_types_ == {"x0": "ordinal", "x1": "ordinal", "x2": "numeric"}
    np.testing.assert_allclose(found.scores_, one.scores_)


@pytest.mark.parametrize("adapting", [{}, {"on_drift": "reset", "drift_every": 25}])
@pytest.mark.parametrize("criterion", ["mutual_info", "chi2"])
def test_later_batches_of_objects_are_numbers_or_refused_by_name(criterion, adapting):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    first = pd.DataFrame(X, columns=["dose", "age"])
    screen, twin = (ss.Screen(criterion, percentile=50, **adapting).partial_fit(first, y) for _ in range(2))
    incomplete = first.astype(object).where(X < 1, None)
    screen.partial_fit(incomplete, y)
    twin.partial_fit(incomplete.astype(float), y)
    np.testing.assert_array_equal(screen.scores_, twin.scores_)
    with pytest.raises(TypeError, match="'age' holds"):
        screen.partial_fit(first.assign(age=pd.Timestamp("2026-01-01")), y)
    assert screen.n_samples_seen_ == 120
