"""Fisher's z and the correlation ratio against scipy.stats, over any rows, in any form."""

import numpy as np
import pytest
import scipy
import scipy.sparse as sp
import scipy.stats

from streamsieve.independence import FisherZ
from streamsieve.independence.correlation_p_values import critical_given, p_value_given
from streamsieve.protocols import Reason, Task
from tests.helpers.tier import cases
from tests.reference import fisher_z as twin

FORMS = {
    "row by row": np.ascontiguousarray,
    "column by column": np.asfortranarray,
    "csc_array": sp.csc_array,
    "every second row of a view": lambda X: np.repeat(X, 2, axis=0)[::2],
}


SCIPY = tuple(map(int, scipy.__version__.split(".")[:2]))
#: Rows that a test given nothing takes up.
LOST = {"t": 2, "z": 3}
BOTH_WAYS = pytest.mark.parametrize("way", LOST)


def by_scipy(x, y, way):
    """Return r by scipy, and its p-value: scipy's own, or by Fisher's transformation."""
    found = scipy.stats.pearsonr(x, y)
    if way == "t":
        return found.statistic, found.pvalue
    return found.statistic, 2 * scipy.stats.norm.sf(abs(np.arctanh(found.statistic)) * np.sqrt(len(x) - 3))


@BOTH_WAYS
@pytest.mark.parametrize("alpha", [1e-200, 1e-6, 0.001, 0.01, 0.05, 0.5, 0.99])
@pytest.mark.parametrize("conditioned", [0, 1, 3])
def test_the_critical_correlation_is_where_the_p_value_is_alpha(alpha, conditioned, way):
    for n in (4 + conditioned, 10, 100, 10_000, 10_000_000):
        freedom = np.array(n - conditioned - LOST[way])
        r = critical_given(alpha, freedom, way=way)
        if alpha > 1e-100 or SCIPY >= (1, 14):  # before, its quantile of t is wrong that far in the tail
            assert r == pytest.approx(twin.critical(alpha, n, conditioned, way), rel=1e-9)
        if r < 1 - 1e-9:
            assert p_value_given(r, freedom, way=way) == pytest.approx(alpha, rel=1e-5)


@BOTH_WAYS
def test_without_degrees_of_freedom_nothing_is_significant(way):
    freedom = np.array([0, -1, -7])
    assert np.all(critical_given(0.99, freedom, way=way) == np.inf)
    np.testing.assert_array_equal(p_value_given(np.array([0.0, 0.5, -0.9]), freedom, way=way), 1.0)


@BOTH_WAYS
def test_p_values_fall_from_1_to_0_as_correlations_grow(way):
    r = np.array([0.0, 0.1, -0.2, 0.5, -0.9, 0.999, 1.0, -1.0, 1.0 + 1e-15])
    p = p_value_given(r, np.array(30 - LOST[way]), way=way)
    wanted = [twin.p_value(float(v), 30, way=way) for v in r]
    np.testing.assert_allclose(p, wanted, rtol=1e-11)
    assert p[0] == 1.0
    assert np.all(np.diff(p) <= 0)


@pytest.mark.parametrize(
    ("level", "n", "k", "ratio"), [(1e-4, 8, 0, 5.1), (1e-6, 12, 0, 15), (1e-6, 12, 3, 29)]
)
def test_fishers_z_is_liberal_in_the_tail_and_t_is_not(level, n, k, ratio):
    """Under normality t is exact, so its p-value at z's critical value is the true size of z."""
    r = critical_given(level, np.array(n - k - 3), way="z")
    assert p_value_given(r, np.array(n - k - 2)) / level == pytest.approx(ratio, rel=0.05)
    r = critical_given(level, np.array(n - k - 2))
    assert p_value_given(r, np.array(n - k - 2)) == pytest.approx(level, rel=1e-9)


def bound(task, n=30, way="t"):
    """Return a test over n rows: two or five classes, or numbers."""
    y = {
        Task.BINARY: np.arange(n) % 2,
        Task.MULTICLASS: np.arange(n) % 5,
        Task.REGRESSION: np.arange(n) + 0.5,
    }
    return FisherZ(y[task], task, 0.03, p_value=way)


@BOTH_WAYS
@pytest.mark.parametrize("task", Task)
def test_degrees_of_freedom_fall_by_one_for_every_column_given(task, way):
    test = bound(task, way=way)
    first = 25 if task is Task.MULTICLASS else 30 - LOST[way]  # n - C, n - 2, n - 3
    assert [test.freedom(k) for k in range(4)] == [first, first - 1, first - 2, first - 3]


