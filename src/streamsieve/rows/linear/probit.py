"""A Bayesian probit model with independent normal weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from streamsieve._kernels import fires as kernel
from streamsieve.protocols import FloatArray
from streamsieve.rows.linear.minibatch_buffer import Rows
from streamsieve.state import Array, Part, register


@register
class ProbitModel(Part):
    """Mean and standard deviation of every weight; at first 0 and 1."""

    fields = {
        "mean": Array("f8", "features", low=-kernel.FURTHEST, high=kernel.FURTHEST),
        "spread": Array("f8", "features", low=0, high=kernel.FURTHEST),
    }

    def __init__(self, n_features: int) -> None:
        self.n_features = n_features
        self._mean, self._spread = np.zeros(n_features), np.ones(n_features)
        self._sums = np.zeros((2, n_features))

    @property
    def mean(self) -> FloatArray:
        """Means of the weights."""
        return self._mean[: self.n_features]

    @property
    def spread(self) -> FloatArray:
        """Standard deviations of the weights."""
        return self._spread[: self.n_features]

    def grow(self, n_features: int) -> None:
        """Make room for features that have just appeared."""
        old = len(self._mean)
        if n_features > old:
            size = max(n_features, 2 * old)
            mean, spread = np.zeros(size), np.ones(size)
            mean[:old], spread[:old] = self._mean, self._spread
            self._mean, self._spread, self._sums = mean, spread, np.zeros((2, size))
        self.n_features = n_features

    def learn(
        self, rows: Rows, signs: FloatArray, size: int, epochs: int, rate_mean: float, rate_spread: float
    ) -> None:
        """Take a step for every ``size`` rows, each of them ``epochs`` times."""
        steps = (size, epochs, rate_mean, rate_spread, self._mean, self._spread, self._sums)
        if isinstance(rows, np.ndarray):
            kernel.learn_dense(rows, signs, *steps)
        else:
            kernel.learn_sparse(*rows, signs, *steps)

    def _record(self) -> Mapping[str, Any]:
        return {"mean": self.mean, "spread": self.spread}

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        model = cls(0)
        model._mean, model._spread = record["mean"], record["spread"]
        model.n_features = len(model._mean)
        model._sums = np.zeros((2, model.n_features))
        return model
