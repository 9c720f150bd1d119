"""Slow twin of ``streamsieve.sources.birth_death``: Gillespie's algorithm over all sets of objects.

Each of the 2^N - 1 sets a is born at the rate R (|a|-1)! (N-|a|)! / N!, each feature alive dies at the rate R
/ alpha. The next event comes after an exponential time at the sum of all rates, and is one of them in
proportion to its rate. It starts empty, and what was before a time long enough is forgotten.

Source: Palla, Knowles, Ghahramani 2017.  The review prints the death rate as R r / alpha.
"""

from itertools import combinations
from math import factorial

import numpy as np


def birth_rates(n_objects, rate):
    sets = [set(a) for k in range(1, n_objects + 1) for a in combinations(range(n_objects), k)]
    n = n_objects
    return sets, np.array([rate * factorial(len(a) - 1) * factorial(n - len(a)) / factorial(n) for a in sets])


def gillespie(n_objects, alpha, rate, duration, rng):
    """Yield (time, sets alive) after every event."""
    sets, births = birth_rates(n_objects, rate)
    alive, time = [], 0.0
    while True:
        total = births.sum() + len(alive) * rate / alpha
        time += rng.exponential(1 / total)
        if time > duration:
            return
        if rng.random() < births.sum() / total:
            alive.append(sets[rng.choice(len(sets), p=births / births.sum())])
        else:
            alive.pop(rng.integers(len(alive)))
        yield time, list(alive)
