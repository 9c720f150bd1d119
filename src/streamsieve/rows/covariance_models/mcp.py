"""Least squares with the minimax concave penalty."""

from __future__ import annotations

from streamsieve.protocols import FloatArray
from streamsieve.rows.covariance_models.path import scores
from streamsieve.rows.covariance_models.problem import Problem, strongest


def mcp(problem: Problem) -> FloatArray:
    """Score by the coefficients at the first penalty with k of them; large ones are not shrunk."""
    return strongest([scores(problem, c, gamma=problem.gamma) for c in problem.c], len(problem.R))
