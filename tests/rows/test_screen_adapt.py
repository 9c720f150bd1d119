"""Windows, drift, reviews, numeric targets, text and hashed names: how a screen adapts to its stream."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.criteria import MutualInfo
from streamsieve.exceptions import (
    CapabilityError,
    InputTypeError,
    MergeError,
    ParameterError,
    StateError,
    TargetError,
)

CRITERIA = ["t", "fisher", "f", "correlation", "mutual_info", "chi2", "gini", "su"]


def rows(n=400, p=8, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, p))
    X[:, 2] += y
    X[rng.random((n, p)) < 0.3] = 0.0
    return X, y


def moving(n=12_000, p=30, seed=1):
    """Feature 0 is relevant in the first half, feature 1 in the second, feature 2 a little all the time."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, p))
    X[: n // 2, 0] += y[: n // 2]
    X[n // 2 :, 1] += y[n // 2 :]
    X[:, 2] += 0.3 * y
    return X, y


def streamed(screen, X, y, size):
    for low in range(0, len(y), size):
        screen.partial_fit(X[low : low + size], y[low : low + size])
    return screen


# ------------------------------------------------------------------------------------ windows


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_window_scores_the_last_rows_and_nothing_else(criterion, form):
    X, y = rows()
    for window in (1, 37, 150, 1000):
        screen = streamed(ss.Screen(criterion, window=window), form(X), y, 23)
        last = ss.Screen(criterion).fit(form(X[-window:]), y[-window:])
        np.testing.assert_allclose(screen.scores_, last.scores_, rtol=1e-12, atol=1e-15)


def test_a_window_goes_on_after_loading(tmp_path):
    X, y = rows()
    screen = streamed(ss.Screen("mutual_info", window=100), X[:250], y[:250], 7)
    screen.save(tmp_path / "window.sieve")
    loaded = streamed(ss.load(tmp_path / "window.sieve"), X[250:], y[250:], 7)
    assert np.array_equal(loaded.scores_, ss.Screen("mutual_info").fit(X[-100:], y[-100:]).scores_)


# ------------------------------------------------------------------------------------ drift


@pytest.mark.parametrize("criterion", ["t", "mutual_info", "chi2", "gini"])
def test_features_that_moved_begin_again(criterion):
    X, y = moving()
    still = streamed(ss.Screen(criterion, k=1), X[:9000], y[:9000], 1000)
    reset = streamed(ss.Screen(criterion, k=1, on_drift="reset", drift_every=500), X[:9000], y[:9000], 1000)
    assert still.ranked_.tolist() == [0]
    assert reset.ranked_.tolist() == [1]
    moved = {d.feature: d for d in reset.drift_}
    assert {0, 1} <= set(moved)
    assert all(6000 < moved[j].row <= 9000 for j in (0, 1))
    assert moved[0].before > moved[0].after
    assert moved[1].before < moved[1].after
    assert len(reset.drift_) <= 4
    assert still.drift_ == []


def test_reset_equals_missing_values_before_the_alarm():
    X, y = moving()
    screen = streamed(ss.Screen("mutual_info", on_drift="reset", drift_every=500), X, y, 700)
    gone = X.copy()
    for drift in screen.drift_:
        gone[: drift.row, drift.feature] = np.nan
    assert screen.drift_
    np.testing.assert_allclose(screen.scores_, ss.Screen("mutual_info").fit(gone, y).scores_, atol=2e-3)


def test_reweighing_lets_the_past_count_less():
    X, y = moving()
    X, y = X[:8000], y[:8000]
    still = ss.Screen("t").fit(X, y)
    screen = streamed(ss.Screen("t", k=3, on_drift="reweigh", drift_every=500), X, y, 999)
    assert screen.drift_
    weight = np.ones(len(y))
    for row in sorted({d.row for d in screen.drift_}):
        moved = sum(d.row == row for d in screen.drift_)
        weight[:row] *= 1 - min(0.5, moved / 3)
    assert screen.scores_[1] > still.scores_[1]
    expected = ss.Screen("fisher").fit(X, y, weight)
    twin = streamed(ss.Screen("fisher", k=3, on_drift="reweigh", drift_every=500), X, y, 999)
    assert [d.row for d in twin.drift_] == [d.row for d in screen.drift_]
    np.testing.assert_allclose(twin.scores_, expected.scores_, rtol=1e-9)


@pytest.mark.parametrize("how", ["reset", "reweigh"])
def test_drift_does_not_depend_on_batches_and_survives_saving(how, tmp_path):
    X, y = moving(6000, 10)
    whole = ss.Screen("mutual_info", on_drift=how, drift_every=250).fit(X, y)
    for size in (1, 97, 1000):
        part = streamed(ss.Screen("mutual_info", on_drift=how, drift_every=250), X, y, size)
        assert part.drift_ == whole.drift_
        assert np.array_equal(part.scores_, whole.scores_)
    half = streamed(ss.Screen("mutual_info", on_drift=how, drift_every=250), X[:3333], y[:3333], 100)
    half.save(tmp_path / "half.sieve")
    loaded = streamed(ss.load(tmp_path / "half.sieve"), X[3333:], y[3333:], 100)
    assert loaded.drift_ == whole.drift_
    assert np.array_equal(loaded.scores_, whole.scores_)


def test_rivers_detector_can_be_chosen(tmp_path):
    pytest.importorskip("river")
    X, y = moving()
    screen = streamed(ss.Screen("f", k=1, on_drift="reset", detector="adwin", drift_every=500), X, y, 1000)
    assert {0, 1} <= {d.feature for d in screen.drift_}
    with pytest.raises(StateError, match="glr"):
        screen.save(tmp_path / "no.sieve")
    assert not list(tmp_path.iterdir())


# ------------------------------------------------------------------------------------ reviews


def test_the_ledger_has_every_change_at_a_review():
    X, y = moving()
    screen = streamed(ss.Screen("t", k=1, half_life=500, review_every=1000), X, y, 333)
    story = [(d.step, d.feature, str(d.event)) for d in screen.ledger_]
    assert story[0] == (1000, "x0", "kept")
    entered = next(step for step, name, event in story if name == "x1" and event == "kept")
    assert entered % 1000 == 0
    assert 6000 < entered <= 8000
    assert (entered, "x0", "evicted") in story
    asked = streamed(ss.Screen("t", k=1, half_life=500), X, y, 333)
    assert [d.feature for d in asked.ledger_] == ["x1"]


# ------------------------------------------------------------------------------------ targets


def test_numeric_targets_are_binned_like_features():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 5))
    y = X[:, 1] ** 2 + 0.1 * rng.normal(size=600)
    screen = streamed(ss.Screen("mutual_info", k=1), X, y, 50)
    assert screen.ranked_.tolist() == [1]
    cuts = np.sort(y)[np.arange(1, 5) * 120 - 1]
    labels = np.searchsorted(cuts, y)
    np.testing.assert_allclose(screen.scores_, ss.Screen("mutual_info").fit(X, labels).scores_, rtol=1e-12)
    correlation = ss.Screen("correlation", k=1).fit(X, y)
    assert correlation.scores_[1] < 0.2  # which is why one wants mutual information here


