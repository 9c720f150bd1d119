"""The set found is the best of all sets of its size, and no exchange makes it better."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import streamsieve as ss
from streamsieve.offline.trace_ratio import best_set
from tests.helpers.tier import cases
from tests.offline.cases import FORMS, labels, some_form
from tests.reference.trace_ratio import spreads, trace_ratio


@pytest.mark.parametrize("scaled", [False, True])
def test_no_other_set_of_the_size_is_better(scaled):
    rng = np.random.default_rng(0)
    for case in range(cases(250)):
        classes = int(rng.integers(2, 5))
        y = labels(rng, int(rng.integers(2 * classes + 2, 40)), classes)
        p = int(rng.integers(1, 10))
        X = (rng.normal(size=(len(y), p)) + np.outer(y, rng.random(p))) * rng.choice([0.3, 1, 4], p)
        k = int(rng.integers(1, p + 1))
        best, ratio = trace_ratio(X, y, k, scaled)
        found = ss.TraceRatio(k, standardize=scaled).fit(some_form(rng, X), y)
        assert found.ratio_ == pytest.approx(ratio, rel=1e-9), case
        b, w = spreads(X, y, scaled)
        assert b[found.ranked_].sum() / w[found.ranked_].sum() == pytest.approx(ratio, rel=1e-9), case
        assert sorted(found.ranked_) == list(best), case


def test_an_exchange_that_single_ratios_forbid_is_made():
    """A feature of modest ratio and large spread belongs to the set; scikit-feature cannot bring it in."""
    b, w = np.array([1.0, 0.9, 50.0]), np.array([0.5, 0.5, 40.0])
    chosen, ratio, _ = best_set(b, w, 2)
    assert sorted(chosen.tolist()) == [0, 1]
    assert ratio == pytest.approx(1.9)
    chosen, ratio, rounds = best_set(np.array([1.0, 0.01, 50.0]), np.array([0.5, 0.5, 40.0]), 2)
    assert sorted(chosen.tolist()) == [0, 2]
    assert rounds >= 2


def test_scaled_sets_are_those_of_the_best_fisher_scores():
    rng = np.random.default_rng(1)
    y = labels(rng, 100, 3)
    X = (rng.normal(size=(100, 15)) + np.outer(y, rng.random(15))) * 10.0 ** rng.integers(-3, 4, 15)
    found = ss.TraceRatio(6, standardize=True).fit(X, y)
    assert set(found.ranked_) == set(ss.Screen("fisher", k=6).fit(X, y).ranked_)


def test_perfect_features_come_first_and_their_ratio_is_the_largest_number():
    rng = np.random.default_rng(2)
    y = labels(rng, 30, 2)
    X = np.column_stack([rng.normal(size=30) * 9, y, np.ones(30)])
    found = ss.TraceRatio(1).fit(X, y)
    assert found.ranked_.tolist() == [1]
    assert found.ratio_ == np.finfo(float).max
    assert ss.TraceRatio(2).fit(X, y).ratio_ > 0


def test_constant_features_come_last_though_they_spoil_no_set():
    rng = np.random.default_rng(5)
    y = labels(rng, 40, 3)
    X = np.column_stack([np.full(40, 7.0), rng.normal(size=(40, 3)), np.zeros(40), y + rng.normal(size=40)])
    for scaled in (False, True):
        found = ss.TraceRatio(5, standardize=scaled).fit(X, y)
        assert set(found.ranked_[:4]) == {1, 2, 3, 5}
        assert found.ranked_[4] == 0
        assert found.scores_[0] == found.scores_[4] < found.scores_[[1, 2, 3, 5]].min()
    nothing = ss.TraceRatio(2).fit(np.ones((6, 3)), [0, 1] * 3)
    assert nothing.ranked_.tolist() == [0, 1]
    assert nothing.ratio_ == 0.0


@pytest.mark.parametrize("form", FORMS)
def test_offsets_cost_no_digits(form):
    rng = np.random.default_rng(4)
    y = labels(rng, 60, 2)
    X = rng.integers(0, 9, (60, 6)) + np.outer(y, [0, 1, 2, 3, 4, 5]).astype(float)
    expected = ss.TraceRatio(3).fit(X, y)
    found = ss.TraceRatio(3).fit(FORMS[form](X + 1e8), y)
    assert found.ratio_ == pytest.approx(expected.ratio_, rel=1e-9)
    assert found.ranked_.tolist() == expected.ranked_.tolist()


@pytest.mark.parametrize("value", [3.4e38, -1e25])
def test_large_float32_values_are_summed_in_float64(value):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = (rng.normal(size=(60, 5)) + y[:, None]).astype(np.float32)
    X[3, 2] = value
    narrow, wide = (ss.TraceRatio(k=2).fit(A, y) for A in (X, X.astype(np.float64)))
    assert np.isfinite(narrow.ratio_)
    assert narrow.scores_.tolist() == wide.scores_.tolist()


def test_an_iteration_that_does_not_end_is_cut_off_with_a_warning(monkeypatch):
    monkeypatch.setattr("streamsieve.offline.trace_ratio.MOST_ROUNDS", 1)
    with pytest.warns(ConvergenceWarning, match="still grows after 1 sets of features"):
        best_set(np.array([3.0, 1.0]), np.array([1.0, 0.1]), 1)
