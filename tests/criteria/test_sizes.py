"""p-values of uninformative features, where a limit or a normal distribution fails."""

import numpy as np
import pytest
from scipy.special import comb

import streamsieve as ss


@pytest.mark.parametrize("name", ["t", "f", "fisher"])
def test_a_feature_that_is_the_class_is_as_unlikely_as_its_permutations(name):
    """Eight rows do not make certain: of 70 ways to choose four of them, two give the feature."""
    for n in (4, 8, 20):
        y = np.arange(n) // (n // 2)
        X = np.c_[y, 3.0 - 2 * y]
        screen = ss.Screen(name, alpha=1e-6).fit(X, y)
        assert screen.pvalues_ == pytest.approx(2 / comb(n, n // 2), rel=1e-9)
        assert len(screen.selected_) == 0
    thirds = np.arange(12) // 4
    if name != "t":
        p = ss.Screen(name).fit(thirds[:, None] * 1.0, thirds).pvalues_
        assert p == pytest.approx(6 / (comb(12, 4) * comb(8, 4)), rel=1e-9)


@pytest.mark.parametrize("name", ["chi2", "mutual_info", "gini", "su"])
def test_a_table_is_no_less_likely_than_it_is(name):
    for n in (8, 12, 20):
        y = np.arange(n) // (n // 2)
        p = ss.Screen(name).fit(y[:, None] * 1.0, y).pvalues_
        assert p >= (1 - 1e-9) / comb(n, n // 2)


def rejected(name, draw, n, rare, level, rounds=15, **parameters):
    """Return how often an uninformative feature has a p-value of at most the level."""
    rng = np.random.default_rng(5)
    p = []
    for _ in range(rounds):
        y = rng.permutation(np.arange(n) < rare).astype(int)
        p.append(ss.Screen(name, **parameters).fit(draw(rng, (n, 500)), y).pvalues_)
    return np.mean(np.concatenate(p) <= level)


def test_of_a_class_without_spread_nothing_is_known():
    """All ten rows of a rare class are 0 by chance in 5 % of the features, and Welch's p-value was then 0."""
    counts = lambda rng, shape: rng.poisson(0.3, shape).astype(float)  # noqa: E731
    assert rejected("t", counts, 1000, 10, 1e-3) < 0.01


@pytest.mark.parametrize("name", ["chi2", "mutual_info", "su"])
def test_bins_keep_their_level_with_heavy_tails_and_a_rare_class(name):
    lognormal = lambda rng, shape: np.exp(rng.normal(size=shape))  # noqa: E731
    for level in (0.05, 0.01, 0.001):
        assert rejected(name, lognormal, 1000, 10, level) <= 1.2 * level + 3 * np.sqrt(level / 7500)
    assert rejected("f", lognormal, 1000, 10, 0.001) > 0.005  # as the docs say


@pytest.mark.parametrize("name", ["t", "f", "chi2", "mutual_info"])
@pytest.mark.parametrize("memory", [{"half_life": 30.0}, {"window": 60}], ids=["fading", "window"])
def test_levels_hold_for_rows_that_fade_or_leave(name, memory):
    normal = lambda rng, shape: rng.normal(size=shape)  # noqa: E731
    for level in (0.05, 0.01):
        share = rejected(name, normal, 400, 200, level, rounds=8, **memory)
        assert 0.4 * level <= share <= 1.2 * level + 3 * np.sqrt(level / 4000)
