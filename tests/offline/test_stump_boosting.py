"""Boosting picks the stumps that its slow twin picks, and its training error keeps the bound."""

import numpy as np
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.offline import inf_fs
from streamsieve.offline import stump_boosting as module
from streamsieve.offline.shared import row_similarity
from tests.helpers.tier import cases
from tests.offline.cases import features, labels, some_form
from tests.reference.stump_boosting import stump_boosting


def test_random_data_equal_the_twin():
    rng = np.random.default_rng(0)
    for case in range(cases(120)):
        y = labels(rng, int(rng.integers(4, 25)), 2)
        X = features(rng, y, int(rng.integers(1, 9)))
        wanted = int(rng.integers(1, X.shape[1] + 1))
        order, stumps = stump_boosting(X, y, wanted)
        found = ss.StumpBoosting(wanted).fit(some_form(rng, X), y)
        assert found.ranked_.tolist() == order, case
        ours = np.column_stack([found.errors_, found.thresholds_, found.signs_])
        np.testing.assert_allclose(ours, np.array(stumps).reshape(-1, 3), atol=1e-9, err_msg=f"case {case}")


def votes(boosting, X, rounds):
    total = np.zeros(len(X))
    for t in range(rounds):
        up = X[:, boosting.ranked_[t]] > boosting.thresholds_[t]
        total += boosting.votes_[t] * boosting.signs_[t] * np.where(up, 1, -1)
    return total


def test_the_training_error_keeps_its_bound_and_falls():
    rng = np.random.default_rng(1)
    y = labels(rng, 300, 2)
    X = rng.normal(size=(300, 60)) + 0.4 * np.outer(y, rng.random(60))
    boosting = ss.StumpBoosting(50).fit(X, y)
    e = boosting.errors_
    bound = np.cumprod(2 * np.sqrt(e * (1 - e)))
    wrong = [np.mean((votes(boosting, X, t + 1) > 0) != (y == 1)) for t in range(50)]
    assert np.all(np.array(wrong) <= bound + 1e-12)
    assert wrong[-1] < wrong[0] / 2


def test_a_feature_is_used_once_and_a_perfect_one_ends_it():
    rng = np.random.default_rng(2)
    y = labels(rng, 50, 2)
    X = rng.normal(size=(50, 6)) + y[:, None] * 0.5
    assert sorted(ss.StumpBoosting(6).fit(X, y).ranked_) == list(range(6))
    X[:, 3] = -y
    perfect = ss.StumpBoosting(6).fit(X, y)
    assert perfect.ranked_.tolist() == [3]
    assert perfect.errors_.tolist() == [0.0]
    assert perfect.signs_.tolist() == [-1.0]


def test_constant_features_end_it_at_once():
    nothing = ss.StumpBoosting().fit(np.ones((6, 3)), [0, 1] * 3)
    assert nothing.ranked_.tolist() == nothing.errors_.tolist() == []


def test_a_later_feature_mends_what_the_first_misses():
    rng = np.random.default_rng(3)
    for _ in range(5):
        a, b = rng.random((2, 600))
        copies = a[:, None] + 0.02 * rng.normal(size=(600, 3))
        X = np.column_stack([copies, a, b, rng.random((600, 4))])
        first, second = ss.StumpBoosting(2).fit(X, a + 0.8 * b > 0.9).ranked_
        assert first in range(4)
        assert second == 4


def test_wide_sparse_columns():
    rng = np.random.default_rng(5)
    y = labels(rng, 200, 2)
    X = sp.random_array((200, 3000), density=0.02, random_state=rng, format="csc")
    X = sp.lil_array(X)
    X[:, 1234] = np.where(rng.random(200) < 0.9, y, 0)[:, None]
    assert ss.StumpBoosting(1).fit(sp.csr_array(X), y).ranked_.tolist() == [1234]


@pytest.mark.parametrize("form", [np.asarray, sp.csc_array])
def test_columns_are_sorted_some_at_a_time(form, monkeypatch):
    """Ctrl-C is answered between two sorts."""
    rng = np.random.default_rng(6)
    y = labels(rng, 50, 2)
    X = form(np.round(rng.normal(size=(50, 40)) * (rng.random((50, 40)) < 0.5) + y[:, None], 1))
    at_once = ss.StumpBoosting(5).fit(X, y)
    monkeypatch.setattr(row_similarity, "BLOCK_VALUES", 100)
    monkeypatch.setattr(module, "SORTED", 100)
    sorts, sort = [], np.argsort if form is np.asarray else np.lexsort

    def counting(values, **options):
        sorts.append(np.size(values))
        return sort(values, **options)

    monkeypatch.setattr(np, sort.__name__, counting)
    assert ss.StumpBoosting(5).fit(X, y).ranked_.tolist() == at_once.ranked_.tolist()
    assert len(sorts) > 10
    assert max(sorts) < 500


def test_ranks_are_made_some_columns_at_a_time(monkeypatch):
    rng = np.random.default_rng(7)
    X = np.round(rng.normal(size=(30, 9)), 1)
    at_once = ss.InfFS().fit(X).scores_
    monkeypatch.setattr(row_similarity, "BLOCK_VALUES", 60)
    blocks, ranks = [], inf_fs.rankdata
    monkeypatch.setattr(inf_fs, "rankdata", lambda block, axis: blocks.append(1) or ranks(block, axis=axis))
    assert ss.InfFS().fit(X).scores_.tobytes() == at_once.tobytes()
    assert len(blocks) == 5
