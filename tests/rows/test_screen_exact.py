"""A screen with exact=True scores as the definition says, whatever the number of rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import chi2_contingency, entropy, ttest_ind
from sklearn.feature_selection import f_classif, r_regression
from sklearn.metrics import mutual_info_score
from sklearn.tree import DecisionTreeClassifier

import streamsieve as ss
from streamsieve import criteria
from streamsieve.exceptions import MergeError, ParameterError, StateError
from streamsieve.summaries import SortedColumns
from tests.reference import chi2, gini, mutual_info, su

TWINS = {"mutual_info": mutual_info, "chi2": chi2, "su": su}


def data(rng, n, p=6):
    y = rng.integers(0, 3, n)
    X = np.round(rng.normal(size=(n, p)) + np.outer(y, rng.random(p)), 1)
    X[:, 3] *= rng.random(n) < 0.3
    X[:, 4] = 2.0
    return X, y


def all_thresholds(X, y, weight=None):
    """Return the scores of the best of all splits, by the twin over tables of distinct values."""
    weight = np.ones(len(y)) if weight is None else weight
    scores = []
    for x in X.T:
        there = ~np.isnan(x)
        levels = np.unique(x[there])
        table = [[weight[there & (y == c) & (x == v)].sum() for v in levels] for c in np.unique(y)]
        scores.append(gini.score_of(table, len(y)) if len(levels) else -1.0)
    return np.array(scores)


@pytest.mark.parametrize("name", TWINS)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_scores_over_bins_equal_the_twins(name, form):
    rng = np.random.default_rng(0)
    for case in range(15):
        X, y = data(rng, int(rng.integers(5, 60)))
        weight = None if case % 3 else rng.integers(0, 4, len(y)).astype(float)
        if case % 2 and form is np.asarray:
            X[rng.random(X.shape) < 0.1] = np.nan
        found = ss.Screen(name, exact=True).fit(form(X), y, weight)
        np.testing.assert_allclose(found.scores_, TWINS[name].score(X, y, weight), rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(found.pvalues_, TWINS[name].p_value(X, y, weight), rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_gini_tries_every_threshold(form):
    rng = np.random.default_rng(1)
    better = 0
    for case in range(20):
        X, y = data(rng, int(rng.integers(5, 60)))
        weight = None if case % 3 else rng.random(len(y)) + 0.1
        expected = all_thresholds(X, y, weight)
        np.testing.assert_allclose(ss.Screen("gini", exact=True).fit(form(X), y, weight).scores_, expected)
        better += np.any(expected > ss.Screen("gini").fit(form(X), y, weight).scores_ + 1e-9)
    assert better > 10


def test_a_numeric_target_is_cut_where_all_rows_say():
    rng = np.random.default_rng(2)
    y = np.concatenate([rng.normal(size=1500), 5 + rng.normal(size=1500)])  # not as the first 1,024 do
    X = rng.normal(size=(3000, 3)) + np.outer(y, [0, 0.5, 1])
    cuts = np.sort(y)[np.arange(1, 5) * 600 - 1]
    expected = mutual_info.score(X, np.searchsorted(cuts, y))
    np.testing.assert_allclose(ss.Screen("mutual_info", exact=True).fit(X, y).scores_, expected, rtol=1e-9)
    assert not np.allclose(ss.Screen("mutual_info").fit(X, y).scores_, expected, rtol=1e-3)


def test_many_rows_have_no_error_where_a_summary_has_some():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 6000)
    X = rng.normal(size=(6000, 4)) + np.outer(y, [0, 0.1, 0.5, 1])
    ranks = np.argsort(np.argsort(X, axis=0), axis=0)  # no two values are equal: bins of 1,200
    tables = np.array(
        [[np.bincount(ranks[y == c, j] // 1200, minlength=5) for c in (0, 1)] for j in range(4)]
    )
    expected = [mutual_info.information(table) for table in tables.tolist()]
    np.testing.assert_allclose(ss.Screen("mutual_info", exact=True).fit(X, y).scores_, expected, rtol=1e-10)
    coarse = ss.Screen("mutual_info", max_rank_error=0.02).fit(X, y).scores_
    assert not np.allclose(coarse, expected, rtol=1e-10)
    np.testing.assert_allclose(coarse, expected, atol=0.02)


def closed_forms(X, y):
    """Return scores by scikit-learn and SciPy; no two values of a feature are equal."""
    n = len(y)
    bins = np.minimum(np.argsort(np.argsort(X, axis=0), axis=0) // (n // 5), 4)
    tables = [np.array([np.bincount(b[y == c], minlength=5) for c in (0, 1)]) for b in bins.T]
    information = np.array([mutual_info_score(y, b) for b in bins.T])
    entropies = np.array([entropy(t.sum(axis=0)) + entropy(t.sum(axis=1)) for t in tables])
    stumps = [DecisionTreeClassifier(max_depth=1).fit(X[:, [j]], y).tree_ for j in range(X.shape[1])]
    left = [t.weighted_n_node_samples[1:] @ t.impurity[1:] / n for t in stumps]
    f = f_classif(X, y)[0]
    return {
        "t": np.abs(ttest_ind(X[y == 0], X[y == 1], equal_var=False).statistic),
        "f": f,
        "fisher": f / (n - 2),
        "mutual_info": information,
        "su": 2 * information / entropies,
        "chi2": np.array([chi2_contingency(t, correction=False).statistic for t in tables]),
        "gini": -np.array(left),
    }


def test_scores_are_those_of_scikit_learn_and_scipy():
    rng = np.random.default_rng(9)
    y = rng.permutation(np.arange(103) % 2)
    X = rng.normal(size=(103, 5)) + np.outer(y, [0, 0.3, 0.6, 1, 5])
    for name, expected in closed_forms(X, y).items():
        np.testing.assert_allclose(
            ss.Screen(name, exact=True).fit(X, y).scores_, expected, rtol=1e-9, atol=1e-12, err_msg=name
        )
    z = X[:, 2] + rng.normal(size=103)
    np.testing.assert_allclose(
        ss.Screen("correlation", exact=True).fit(X, z).scores_, np.abs(r_regression(X, z)), rtol=1e-9
    )


@pytest.mark.parametrize("name", ["t", "f", "fisher"])
def test_criteria_over_sums_are_as_they_were(name):
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 50)
    X = rng.normal(size=(50, 4)) + y[:, None]
    assert np.array_equal(ss.Screen(name, exact=True).fit(X, y).scores_, ss.Screen(name).fit(X, y).scores_)


def test_levels_stay_levels():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 50)
    X = rng.integers(0, 4, (50, 3)).astype(float)
    formula = criteria.MutualInfo(discrete=True)
    assert np.array_equal(
        ss.Screen(formula, exact=True).fit(X, y).scores_, ss.Screen(formula).fit(X, y).scores_
    )


@pytest.mark.parametrize("way", [{"half_life": 100}, {"window": 50}, {"on_drift": "reset"}])
def test_keeping_and_forgetting_exclude_each_other(way):
    (name,) = way
    with pytest.raises(ParameterError, match=rf"exact=True keeps all rows, but {name}=.* forgets them"):
        ss.Screen("mutual_info", exact=True, **way).fit(np.eye(4), [0, 1] * 2)


# ------------------------------------------------------------------------------------ the memory


def test_rows_come_back_from_a_state_and_merge_in_order():
    rng = np.random.default_rng(6)
    X, y = data(rng, 60)
    whole, parts = SortedColumns(), [SortedColumns(), SortedColumns()]
    whole.update(X, y)
    parts[0].update(X[:25], y[:25])
    parts[1].update(X[25:], y[25:])
    parts[0].merge(SortedColumns.from_state(parts[1].state()))
    (a,), (b,) = whole.tables(4), parts[0].tables(4)
    assert np.array_equal(a.counts, b.counts)
    assert np.array_equal(whole.purities(), parts[0].purities())
    assert whole.classes == [0, 1, 2]
    assert (whole.n_rows, whole.n_features) == (60, 6)
    assert whole.nbytes >= X.nbytes
    with pytest.raises(MergeError, match="sorted columns only merge with sorted columns, not with a list"):
        whole.merge([])
    with pytest.raises(StateError):
        SortedColumns.from_state({})


def test_blocks_of_columns_change_nothing(monkeypatch):
    rng = np.random.default_rng(7)
    X, y = data(rng, 40)
    for form in (X, sp.csr_array(X)):
        columns = SortedColumns()
        columns.update(form, y)
        tables, purities = np.concatenate([b.counts for b in columns.tables(3)]), columns.purities()
        with monkeypatch.context() as patch:
            patch.setattr("streamsieve.summaries.windows.sorted_columns.BLOCK_VALUES", 90)
            assert np.array_equal(np.concatenate([b.counts for b in columns.tables(3)]), tables)
            assert np.array_equal(columns.purities(), purities)


def test_forgotten_and_moved_features():
    rng = np.random.default_rng(8)
    X, y = data(rng, 30, 3 + 2)
    columns = SortedColumns()
    columns.update(X, y)
    moved = columns.reindexed(np.array([2, 0, 1, 4, 3]), 5)
    assert np.array_equal(moved.purities()[[2, 0, 1, 4, 3]], columns.purities())
    columns.forget(np.array([1]))
    assert columns.purities()[1] == -1.0
    assert not next(columns.tables(3)).counts[1].any()
    empty = SortedColumns()
    assert list(empty.tables(3)) == []
    assert len(empty.purities()) == 0
