"""Forward selection on correlations: orthogonal matching pursuit and mRMR."""

from __future__ import annotations

import numpy as np

from streamsieve.protocols import FloatArray
from streamsieve.rows.covariance_models.problem import Problem, falling, strongest

#: Least share of a feature's variance that the chosen ones leave unexplained; also the least correlation.
OPEN = 1e-10


def omp(problem: Problem) -> FloatArray:
    """Orthogonal matching pursuit: score by the correlation with the residual when the feature entered."""
    return strongest([_scores(problem.R, c, problem.k) for c in problem.c], len(problem.R))


def _scores(R: FloatArray, c: FloatArray, k: int) -> FloatArray:
    order, sizes = pursue(R, c, k)
    scores = np.zeros(len(c))
    scores[order] = falling(sizes)
    return scores


def pursue(R: FloatArray, c: FloatArray, k: int) -> tuple[list[int], list[float]]:
    """Return up to k features in order of entry, and their correlations with the residual at entry.

    Every feature that enters adds a row to a partial Cholesky factor of R over all columns, from which the
    residual correlations of all features follow by one subtraction.
    """
    p = len(c)
    factor = np.zeros((min(k, p), p))
    rest, left = c.copy(), np.ones(p)
    usable = np.ones(p, bool)
    order: list[int] = []
    sizes: list[float] = []
    while len(order) < min(k, p):
        usable &= left > OPEN
        candidates = np.where(usable, np.abs(rest), 0.0)
        j = int(np.argmax(candidates))
        if candidates[j] <= OPEN:
            break
        t = len(order)
        pivot = np.sqrt(left[j])
        factor[t] = (R[j] - factor[:t, j] @ factor[:t]) / pivot
        order.append(j)
        sizes.append(float(candidates[j]))
        usable[j] = False
        rest = rest - factor[t] * (rest[j] / pivot)
        left = left - factor[t] ** 2
    return order, sizes


def mrmr(problem: Problem) -> FloatArray:
    """Greedy mRMR: score by (1 + relevance - redundancy) / 2 when the feature entered, in [0, 1].

    Relevance is the largest correlation with a target, redundancy the mean correlation with the features
    entered before.
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
