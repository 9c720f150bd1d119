"""A probit model whose weights are normal variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve._kernels import fires as kernel
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, FloatArray
from streamsieve.rows._fires_waiting import Rows
from streamsieve.state import expect, register


@register
class FiresModel:
    """Mean and standard deviation of every weight; at first 0 and 1."""

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

    def state(self) -> Arrays:
        """Return means and standard deviations."""
        return {"mean": self.mean, "spread": self.spread}

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild."""
        mean = expect(arrays, "mean", np.float64, (None,))
        spread = expect(arrays, "spread", np.float64, mean.shape)
        if not np.all((np.abs(mean) <= kernel.FURTHEST) & (spread >= 0) & (spread <= kernel.FURTHEST)):
            raise StateError("the state holds means or deviations of weights that no rows can give")
        model = cls(len(mean))
        model._mean[:], model._spread[:] = mean, spread
        return model
