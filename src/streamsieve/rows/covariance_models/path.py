"""Penalized least squares along a path of penalties: the lasso and its relatives, and MCP."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from streamsieve._caller import warn
from streamsieve._kernels import coordinate_descent as kernel
from streamsieve.protocols import FloatArray
from streamsieve.rows.covariance_models.ols import ridge_coefficients
from streamsieve.rows.covariance_models.problem import Problem, strongest

#: Smallest coefficient that an adaptive penalty divides by.
LEAST_DIVISOR = 1e-10
#: The path: 40 penalties from the largest to a thousandth of it, in equal steps of the logarithm.
STEPS = 39
RATIO = 1e-3 ** (1 / STEPS)
TOLERANCE = 1e-8
MOST_SWEEPS = 500
#: Error of a gradient that is accepted at a minimum, as a fraction of the penalty.
OPTIMALITY_TOLERANCE = 1e-3
#: Correlations below this are rounding errors.
ROUNDING = 1e-10


def lasso(problem: Problem) -> FloatArray:
    """Score by the coefficients at the first penalty with k non-zero ones."""
    return strongest([scores(problem, c) for c in problem.c], len(problem.R))


def elastic_net(problem: Problem) -> FloatArray:
    """Score as `lasso` does, with an additional ridge penalty."""
    return strongest([scores(problem, c, ridge=problem.ridge) for c in problem.c], len(problem.R))


def adaptive_lasso(problem: Problem) -> FloatArray:
    """Score as `lasso` does, with smaller penalties for features of larger unpenalized coefficients."""
    factors = 1.0 / np.maximum(np.abs(ridge_coefficients(problem)), LEAST_DIVISOR)
    found = [scores(problem, c, factors=f) for c, f in zip(problem.c, factors, strict=True)]
    return strongest(found, len(problem.R))


def mcp(problem: Problem) -> FloatArray:
    """Score as `lasso` does, by a concave penalty (MCP) that does not shrink large coefficients."""
    return strongest([scores(problem, c, gamma=problem.gamma) for c in problem.c], len(problem.R))


class Fit(NamedTuple):
    """Coefficients, and the penalty to which they belong."""

    beta: FloatArray
    penalty: float


def first_with(
    problem: Problem, c: FloatArray, factors: FloatArray | None = None, ridge: float = 0.0,
    gamma: float = np.inf,
) -> Fit:  # fmt: skip
    """Follow the path for one target until k coefficients are not 0."""
    factors = np.ones(len(c)) if factors is None else factors
    if len(c) == 0 or not c.any():
        return Fit(np.zeros(len(c)), 0.0)
    # with several minima, the order of descent decides, which must not be that of the columns
    order = np.argsort(-np.abs(c), kind="stable")
    beta, penalty = kernel.path(
        problem.R, np.ascontiguousarray(c), order, factors, ridge, gamma, problem.k,
        RATIO, STEPS, TOLERANCE, MOST_SWEEPS,
    )  # fmt: skip
    beta = _polished(problem.R, c, beta, penalty * factors, ridge, gamma)
    short = _distance(problem.R, c, beta, penalty * factors, ridge, gamma)
    if short > OPTIMALITY_TOLERANCE:
        warn(
            f"coordinate descent ended {short:.2g} of the penalty short of the minimum after {MOST_SWEEPS} "
            "sweeps: features are nearly collinear; use a ridge (model='elastic_net'), or leave some out",
            ConvergenceWarning,
        )
    return Fit(beta, penalty)


def scores(
    problem: Problem, c: FloatArray, factors: FloatArray | None = None, ridge: float = 0.0,
    gamma: float = np.inf,
) -> FloatArray:  # fmt: skip
    """Score by the sizes of the coefficients at the end of the path.

    If it ends with fewer than k, the features most correlated with the residual follow.
    """
    beta, penalty = first_with(problem, c, factors, ridge, gamma)
    sizes = np.abs(beta)
    inside = sizes > 0
    if np.count_nonzero(inside) >= problem.k or penalty == 0:
        return sizes
    rest = np.abs(c - problem.R @ beta) / (1.0 if factors is None else factors)
    least = sizes[inside].min() if inside.any() else 1.0
    near = np.minimum(rest / penalty, 1.0 - 1e-9) * least
    return np.where(inside, sizes, np.where(rest > ROUNDING, near, 0.0))


def _distance(
    R: FloatArray, c: FloatArray, beta: FloatArray, thresholds: FloatArray, ridge: float, gamma: float
) -> float:
    """Return the largest violation of the optimality conditions, as a fraction of the threshold."""
    gradient = c - R @ beta - ridge * beta
    pull = np.maximum(thresholds - np.abs(beta) / gamma, 0.0)
    off = np.where(beta == 0, np.abs(gradient) - thresholds, np.abs(gradient - pull * np.sign(beta)))
    return float(np.max(off / np.maximum(thresholds, LEAST_DIVISOR), initial=0.0))


def _polished(
    R: FloatArray, c: FloatArray, beta: FloatArray, thresholds: FloatArray, ridge: float, gamma: float
) -> FloatArray:
    """Solve the optimality conditions for the non-zero coefficients, given their signs.

    Descent stops near the minimum; the equations are exact, unless other coefficients are 0 at the minimum.
    """
    active = np.flatnonzero(beta)
    if len(active) == 0:
        return beta
    b, t = beta[active], thresholds[active]
    # beyond gamma t the concave penalty is constant
    flat = np.abs(b) >= gamma * t
    A = R[np.ix_(active, active)]
    A[np.diag_indices(len(active))] += ridge - np.where(flat, 0.0, 1.0 / gamma)
    try:
        exact = np.linalg.solve(A, c[active] - np.where(flat, 0.0, t) * np.sign(b))
    except np.linalg.LinAlgError:
        return beta
    fits = np.abs(exact - b) <= 1e-4 * np.abs(b)
    same = np.sign(exact) == np.sign(b)
    if not np.all(fits & same & ((np.abs(exact) >= gamma * t) == flat)):
        return beta
    out = beta.copy()
    out[active] = exact
    return out
