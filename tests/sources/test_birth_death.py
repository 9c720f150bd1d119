"""Features that are born and die: at any time an Indian buffet, with Poisson many of them."""

import math

import numpy as np
import pytest
import scipy.stats

from streamsieve.exceptions import ParameterError
from streamsieve.sources.birth_death import birth_death_process
from tests.reference import birth_death_process as twin

H4 = 1 + 1 / 2 + 1 / 3 + 1 / 4


def snapshots(n_objects, alpha, rate, many, start="stationary", duration=0.0):
    """Allocations at the end of independent histories."""
    options = {"alpha": alpha, "rate": rate, "duration": duration, "start": start}
    histories = (birth_death_process(n_objects, **options, random_state=seed) for seed in range(many))
    return [history.allocation(duration) for history in histories]


def poisson_p_value(counts, mean):
    """Probability of a chi-square as large, of counts against a Poisson law; thin tails are one cell."""
    top = int(mean + 3 * math.sqrt(mean))
    observed = np.bincount(np.minimum(counts, top), minlength=top + 1)
    expected = scipy.stats.poisson.pmf(np.arange(top + 1), mean)
    expected[-1] = scipy.stats.poisson.sf(top - 1, mean)
    wide = expected * len(counts) > 5
    pairs = [[*part[wide], part[~wide].sum()] for part in (observed, expected * len(counts))]
    keep = np.array(pairs[1]) > 0
    return scipy.stats.chisquare(np.array(pairs[0])[keep], np.array(pairs[1])[keep]).pvalue


@pytest.mark.parametrize(("alpha", "rate", "duration"), [(1.0, 1.0, 0.0), (2.0, 5.0, 1.0), (0.7, 0.5, 3.0)])
def test_the_number_alive_is_poisson_at_any_time(alpha, rate, duration):
    counts = np.array([shot.shape[1] for shot in snapshots(4, alpha, rate, 2000, duration=duration)])
    assert poisson_p_value(counts, alpha * H4) > 1e-3


def test_an_empty_start_is_forgotten():
    counts = np.array([s.shape[1] for s in snapshots(4, 1.5, 2.0, 2000, start="empty", duration=10.0)])
    assert poisson_p_value(counts, 1.5 * H4) > 1e-3
    early = np.array([s.shape[1] for s in snapshots(4, 1.5, 2.0, 1500, start="empty", duration=0.3)])
    mean = 1.5 * H4 * (1 - math.exp(-0.3 * 2.0 / 1.5))  # births that are still alive
    assert poisson_p_value(early, mean) > 1e-3


def test_it_is_an_indian_buffet():
    alpha, shots = 1.3, snapshots(4, 1.3, 2.0, 3000, duration=0.7)
    each = np.array([shot.sum(axis=1) for shot in shots])
    for j in range(4):  # each object has Poisson(alpha) features
        assert poisson_p_value(each[:, j], alpha) > 1e-3
    # two objects share alpha / 2 features on average: customer 2 takes those of customer 1 half of the time
    shared = np.array([np.sum(shot[0] & shot[1]) for shot in shots])
    assert shared.mean() == pytest.approx(alpha / 2, abs=0.05)
    sizes = np.bincount(np.concatenate([shot.sum(axis=0) for shot in shots]), minlength=5)[1:]
    expected = np.array([1, 1 / 2, 1 / 3, 1 / 4]) / H4 * sizes.sum()
    assert scipy.stats.chisquare(sizes, expected).pvalue > 1e-3


def test_births_come_at_the_rate_of_the_twin_and_every_set_is_drawn_by_its_own():
    sets, rates = twin.birth_rates(3, 2.0)
    assert rates.sum() == pytest.approx(2.0 * (1 + 1 / 2 + 1 / 3))
    lives = birth_death_process(3, rate=2.0, duration=5000.0, start="empty", random_state=1)
    assert len(lives.born) == pytest.approx(rates.sum() * 5000, rel=0.03)
    assert np.all(np.diff(lives.born) >= 0)
    waits = np.diff(lives.born)
    assert scipy.stats.kstest(waits, "expon", args=(0, 1 / rates.sum())).pvalue > 1e-3
    found = [sum(set(np.flatnonzero(m)) == a for m in lives.members) for a in sets]
    expected = rates / rates.sum() * len(lives.born)
    assert scipy.stats.chisquare(found, expected).pvalue > 1e-3


def test_features_live_as_long_as_they_should():
    lives = birth_death_process(5, alpha=3.0, rate=2.0, duration=4000.0, random_state=2)
    ended = np.isfinite(lives.died)
    assert ended.mean() > 0.99
    ages = (lives.died - lives.born)[ended]
    assert scipy.stats.kstest(ages, "expon", args=(0, 1.5)).pvalue > 1e-3
    assert np.all(lives.died > lives.born)


def test_the_twin_agrees():
    rng = np.random.default_rng(3)
    alpha, rate, many = 1.5, 2.0, 400
    theirs = []
    for _ in range(many):
        alive = []
        for _, alive in twin.gillespie(3, alpha, rate, 4.0, rng):  # noqa: B007 - the last one counts
            pass
        theirs.append((len(alive), sum(map(len, alive))))
    shots = snapshots(3, alpha, rate, many, start="empty", duration=4.0)
    ours = [(shot.shape[1], int(shot.sum())) for shot in shots]
    for mine, other in zip(np.transpose(ours), np.transpose(theirs), strict=True):
        assert scipy.stats.ks_2samp(mine, other).pvalue > 1e-3


def test_what_is_alive_changes_by_births_and_deaths():
    lives = birth_death_process(4, alpha=2.0, duration=5.0, random_state=4)
    for time in np.linspace(0, 5, 11):
        alive = lives.alive(time)
        assert np.all(lives.born[alive] <= time)
        assert np.all(lives.died[alive] > time)
        allocation = lives.allocation(time)
        assert allocation.shape == (4, len(alive))
        assert np.all(allocation.sum(axis=0) >= 1)
    with pytest.raises(ParameterError, match="time must be a number at least 0 and at most 5"):
        lives.alive(6.0)


def test_the_same_seed_gives_the_same_lives():
    one, two = (birth_death_process(6, duration=20.0, random_state=5) for _ in range(2))
    assert np.array_equal(one.born, two.born)
    assert np.array_equal(one.members, two.members)
    other = birth_death_process(6, duration=20.0, random_state=6)
    assert not np.array_equal(one.born, other.born)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_objects": 0}, "n_objects must be a whole number at least 1"),
        ({"alpha": 0.0}, "alpha must be a number above 0"),
        ({"rate": -1.0}, "rate must be a number above 0"),
        ({"duration": float("inf")}, "duration must be a number at least 0"),
        ({"start": "full"}, "start must be one of 'stationary', 'empty'"),
        ({"random_state": 1.5}, "random_state must be a whole number"),
        ({"n_objects": 10**15}, "too many for memory"),  # before anything that long is made
        ({"n_objects": 10**15, "duration": 0.0, "start": "empty"}, "too many for memory"),
        ({"duration": 1e12}, "too many for memory: choose a smaller"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments, message):
    with pytest.raises(ParameterError, match=message):
        birth_death_process(**{"n_objects": 3} | arguments)
