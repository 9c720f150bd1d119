"""Friedman and Nemenyi: Demsar's example, scipy, scikit-posthocs, a slow twin, and the laws of ranks."""

import math

import numpy as np
import pytest
from scipy import stats

from streamsieve.evaluation.significance import critical_difference, friedman, nemenyi
from streamsieve.evaluation.significance.nemenyi import together
from streamsieve.exceptions import InputError, ParameterError
from tests.reference import significance as twin

#: Demsar 2006, table 6: areas under the curve of four trees on 14 data sets.  In the last row but one he
#: prints 0.975 twice and ranks the third method before the fourth, by digits that he does not print.
TREES = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.975, 0.9749],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


def names(k):
    return [f"m{i}" for i in range(k)]


def tables(seed=0, n=150):
    """Random tables of all sizes, half of them full of ties."""
    rng = np.random.default_rng(seed)
    for i in range(n):
        shape = rng.integers(2, 12), rng.integers(3, 9)
        yield rng.normal(size=shape) if i % 2 else rng.integers(0, 4, shape).astype(float)


def test_demsar():
    """Section 3.2.2: mean ranks 3.143, 2.000, 2.893, 1.964; chi-square 9.28 and F 3.69 without ties."""
    found = friedman(DEMSAR, TREES)
    np.testing.assert_allclose(found.mean_ranks, [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    n, k = DEMSAR.shape
    plain = 12 * n / (k * (k + 1)) * (np.sum(found.mean_ranks**2) - k * (k + 1) ** 2 / 4)
    assert plain == pytest.approx(9.28, abs=0.005)
    assert (n - 1) * plain / (n * (k - 1) - plain) == pytest.approx(3.69, abs=0.005)
    assert found.chi2 > plain  # the correction for ties, which he leaves out
    assert found.p_value < 0.05
    # section 3.2.2 again: q is 2.569 for 4 methods, the critical difference at 0.05 is 1.25, at 0.1 1.12
    assert nemenyi(DEMSAR, TREES).critical_difference == pytest.approx(1.25, abs=0.005)
    assert nemenyi(DEMSAR, TREES, alpha=0.1).critical_difference == pytest.approx(1.12, abs=0.005)


def test_equals_scipy_and_the_twin():
    for table in tables():
        found = friedman(table, names(table.shape[1]), higher_is_better=True)
        if (table == table[:, :1]).all():
            continue  # scipy divides by zero
        expected = stats.friedmanchisquare(*table.T)
        assert found.chi2 == pytest.approx(expected.statistic, abs=1e-9)
        assert found.chi2_p_value == pytest.approx(expected.pvalue, abs=1e-12)
        n, k = table.shape
        if n * (k - 1) - found.chi2 < 1e-6:
            assert found.f == math.inf
            continue
        ranks, chi2, f = twin.friedman(table)
        np.testing.assert_allclose(found.mean_ranks, ranks, atol=1e-12)
        assert found.chi2 == pytest.approx(chi2, abs=1e-9)
        assert found.f == pytest.approx(f, rel=1e-8, abs=1e-9)
        least = math.factorial(k) ** -(n - 1)
        assert found.p_value == pytest.approx(max(stats.f.sf(f, k - 1, (k - 1) * (n - 1)), least), rel=1e-8)


def test_laws_of_ranks():
    for table in tables(1, 100):
        k = table.shape[1]
        found = friedman(table, names(k))
        assert found.mean_ranks.sum() == pytest.approx(k * (k + 1) / 2)
        # errors instead of accuracies, other units, another order of data sets
        errors = friedman(-table, names(k), higher_is_better=False)
        np.testing.assert_allclose(errors.mean_ranks, found.mean_ranks)
        np.testing.assert_allclose(friedman(3 * table[::-1] + 1, names(k)).mean_ranks, found.mean_ranks)


def test_rounding_makes_no_rank():
    table = np.array([[0.3, 0.1 + 0.2, 0.7], [0.5, 0.5 * (1 + 1e-15), 0.1]])
    np.testing.assert_array_equal(friedman(table, names(3)).mean_ranks, [1.75 + 0.25, 1.75 + 0.25, 2.0])
    # a method that fails badly does not blur the others
    bad = np.array([[0.81, 0.82, -1e12], [0.81, 0.82, -1e14]])
    np.testing.assert_array_equal(friedman(bad, names(3)).mean_ranks, [2, 1, 3])


def test_agreement_of_all_data_sets_is_not_certainty():
    found = friedman([[3, 2, 1]] * 2, names(3))
    assert found.f == math.inf
    assert found.p_value == pytest.approx(1 / 6)  # of 6 orders the second happened to repeat the first
    assert friedman([[2, 1]] * 5, names(2)).p_value == pytest.approx(1 / 16)


def test_equal_methods_do_not_differ():
    found = friedman(np.ones((5, 4)), names(4))
    assert (found.chi2, found.chi2_p_value, found.f, found.p_value) == (0, 1, 0, 1)
    assert nemenyi(np.ones((5, 4)), names(4)).groups == (("m0", "m1", "m2", "m3"),)


def test_level_under_the_null():
    """Of tables without any difference, about a twentieth are significant at 0.05."""
    rng = np.random.default_rng(0)
    p = [friedman(rng.normal(size=(10, 4)), names(4)).p_value for _ in range(1_000)]
    assert np.mean(np.array(p) < 0.05) == pytest.approx(0.05, abs=0.02)


Q = (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164)


@pytest.mark.parametrize(("k", "q"), list(enumerate(Q, start=2)))
def test_critical_values_of_demsar(k, q):
    """Table 5a: q at 0.05, the studentised range over the square root of two."""
    assert critical_difference(k, 20) == pytest.approx(q * math.sqrt(k * (k + 1) / 120), abs=1e-3)


def test_many_methods():
    assert critical_difference(30, 10) > critical_difference(20, 10) > critical_difference(19, 10)
    assert critical_difference(20, 10, 0.01) > critical_difference(20, 10, 0.05)


def test_equals_scikit_posthocs():
    """What ``posthoc_nemenyi_friedman(DEMSAR)`` of scikit-posthocs 0.17.1 gives; it ranks upwards."""
    expected = [
        [1.0000000000, 0.0886727093, 0.9561771752, 0.0741847951],
        [0.0886727093, 1.0000000000, 0.2592280702, 0.9998594494],
        [0.9561771752, 0.2592280702, 1.0000000000, 0.2266968860],
        [0.0741847951, 0.9998594494, 0.2266968860, 1.0000000000],
    ]
    np.testing.assert_allclose(nemenyi(DEMSAR, TREES).p_values, expected, atol=1e-9)


def test_p_values_and_differences_say_the_same():
    for table in tables(2, 40):
        found = nemenyi(table, names(table.shape[1]), alpha=0.2)
        clear = np.abs(found.p_values - 0.2) > 1e-6
        np.testing.assert_array_equal((found.p_values < 0.2)[clear], found.different[clear])
        np.testing.assert_array_equal(found.p_values, found.p_values.T)
        assert (np.diag(found.p_values) == 1).all()


def test_two_methods_are_a_sign_test_of_normal_shape():
    """With k = 2 the range of two normal variables is that of their difference."""
    table = np.array([[1, 0]] * 9 + [[0, 1]] * 3)
    z = (9 - 3) / math.sqrt(12)
    assert nemenyi(table, names(2)).p_values[0, 1] == pytest.approx(2 * stats.norm.sf(z), abs=1e-9)


def test_groups_are_largest_runs():
    rng = np.random.default_rng(3)
    for _ in range(500):
        ordered = np.sort(rng.uniform(1, 10, rng.integers(2, 12)))
        limit = rng.uniform(0, 9)
        n = len(ordered)
        runs = {(i, j) for i in range(n) for j in range(i + 2, n + 1) if ordered[j - 1] - ordered[i] < limit}
        largest = {r for r in runs if not any(o != r and o[0] <= r[0] and r[1] <= o[1] for o in runs)}
        assert set(together(ordered, limit)) == largest


def test_text():
    last = "Nemenyi over 14 data sets: critical difference 1.2536 at 0.05"
    assert str(nemenyi(DEMSAR, TREES)).splitlines()[-1] == last
    assert str(friedman(DEMSAR, TREES)).splitlines()[1] == "C4.5+m+cf      1.964"


@pytest.mark.parametrize("test", [friedman, nemenyi])
def test_bad_tables_are_refused(test):
    with pytest.raises(InputError, match=r"a column for each of 2 methods; they are 3 x 3"):
        test(np.ones((3, 3)), names(2))
    with pytest.raises(InputError, match="at least 2 data sets; got 1: within one data set"):
        test(np.ones((1, 3)), names(3))
    with pytest.raises(InputError, match="data set 1 has nan for 'm0'"):
        test([[1, 2], [np.nan, 1]], names(2))
    with pytest.raises(ParameterError, match="'a' is there twice"):
        test(np.ones((2, 2)), ["a", "a"])
    with pytest.raises(ParameterError, match="at least 2 methods"):
        test(np.ones((2, 1)), ["a"])
    with pytest.raises(ParameterError, match="got the one name 'ab'"):
        test(np.ones((2, 2)), "ab")
    with pytest.raises(ParameterError, match="alpha must be a number above 0 and below 1"):
        nemenyi(np.ones((2, 2)), names(2), alpha=0)
