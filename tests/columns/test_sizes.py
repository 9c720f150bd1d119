"""Selections of a sensible size by default, and a warning where nothing is selected."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import streamsieve as ss
from streamsieve.exceptions import ManyColumnsWarning, ParameterError
from tests.columns.streams import reloaded


def weak():
    return make_classification(
        1000, 2000, n_informative=30, n_redundant=0, class_sep=0.6, flip_y=0.05, random_state=1
    )


def test_grafting_keeps_something_of_weak_columns_by_default():
    """A fixed penalty of 0.15, the former default, keeps nothing: no correlation reaches 0.3."""
    X, y = weak()
    sieve = ss.Grafting().fit(X, y)
    assert 3 <= len(sieve.selected_) <= 50
    assert sieve.l1_ == pytest.approx(0.5 * 0.1038, rel=0.01)
    assert len(ss.Grafting(0.15).fit(X, y).selected_) == 0
    again = ss.Grafting(sieve.l1_).fit(X, y)
    assert again.selected_.tolist() == sieve.selected_.tolist()
    assert reloaded(sieve).l1_ == sieve.l1_


def test_the_automatic_penalty_lets_about_one_of_a_thousand_columns_of_noise_join():
    rng = np.random.default_rng(0)
    for y in (rng.normal(size=200), rng.integers(0, 2, 200), rng.integers(0, 4, 200)):
        sieve = ss.Grafting().begin(y)
        alone = 0
        for _ in range(40):
            alone += len(sieve.begin(y).offer(rng.normal(size=(200, 100))) and sieve.selected_)
        assert alone <= 20, y[:3]


def test_the_automatic_penalty_follows_the_units_of_the_target():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 20))
    y = X[:, 3] + rng.normal(size=100)
    one, other = ss.Grafting().fit(X, y), ss.Grafting().fit(X, 1e6 * y)
    assert one.selected_.tolist() == other.selected_.tolist()
    assert other.l1_ == pytest.approx(1e6 * one.l1_)


def test_an_automatic_penalty_needs_standardized_columns():
    with pytest.raises(ParameterError, match="l1='auto' requires standardize=True"):
        ss.Grafting(standardize=False).begin([0, 1, 1, 0])


EMPTY = [ss.SAOLA(1e-9), ss.OnlineFDR(alpha=1e-9), ss.FastOSFS(1e-9), ss.Grafting(10.0), ss.HITONPC(1e-9)]


@pytest.mark.parametrize("sieve", EMPTY, ids=repr)
def test_an_empty_selection_warns_with_the_reason(sieve):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(60, 20)), rng.integers(0, 2, 60)
    sieve.fit(X, y)  # says nothing: more columns may come
    advice = "lower l1=10.0" if isinstance(sieve, ss.Grafting) else "raise alpha=1e-09"
    with pytest.warns(UserWarning, match=f"No features were selected: .*{advice}") as caught:
        assert sieve.transform(X).shape == (60, 0)
    assert caught[0].filename == __file__
    if not isinstance(sieve, ss.Grafting):
        smallest = min(d.p_value for d in sieve.ledger_)
        assert f"the smallest p-value in the ledger is {smallest:.2g}" in str(caught[0].message)


def test_an_empty_selection_warns_before_the_learner_of_a_pipeline_fails():
    rng = np.random.default_rng(3)
    model = make_pipeline(ss.SAOLA(1e-9), LogisticRegression())
    with (
        pytest.warns(UserWarning, match="No features were selected"),
        pytest.raises(ValueError, match="0 feat"),
    ):
        model.fit(rng.normal(size=(60, 20)), rng.integers(0, 2, 60))


def test_an_empty_text_is_a_name_on_both_axes():
    y = np.arange(20) % 2
    columns = ss.SAOLA().begin(y)
    columns.offer(np.c_[y, 1 - y] + 0.5 * np.random.default_rng(4).random((20, 2)), names=["", "a"])
    assert columns.get_feature_names_out()[0] == ""
    assert columns.ledger_.why("").event == "kept"
    rows = ss.Screen("f", k=1)
    for label in (0, 1, 0, 1):
        rows.learn_one({"": float(label), "a": 1.0}, label)
    assert rows.get_feature_names_out().tolist() == [""]


def test_a_perfect_correlation_scores_one():
    x = np.arange(4.0)
    for scale in (1.0, -3.0, 0.1):
        sieve = ss.Screen("correlation", k=1, task="regression").fit(x[:, None], scale * x)
        assert sieve.scores_[0] == 1.0
        assert sieve.pvalues_[0] < 1e-100


def test_more_columns_than_rows_are_noticed_once():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 300)), rng.permutation(np.arange(40) % 2)
    with pytest.warns(ManyColumnsWarning, match=r"more than the 40 rows, .* TopK\(k=20\)") as found:
        ss.FastOSFS(0.8, max_conditioning=1).fit(X, y)
    assert [warning.filename for warning in found] == [__file__]
    sieve = ss.FastOSFS(0.8, max_conditioning=1).begin(y)
    with pytest.warns(ManyColumnsWarning, match="columns are kept, more than the 40") as found:
        list(map(sieve.offer, X.T))
    assert 1 <= len(found) <= 2  # again if some were evicted meanwhile
    ss.TopK(k=60, alpha=None).fit(X, y)  # as many as asked for
    ss.OnlineFDR("lond", alpha=0.99).fit(X + 2 * y[:, None], y)  # a list of discoveries
