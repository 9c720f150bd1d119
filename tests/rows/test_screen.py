"""Screen scores and chooses as its slow twin does, and as SciPy and scikit-learn do."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_selection import SelectKBest, f_classif

from streamsieve.base.choose import best, significant
from streamsieve.criteria import AnovaF, WelchT
from streamsieve.rows import Screen
from tests.reference import screen as twin
from tests.rows.toys import table, table_for

each_criterion = pytest.mark.parametrize("criterion", twin.CRITERIA)
WAYS = [
    {},
    {"k": 1},
    {"k": 5},
    {"k": 12},
    {"percentile": 1},
    {"percentile": 30},
    {"percentile": 100},
    {"alpha": 0.05},
    {"alpha": 0.2, "correction": "bonferroni"},
    {"alpha": 0.2, "correction": "bh"},
    {"alpha": 1e-12},
]


@each_criterion
@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_array])
def test_the_selection_is_the_twins(criterion, way, form):
    for seed in range(2):
        X, y = table_for(criterion, seed=seed, n=40)
        screen = Screen(criterion, **way).fit(form(X), y)
        wanted = twin.screen(criterion, X, y, **way)
        assert np.flatnonzero(screen.get_support()).tolist() == wanted
        assert sorted(screen.ranked_.tolist()) == wanted


@each_criterion
@pytest.mark.parametrize("half_life", [None, 20])
def test_weights_missing_values_and_fading_give_the_twins_selection(criterion, half_life):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = table_for(criterion, seed=seed)
        X[rng.random(X.shape) < 0.2] = np.nan
        weight = rng.integers(0, 4, len(y)).astype(float)
        screen = Screen(criterion, k=4, half_life=half_life)
        for low in range(0, len(y), 13):
            part = slice(low, low + 13)
            screen.partial_fit(X[part], y[part], sample_weight=weight[part])
        wanted = twin.CRITERIA[criterion].score(X, y, weight, half_life)
        np.testing.assert_allclose(screen.scores_, wanted, rtol=1e-9)
        p_values = twin.CRITERIA[criterion].p_value(X, y, weight, half_life)
        np.testing.assert_allclose(screen.pvalues_, p_values, rtol=1e-7)
        assert np.flatnonzero(screen.get_support()).tolist() == twin.screen(
            criterion, X, y, k=4, weight=weight, half_life=half_life
        )


def test_without_k_ten_are_kept_or_all_if_fewer():
    X, y = table(p=15)
    assert Screen().fit(X, y).get_support().sum() == 10
    assert Screen().fit(X[:, :4], y).get_support().sum() == 4


SCORES = st.lists(st.sampled_from([0.0, 1.0, 1.0, 2.0, 3.5]), min_size=1, max_size=12)


@given(SCORES, st.data())
def test_ties_go_to_the_lowest_column(scores, data):
    k = data.draw(st.integers(1, len(scores)))
    assert np.flatnonzero(best(np.array(scores), k)).tolist() == sorted(twin.best(scores, k))


def test_of_equal_columns_the_first_is_kept():
    X, y = table(p=3)
    X = np.c_[X[:, 2], X[:, 0], X[:, 2], X[:, 0], X[:, 2]]
    assert Screen(k=2).fit(X, y).get_support(indices=True).tolist() in ([0, 2], [1, 3])
    assert Screen(k=1).fit(np.c_[np.ones(60), X[:, [0, 0, 0]]], y).ranked_.tolist() == [1]
    assert Screen(k=2).fit(np.ones((60, 4))[:9], y[:9]).get_support(indices=True).tolist() == [0, 1]


P_VALUES = st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.01, 0.01, 0.05, 1.0]), min_size=1, max_size=15)


@given(P_VALUES, st.floats(0.001, 0.999))
def test_bh_is_scipys_false_discovery_control(p_values, alpha):
    mask = significant(np.array(p_values), alpha, "bh")
    adjusted = scipy.stats.false_discovery_control(p_values)
    clear = np.abs(adjusted - alpha) > 1e-12
    assert np.array_equal(mask[clear], (adjusted <= alpha)[clear])
    assert np.flatnonzero(mask).tolist() == twin.significant(p_values, alpha, "bh")


@given(P_VALUES, st.floats(0.001, 0.999))
def test_corrections_grow_stricter(p_values, alpha):
    none, bh, bonferroni = (significant(np.array(p_values), alpha, c) for c in ("none", "bh", "bonferroni"))
    assert np.all(bonferroni <= bh)
    assert np.all(bh <= none)
    assert np.flatnonzero(bonferroni).tolist() == twin.significant(p_values, alpha, "bonferroni")


def test_under_independence_bh_and_bonferroni_keep_nothing_and_plain_alpha_its_share():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 400)), np.arange(500) % 2
    kept = {
        c: Screen("f", alpha=0.05, correction=c).fit(X, y).get_support().sum()
        for c in ("none", "bonferroni", "bh")
    }
    assert kept["bonferroni"] <= kept["bh"] <= 2
    assert 8 <= kept["none"] <= 35


@pytest.mark.parametrize("k", [1, 3, 7])
def test_scikit_learns_select_k_best_agrees(k):
    X, y = table(seed=4)
    X = np.delete(X, 6, axis=1)  # it breaks ties the other way
    theirs = SelectKBest(f_classif, k=k).fit(X, y)
    ours = Screen("f", k=k).fit(X, y)
    assert np.array_equal(theirs.get_support(), ours.get_support())
    np.testing.assert_allclose(ours.scores_, theirs.scores_, rtol=1e-10)
    np.testing.assert_allclose(ours.pvalues_, theirs.pvalues_, rtol=1e-9)


def test_duplicate_entries_of_a_sparse_matrix_add_up_and_stay_as_they_are():
    y = np.array([0, 1, 0, 1])
    coo = sp.csr_array((np.ones(5), np.array([1, 1, 0, 1, 0]), np.array([0, 2, 3, 4, 5])), shape=(4, 2))
    X = coo.toarray()
    assert X[0, 1] == 2
    assert np.array_equal(Screen(k=1).fit(coo, y).scores_, Screen(k=1).fit(sp.csr_array(X), y).scores_)
    assert coo.nnz == 5


def test_a_criterion_object_is_as_good_as_its_name():
    X, y = table(classes=2)
    assert np.array_equal(Screen(AnovaF()).fit(X, y).scores_, Screen("f").fit(X, y).scores_)
    assert not np.allclose(Screen(WelchT(ddof=0)).fit(X, y).scores_, Screen("t").fit(X, y).scores_, rtol=1e-6)
