"""Scores and p-values are those of SciPy and scikit-learn, and of the slow twins where these end."""

import numpy as np
import pytest
import scipy.stats
from sklearn.feature_selection import f_classif, f_regression

from streamsieve.criteria import AnovaF, Correlation, Fisher, WelchT
from streamsieve.criteria.criterion import target_of
from tests.criteria.scoring import CRITERIA, TWINS, scored
from tests.helpers.tier import cases
from tests.summaries.streams import random_stream

FORMS = ["C", "F", "float32", "csr_array"]
each_form = pytest.mark.parametrize("form", FORMS)


def table(seed, classes=2, n=60, p=6):
    """Rows with informative features, with zeros and different spreads."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    y[: 2 * classes] = np.repeat(np.arange(classes), 2)
    X = rng.normal(size=(n, p)) * (1 + y[:, None] * rng.random(p)) + y[:, None] * rng.normal(size=p)
    X[rng.random((n, p)) < 0.2] = 0.0
    return X.astype(np.float32).astype(np.float64), y


@each_form
@pytest.mark.parametrize("seed", range(10))
def test_t_is_scipys_welch_test(form, seed):
    X, y = table(seed)
    scores, p = scored(WelchT(), X, y, form=form, batch=17)
    oracle = scipy.stats.ttest_ind(X[y == 0], X[y == 1], equal_var=False)
    np.testing.assert_allclose(scores, np.abs(oracle.statistic), rtol=1e-10)
    np.testing.assert_allclose(p, oracle.pvalue, rtol=1e-9)


@each_form
@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("seed", range(4))
def test_f_is_scipys_and_scikit_learns_analysis_of_variance(form, seed, classes):
    X, y = table(seed, classes)
    scores, p = scored(AnovaF(), X, y, form=form, batch=17)
    F, p_of_F = f_classif(X, y)
    np.testing.assert_allclose(scores, F, rtol=1e-10)
    np.testing.assert_allclose(p, p_of_F, rtol=1e-9)
    oracle = scipy.stats.f_oneway(*(X[y == c] for c in range(classes)))
    np.testing.assert_allclose(scores, oracle.statistic, rtol=1e-10)
    np.testing.assert_allclose(p, oracle.pvalue, rtol=1e-9)
    np.testing.assert_allclose(scored(Fisher(), X, y, form=form)[1], p_of_F, rtol=1e-9)


@each_form
@pytest.mark.parametrize("seed", range(8))
def test_correlation_is_scipys_and_that_of_f_regression(form, seed):
    X, _ = table(seed)
    y = X @ np.linspace(-1, 1, X.shape[1]) + np.random.default_rng(seed).normal(size=len(X)) + 50
    scores, p = scored(Correlation(), X, y, form=form, batch=17)
    for j in range(X.shape[1]):
        oracle = scipy.stats.pearsonr(X[:, j], y)
        assert scores[j] == pytest.approx(abs(oracle.statistic), rel=1e-10)
        assert p[j] == pytest.approx(oracle.pvalue, rel=1e-8)
    F, p_of_F = f_regression(X, y)
    np.testing.assert_allclose(scores**2 / (1 - scores**2) * (len(y) - 2), F, rtol=1e-8)
    np.testing.assert_allclose(p, p_of_F, rtol=1e-8)


def test_a_feature_with_missing_values_is_scored_on_its_own_rows():
    rng = np.random.default_rng(0)
    X, y = table(1, classes=3, n=120)
    target = X @ np.ones(X.shape[1]) + rng.normal(size=120)
    X[rng.random(X.shape) < 0.4] = np.nan
    F, p_of_F = scored(AnovaF(), X, y, batch=31)
    r, p_of_r = scored(Correlation(), X, target, batch=31)
    two = y < 2
    t, p_of_t = scored(WelchT(), X[two], y[two], batch=31)
    for j in range(X.shape[1]):
        there = ~np.isnan(X[:, j])
        x, c = X[there, j], y[there]
        anova = scipy.stats.f_oneway(*(x[c == k] for k in range(3)))
        assert (F[j], p_of_F[j]) == pytest.approx((anova.statistic, anova.pvalue), rel=1e-9)
        pearson = scipy.stats.pearsonr(x, target[there])
        assert (r[j], p_of_r[j]) == pytest.approx((abs(pearson.statistic), pearson.pvalue), rel=1e-8)
        welch = scipy.stats.ttest_ind(x[c == 0], x[c == 1], equal_var=False)
        assert (t[j], p_of_t[j]) == pytest.approx((abs(welch.statistic), welch.pvalue), rel=1e-9)


def assert_equal_twin(name, stream, half_life, form, batch):
    scores, p = scored(CRITERIA[name], stream.X, stream.y, stream.weight, half_life, form, batch)
    there = slice(None) if stream.weight is None else stream.weight > 0
    if not len(stream.y[there]):
        return 0
    twin = TWINS[name]
    wanted = twin.score(stream.X, stream.y, stream.weight, half_life)
    np.testing.assert_allclose(scores, wanted, rtol=1e-8, atol=1e-10)
    p_wanted = twin.p_value(stream.X, stream.y, stream.weight, half_life)
    np.testing.assert_allclose(p, p_wanted, rtol=1e-6, atol=1e-7)
    return np.count_nonzero(wanted)


@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize("half_life", [None, 3.0, 100.0])
def test_weights_missing_values_and_fading_equal_the_twin(name, half_life):
    rng = np.random.default_rng(2)
    informative = 0
    for _ in range(35):
        target = target_of(CRITERIA[name]) or "classes"
        stream = random_stream(
            rng, target, n=int(rng.integers(1, 40)), labels=(0, 1) if name == "t" else (0, 1, 2)
        )
        informative += assert_equal_twin(
            name, stream, half_life, rng.choice(["C", "F"]), int(rng.integers(1, 40))
        )
    assert informative > 25


@pytest.mark.parametrize("name", CRITERIA)
def test_sparse_rows_with_missing_values_and_whole_weights_equal_the_twin(name):
    rng = np.random.default_rng(3)
    for _ in range(cases(35)):
        target = target_of(CRITERIA[name]) or "classes"
        stream = random_stream(rng, target, n=30, labels=(0, 1) if name == "t" else (0, 1, 2))
        stream.weight = rng.integers(0, 4, 30).astype(float) if rng.random() < 0.5 else None
        assert_equal_twin(name, stream, None, "csr_array", int(rng.integers(1, 40)))


@pytest.mark.parametrize("half_life", [None, 10.0])
def test_ddof_0_divides_by_n(half_life):
    X, y = table(5)
    scores, _ = scored(WelchT(ddof=0), X, y, half_life=half_life)
    np.testing.assert_allclose(scores, TWINS["t"].score(X, y, half_life=half_life, ddof=0), rtol=1e-10)
    if half_life is None:
        a, b = X[y == 0], X[y == 1]
        error = np.sqrt(a.var(axis=0) / len(a) + b.var(axis=0) / len(b))
        np.testing.assert_allclose(scores, np.abs(a.mean(axis=0) - b.mean(axis=0)) / error, rtol=1e-10)
