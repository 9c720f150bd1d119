"""Stability: the paper's properties, its closed form against a bootstrap, a slow twin, corner cases."""

import math

import numpy as np
import pytest
from scipy import stats

import streamsieve as ss
from streamsieve.evaluation.measures.stability import jaccard, kuncheva, stability
from streamsieve.exceptions import InputError, ParameterError
from tests.reference import stability as twin


def cases(seed=0, n=200):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        d, m = int(rng.integers(2, 12)), int(rng.integers(2, 9))
        yield [np.flatnonzero(rng.uniform(size=d) < rng.uniform()).tolist() for _ in range(m)], d


def test_equals_the_twin():
    for selections, d in cases():
        if sum(map(len, selections)) in (0, d * len(selections)):
            continue
        value, variance = twin.nogueira(selections, d)
        found = stability(selections, d)
        assert found.value == pytest.approx(value, abs=1e-12)
        assert found.variance == pytest.approx(variance, abs=1e-12)
        assert jaccard(selections, d) == pytest.approx(twin.jaccard(selections), abs=1e-12)
        assert jaccard(selections) == jaccard(selections, d)


def test_masks_and_orders_are_the_same():
    for selections, d in cases(1, 50):
        mask = np.zeros((len(selections), d), bool)
        for run, chosen in zip(mask, selections, strict=True):
            run[chosen] = True
        given = stability(selections, d)
        np.testing.assert_equal(vars(stability(mask)), vars(given))
        other = stability([chosen[::-1] for chosen in selections[::-1]], d)
        assert other.value == pytest.approx(given.value, abs=1e-12, nan_ok=True)
        assert jaccard(mask) == jaccard(selections, d)


def test_properties_of_the_paper():
    rng = np.random.default_rng(2)
    for selections, d in cases(3):
        m = len(selections)
        found = stability(selections, d)
        same = all(set(each) == set(selections[0]) for each in selections)
        # strictly monotonous, bounded, and 1 only for equal selections
        assert -1 / (m - 1) - 1e-12 <= found.value <= 1 + 1e-12
        assert (abs(found.value - 1) < 1e-12) == same
        # what features are called does not matter
        names = rng.permutation(d)
        other = stability([[int(names[f]) for f in each] for each in selections], d)
        assert other.value == pytest.approx(found.value, abs=1e-12)


def test_equal_sizes_give_kuncheva():
    rng = np.random.default_rng(4)
    for _ in range(200):
        d = int(rng.integers(3, 15))
        k = int(rng.integers(1, d))
        selections = [rng.choice(d, k, replace=False).tolist() for _ in range(rng.integers(2, 8))]
        found = kuncheva(selections, d)
        assert found == pytest.approx(twin.kuncheva(selections, d), abs=1e-12)
        assert found == pytest.approx(stability(selections, d).value, abs=1e-12)


def test_random_selections_give_zero():
    rng = np.random.default_rng(5)
    values = [stability(np.argsort(rng.uniform(size=(10, 30))) < 9).value for _ in range(400)]
    assert np.mean(values) == pytest.approx(0, abs=3 * np.std(values) / 20)


def draw(rng, m):
    """Selections of features that are chosen with frequencies of their own: their stability is known."""
    return rng.uniform(size=(m, len(FREQUENCIES))) < FREQUENCIES


FREQUENCIES = np.r_[np.full(5, 0.9), np.full(5, 0.5), np.full(40, 0.05)]
TRUE = 1 - np.mean(FREQUENCIES * (1 - FREQUENCIES)) / (FREQUENCIES.mean() * (1 - FREQUENCIES.mean()))


def test_intervals_cover_the_truth():
    rng = np.random.default_rng(6)
    for confidence in (0.8, 0.95):
        drawn = (stability(draw(rng, 60), confidence=confidence) for _ in range(800))
        inside = [found.low <= TRUE <= found.high for found in drawn]
        assert np.mean(inside) == pytest.approx(confidence, abs=0.03)


