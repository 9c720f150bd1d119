"""Pearson's chi-squared against scipy and causal-learn; what it shares with G2 is tested there."""

import numpy as np
import pytest
from scipy.stats import chi2, chi2_contingency

from streamsieve.decisions import REASONS
from streamsieve.independence.chi_square import ChiSquareTest
from streamsieve.protocols import Task
from tests.helpers.tier import cases
from tests.independence.test_g_squared import FORMS, TASKS, block, by_scipy, case
from tests.reference import g_squared as twin
from tests.reference.chi_square import chi_square


def test_statistic_and_freedom_are_those_of_scipy():
    rng = np.random.default_rng(0)
    for _ in range(cases(200)):
        y, x, Z = case(rng)
        tested = ChiSquareTest(y, TASKS[y.max() + 1], 0.01).given(x, Z)
        statistic, freedom = by_scipy(x, y, Z)
        assert tested.statistic == pytest.approx(statistic, rel=1e-12, abs=1e-12 * len(y))
        assert tested.freedom == freedom
        assert tested.p_value == pytest.approx(chi2.sf(statistic, freedom) if freedom else 1.0, abs=1e-10)


def test_p_values_are_those_of_causal_learn():
    cit = pytest.importorskip("causallearn.utils.cit", reason="causal-learn is not there: oracle skipped")
    rng = np.random.default_rng(1)
    for _ in range(50):
        y, x, Z = case(rng)
        oracle = cit.CIT(np.column_stack([x, y, Z]), "chisq")
        wanted = oracle(0, 1, tuple(range(2, 2 + Z.shape[1])))
        tested = ChiSquareTest(y, TASKS[y.max() + 1], 0.01).given(x, Z)
        assert tested.p_value == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_a_block_is_judged_as_the_twin_judges_its_columns(form):
    rng = np.random.default_rng(2)
    for _ in range(10):
        n, C = int(rng.integers(10, 200)), int(rng.choice(list(TASKS)))
        y, X = block(rng, n, C)
        if form == "float32":
            X = np.minimum(X, 1e30).astype(np.float32).astype(float)
        measured = ChiSquareTest(y, TASKS[C], 0.05).relevance(FORMS[form](X))
        judge = twin.Tables(X, y, alpha=0.05, statistic=chi_square)
        for j in range(X.shape[1]):
            reason, statistic, _ = judge.relevance(j)
            assert REASONS[measured.reason[j]] == (reason or "relevant")
            assert measured.statistic[j] == pytest.approx(statistic, rel=1e-12, abs=1e-12 * n)


def test_there_is_no_continuity_correction():
    table = np.array([[3, 9], [7, 2]])
    x, y = np.repeat([0, 0, 1, 1], table.ravel()), np.repeat([0, 1, 0, 1], table.ravel())
    statistic = ChiSquareTest(y, Task.BINARY, 0.01).given(x, np.zeros((21, 0))).statistic
    assert statistic == pytest.approx(chi2_contingency(table, correction=False).statistic, rel=1e-12)
    assert statistic != pytest.approx(chi2_contingency(table).statistic, rel=0.1)
