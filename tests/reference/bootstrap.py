"""Slow twin of ``streamsieve.rows.bootstrap``: draw counts, repeat rows, select, count.

Row i counts Poisson(1) times in replica b: the word b mod 4 of Philox4x32-10 (Salmon et al. 2011) with key
(seed) and counter (i, b div 4) is a number u of 32 bits, and the count is the least c with
u < floor(2^32 P(count <= c)).

Selection frequency: the share of replicas that select a feature.  Stability (Nogueira et al. 2017): one minus
the mean unbiased variance of a feature's selection, over that of random selections of the mean size.
Expected false features (Meinshausen and Buehlmann 2010): q^2 / ((2 threshold - 1) p).

Source: Oza and Russell (2001) for Poisson weights; Meinshausen and Buehlmann (2010) for the shares.
"""

from fractions import Fraction
from math import factorial

import numpy as np

from tests.reference import screen

MASK = 2**32 - 1


def philox(counter, key):
    """Return four words of 32 bits for a counter of four and a key of two."""
    c, k = list(counter), list(key)
    for _ in range(10):
        high_0, low_0 = divmod(0xD2511F53 * c[0], 2**32)
        high_1, low_1 = divmod(0xCD9E8D57 * c[2], 2**32)
        c = [high_1 ^ c[1] ^ k[0], low_1, high_0 ^ c[3] ^ k[1], low_0]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


# 1/e as a fraction, to far more digits than 32 bits have
_INVERSE_E = sum(Fraction((-1) ** i, factorial(i)) for i in range(40))
STEPS = [
    int(2**32 * _INVERSE_E * sum(Fraction(1, factorial(i)) for i in range(count + 1))) for count in range(13)
]


def weight(seed, row, replica):
    """Return how often a replica counts a row."""
    words = philox([row & MASK, row >> 32, replica // 4, 0], [seed & MASK, seed >> 32])
    return sum(words[replica % 4] >= step for step in STEPS)


def frequencies(criterion, X, y, *, replicas, seed=0, first_row=0, **options):
    """Return the share of replicas that select a feature."""
    counts = np.zeros(X.shape[1])
    for replica in range(replicas):
        times = [weight(seed, first_row + i, replica) for i in range(len(X))]
        rows = np.repeat(np.arange(len(X)), times)
        counts[screen.screen(criterion, X[rows], y[rows], **options)] += 1
    return counts / replicas


def stability(selections):
    """Return the stability of selections, replica by feature."""
    Z = np.asarray(selections, float)
    share = Z.sum(axis=1).mean() / Z.shape[1]
    return 1 - Z.var(axis=0, ddof=1).mean() / (share * (1 - share))


def expected_false(selections, threshold):
    """Return the bound on false features."""
    Z = np.asarray(selections, float)
    q = np.mean([row.sum() for row in Z])
    return q**2 / ((2 * threshold - 1) * Z.shape[1])
