"""Online feature selection with annealing."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from streamsieve._kernels.annealing import anneal
from streamsieve.protocols import FloatArray
from streamsieve.rows.covariance_models.problem import Problem, strongest

#: Up to here all eigenvalues are found faster than one.
SMALL = 100


def ofsa(problem: Problem) -> FloatArray:
    """Score by the coefficients that survive while gradient steps go on."""
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
        # any start will do that is not orthogonal to the answer by some symmetry of the data
        start = 1.0 + np.cos(np.arange(len(R)) ** 1.5)
        try:
            found = eigsh(R, k=1, v0=start, tol=1e-7, return_eigenvectors=False)
        except ArpackNoConvergence:
            pass
        else:
            return float(found[0])
    return float(np.linalg.eigvalsh(R)[-1])