def test_a_long_numeric_stream_keeps_the_cuts_of_its_first_rows():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(3000, 3)), rng.normal(size=3000)
    screen = streamed(ss.Screen("mutual_info", task="regression"), X, y, 100)
    cuts = np.sort(y[:1024])[np.arange(1, 5) * 204 - 1]
    labels = np.searchsorted(cuts, y)
    np.testing.assert_allclose(screen.scores_, ss.Screen("mutual_info").fit(X, labels).scores_, rtol=1e-9)
    other = streamed(ss.Screen("mutual_info", task="regression"), X[::-1], y[::-1], 100)
    with pytest.raises(MergeError, match="cut at different places"):
        screen.merge(other)


def test_what_y_is_can_be_said():
    X, y = rows()
    assert ss.Screen("mutual_info").fit(X, y)._regression_ is False
    assert ss.Screen("mutual_info", task="regression").fit(X, y)._regression_ is True
    screen = ss.Screen("mutual_info").partial_fit(X, y)
    with pytest.raises(TargetError, match="fractional"):
        screen.partial_fit(X, y + 0.5)
    with pytest.raises(CapabilityError, match="mutual_info"):
        ss.Screen("f", task="regression").fit(X, y)
    with pytest.raises(TargetError, match="fractional"):
        ss.Screen("mutual_info", task="classification").fit(X, y + 0.5)


# ------------------------------------------------------------------------------------ text and names


def colored(n=300):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, n)
    color = np.where(rng.random(n) < 0.8, np.array(["red", "blue"])[y], "green")
    return {"color": color, "size": rng.integers(0, 4, n) * 1.0, "noise": rng.choice(list("abc"), n)}, y


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_text_is_a_category_where_values_are_levels(frame, tmp_path):
    data, y = colored()
    screen = ss.Screen(MutualInfo(discrete=True), k=1)
    for low in range(0, 300, 70):
        part = frame({name: column[low : low + 70] for name, column in data.items()})
        screen.partial_fit(part, y[low : low + 70])
    assert screen.get_feature_names_out().tolist() == ["color"]
    assert list(screen.transform(frame(data)).columns) == ["color"]
    codes = np.column_stack([np.unique(column, return_inverse=True)[1] * 1.0 for column in data.values()])
    np.testing.assert_allclose(
        screen.scores_, ss.Screen(MutualInfo(discrete=True)).fit(codes, y).scores_, rtol=1e-12
    )
    screen.save(tmp_path / "text.sieve")
    assert np.array_equal(ss.load(tmp_path / "text.sieve").scores_, screen.scores_)


def test_text_is_refused_elsewhere_with_the_way_out():
    data, y = colored()
    with pytest.raises(InputTypeError, match=r"takes text as categories: Screen\(\)"):
        ss.Screen("f").fit(pd.DataFrame(data), y)
    with pytest.raises(InputTypeError, match="color"):
        ss.Screen(MutualInfo(discrete=True), window=10).fit(pd.DataFrame(data), y)


# ------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize(("parameters", "message"), [
    ({"half_life": 5, "window": 5}, "give one of them"),
    ({"window": 5, "on_drift": "reweigh"}, "use 'reset'"),
    ({"window": 0}, "window"),
    ({"on_drift": "rest"}, "did you mean 'reset'"),
    ({"drift_every": 3}, "drift_every"),
    ({"detector": "ddm"}, "detector"),
    ({"max_rank_error": 0.0}, "max_rank_error"),
    ({"review_every": 0.5}, "review_every"),
    ({"hashed": -1}, "hashed"),
    ({"task": "sorting"}, "task"),
    ({"criterion": MutualInfo(bins=1)}, "bins"),
    ({"criterion": MutualInfo(bias_correction="some")}, "bias_correction"),
])  # fmt: skip
def test_parameters_that_make_no_sense_are_named(parameters, message):
    X, y = rows(50)
    with pytest.raises(ParameterError, match=message):
        ss.Screen(**{"criterion": "mutual_info", **parameters}).fit(X, y)
