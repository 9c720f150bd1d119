"""Relevance by a user-defined conditional test with an empty conditioning set: one call per column."""

from __future__ import annotations

import numpy as np

from streamsieve.decisions import CONSTANT, IRRELEVANT, RELEVANT
from streamsieve.dependence.blocks import dense_column
from streamsieve.dependence.contract import Relevance, RelevanceTest
from streamsieve.independence.contract import ConditionalTest, tested
from streamsieve.protocols import FloatArray, Matrix
from streamsieve.state import Array, Encoded, Float, register


@register
class AnyTest(RelevanceTest):
    """A conditional test bound to the target."""

    fields = {
        "test": Encoded("conditional"),
        "y": Array("f8", "rows", finite=True),
        "alpha": Float(0, 1, open_low=True, open_high=True),
    }

    def __init__(self, test: ConditionalTest, y: FloatArray, alpha: float) -> None:
        self.n, self.test, self.y, self.alpha = len(y), test, y, alpha

    def measure(self, X: Matrix) -> Relevance:
        """Test every column of a block given nothing."""
        m, nothing = X.shape[1], np.zeros((self.n, 0))
        reason = np.full(m, CONSTANT, np.uint8)
        statistic, p_value = np.zeros(m), np.ones(m)
        for j in range(m):
            x = dense_column(X, j)
            if np.any(x != x[0]):
                statistic[j], p_value[j] = tested(self.test, x, self.y, nothing)
                reason[j] = RELEVANT if p_value[j] <= self.alpha else IRRELEVANT
        return Relevance(reason, statistic, p_value, discrete=np.ones(m, bool))  # assume the general case