@BOTH_WAYS
@pytest.mark.parametrize("task", Task)
def test_the_share_that_is_left_at_independence_belongs_to_the_critical_correlation(task, way):
    test = bound(task, way=way)
    assert 1 - test.share_left() == pytest.approx(test.critical**2, rel=1e-12)
    for k in range(4):
        many = task is Task.MULTICLASS
        wanted = twin.ratio_critical(0.03, 30 - k, 5) if many else twin.critical(0.03, 30, k, way)
        assert 1 - test.share_left(k) == pytest.approx(wanted**2, rel=1e-9)
        r = np.array([wanted])
        p = test.p_value_of(r, np.array([test.freedom(k)]))
        assert p[0] == pytest.approx(0.03, rel=1e-9)


@BOTH_WAYS
@pytest.mark.parametrize("task", Task)
def test_without_freedom_every_share_means_independence(task, way):
    test = bound(task, 6, way)
    sizes = range(test.freedom(), 9)
    assert all(test.share_left(k) == -1 for k in sizes)
    assert test.share_left(test.freedom() - 1) > 0
    freedom = np.array([test.freedom(k) for k in sizes])
    np.testing.assert_array_equal(test.p_value_of(freedom * 0 + 0.99, freedom), 1.0)


@BOTH_WAYS
def test_p_values_go_by_their_own_degrees_of_freedom(way):
    r, freedom = np.array([0.2, -0.5, 1.0, 0.0, 0.9]), np.array([40, 3, 7, 2, 0])
    wanted = [twin.p_value(float(a), int(f) + LOST[way], way=way) for a, f in zip(r, freedom, strict=True)]
    np.testing.assert_allclose(p_value_given(r, freedom, way=way), wanted, rtol=1e-12)
    wanted = [
        twin.ratio_p_value(abs(float(a)), int(f) + 4, 4) for a, f in zip(r[:4], freedom[:4], strict=True)
    ]
    np.testing.assert_allclose(p_value_given(r, freedom, 3, way), [*wanted, 1.0], rtol=1e-12)


def test_the_ratio_given_columns_is_the_analysis_of_covariance():
    """F of leaving the classes out of a least squares model of x, next to the columns given."""
    rng = np.random.default_rng(7)
    for _ in range(10):
        y = np.concatenate([np.arange(4), rng.integers(0, 4, 36)])
        Z = rng.normal(size=(40, int(rng.integers(1, 4)))) + (y[:, None] == 1)
        x = Z.sum(axis=1) + 0.7 * (y == 2) + rng.normal(size=40)
        classes = (y[:, None] == np.arange(4)).astype(float)
        small, large = np.column_stack([np.ones(40), Z]), np.column_stack([classes, Z])
        rss = [np.sum((x - A @ np.linalg.lstsq(A, x, rcond=None)[0]) ** 2) for A in (small, large)]
        freedom = FisherZ(y, Task.MULTICLASS, 0.05).freedom(Z.shape[1])
        F = (rss[0] - rss[1]) / 3 / (rss[1] / freedom)
        ratio = twin.partial(x, classes[:, :3], Z)
        assert ratio**2 == pytest.approx(1 - rss[1] / rss[0], rel=1e-9)
        p = p_value_given(np.array([ratio]), np.array([freedom]), 3)[0]
        assert p == pytest.approx(scipy.stats.f.sf(F, 3, freedom), rel=1e-9)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("task", [Task.BINARY, Task.REGRESSION])
