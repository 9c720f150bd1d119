"""Kernels of group-SAOLA: dependences by definition, and rules on tables small enough to follow."""

import numpy as np
import pytest
from scipy.special import xlogy

from streamsieve._kernels import groups
from tests.reference.saola import entropies


def test_correlations_are_those_of_numpy():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(6, 9))
    Z -= Z.mean(axis=1, keepdims=True)
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    some, others = np.array([4, 0]), np.array([1, 4, 5])
    expected = np.abs(np.corrcoef(Z))[np.ix_(some, others)]
    np.testing.assert_allclose(groups.correlations(Z, some, others), expected, atol=1e-12)
    assert groups.correlations(Z, some, others[:0]).shape == (2, 0)


@pytest.mark.parametrize("normalized", [True, False])
def test_informations_are_those_of_a_contingency_table(normalized):
    rng = np.random.default_rng(1)
    n = 12
    levels = np.array([2, 3, 5, 1])
    codes = np.stack([rng.integers(0, k, n) for k in levels]).astype(np.uint16)
    g = xlogy(np.arange(n + 1.0), np.arange(n + 1.0))
    h = groups.entropies(codes, levels, g)
    tables = (codes, levels, h)
    every = np.arange(4)
    found = groups.informations(*tables, every, *tables, every, g, normalized)
    for a in range(4):
        for b in range(4):
            h_a, h_b, shared = entropies(codes[a], codes[b])
            assert h[a] / n == pytest.approx(h_a, abs=1e-12)
            both = h_a + h_b
            wanted = shared if not normalized else 2 * shared / both if both > 0 else 0.0
            assert found[a, b] == pytest.approx(wanted, abs=1e-12)


def test_inside_a_group_the_weaker_of_two_goes_and_of_equals_the_newcomer():
    # the member (.5) falls to the first newcomer (.6), and the second, its equal, to the first
    pairs = np.array([[0.5, 1.0, 0.0], [0.9, 0.6, 1.0]])
    by, pair = groups.inside(pairs, np.array([0.5, 0.6, 0.6]), 1e-12)
    assert by.tolist() == [1, -1, 1]
    assert pair.tolist() == [0.5, 0.0, 0.6]


@pytest.mark.parametrize(("literal", "evicted"), [(False, [-1, -1]), (True, [-1, 0])])
def test_between_groups_who_has_fallen_fights_on_in_literal_mode_only(literal, evicted):
    pairs = np.array([[0.9, 0.5]])
    by, pair, other_by, _ = groups.between(
        pairs, np.array([0.5]), np.array([0.6, 0.45]), np.array([0, 1]), literal, 1e-12
    )
    assert by.tolist() == [0]
    assert pair.tolist() == [0.9]
    assert other_by.tolist() == evicted


def test_between_groups_the_older_of_equals_goes_and_the_bound_itself_is_not_enough():
    relevance = np.array([0.5])
    tables = (relevance, relevance, np.array([0]), False, 1e-12)
    assert groups.between(np.array([[0.6]]), *tables)[2].tolist() == [0]
    assert groups.between(np.array([[0.5]]), *tables)[2].tolist() == [-1]
