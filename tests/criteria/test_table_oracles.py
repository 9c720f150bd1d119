"""Criteria over tables: equal to SciPy, scikit-learn and closed forms, and to the slow twins."""

import numpy as np
import pytest
import scipy.stats
from sklearn.feature_selection import mutual_info_classif
from sklearn.metrics import mutual_info_score
from sklearn.tree import DecisionTreeClassifier

from streamsieve.criteria import ChiSquare, Gini, MutualInfo, SymmetricUncertainty
from tests.criteria.random_tables import TABLE_CRITERIA, block, random_block, twin_p_values, twin_scores
from tests.helpers.tier import cases
from tests.reference import mutual_info

each = pytest.mark.parametrize("name", TABLE_CRITERIA)
SHAPES = [(2, 2), (2, 5), (3, 5), (7, 4), (50, 5), (2, 256)]


def full_tables(shape, features=20, seed=0):
    """Tables without empty rows and columns, some of them nearly independent."""
    rng = np.random.default_rng(seed)
    rates = rng.uniform(0.5, 30, (features, *shape))
    rates[: features // 2] = 20
    counts = rng.poisson(rates).astype(np.float64)
    counts[:, :, 0] += 1
    counts[:, 0, :] += 1
    return counts


def rows_of(table):
    """Spread a table out into one (class, bin) a row."""
    cells = np.argwhere(table > 0)
    return np.repeat(cells, table[table > 0].astype(int), axis=0).T


@each
@pytest.mark.parametrize("seed", range(6))
def test_thousands_of_tables_equal_the_twins(name, seed):
    rng = np.random.default_rng(seed)
    told = 0
    for _ in range(cases(50)):
        tables = random_block(rng)
        scores, p = TABLE_CRITERIA[name].score(tables), TABLE_CRITERIA[name].p_value(tables)
        wanted = twin_scores(name, tables)
        # the entropy of what is almost certain, a sum of -p ln p, has few digits
        np.testing.assert_allclose(scores, wanted, rtol=1e-6 if name == "su" else 1e-11, atol=1e-14)
        np.testing.assert_allclose(p, twin_p_values(name, tables), rtol=1e-9, atol=1e-200)
        told += np.count_nonzero((p > 0) & (p < 1))
    assert told > cases(100)


@pytest.mark.parametrize("seed", range(3))
def test_corrected_information_equals_the_twin(seed):
    rng = np.random.default_rng(seed)
    criterion, positive = MutualInfo(bias_correction="miller_madow"), 0
    for _ in range(50):
        tables = random_block(rng)
        wanted = [
            mutual_info.score_of(table, n, "miller_madow")
            for table, n in zip(tables.counts.tolist(), tables.n, strict=True)
        ]
        np.testing.assert_allclose(criterion.score(tables), wanted, rtol=1e-11, atol=1e-14)
        positive += np.count_nonzero(wanted)
    assert positive > 50


@pytest.mark.parametrize("shape", SHAPES)
def test_chi2_is_scipys_without_continuity_correction(shape):
    counts = full_tables(shape)
    scores, p = ChiSquare().score(block(counts)), ChiSquare().p_value(block(counts))
    for table, score, chance in zip(counts, scores, p, strict=True):
        oracle = scipy.stats.chi2_contingency(table, correction=False)
        assert score == pytest.approx(oracle.statistic, rel=1e-12)
        assert chance == pytest.approx(oracle.pvalue, rel=1e-10)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["mutual_info", "gini", "su"])
def test_p_values_are_those_of_scipys_likelihood_ratio_test(name, shape):
    counts = full_tables(shape)
    p = TABLE_CRITERIA[name].p_value(block(counts))
    information = MutualInfo().score(block(counts))
    for table, chance, nats in zip(counts, p, information, strict=True):
        oracle = scipy.stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")
        assert 2 * table.sum() * nats == pytest.approx(oracle.statistic, rel=1e-11)
        assert chance == pytest.approx(oracle.pvalue, rel=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_information_is_scikit_learns(shape):
    counts = full_tables(shape)
    scores = MutualInfo().score(block(counts))
    for table, score in zip(counts, scores, strict=True):
        assert score == pytest.approx(mutual_info_score(None, None, contingency=table), rel=1e-9, abs=1e-13)
        y, x = rows_of(table)
        assert score == pytest.approx(mutual_info_classif(x[:, None], y, discrete_features=True)[0], rel=1e-9)


def test_chi2_of_a_fourfold_table_is_the_closed_form():
    counts = full_tables((2, 2), features=500)
    (a, b), (c, d) = counts.transpose(1, 2, 0)
    n = a + b + c + d
    closed = n * (a * d - b * c) ** 2 / ((a + b) * (c + d) * (a + c) * (b + d))
    np.testing.assert_allclose(ChiSquare().score(block(counts)), closed, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("shape", [(2, 2), (2, 5), (3, 5), (7, 9)])
def test_gini_is_the_impurity_of_scikit_learns_stump(shape):
    counts = full_tables(shape)
    scores = Gini().score(block(counts))
    for table, score in zip(counts, scores, strict=True):
        y, x = rows_of(table)
        tree = DecisionTreeClassifier(max_depth=1).fit(x[:, None], y).tree_
        leaves = tree.children_left < 0
        share = tree.weighted_n_node_samples[leaves] / tree.weighted_n_node_samples[0]
        assert score == pytest.approx(-(share @ tree.impurity[leaves]), rel=1e-12)


def test_gini_is_not_clipped_at_one_half():
    counts = np.eye(4) + 1  # the best of its splits still leaves more than half
    assert Gini().score(block(counts))[0] < -0.5


def test_symmetric_uncertainty_is_that_of_scipys_entropies():
    counts = full_tables((3, 5))
    scores = SymmetricUncertainty().score(block(counts))
    for table, score in zip(counts, scores, strict=True):
        h = [scipy.stats.entropy(masses) for masses in (table.sum(axis=0), table.sum(axis=1), table.ravel())]
        assert score == pytest.approx(2 * (h[0] + h[1] - h[2]) / (h[0] + h[1]), rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("shape", [(2, 5), (3, 5), (2, 20)])
def test_corrected_information_of_independent_data_is_about_0_on_average(shape):
    counts = np.random.default_rng(0).multinomial(2000, np.full(np.prod(shape), 1 / np.prod(shape)), 2000)
    tables = block(counts.reshape(-1, *shape))
    plain = MutualInfo().score(tables).mean()
    bias = (shape[0] - 1) * (shape[1] - 1) / (2 * 2000)
    assert plain == pytest.approx(bias, rel=0.1)
    corrected = MutualInfo(bias_correction="miller_madow").score(tables).mean()
    assert corrected < 0.6 * plain  # not 0: what falls below 0 is set to 0


@each
def test_p_values_of_independent_data_are_uniform(name):
    rng = np.random.default_rng(1)
    counts = rng.multinomial(5000, np.outer([0.3, 0.3, 0.4], np.full(5, 0.2)).ravel(), 4000)
    p = TABLE_CRITERIA[name].p_value(block(counts.reshape(-1, 3, 5)))
    assert scipy.stats.kstest(p, "uniform").pvalue > 1e-3
