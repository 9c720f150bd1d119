"""Slow twin of ``streamsieve.offline.fcbf``: the list of the paper, one pair after another.

1. SU_jy for all features; those above delta, sorted by falling SU (equals: the first feature first).
2. For each feature a of the list, in order: remove every later b with SU_ab >= SU_by.

Codes are those of ``g_squared.py``; numbers equal up to 1e-12 are equal.

Source: Yu and Liu (2004), Figure 4.
"""

from functools import cmp_to_key

import numpy as np

from tests.reference.g_squared import classes, levels
from tests.reference.saola import entropies

TIE = 1e-12


def fcbf(X, y, task, delta=0.0, bins=5):
    """Return the selected features, best first, and for every feature what removed it (-1: nothing)."""
    codes = [levels(x, bins) for x in np.asarray(X, np.float64).T]
    relevance = [uncertainty(x, classes(y, task)) for x in codes]
    order = [j for j in range(len(codes)) if relevance[j] > delta + TIE]
    order.sort(key=cmp_to_key(lambda a, b: a - b if abs(relevance[a] - relevance[b]) <= TIE
                              else relevance[b] - relevance[a]))  # fmt: skip
    removed_by = [-1] * len(codes)
    at = 0
    while at < len(order):
        a = order[at]
        for b in order[at + 1 :]:
            if uncertainty(codes[a], codes[b]) >= relevance[b] - TIE:
                removed_by[b] = a
                order.remove(b)
        at += 1
    return order, removed_by, relevance


def uncertainty(a, b):
    h_a, h_b, information = entropies(a, b)
    return 2 * information / (h_a + h_b) if h_a + h_b > 0 and information >= 1e-12 else 0.0
