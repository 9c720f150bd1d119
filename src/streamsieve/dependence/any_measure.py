"""Relevance by a user-defined measure: one call per column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve.decisions import CONSTANT, IRRELEVANT, RELEVANT
from streamsieve.dependence.blocks import dense_column
from streamsieve.dependence.contract import Measure, Relevance, RelevanceTest, dependence_of, p_value_of
from streamsieve.protocols import FloatArray, Matrix
from streamsieve.state import Array, Encoded, Float, register


@register
class AnyMeasure(RelevanceTest):
    """A measure bound to the target: tested at ``alpha`` if it has p-values, else compared with ``delta``."""

    fields = {
        "measure": Encoded("dependence"),
        "y": Array("f8", "rows", finite=True),
        "alpha": Float(0, 1, open_low=True, open_high=True, optional=True),
        "delta": Float(),
    }

    def __init__(self, measure: Measure, y: FloatArray, alpha: float | None, delta: float) -> None:
        self.n, self._measure, self._y, self._alpha, self._delta = len(y), measure, y, alpha, delta

    def measure(self, X: Matrix) -> Relevance:
        """Measure every column of a block."""
        m = X.shape[1]
        statistic, p_value = np.zeros(m), np.full(m, np.nan)
        constant = np.zeros(m, bool)
        for j in range(m):
            x = dense_column(X, j)
            constant[j] = np.all(x == x[0])
            if not constant[j]:
                statistic[j] = dependence_of(self._measure, x, self._y)
                p_value[j] = p_value_of(self._measure, float(statistic[j]), self.n)
        significant = statistic > self._delta if np.isnan(p_value).all() else self._tested(p_value)
        reason = np.where(constant, CONSTANT, np.where(significant, RELEVANT, IRRELEVANT))
        discrete = np.ones(m, bool)  # assume the general case
        return Relevance(reason.astype(np.uint8), statistic, p_value, discrete=discrete)

    def _tested(self, p_value: FloatArray) -> npt.NDArray[np.bool_]:
        return np.ones(len(p_value), bool) if self._alpha is None else p_value <= self._alpha

    def _record(self) -> Mapping[str, Any]:
        return {"measure": self._measure, "y": self._y, "alpha": self._alpha, "delta": self._delta}
