"""Births and deaths of features of a set of objects, in continuous time."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from streamsieve._parameters import check_choice, check_number
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import BoolArray, FloatArray, IntArray

STARTS = ("stationary", "empty")
#: Maximum number of memberships; they fit into memory easily.
MOST_MEMBERSHIPS = 2e8
#: Maximum number of objects; those of one feature are drawn together and take 16 times the memory.
MOST_OBJECTS = MOST_MEMBERSHIPS / 16
#: Memberships drawn at a time; each takes 16 times the memory while it is drawn.
CHUNK = 2**20


@dataclass(frozen=True)
class FeatureLives:
    """Simulated features with their times of birth and death, and the objects that have them.

    Attributes
    ----------
    born : float64 array, time of birth, in order; 0 for the initial features
    died : float64 array, time of death; infinite for those alive at the end
    members : bool array (features, objects)
    duration : length of the simulation
    """

    born: FloatArray
    died: FloatArray
    members: BoolArray
    duration: float

    def alive(self, time: float) -> IntArray:
        """Return the features alive at a time between 0 and ``duration``, by number."""
        check_number("time", time, low=0, high=self.duration)
        return np.flatnonzero((self.born <= time) & (time < self.died))

    def allocation(self, time: float) -> BoolArray:
        """Return which objects have which features at a time: (objects, features alive)."""
        return self.members[self.alive(time)].T.copy()


def birth_death_process(
    n_objects: int,
    *,
    alpha: float = 1.0,
    rate: float = 1.0,
    duration: float = 10.0,
    start: str = "stationary",
    random_state: int | None = 0,
) -> FeatureLives:
    """Simulate a birth-death process of features whose marginal is the Indian buffet process.

    Parameters
    ----------
    n_objects : int
        Objects that may have a feature, at least 1.
    alpha : float, default=1.0
        Mean number of features per object, above 0.
    rate : float, default=1.0
        Rate of births and deaths, above 0; the mean lifetime of a feature is ``alpha / rate``.
    duration : float, default=10.0
        Length of the simulation, at least 0.
    start : {"stationary", "empty"}, default="stationary"
        Initial state: drawn from the stationary distribution, or no features.
    random_state : int or None, default=0
        Seed, in [0, 2^32).  If None, every call draws another process.

    Notes
    -----
    A feature is a set a of objects that is not empty.  It is born at the rate
    ``R (|a| - 1)! (N - |a|)! / N!`` and dies at the rate ``R / alpha``.  Over all sets of k objects the birth
    rates sum up to ``R / k``, so births are a Poisson process of rate ``R H_N``, with ``H_N = 1 + 1/2 + ... +
    1/N``; the size of a newborn is k with a probability in proportion to 1/k, and its objects are drawn
    uniformly.  Features are independent, so the stationary number alive is Poisson with mean ``alpha H_N``,
    and the stationary distribution is the Indian buffet process with parameter alpha.  All births of the
    whole time are drawn at once.

    The review that this follows prints the death rate as ``R r / alpha``; r is how many features are this
    same set, each of which dies on its own.

    References
    ----------
    Palla, Knowles, Ghahramani, A Birth-Death Process for Feature Allocation, ICML 2017.

    Examples
    --------
    >>> from streamsieve.sources.birth_death import birth_death_process
    >>> lives = birth_death_process(5, alpha=2.0, duration=1000.0)
    >>> lives.allocation(500.0).shape[0]
    5
    >>> times = range(0, 1000, 10)
    >>> bool(3.5 < sum(len(lives.alive(t)) for t in times) / len(times) < 5.5)  # alpha H_5 = 4.57
    True
    """
    check_number("n_objects", n_objects, low=1, integer=True)
    check_number("alpha", alpha, low=0, open_low=True)
    check_number("rate", rate, low=0, open_low=True)
    check_number("duration", duration, low=0)
    check_choice("start", start, STARTS)
    if random_state is not None:
        check_number("random_state", random_state, low=0, high=2**32 - 1, integer=True)
    about = math.log(n_objects) + np.euler_gamma + 0.5 / n_objects  # H_N, without an array as long as N
    expected = about * (rate * duration + (alpha if start == "stationary" else 0.0))
    if n_objects > MOST_OBJECTS or expected * n_objects > MOST_MEMBERSHIPS:
        raise ParameterError(
            f"about {expected:.3g} features of {n_objects} objects are to be expected, too many for memory: "
            "choose a smaller alpha, rate, duration or n_objects"
        )
    sizes = np.arange(1, n_objects + 1)
    harmonic = float(np.sum(1.0 / sizes))
    rng = np.random.default_rng(random_state)
    there = int(rng.poisson(alpha * harmonic)) if start == "stationary" else 0
    later = np.sort(rng.random(int(rng.poisson(rate * harmonic * duration)))) * duration
    born = np.concatenate([np.zeros(there), later])
    # exponential lifetimes are memoryless, so the remaining lifetime has the same distribution
    died = born + rng.exponential(alpha / rate, len(born))
    died[died > duration] = np.inf
    size = rng.choice(sizes, len(born), p=1.0 / sizes / harmonic)
    members = np.empty((len(born), n_objects), bool)
    some = max(1, CHUNK // n_objects)
    for low in range(0, len(born), some):
        places = np.argsort(rng.random((len(members[low : low + some]), n_objects)), axis=1)
        members[low : low + some] = places < size[low : low + some, None]
    return FeatureLives(born, died, members, float(duration))
