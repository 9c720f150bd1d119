"""Kernels of DOFS: probabilities by enumeration, determinants by NumPy, Wilcoxon's test by SciPy."""

import itertools

import numpy as np
import pytest
import scipy.stats

from streamsieve._kernels import dofs
from tests.reference.dofs import greedy, probabilities


def positive(rng, m):
    A = rng.normal(size=(m, m + 1))
    return A @ A.T / m


def test_every_set_is_drawn_with_its_probability():
    """The draws at which an item changes sides are its probabilities given those before it."""
    rng = np.random.default_rng(0)
    m = 3
    L = positive(rng, m)
    K = L @ np.linalg.inv(L + np.eye(m))
    for wanted in itertools.product([True, False], repeat=m):
        draws, left = np.zeros(m), probabilities(L)
        for i, inside in enumerate(wanted):
            share = sum(p for Y, p in left.items() if i in Y) / sum(left.values())
            draws[i] = share - 1e-9 if inside else share + 1e-9
            left = {Y: p for Y, p in left.items() if (i in Y) == inside}
        assert dofs.sample(K, draws, 0.0).tolist() == list(wanted)


def test_equal_items_are_never_drawn_together():
    v = np.array([1.0, 1.0, 0.0]) / np.sqrt(2)
    K = 0.9 * np.outer(v, v) + np.diag([0, 0, 0.5])
    assert dofs.sample(K, np.zeros(3), 1e-8).tolist() == [True, False, True]
    assert dofs.sample(K, np.array([0.99, 0.0, 0.99]), 1e-8).tolist() == [False, True, False]


def test_the_greedy_set_has_the_largest_steps():
    rng = np.random.default_rng(1)
    for size in (0, 1, 3, 5):
        L = positive(rng, 5)
        assert np.flatnonzero(dofs.greedy(L, size, 1e-8)).tolist() == sorted(greedy(L, size))
    twice = np.ones((3, 3))
    assert dofs.greedy(twice, 3, 1e-8).tolist() == [True, False, False]


def test_rows_of_a_factor_solve_its_triangle():
    rng = np.random.default_rng(2)
    F = np.linalg.cholesky(positive(rng, 6))
    room = rng.normal(size=(8, 8))  # what lies beyond is not looked at
    room[:6, :6] = F + np.triu(rng.normal(size=(6, 6)), 1)
    rows = rng.normal(size=(2, 6))
    np.testing.assert_allclose(dofs.reduce(room, 6, rows) @ F.T, rows, atol=1e-12)
    assert dofs.reduce(room, 0, rows[:, :0]).shape == (2, 0)


@pytest.mark.parametrize("i", [0, 3, 5])
def test_a_column_is_removed_from_a_factor(i):
    L = positive(np.random.default_rng(4), 6)
    F, left = np.linalg.cholesky(L), np.delete(np.arange(6), i)
    dofs.remove(F, 6, i)
    np.testing.assert_allclose(F[:5, :5], np.linalg.cholesky(L[np.ix_(left, left)]), atol=1e-12)


@pytest.mark.parametrize("whole", [True, False])
def test_the_signed_rank_test_is_that_of_scipy(whole):
    rng = np.random.default_rng(3)
    columns = rng.integers(0, 5, (4, 20)).astype(float) if whole else rng.normal(size=(4, 20))
    found = dofs.wilcoxon(columns, np.array([0, 3]), np.arange(4))
    for i, a in enumerate((0, 3)):
        for b in range(4):
            if a == b:
                assert found[i, b] == 1.0
                continue
            test = scipy.stats.wilcoxon(columns[a], columns[b], method="approx", correction=False)
            assert found[i, b] == pytest.approx(test.pvalue, abs=1e-12)


def test_ranks_end_at_differences_that_are_no_numbers():
    columns = np.array([[np.nan, 1.0, np.nan, 2.0], np.zeros(4)])
    assert dofs.wilcoxon(columns, np.array([0]), np.array([1])).shape == (1, 1)
