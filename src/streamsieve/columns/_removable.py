"""A linear model that columns can also leave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.linalg

from streamsieve.columns._orthonormal import OrthonormalModel
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, FloatArray
from streamsieve.state import expect, register


@register
class RemovableModel(OrthonormalModel):
    """An orthonormal model that knows how its columns are made of its basis: column j is ``triangle[:, j]``.

    Parameters
    ----------
    y : the target, one number a row
    """

    def __init__(self, y: FloatArray) -> None:
        super().__init__(y)
        self._triangle = np.zeros((0, 0))
        #: Components of the target along the basis.
        self._along = np.zeros(0)

    def add(self, x: FloatArray, feature: int) -> tuple[FloatArray, float]:
        """Take a column in; return its new basis vector and the target's component along it."""
        u, weight = super().add(x, feature)
        q = self.size
        triangle = np.zeros((q, q))
        triangle[:-1, :-1] = self._triangle
        triangle[:, -1] = self.basis[:q] @ (x - x.mean())
        self._triangle, self._along = triangle, np.append(self._along, weight)
        return u, weight

    def losses(self) -> FloatArray:
        """Return by how much the residual sum of squares would grow without each column."""
        if self.size == 0:
            return np.zeros(0)
        inverse = scipy.linalg.solve_triangular(self._triangle, np.eye(self.size))
        losses: FloatArray = (inverse @ self._along) ** 2 / np.einsum("ij,ij->i", inverse, inverse)
        return losses

    def likelihood_loss(self) -> FloatArray:
        """Return twice the loss in log-likelihood without each column, as ``likelihood_gain`` counts it."""
        least = max(self.rss, self.floor)
        return self.n * np.log(np.maximum(self.rss + self.losses(), least) / least)

    def remove(self, place: int) -> None:
        """Take a column out, by its place in order of arrival: turn the basis so that one vector is free."""
        q = self.size
        rest = self._triangle[place:, place + 1 :]
        turn, upper = scipy.linalg.qr(rest) if rest.shape[1] else (np.eye(q - place), rest)
        self._triangle = np.delete(self._triangle, place, axis=1)
        self._triangle[place:, place:] = upper
        self._triangle = self._triangle[:-1]
        self.basis[place:q] = turn.T @ self.basis[place:q]
        self._along[place:] = turn.T @ self._along[place:]
        self.size = q - 1
        self.residual = self.residual + self._along[-1] * self.basis[q - 1]
        self.rss = float(self.residual @ self.residual)
        self._along = self._along[:-1]
        del self._features[place]

    def state(self) -> Arrays:
        """Return basis, residual, and how the columns are made of the basis."""
        return {**super().state(), "triangle": self._triangle, "along": self._along}

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild."""
        model = super().from_state(arrays)
        q = model.size
        triangle = np.array(expect(arrays, "triangle", np.float64, (q, q)))
        if (
            np.any(np.diag(triangle) == 0)
            or np.any(np.tril(triangle, -1))
            or not np.all(np.isfinite(triangle))
        ):
            raise StateError("the state's columns do not span its basis")
        model._triangle = triangle  # noqa: SLF001 - its own class
        model._along = np.array(expect(arrays, "along", np.float64, (q,)))  # noqa: SLF001
        return model
