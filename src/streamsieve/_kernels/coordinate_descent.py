"""Penalized least squares from correlations alone: one coordinate at a time, along a path of penalties."""

from __future__ import annotations

import numba as nb
import numpy as np

from streamsieve.protocols import FloatArray, IntArray


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _step(
    R: FloatArray, rest: FloatArray, beta: FloatArray, j: int,
    threshold: float, ridge: float, gamma: float,
) -> float:  # fmt: skip
    """Minimize over coordinate j; return how far it moved."""
    z = rest[j] + beta[j]
    size = abs(z)
    new = 0.0
    if size > gamma * threshold:  # so large that the concave penalty is flat there
        new = z / (1.0 + ridge)
    elif size > threshold:
        new = (size - threshold) / (1.0 + ridge - 1.0 / gamma)
        if z < 0.0:
            new = -new
    change: float = new - beta[j]
    if change != 0.0:
        beta[j] = new
        row = R[j]
        for other in range(len(rest)):
            rest[other] -= change * row[other]
    return abs(change)


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def descend(
    R: FloatArray, rest: FloatArray, beta: FloatArray, order: IntArray, factors: FloatArray,
    penalty: float, ridge: float, gamma: float, tolerance: float, most_sweeps: int,
) -> None:  # fmt: skip
    """Go down to a minimum of b'Rb/2 - c'b + ridge |b|^2/2 + sum of factor_j penalty |b_j|, in place.

    ``rest`` is c - R beta.  With a finite ``gamma`` the penalty is the minimax concave one (its ridge is 0).
    In the given order, sweeps over all coordinates, and after each of them over those that are not 0, until
    they rest; done when a sweep over all changes nothing.
    """
    sweeps = 0
    active = np.empty(len(order), np.int64)
    while sweeps < most_sweeps:
        moved = 0.0
        for j in order:
            moved = max(moved, _step(R, rest, beta, j, penalty * factors[j], ridge, gamma))
        sweeps += 1
        if moved <= tolerance:
            return
        # the few that are not 0, side by side: a sweep over them is quadratic in their number only
        m = 0
        for j in order:
            if beta[j] != 0.0:
                active[m] = j
                m += 1
        few, few_rest, few_beta = np.empty((m, m)), np.empty(m), np.empty(m)
        for a in range(m):
            few_rest[a], few_beta[a] = rest[active[a]], beta[active[a]]
            row = R[active[a]]
            for b in range(m):
                few[a, b] = row[active[b]]
        while moved > tolerance and sweeps < most_sweeps:
            moved = 0.0
            for a in range(m):
                threshold = penalty * factors[active[a]]
                moved = max(moved, _step(few, few_rest, few_beta, a, threshold, ridge, gamma))
            sweeps += 1
        for a in range(m):
            j = active[a]
            change = few_beta[a] - beta[j]
            beta[j] = few_beta[a]
            row = R[j]
            for other in range(len(rest)):
                rest[other] -= change * row[other]


@nb.njit(nogil=True, cache=True)
def path(
    R: FloatArray, c: FloatArray, order: IntArray, factors: FloatArray, ridge: float, gamma: float, k: int,
    ratio: float, most_steps: int, tolerance: float, most_sweeps: int,
) -> tuple[FloatArray, float]:  # fmt: skip
    """Lower the penalty by ``ratio`` at a time, each time from where the last minimum was.

    Begins where all coefficients are 0 and ends with k of them other than 0, or after ``most_steps``.
    Returns the coefficients and the last penalty.
    """
    p = len(c)
    beta = np.zeros(p)
    rest = c.copy()
    penalty = 0.0
    for j in range(p):
        penalty = max(penalty, abs(c[j]) / factors[j])
    for _ in range(most_steps):
        penalty *= ratio
        descend(R, rest, beta, order, factors, penalty, ridge, gamma, tolerance, most_sweeps)
        nonzero = 0
        for j in range(p):
            nonzero += int(beta[j] != 0.0)
        if nonzero >= k:
            break
    return beta, penalty
