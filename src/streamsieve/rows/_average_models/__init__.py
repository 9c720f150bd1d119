"""Models that choose features from correlations alone, one a file."""

from collections.abc import Callable

from streamsieve.protocols import FloatArray
from streamsieve.rows._average_models.lasso import adaptive_lasso, elastic_net, lasso
from streamsieve.rows._average_models.mcp import mcp
from streamsieve.rows._average_models.mrmr import mrmr
from streamsieve.rows._average_models.ofsa import ofsa
from streamsieve.rows._average_models.ols import olsth, t_scores
from streamsieve.rows._average_models.omp import omp
from streamsieve.rows._average_models.problem import Problem

#: What scores every feature of a problem, by name; larger is better, 0 is of no use.
MODELS: dict[str, Callable[[Problem], FloatArray]] = {
    "ofsa": ofsa,
    "olasso": lasso,
    "oelnet": elastic_net,
    "oadalasso": adaptive_lasso,
    "omcp": mcp,
    "omp": omp,
    "mrmr": mrmr,
    "olsth": olsth,
    "t_test": t_scores,
}