@BOTH_WAYS
def test_correlations_and_p_values_are_those_of_scipy(task, form, way):
    rng = np.random.default_rng(0)
    for _ in range(cases(20)):
        n = int(rng.integers(4, 60))
        y = rng.permutation(np.arange(n) % 2) if task is Task.BINARY else rng.normal(size=n)
        X = y[:, None] * rng.normal(size=9) + rng.normal(size=(n, 9))
        X[:, 6] = rng.permutation(np.arange(n) % 3 == 0)
        X[:, 7] = 4.2
        test = FisherZ(y, task, 0.05, p_value=way)
        measured = test.relevance(FORMS[form](X))
        r, mean, norm = measured.r, measured.mean, measured.norm
        wanted = np.array([by_scipy(X[:, j], y, way) if j != 7 else (0.0, 1.0) for j in range(9)])
        np.testing.assert_allclose(r, wanted[:, 0], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(test.p_values(r), wanted[:, 1], rtol=1e-8)
        np.testing.assert_allclose(mean, X.mean(axis=0), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(norm, X.std(axis=0) * np.sqrt(n) * (np.arange(9) != 7), rtol=1e-12)
        assert r[7] == norm[7] == 0.0


@pytest.mark.parametrize("form", FORMS)
def test_many_classes_are_judged_by_one_way_analysis_of_variance(form):
    rng = np.random.default_rng(1)
    for _ in range(cases(20)):
        classes = int(rng.integers(3, 6))
        n = int(rng.integers(classes + 2, 50))
        y = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
        X = rng.normal(size=(n, 6)) + (y[:, None] == rng.integers(0, classes, 6)) * rng.normal(size=6)
        X[:, 5] = 1.0
        test = FisherZ(y, Task.MULTICLASS, 0.05)
        r = test.relevance(FORMS[form](X)).r
        for j in range(5):
            groups = [X[y == label, j] for label in range(classes)]
            F, p = scipy.stats.f_oneway(*groups)
            assert test.p_values(r[j : j + 1])[0] == pytest.approx(p, rel=1e-9)
            assert (r[j] >= test.critical) == (p <= 0.05)
            assert r[j] ** 2 / (1 - r[j] ** 2) * (n - classes) / (classes - 1) == pytest.approx(F, rel=1e-9)
            assert r[j] == pytest.approx(twin.correlation_ratio(X[:, j], y), rel=1e-10)
        assert r[5] == 0.0
        assert test.critical == pytest.approx(twin.ratio_critical(0.05, n, classes), rel=1e-9)


def test_the_absolute_correlation_with_two_classes_is_their_correlation_ratio():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 40)
    X = y[:, None] * rng.normal(size=5) + rng.normal(size=(40, 5))
    r = FisherZ(y, Task.BINARY, 0.05).relevance(X).r
    wanted = [twin.correlation_ratio(X[:, j], y) for j in range(5)]
    np.testing.assert_allclose(np.abs(r), wanted, rtol=1e-12)


def test_what_the_classes_are_called_does_not_matter():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 4, 40)
    X = y[:, None] * rng.normal(size=5) + rng.normal(size=(40, 5))
    named = np.array(["d", "a", "c", "b"])[y]
    np.testing.assert_allclose(
        FisherZ(y, Task.MULTICLASS, 0.05).relevance(X).r,
        FisherZ(named, Task.MULTICLASS, 0.05).relevance(X).r,
        rtol=1e-12,
    )


def test_as_many_classes_as_rows_leave_nothing_to_test():
    assert FisherZ(np.arange(5), Task.MULTICLASS, 0.99).critical == np.inf


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e9, -1e9])
def test_an_offset_of_columns_costs_no_digits(offset):
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 200)
    X = y[:, None] + rng.integers(0, 8, (200, 4))  # whole numbers: the offset is exact
    plain = FisherZ(y, Task.BINARY, 0.05).relevance(X.astype(float)).r
    for form in FORMS.values():
        far = FisherZ(y, Task.BINARY, 0.05).relevance(form(X + offset)).r
        np.testing.assert_allclose(far, plain, rtol=1e-12)


@BOTH_WAYS
@pytest.mark.parametrize("task", [Task.BINARY, Task.REGRESSION])
def test_a_single_column_is_judged_as_in_a_block(task, way):
    rng = np.random.default_rng(5)
    irrelevant = 0
    for _ in range(100):
        n = int(rng.integers(4, 40))
        y = rng.permutation(np.arange(n) % 2) if task is Task.BINARY else rng.normal(size=n)
        x = rng.normal(size=n) + rng.choice([0.0, 1.0]) * y
        test = FisherZ(y, task, 0.05, p_value=way)
        r = test.relevance(x[:, None]).r
        reason, *numbers = test.measure_one(x)
        assert (reason is Reason.RELEVANT) == (abs(r[0]) >= test.critical)
        assert numbers == pytest.approx([r[0], test.p_values(r)[0]], rel=1e-9)
        irrelevant += reason is Reason.IRRELEVANT
    assert 20 < irrelevant < 90


@pytest.mark.parametrize(
    "x", [np.full(6, 3.0), np.array([1, 2, np.nan, 0, 1, 5]), np.array([1, 2, np.inf, 0, 1, 5])]
)
def test_a_constant_or_broken_single_column_is_left_to_others(x):
    assert FisherZ(np.array([0, 1, 0, 1, 1, 0]), Task.BINARY, 0.5).measure_one(x) is None


def test_a_single_column_against_many_classes_is_left_to_blocks():
    assert FisherZ(np.array([0, 1, 2, 0]), Task.MULTICLASS, 0.5).measure_one(np.arange(4.0)) is None


@pytest.mark.parametrize(
    "y", [np.array([0, 1, 1, 0, 1]), np.array([0, 1, 2, 0, 1]), np.array([0.5, 1.5, 2.0, 0.1, 3.0])]
)
def test_a_state_comes_back_bit_for_bit(y):
    task = {2: Task.BINARY, 3: Task.MULTICLASS, 5: Task.REGRESSION}[len(set(y))]
    test = FisherZ(y, task, 0.07)
    again = FisherZ.from_state(test.state())
    assert again.critical == test.critical
    assert (again.n, again.n_contrasts, again.alpha) == (5, 2 if task is Task.MULTICLASS else 1, 0.07)
    X = np.random.default_rng(6).normal(size=(5, 4))
    assert np.array_equal(again.relevance(X).r, test.relevance(X).r)
    assert all(np.array_equal(a, test.state()[key]) for key, a in again.state().items())
