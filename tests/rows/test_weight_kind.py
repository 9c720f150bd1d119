"""What a sample weight is: a number of copies, or the importance of one row."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.exceptions import (
    CapabilityError,
    MergeError,
    ParameterError,
    StreamSieveError,
    WeightsWarning,
)
from streamsieve.summaries import CoMoments, Contingency, Moments, Quantiles, SortedColumns
from tests.helpers.tier import cases

N, P, HALF = 1200, 5, 150.0

SCREENS = {
    "f": {"criterion": "f"},
    "t": {"criterion": "t"},
    "fisher": {"criterion": "fisher"},
    "chi2": {"criterion": "chi2", "max_rank_error": 1e-4},
    "mutual_info": {"criterion": "mutual_info", "max_rank_error": 1e-4},
    "discrete": {"criterion": ss.criteria.ChiSquare(discrete=True)},
    "correlation": {"criterion": "correlation"},
}


def stream(name, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, N)
    X = rng.normal(size=(N, P)) + 0.15 * np.outer(y, np.arange(P))
    if name in {"discrete", "chi2", "mutual_info"}:
        X = np.round(X)  # few values: tables are exact
    return X, y + rng.normal(size=N) if name == "correlation" else y


def by_time():
    """Weights that fade by time stamps, the last row's is 1."""
    return np.exp2((np.arange(N) - (N - 1)) / HALF)


@pytest.mark.parametrize("name", SCREENS)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_time_stamps_are_a_half_life_in_any_order(name, sparse):
    X, y = stream(name)
    order = np.random.default_rng(1).permutation(N)
    kind = sp.csr_array if sparse else np.asarray
    wanted = ss.Screen(half_life=HALF, **SCREENS[name]).fit(kind(X), y)
    found = ss.Screen(weight_kind="importance", **SCREENS[name])
    for part in np.array_split(order, 4):
        found.partial_fit(kind(X[part]), y[part], sample_weight=by_time()[part])
    np.testing.assert_allclose(found.scores_, wanted.scores_, atol=1e-11 * wanted.scores_.max())
    np.testing.assert_allclose(found.pvalues_, wanted.pvalues_, atol=1e-11)
    copies = ss.Screen(**SCREENS[name]).fit(kind(X), y, sample_weight=by_time())
    # as copies, the rows would count half as often
    assert np.abs(np.log(copies.pvalues_) / np.log(found.pvalues_) - 1).max() > 0.2


def test_parts_merge_in_any_order_and_both_kinds_of_fading_multiply():
    X, y = stream("f")
    w = np.random.default_rng(2).exponential(size=N)
    one = ss.Screen("f", weight_kind="importance", half_life=300).fit(X, y, sample_weight=w)
    half = N // 2
    parts = [
        ss.Screen("f", weight_kind="importance", half_life=300).fit(X[s], y[s], sample_weight=w[s])
        for s in (slice(0, half), slice(half, N))
    ]
    found = ss.from_bytes(parts[0].to_bytes()).merge(parts[1])
    np.testing.assert_allclose(found.pvalues_, one.pvalues_, rtol=1e-9)
    # rows of weight 2 under a half-life: the factor cancels for importance, and not for copies
    plain = ss.Screen("f", half_life=300).fit(X, y)
    twice = {"sample_weight": np.full(N, 2.0)}
    alike = ss.Screen("f", half_life=300, weight_kind="importance").fit(X, y, **twice)
    np.testing.assert_allclose(alike.pvalues_, plain.pvalues_, rtol=1e-9)
    assert ss.Screen("f", half_life=300).fit(X, y, **twice).scores_[4] > 1.5 * plain.scores_[4]


