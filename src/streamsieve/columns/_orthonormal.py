"""A linear model as an orthonormal basis: what a new column adds is one product."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve.protocols import Arrays, FloatArray, IntArray
from streamsieve.state import expect, register

EXACT = 1e-10


@register
class OrthonormalModel:
    """Intercept and some columns, orthonormalised in order of arrival; least squares for a target.

    Parameters
    ----------
    y : the target, one number a row
    """

    def __init__(self, y: FloatArray) -> None:
        self.n = len(y)
        self.size = 0
        #: One basis vector a row; the constant one is left out, because everything is centred.
        self.basis = np.empty((16, self.n))
        self.residual = y - y[0]
        for _ in range(2):  # the second time takes out what rounding left
            self.residual -= self.residual.mean()
        self.tss = self.rss = float(self.residual @ self.residual)
        self._features: list[int] = []

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns in the model."""
        return np.array(self._features, np.int64)

    @property
    def fits_exactly(self) -> bool:
        """Whether what is left of the target is rounding."""
        return self.rss <= EXACT * self.tss

    def inside(self, X: Any) -> FloatArray:
        """Return the squared length of every column's part inside the model, intercept aside."""
        products = X.T @ self.basis[: self.size].T
        squared: FloatArray = np.einsum("ij,ij->i", products, products)
        return squared

    def add(self, x: FloatArray, feature: int) -> tuple[FloatArray, float]:
        """Take a column in; return its new basis vector and the target's component along it."""
        u = x - x.mean()
        for _ in range(2):  # twice is enough (Kahan)
            u -= self.basis[: self.size].T @ (self.basis[: self.size] @ u)
        u -= u.mean()
        u /= np.sqrt(u @ u)
        if self.size == len(self.basis):
            self.basis = np.concatenate([self.basis, np.empty_like(self.basis)])
        self.basis[self.size] = u
        self.size += 1
        weight = float(u @ self.residual)
        self.residual = self.residual - weight * u
        self.rss = float(self.residual @ self.residual)
        self._features.append(feature)
        return u, weight

    def state(self) -> Arrays:
        """Return basis, residual and what is in the model."""
        return {
            "basis": self.basis[: self.size],
            "residual": self.residual,
            "tss": np.array([self.tss]),
            "features": self.features,
        }

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild."""
        residual = expect(arrays, "residual", np.float64, (None,))
        features = expect(arrays, "features", np.int64, (None,))
        basis = expect(arrays, "basis", np.float64, (len(features), len(residual)))
        model = cls(np.array(residual))
        model.residual = np.array(residual)
        model.rss = float(model.residual @ model.residual)
        model.tss = float(expect(arrays, "tss", np.float64, (1,))[0])
        model.size = len(features)
        model.basis = np.concatenate([basis, np.empty((16, len(residual)))])
        model._features = features.tolist()
        return model
