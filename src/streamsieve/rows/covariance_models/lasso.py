"""The lasso on correlations, with its two relatives."""

from __future__ import annotations

import numpy as np

from streamsieve.protocols import FloatArray
from streamsieve.rows.covariance_models.ols import ridge_coefficients
from streamsieve.rows.covariance_models.path import scores
from streamsieve.rows.covariance_models.problem import Problem, strongest

#: Least coefficient that an adaptive penalty divides by.
TINY = 1e-10


def lasso(problem: Problem) -> FloatArray:
    """Score by the coefficients at the first penalty with k of them."""
    return strongest([scores(problem, c) for c in problem.c], len(problem.R))


def elastic_net(problem: Problem) -> FloatArray:
    """Likewise, with a ridge beside the absolute values."""
    return strongest([scores(problem, c, ridge=problem.ridge) for c in problem.c], len(problem.R))


def adaptive_lasso(problem: Problem) -> FloatArray:
    """Likewise, penalising a feature the less the larger its coefficient is without a penalty."""
    factors = 1.0 / np.maximum(np.abs(ridge_coefficients(problem)), TINY)
    found = [scores(problem, c, factors=f) for c, f in zip(problem.c, factors, strict=True)]
    return strongest(found, len(problem.R))