@pytest.mark.parametrize("options", [{"exact": True}, {"window": 500}], ids=str)
@pytest.mark.parametrize("criterion", ["chi2", ss.criteria.ChiSquare(discrete=True)], ids=["bins", "levels"])
def test_rows_that_are_kept_and_windows(criterion, options):
    X, y = stream("discrete")
    w = np.random.default_rng(3).integers(1, 6, N).astype(float)
    found = ss.Screen(criterion, weight_kind="importance", **options)
    for low in range(0, N, 100):
        part = slice(low, low + 100)
        found.partial_fit(X[part], y[part], sample_weight=w[part])
    last = slice(N - options.get("window", N), N)
    whole = ss.Screen(criterion, max_rank_error=1e-5, weight_kind="importance")
    whole.fit(X[last], y[last], sample_weight=w[last])
    np.testing.assert_allclose(found.pvalues_, whole.pvalues_, rtol=1e-9)
    again = ss.from_bytes(found.to_bytes())
    np.testing.assert_array_equal(again.pvalues_, found.pvalues_)


def test_columns_with_levels():
    X, y = stream("discrete")
    w = np.random.default_rng(3).exponential(size=N)
    frame = pd.DataFrame({"a": X[:, 4], "level": np.array(["u", "v"])[(X[:, 3] > 0).astype(int)]})
    pvalues = {
        kind: ss.Screen(weight_kind=kind).fit(frame, y, sample_weight=w).pvalues_
        for kind in ("frequency", "importance")
    }
    assert np.all(pvalues["importance"] > pvalues["frequency"])


def test_weights_of_importance_keep_the_level():
    rng, runs = np.random.default_rng(4), cases(200, 60)
    small = {"frequency": 0, "importance": 0}
    for _ in range(runs):
        X, y, w = rng.normal(size=(200, 50)), rng.integers(0, 2, 200), rng.exponential(size=200)
        for kind in small:
            small[kind] += np.sum(ss.Screen("f", weight_kind=kind).fit(X, y, sample_weight=w).pvalues_ < 0.05)
    share = {kind: count / (50 * runs) for kind, count in small.items()}
    assert 0.04 < share["importance"] < 0.065, share
    assert share["frequency"] > 0.13, share


SUMMARIES = {
    "moments": Moments,
    "co-moments": CoMoments,
    "contingency tables": Contingency,
    "quantiles": Quantiles,
    "sorted columns": SortedColumns,
}


@pytest.mark.parametrize("what", SUMMARIES)
def test_summaries_of_two_kinds_do_not_merge(what):
    make = SUMMARIES[what]
    with pytest.raises(
        MergeError, match=f"only {what} of equal weight_kind merge: frequency here, importance"
    ):
        make().merge(make(weight_kind="importance"))
    with pytest.raises(ParameterError, match="weight_kind must be one of 'frequency', 'importance'"):
        make(weight_kind="fading")
    kept = make(weight_kind="importance")
    assert make.from_state(kept.state()).weight_kind == "importance"
    assert make.from_state(make().state()).weight_kind == "frequency"


def test_refusals():
    X, y = stream("f")
    with pytest.raises(ParameterError, match="weight_kind"):
        ss.Screen("f", weight_kind="copies").fit(X, y)
    with pytest.raises(CapabilityError, match="weights as copies of rows, so weight_kind='importance'"):
        ss.Screen("ksg", weight_kind="importance").fit(X, y)
    with pytest.raises(CapabilityError, match="draws of a bootstrap are numbers of copies"):
        ss.Bootstrap(ss.Screen("f", weight_kind="importance")).fit(X, y)
    one = ss.Screen("f", weight_kind="importance").fit(X, y)
    with pytest.raises(StreamSieveError, match="weight_kind"):
        one.merge(ss.Screen("f").fit(X, y))


def test_weights_that_sum_to_one_are_questioned():
    X, y = stream("f")
    share, mask = np.full(N, 1 / N), (np.arange(N) % 50 == 0) * 1.0
    with pytest.warns(WeightsWarning, match="weights of 1,200 rows sum to 1, .* weight_kind='importance'"):
        ss.Screen("f", alpha=0.05).fit(X, y, sample_weight=share)
    for weight in (None, mask, np.full(N, 0.5), share * N):  # counts, or near enough
        ss.Screen("f", alpha=0.05).fit(X, y, sample_weight=weight)
    screen = ss.Screen("f", alpha=0.05, weight_kind="importance").fit(X, y, sample_weight=share)
    assert screen.selected_.tolist() == ss.Screen("f", alpha=0.05).fit(X, y).selected_.tolist() != []
