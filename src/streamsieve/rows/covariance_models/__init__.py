"""Models that select features from a covariance matrix alone.

=================== ============================================================================
problem             correlations of features and target, standardized: what the models are given
path                penalized regression along a path of penalties: lasso and MCP
forward             forward selection: OMP and mRMR
ols                 least squares with annealing or a threshold, and tests of its coefficients
frequent_directions a sketch of the scatter matrix, for FSDS, which has no target
=================== ============================================================================
"""

from collections.abc import Callable

from streamsieve.protocols import FloatArray
from streamsieve.rows.covariance_models.forward import mrmr, omp
from streamsieve.rows.covariance_models.ols import ofsa, olsth, t_scores
from streamsieve.rows.covariance_models.path import adaptive_lasso, elastic_net, lasso, mcp
from streamsieve.rows.covariance_models.problem import Problem

#: Functions that score every feature of a problem, by name; larger is better, 0 is outside the model.
MODELS: dict[str, Callable[[Problem], FloatArray]] = {
    "fsa": ofsa,
    "lasso": lasso,
    "elastic_net": elastic_net,
    "adaptive_lasso": adaptive_lasso,
    "mcp": mcp,
    "omp": omp,
    "mrmr": mrmr,
    "ols_threshold": olsth,
    "t_test": t_scores,
}