def test_variance_equals_that_of_a_bootstrap():
    rng = np.random.default_rng(7)
    for m in (40, 100):
        mask = draw(rng, m)
        values = [stability(mask[rng.integers(0, m, m)]).value for _ in range(800)]
        # a bootstrap repeats runs, which biases its values up by about 1/m but not their spread
        assert np.std(values) == pytest.approx(math.sqrt(stability(mask).variance), rel=0.1)


def test_tests_hold_their_level_and_find_differences():
    rng = np.random.default_rng(8)
    p = [stability(draw(rng, 60)).p_value(TRUE) for _ in range(800)]
    assert np.mean(np.array(p) < 0.05) == pytest.approx(0.05, abs=0.025)
    pairs = [stability(draw(rng, 60)).p_value_of_difference(stability(draw(rng, 60))) for _ in range(500)]
    assert np.mean(np.array(pairs) < 0.05) == pytest.approx(0.05, abs=0.03)
    found, steady = stability(draw(rng, 60)), stability(rng.uniform(size=(60, 50)) < np.arange(50) / 49)
    z = (found.value - steady.value) / math.sqrt(found.variance + steady.variance)
    assert found.p_value_of_difference(steady) == pytest.approx(2 * stats.norm.sf(abs(z)))
    assert found.p_value(0) < 1e-6


def test_the_bootstrap_selector_says_the_same():
    rng = np.random.default_rng(9)
    y = rng.integers(0, 2, 150)
    X = rng.normal(size=(150, 12))
    X[:, 3] += y
    bootstrap = ss.Bootstrap(ss.Screen("f", k=4)).partial_fit(X, y)
    chosen = np.array([member.get_support() for member in bootstrap._members_[1:]])
    assert stability(chosen).value == pytest.approx(bootstrap.stability_)


@pytest.mark.parametrize("mask", [np.zeros((4, 6), bool), np.ones((4, 6), bool)])
def test_nothing_or_everything(mask):
    found = stability(mask)
    assert found.value == 1
    assert math.isnan(found.variance)
    assert math.isnan(found.p_value(0))
    assert "stability 1.000 of 4" in str(found)
    assert kuncheva(mask) == jaccard(mask) == 1


def test_one_run():
    found = stability([[0, 2]], 5)
    assert math.isnan(found.value)
    assert math.isnan(found.low)
    assert found.mean_size == 2
    assert math.isnan(kuncheva([[0, 2]], 5))
    assert math.isnan(kuncheva([[]], 5))
    assert math.isnan(jaccard([[0, 2]]))


def test_equal_selections_are_certain():
    found = stability([[1, 2]] * 5, 9)
    assert (found.value, found.variance, found.low, found.high) == (1, 0, 1, 1)
    assert (found.p_value(1), found.p_value(0)) == (1, 0)


def test_one_of_some_is_empty():
    assert jaccard([[], [], [1]]) == pytest.approx(1 / 3)
    assert stability([[], [], [1]], 4).value == pytest.approx(twin.nogueira([[], [], [1]], 4)[0])


def test_a_million_features_cost_no_matrix():
    found = stability([range(i, i + 100) for i in range(30)], 1_000_000)
    assert 0.8 < found.value < 1


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="say how many features there were"):
        stability([[1], [2]])
    with pytest.raises(InputError, match="selection 1 has column 7, but columns go from 0 to 4"):
        stability([[1], [7]], 5)
    with pytest.raises(InputError, match="selection 0 has column -1"):
        stability([[-1], [2]], 5)
    with pytest.raises(InputError, match="selection 0 holds a column twice"):
        stability([[1, 1], [2]], 5)
    with pytest.raises(InputError, match="for masks, give a"):
        stability([[True, False], [True, True]], 2)
    with pytest.raises(InputError, match="no selections to compare"):
        stability([], 5)
    with pytest.raises(InputError, match="n_features is 3, but the mask has 4 columns"):
        stability(np.ones((2, 4), bool), 3)
    with pytest.raises(InputError, match=r"\(run, feature\)"):
        stability(np.ones(4, bool))
    with pytest.raises(InputError, match="of one size; these have 1 to 2 features: use stability"):
        kuncheva([[1], [1, 2]], 5)
    with pytest.raises(ParameterError, match="confidence must be"):
        stability([[1], [2]], 5, confidence=1)
