"""Correlation over dependent rows against a slow twin, statsmodels, and simulated null distributions."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats
from scipy.signal import lfilter

from streamsieve.decisions import CONSTANT, UNRELIABLE
from streamsieve.independence import FisherZ
from streamsieve.independence.dependent_rows import (
    ClusterRobustCorrelation,
    GroupMeans,
    SerialCorrelation,
    autocorrelated,
    default_lag,
)
from streamsieve.independence.dependent_rows.serial import MOST_DIRECT, autocovariances
from streamsieve.protocols import Task
from tests.helpers.tier import cases
from tests.reference import dependent_rows as twin


def ar(rng, n, m, phi):
    """Return m autoregressive columns over n rows."""
    return lfilter([1], [1, -phi], rng.normal(size=(n + 200, m)), axis=0)[200:]


def stream(rng, task, n=60, m=6):
    """Return columns, a target and groups, none of them independent by rows."""
    X, latent = ar(rng, n, m, 0.6), ar(rng, n, 1, 0.6)[:, 0]
    X[:, 0] += latent
    X[:, 1] = rng.integers(0, 2, n) + 1e6
    X[:, 2] = np.where(rng.random(n) < 0.7, 0.0, X[:, 2])
    y = {
        Task.REGRESSION: latent,
        Task.BINARY: latent > 0,
        Task.MULTICLASS: np.digitize(latent, [-0.8, 0, 0.8]),
    }[task]
    return X, np.asarray(y), rng.integers(0, 12, n)


def labels(task):
    return task is Task.MULTICLASS


def as_if_independent(x, y, task):
    """Return the p-value over independent rows by SciPy."""
    if labels(task):
        return scipy.stats.f_oneway(*(x[y == c] for c in np.unique(y))).pvalue
    return scipy.stats.pearsonr(x, y.astype(float)).pvalue


def coded(groups):
    return np.unique(groups, return_inverse=True)[1]


@pytest.mark.parametrize("task", list(Task))
@pytest.mark.parametrize("seed", range(cases(15)))
def test_serial_p_values_equal_the_twin(task, seed):
    rng = np.random.default_rng(seed)
    X, y, _ = stream(rng, task, n=int(rng.integers(12, 70)))
    lag = int(rng.integers(1, len(y) // 2))
    test = SerialCorrelation(FisherZ(y, task, 0.05, p_value="t"), lag)
    found = test.measure(X)
    for j, x in enumerate(X.T):
        given = X[:, rng.permutation([i for i in range(6) if i != j])[: rng.integers(0, 4)]]
        for conditioned in (np.zeros((len(y), 0)), given):
            r, p = twin.serial(x, y, conditioned, lag, labels=labels(task))
            np.testing.assert_allclose(test.conditional(x, conditioned), (r, p), rtol=1e-6, atol=1e-9)
        r, p = twin.serial(x, y, np.zeros((len(y), 0)), lag, labels=labels(task))
        p = max(p, as_if_independent(x, y, task))
        assert abs(found.statistic[j]) == pytest.approx(r, abs=1e-9)
        assert found.p_value[j] == pytest.approx(1.0 if np.isnan(p) else p, rel=1e-6)


@pytest.mark.parametrize("task", list(Task))
@pytest.mark.parametrize("seed", range(cases(15)))
def test_cluster_robust_p_values_equal_the_twin(task, seed):
    rng = np.random.default_rng(seed)
    X, y, groups = stream(rng, task)
    groups = coded(groups)
    test = ClusterRobustCorrelation(FisherZ(y, task, 0.05, p_value="t"), groups)
    found = test.measure(X)
    for j, x in enumerate(X.T):
        given = X[:, rng.permutation([i for i in range(6) if i != j])[: rng.integers(0, 4)]]
        for conditioned in (np.zeros((len(y), 0)), given):
            _, p = twin.clustered(x, y, conditioned, groups, labels=labels(task))
            assert test.conditional(x, conditioned)[1] == pytest.approx(p, rel=1e-6, nan_ok=True)
        _, p = twin.clustered(x, y, np.zeros((len(y), 0)), groups, labels=labels(task))
        p = max(p, as_if_independent(x, y, task))
        assert found.p_value[j] == pytest.approx(1.0 if np.isnan(p) else p, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_cluster_sums_equal_those_of_statsmodels(seed):
    """CR0 of statsmodels is the same sandwich without the correction for leverage."""
    api = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(seed)
    X, y, groups = stream(rng, Task.REGRESSION)
    groups, x, given = coded(groups), X[:, 0], X[:, 3:5]
    design = np.column_stack([np.ones(len(x)), x, given])
    options = {"groups": groups, "use_correction": False}
    fit = api.OLS(y, design).fit(cov_type="cluster", cov_kwds=options)
    left, target = twin.residuals(x, given), twin.residuals(y, given)
    b = left @ target / (left @ left)
    u = np.bincount(groups, left * (target - b * left))
    assert fit.params[1] == pytest.approx(b)
    assert fit.bse[1] == pytest.approx(np.sqrt((u**2).sum()) / (left @ left))
    # with many groups of one size the corrections vanish, and so does the difference
    big = np.repeat(np.arange(2000), 3)
    x, y = (
        rng.normal(size=6000) + rng.normal(size=2000)[big],
        rng.normal(size=6000) + rng.normal(size=2000)[big],
    )
    x += 0.05 * y
    fit = api.OLS(y, api.add_constant(x)).fit(cov_type="cluster", cov_kwds={"groups": big}, use_t=True)
    test = ClusterRobustCorrelation(FisherZ(y, Task.REGRESSION, 0.05), big)
    assert np.log(test.measure(x[:, None]).p_value[0]) == pytest.approx(np.log(fit.pvalues[1]), rel=0.02)


@pytest.mark.parametrize("seed", range(3))
def test_long_series_agree_with_hac_of_statsmodels(seed):
    """Both estimate the variance of the same slope; they differ by estimation error only."""
    api = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(seed)
    x, y = ar(rng, 20_000, 2, 0.7).T
    fit = api.OLS(y, api.add_constant(x)).fit(cov_type="HAC", cov_kwds={"maxlags": 60})
    plain = api.OLS(y, api.add_constant(x)).fit()
    test = SerialCorrelation(FisherZ(y, Task.REGRESSION, 0.05), default_lag(20_000))
    z = (x - x.mean()) / np.sqrt(((x - x.mean()) ** 2).sum())
    deff = 20_000 / test.effective_rows(z[None, :])[0]
    assert deff == pytest.approx((fit.bse[1] / plain.bse[1]) ** 2, rel=0.15)
    assert deff == pytest.approx((1 + 0.49) / (1 - 0.49), rel=0.1)


def test_long_lags_take_another_way_to_the_same_sums():
    Z = ar(np.random.default_rng(0), 2000, 3, 0.9).T.copy()
    direct, transformed = autocovariances(Z, MOST_DIRECT), autocovariances(Z, MOST_DIRECT + 1)
    np.testing.assert_allclose(transformed[:, :-1], direct, rtol=1e-9, atol=1e-9 * np.abs(direct).max())
    np.testing.assert_array_equal(autocovariances(Z[1:2], MOST_DIRECT + 1)[0], transformed[1])


@pytest.mark.parametrize("form", [np.asfortranarray, sp.csc_array])
@pytest.mark.parametrize("make", ["serial", "clusters"])
@pytest.mark.parametrize("task", list(Task))
def test_blocks_and_forms_do_not_matter(form, make, task):
    rng = np.random.default_rng(3)
    X, y, groups = stream(rng, task, m=20)
    X[:, 4] = 7.0
    independent = FisherZ(y, task, 0.05)
    test = (
        SerialCorrelation(independent, 9)
        if make == "serial"
        else ClusterRobustCorrelation(independent, coded(groups))
    )
    whole = test.measure(form(X))
    assert whole.reason[4] == CONSTANT
    for j in range(20):
        one = test.measure(form(X[:, [j]]))
        # to the last bit; for many classes the correlation ratio of a block is a product of matrices
        tolerance = 1e-12 if labels(task) else 0
        assert one.p_value[0] == pytest.approx(whole.p_value[j], rel=tolerance, abs=0)
        assert one.statistic[0] == pytest.approx(whole.statistic[j], rel=1e-12)
    np.testing.assert_allclose(test.measure(X).p_value, whole.p_value, rtol=1e-9)
    again = type(test).from_state(test.state())
    np.testing.assert_array_equal(again.measure(form(X)).p_value, whole.p_value)


@pytest.mark.parametrize("make", ["serial", "clusters"])
def test_nasty_columns(make):
    rng = np.random.default_rng(5)
    X, y, groups = stream(rng, Task.REGRESSION)
    independent = FisherZ(y, Task.REGRESSION, 0.05)
    test = (
        SerialCorrelation(independent, 9)
        if make == "serial"
        else ClusterRobustCorrelation(independent, coded(groups))
    )
    single = np.zeros(60)
    single[7] = 1.0
    found = test.measure(np.column_stack([y, -2 * y + 1e9, single, 1e-90 * X[:, 0], 1e90 * X[:, 0], X[:, 0]]))
    assert found.p_value[0] < 1e-8
    assert found.p_value[1] < 1e-8
    np.testing.assert_allclose(found.p_value[3:5], found.p_value[5], rtol=1e-9)
    if make == "clusters":  # it varies in one group, which shows nothing of the variation between groups
        assert found.reason[2] == UNRELIABLE
        assert found.p_value[2] == 1
    # copies, constants and linear functions in the conditioning set, and of it
    x, z = X[:, 0], X[:, 3]
    alone = test.conditional(x, z[:, None])
    np.testing.assert_allclose(test.conditional(x, np.column_stack([z, 2 * z - 1])), alone, rtol=1e-6)
    assert test.conditional(2 * z + 1, z[:, None]) == (0.0, 1.0)
    assert test.conditional(x, np.column_stack([z, y])) == (0.0, 1.0)


def test_effective_rows_are_at_least_3_and_at_most_n():
    n = 100
    trend = np.arange(n, dtype=float)
    alternating = np.where(np.arange(n) % 2, 1.0, -1.0)
    test = SerialCorrelation(FisherZ(trend, Task.REGRESSION, 0.05), 25)
    Z = np.array([trend - trend.mean(), alternating])
    Z /= np.sqrt((Z**2).sum(axis=1, keepdims=True))
    few, all_ = test.effective_rows(Z)
    assert 3 <= few < 5
    assert all_ == 100


# ------------------------------------------------------------------------------------ group means


@pytest.mark.parametrize("form", [np.asfortranarray, np.ascontiguousarray, sp.csc_array])
def test_group_means_equal_the_twin(form):
    rng = np.random.default_rng(0)
    for _ in range(cases(50)):
        n = int(rng.integers(5, 40))
        groups = coded(rng.integers(0, 6, n))
        X = np.where(rng.random((n, 7)) < 0.6, 0.0, rng.normal(size=(n, 7)))
        X[:, 5], X[:, 6] = 0.1, rng.integers(0, 9, groups.max() + 1)[groups]
        found = GroupMeans(groups).of(form(X))
        found = found.toarray() if sp.issparse(found) else found
        np.testing.assert_allclose(found, twin.group_means(X, groups), rtol=1e-12, atol=1e-15)
        assert np.all(found[:, 5] == 0.1)  # a constant stays one, and so do codes
        assert np.all(found[:, 6] == np.round(found[:, 6]))


@pytest.mark.parametrize("form", [np.asfortranarray, sp.csc_array])
def test_group_means_leave_missing_values_out(form):
    X = np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, 4.0], [5.0, 6.0]])
    found = GroupMeans(np.array([0, 0, 1, 1])).of(form(X))
    found = found.toarray() if sp.issparse(found) else found
    np.testing.assert_array_equal(found, [[2.0, np.nan], [5.0, 5.0]])


# ------------------------------------------------------------------------------------ sizes


def rejected(p, levels=(0.05, 0.01, 0.001)):
    return np.array([np.mean(p <= level) for level in levels])


@pytest.mark.parametrize(("n", "phi"), [(200, 0.0), (200, 0.5), (200, 0.8), (1000, 0.8), (1000, 0.95)])
def test_serial_tests_keep_their_level(n, phi):
    """Measured in the full tier: .05/.01/.001 within 3 standard errors of the many columns per target."""
    rng, p, plain = np.random.default_rng(8), [], []
    for _ in range(cases(40, 8)):
        y, X = ar(rng, n, 1, phi)[:, 0], ar(rng, n, 200, phi)
        independent = FisherZ(y, Task.REGRESSION, 0.05)
        p.append(SerialCorrelation(independent, default_lag(n)).measure(X).p_value)
        plain.append(np.asarray(independent.measure(X).p_value[:]))
    sizes, naive = rejected(np.concatenate(p)), rejected(np.concatenate(plain))
    assert np.all(sizes <= [0.075, 0.02, 0.005])
    assert np.all(sizes[:2] >= [0.03, 0.003])
    if phi >= 0.8:  # what independent rows would have been taken for
        assert naive[1] > 0.15


@pytest.mark.parametrize(("n_groups", "size", "constant"), [(10, 20, False), (30, 10, False), (30, 10, True)])
def test_grouped_tests_keep_their_level(n_groups, size, constant):
    rng, p, plain = np.random.default_rng(9), [], []
    groups = np.repeat(np.arange(n_groups), size)
    for _ in range(cases(40, 10)):
        X = rng.normal(size=(n_groups * size, 200)) * 0.84 + 0.55 * rng.normal(size=(n_groups, 200))[groups]
        y = 0.55 * rng.normal(size=n_groups)[groups]
        y = y if constant else y + 0.84 * rng.normal(size=n_groups * size)
        independent = FisherZ(y, Task.REGRESSION, 0.05)
        plain.append(np.asarray(independent.measure(X).p_value[:]))
        if constant:
            over_groups = FisherZ(y[::size], Task.REGRESSION, 0.05)
            p.append(np.asarray(over_groups.measure(GroupMeans(groups).of(X)).p_value[:]))
        else:
            p.append(ClusterRobustCorrelation(independent, groups).measure(X).p_value)
    sizes, naive = rejected(np.concatenate(p)), rejected(np.concatenate(plain))
    assert np.all(sizes <= [0.07, 0.018, 0.004])
    assert sizes[0] >= 0.03
    assert naive[1] > 0.03


# ------------------------------------------------------------------------------------ the detector


def test_independent_rows_are_no_time_series():
    rng, alarms = np.random.default_rng(0), 0
    for _ in range(cases(5000, 1000)):
        n = int(rng.integers(20, 300))
        alarms += autocorrelated(rng.normal(size=n), Task.REGRESSION) is not None
        alarms += autocorrelated(np.exp(3 * rng.normal(size=n)), Task.REGRESSION) is not None
        alarms += autocorrelated(np.r_[True, rng.random(n) < 0.1], Task.BINARY) is not None
        alarms += autocorrelated(rng.integers(0, 6, n), Task.MULTICLASS) is not None
    assert alarms <= cases(20, 5)


@pytest.mark.parametrize("task", list(Task))
def test_time_series_are_seen(task):
    rng = np.random.default_rng(1)
    y = ar(rng, 300, 1, 0.9)[:, 0]
    y = {Task.REGRESSION: y, Task.BINARY: y > 0, Task.MULTICLASS: np.digitize(y, [-2, 0, 2])}[task]
    assert autocorrelated(y, task) > 0.35
    assert autocorrelated(rng.permutation(y), task) is None


@pytest.mark.parametrize(
    "y",
    [
        np.repeat([0, 1], 50), np.repeat([2, 0, 1], 40), np.tile([0, 1], 60), np.tile([0, 1, 2], 40),
        np.tile(np.repeat([0, 1], 50), 3),
    ],
)  # fmt: skip
def test_sorted_labels_and_designs_are_no_time_series(y):
    assert autocorrelated(y, Task.BINARY if y.max() == 1 else Task.MULTICLASS) is None


def test_sorted_numbers_are_no_time_series():
    y = np.sort(np.random.default_rng(0).normal(size=200))
    for sorted_ in (y, -y, np.r_[y, y], np.round(y)):
        assert autocorrelated(sorted_, Task.REGRESSION) is None
