"""Paired t-tests and win/tie/loss."""

import math

import numpy as np
import pytest
from scipy import stats

from streamsieve.evaluation.significance import paired_t, pairwise_p_values, win_tie_loss
from streamsieve.exceptions import InputError, ParameterError
from tests.helpers.tier import cases


def test_equals_scipy():
    rng = np.random.default_rng(0)
    for _ in range(cases(300)):
        a, b = rng.normal(size=(2, rng.integers(2, 60)))
        found, expected = paired_t(a, b), stats.ttest_rel(a, b)
        assert found.t == pytest.approx(expected.statistic, rel=1e-9)
        assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)
        assert found.df == expected.df


def test_correction_of_nadeau_and_bengio():
    """t = mean / sqrt((1/J + test/train) variance), J - 1 degrees of freedom."""
    rng = np.random.default_rng(1)
    for _ in range(100):
        folds, repeats = rng.integers(2, 11), rng.integers(1, 8)
        a, b = rng.normal(size=(2, max(2, folds * repeats)))
        d = a - b
        t = d.mean() / math.sqrt((1 / len(d) + 1 / (folds - 1)) * d.var(ddof=1))
        found = paired_t(a, b, test_over_train=1 / (folds - 1))
        assert found.t == pytest.approx(t, rel=1e-9)
        assert found.p_value == pytest.approx(2 * stats.t.sf(abs(t), len(d) - 1), rel=1e-9)
        assert found.p_value > paired_t(a, b).p_value


def test_the_plain_test_errs_on_shared_rows_and_the_corrected_one_does_not():
    """Repeats of cross-validation of two rules that are equally good, on the same rows."""
    rng = np.random.default_rng(2)
    plain = corrected = 0
    for _ in range(300):
        # each row is right or wrong for either rule at equal rates; folds only regroup the rows
        difference = rng.integers(0, 2, 60) - rng.integers(0, 2, 60)
        orders = (rng.permutation(60).reshape(10, 6) for _ in range(10))
        folds = np.concatenate([difference[order].mean(axis=1) for order in orders])
        zeros = np.zeros(len(folds))
        plain += paired_t(folds, zeros).p_value < 0.05
        corrected += paired_t(folds, zeros, test_over_train=1 / 9).p_value < 0.05
    assert plain / 300 > 0.4
    assert corrected / 300 < 0.1


def test_no_difference_and_no_variance():
    same = paired_t([0.5, 0.6, 0.7], [0.5, 0.6, 0.7])
    assert (same.difference, same.t, same.p_value) == (0, 0, 1)
    rounded = paired_t([0.1 + 0.2, 0.6], [0.3, 0.6])
    assert (rounded.t, rounded.p_value) == (0, 1)
    constant = paired_t([0.9, 0.8, 0.3], [0.8, 0.7, 0.2])
    assert (constant.t, constant.p_value) == (math.inf, 0)


def test_all_pairs_at_once():
    runs = np.random.default_rng(3).normal(size=(6, 7))
    runs[2] -= 1e9  # fails; the others must not be blurred
    p = pairwise_p_values(runs, test_over_train=1 / 6)
    for i in range(6):
        for j in range(6):
            expected = 1 if i == j else paired_t(runs[i], runs[j], test_over_train=1 / 6).p_value
            assert p[i, j] == pytest.approx(expected, rel=1e-9)


def test_counts_over_data_sets():
    rng = np.random.default_rng(4)
    tables = [rng.normal(size=(3, n)) + rng.integers(0, 3, 3)[:, None] for n in (5, 7, 10, 30)]
    found = win_tie_loss(tables, ["a", "b", "c"], "b", alpha=0.1)
    assert found.methods == ("a", "c")
    for place, other in enumerate((0, 2)):
        outcome = []
        for table in tables:
            test = stats.ttest_rel(table[1], table[other])
            outcome.append(int(np.sign(test.statistic)) if test.pvalue < 0.1 else 0)
        np.testing.assert_array_equal(found.outcomes[:, place], outcome)
        assert found.wins[place] + found.ties[place] + found.losses[place] == 4
    negative = [-table for table in tables]
    upside_down = win_tie_loss(negative, ["a", "b", "c"], "b", alpha=0.1, higher_is_better=False)
    np.testing.assert_array_equal(upside_down.outcomes, found.outcomes)
    assert "b vs a" in str(found)
    assert "paired t-tests at 0.1" in str(found)


def test_single_scores_are_compared_as_they_are():
    found = win_tie_loss([[0.3, 0.1 + 0.2], [0.5, 0.4], [0.1, 0.2]], ["a", "b"], "a")
    assert (found.wins.tolist(), found.ties.tolist(), found.losses.tolist()) == ([1], [1], [1])
    assert str(found).splitlines()[1].split() == ["a", "vs", "b", "1/1/1"]


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="at least 2 runs"):
        paired_t([1], [2])
    with pytest.raises(InputError, match="two rows of equal length"):
        paired_t([1, 2], [1, 2, 3])
    with pytest.raises(InputError, match="method 1 has nan in run 0"):
        paired_t([1, 2], [np.nan, 2])
    with pytest.raises(ParameterError, match="test_over_train must be a number at least 0"):
        paired_t([1, 2], [1, 3], test_over_train=-1)
    with pytest.raises(
        InputError, match=r"a row of runs for each of 2 methods; got an array of shape \(3, 4\)"
    ):
        win_tie_loss([np.ones((3, 4))], ["a", "b"], "a")
    with pytest.raises(ParameterError, match="there is no method 'c'"):
        win_tie_loss([[1, 2], [1, 2]], ["a", "b"], "c")
