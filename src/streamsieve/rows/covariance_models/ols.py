"""Least squares with all features: annealing, large coefficients, and tests of coefficients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, solve_triangular
from scipy.sparse.linalg import ArpackNoConvergence, eigsh
from scipy.special import stdtr

from streamsieve._kernels.annealing import anneal
from streamsieve._threads import answering
from streamsieve.protocols import BoolArray, FloatArray
from streamsieve.rows.covariance_models.problem import Problem, strongest

#: Number of features up to which computing all eigenvalues is faster than computing one.
SMALL = 100
#: Features from which a call of LAPACK takes tenths of a second.
LARGE = 1000
#: Multiplications per call, some tenths of a second; Ctrl-C is handled between calls.
PIECE = 2**32


def ofsa(problem: Problem) -> FloatArray:
    """Feature selection with annealing (FSA): score by the coefficients that survive the gradient steps."""
    p = len(problem.R)
    if p == 0:
        return np.zeros(0)
    rate = 1.0 / largest_eigenvalue(problem.R)
    found = [
        anneal(problem.R, c, min(problem.k, p), problem.steps, problem.annealing, problem.ridge, rate)
        for c in problem.c
    ]
    return strongest(found, p)


def largest_eigenvalue(R: FloatArray) -> float:
    """Return the largest eigenvalue of a correlation matrix."""
    if len(R) > SMALL:
        # a random start, which no symmetry of the data makes orthogonal to the eigenvector
        start = 1.0 + np.cos(np.arange(len(R)) ** 1.5)
        try:
            found = eigsh(R, k=1, v0=start, tol=1e-7, return_eigenvectors=False)
        except ArpackNoConvergence:
            pass
        else:
            return float(found[0])
    return float(decomposed(np.linalg.eigvalsh, R)[-1])


#: Minimum number of rows in excess of the features for a test.
SPARE_ROWS = 10
#: Relative variance below which the features are constant in a direction.
LEAST_VARIANCE = 1e-9
#: Lower bound on the unexplained fraction of the target's variance; a perfect fit would make every t
#: infinite.
LEAST_REST = 1e-15


def olsth(problem: Problem) -> FloatArray:
    """Score by the coefficients of ridge regression."""
    return strongest(list(ridge_coefficients(problem)), len(problem.R))


def ridge_coefficients(problem: Problem) -> FloatArray:
    """Return the coefficients of ridge regression, of shape (targets, features)."""
    if len(problem.R) == 0:
        return np.zeros_like(problem.c)
    A = problem.R.copy()
    A[np.diag_indices(len(A))] += problem.ridge
    try:
        factor = decomposed(np.linalg.cholesky, A)
    except LinAlgError:  # no ridge penalty, and more features than rows
        return np.asarray(problem.c @ pseudo_inverse(problem.R))
    return np.asarray(cho_solve((factor, True), problem.c.T).T)


def pseudo_inverse(R: FloatArray) -> FloatArray:
    """Return the pseudo-inverse of a correlation matrix, over the directions in which the features vary."""
    return np.asarray(decomposed(np.linalg.pinv, R, rcond=LEAST_VARIANCE, hermitian=True))


def decomposed(function: Callable[..., Any], R: FloatArray, **options: Any) -> Any:
    """Return ``function(R)`` of ``numpy.linalg``; Ctrl-C is handled while LAPACK works on a large matrix."""
    if len(R) < LARGE:
        return function(R, **options)
    return answering(lambda: function(R, **options))


class Tests(NamedTuple):
    """Tests of every feature given all others."""

    #: Largest |t| over the targets; 0 where there is no test.
    t: FloatArray
    p_values: FloatArray
    #: Why there are no tests, or nothing.
    reason: str


def t_scores(problem: Problem) -> FloatArray:
    """Score by |t|."""
    return conditional_tests(problem).t


def conditional_tests(problem: Problem) -> Tests:
    """Test whether each feature's coefficient in the regression on all features is 0.

    A feature that is a linear combination of others has no coefficient of its own, and p-value 1.  With
    several targets, the smallest p-value is multiplied by their number (Bonferroni).
    """
    p = len(problem.R)
    if p == 0 or len(problem.c) == 0:
        return Tests(np.zeros(p), np.ones(p), "no feature or no target varies")
    if problem.n <= p + SPARE_ROWS:
        return Tests(
            np.zeros(p),
            np.ones(p),
            f"{problem.n:.6g} rows are too few for tests given all of {p} features: more than "
            f"{p + SPARE_ROWS} are needed; wait for more rows, or screen first",
        )
    beta, variances, rank, estimable = _regression(problem.R, problem.c)
    rest = np.maximum(1.0 - np.sum(problem.c * beta, axis=1), LEAST_REST)
    freedom = problem.n - rank - 1
    spread = np.sqrt(np.maximum(np.outer(rest, variances), 0.0) / freedom)
    t = np.divide(np.abs(beta), spread, out=np.zeros_like(beta), where=estimable & (spread > 0))
    strong = t.max(axis=0)
    p_values = np.minimum(1.0, 2.0 * stdtr(freedom, -strong) * len(problem.c))
    return Tests(strong, p_values, "")


def _regression(R: FloatArray, c: FloatArray) -> tuple[FloatArray, FloatArray, int, BoolArray]:
    """Return coefficients, the diagonal of the inverse, the rank, and which features have a coefficient."""
    p = len(R)
    try:
        factor = decomposed(np.linalg.cholesky, R)
    except LinAlgError:
        factor = np.zeros_like(R)
    if np.min(np.diagonal(factor)) ** 2 > LEAST_VARIANCE:
        beta = cho_solve((factor, True), c.T).T
        return beta, _inverse_diagonal(factor), p, np.ones(p, bool)
    values, vectors = decomposed(np.linalg.eigh, R)
    steep = values > LEAST_VARIANCE
    some = vectors[:, steep]
    nowhere = np.sum(vectors[:, ~steep] ** 2, axis=1)
    turned = some / values[steep]
    return (c @ turned) @ some.T, np.sum(turned * some, axis=1), int(steep.sum()), nowhere < LEAST_VARIANCE


def _inverse_diagonal(factor: FloatArray) -> FloatArray:
    """Return the diagonal of the inverse of ``factor @ factor.T``: sums of squares of the inverse factor.

    A column of that inverse is 0 above the diagonal, so the columns from ``low`` on need only the lower right
    corner of the factor; they are solved for in batches.
    """
    p = len(factor)
    out = np.empty(p)
    low = 0
    while low < p:
        rows = p - low
        width = min(rows, max(1, PIECE // rows**2))
        columns = solve_triangular(factor[low:, low:], np.eye(rows, width), lower=True, check_finite=False)
        out[low : low + width] = np.sum(columns**2, axis=0)
        low += width
    return out
