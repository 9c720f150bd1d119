"""Most relevance, least redundancy, both by correlation."""

from __future__ import annotations

import numpy as np

from streamsieve.protocols import FloatArray
from streamsieve.rows.covariance_models.problem import Problem, falling, strongest


def mrmr(problem: Problem) -> FloatArray:
    """Score by (1 + relevance - redundancy) / 2 when the feature entered, which lies between 0 and 1.

    Relevance is the largest correlation with a target, redundancy the mean one with what had entered.
    """
    p = len(problem.R)
    relevance = strongest(list(problem.c), p)
    scores = np.zeros(p)
    usable = relevance > 0
    redundancy = np.zeros(p)
    order: list[int] = []
    merits: list[float] = []
    while len(order) < problem.k and usable.any():
        merit = np.where(usable, relevance - redundancy / max(1, len(order)), -np.inf)
        j = int(np.argmax(merit))
        order.append(j)
        merits.append(float(1 + merit[j]) / 2)
        usable[j] = False
        redundancy += np.abs(problem.R[j])
    scores[order] = falling(merits)
    return scores
