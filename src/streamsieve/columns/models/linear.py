"""Linear models that columns join one at a time, and (with downdating) leave.

The model is a QR factorization of its centered columns: the contribution of a new column is one product with
Q.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.special import fdtrc

from streamsieve.columns.models.stepwise import ModelCandidates
from streamsieve.dependence.blocks import column_products, dense_column, inner_products, some_columns
from streamsieve.dependence.target import with_squares
from streamsieve.protocols import FloatArray, IntArray, Matrix, Reason
from streamsieve.state import Array, Float, Part

#: A residual sum of squares below this fraction of the target's is rounding: the model fits exactly.
EXACT = 1e-10
#: Largest ratio of mean to standard deviation without centering; beyond it the test of collinearity loses too
#: many digits.
FAR_MEAN = 1e3
#: Initial capacity for basis vectors.
FIRST_COLUMNS = 16
#: Largest value of a residual or coefficient in a state; targets are limited to 1e100.
LARGEST_IN_STATE = 1e110


def tied(residuals: FloatArray) -> FloatArray:
    """Return residuals of unit length, rounded so that values equal up to rounding have tied ranks."""
    return np.round(residuals, 12)


class LinearModel(Part):
    """Least squares of a target on an intercept and some columns, orthonormalized in order of arrival."""

    fields = {
        "basis": Array("f8", "columns", "rows", low=-1 - 1e-6, high=1 + 1e-6, copy=False),
        "residual": Array("f8", "rows", low=-LARGEST_IN_STATE, high=LARGEST_IN_STATE),
        "tss": Float(0),
        "features": Array("i8", "columns", low=0, order="rising"),
    }

    def __init__(self, y: FloatArray) -> None:
        self.n = len(y)
        self.size = 0
        #: One basis vector per row; the constant one is left out, because everything is centered.
        self.basis = np.empty((FIRST_COLUMNS, self.n))
        self.residual = with_squares(y - y[0])
        for _ in range(2):  # second pass: remove the rounding error of the first
            self.residual -= self.residual.mean()
        self.tss = self.rss = float(self.residual @ self.residual)
        self._features: list[int] = []

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns in the model, in order."""
        return np.array(self._features, np.int64)

    @property
    def floor(self) -> float:
        """Residual sum of squares at or below which the model fits exactly, up to rounding."""
        return EXACT * self.tss

    @property
    def freedom(self) -> int:
        """Residual degrees of freedom after one more column."""
        return self.n - self.size - 2

    @property
    def obstacle(self) -> Reason | None:
        """Why no further column can be tested, or None."""
        if self.rss <= self.floor:
            return Reason.EXACT_FIT
        return Reason.UNRELIABLE if self.freedom <= 0 else None

    def candidates(self, X: Matrix) -> LinearCandidates:
        """Return columns (dense, or CSC without offsets) as candidates for this model."""
        return LinearCandidates(self, X)

    def inside(self, X: Matrix) -> FloatArray:
        """Return the squared length of every column's projection on the model, intercept aside."""
        products = X.T @ self.basis[: self.size].T
        squared: FloatArray = np.einsum("ij,ij->i", products, products)
        return squared

    def left(self, columns: FloatArray) -> FloatArray:
        """Return the residuals of columns given the model, one per row, scaled to unit length."""
        left = columns - columns.mean(axis=1, keepdims=True)
        basis = self.basis[: self.size]
        for _ in range(2):  # second pass: remove the rounding error of the first
            left -= (left @ basis.T) @ basis
        left -= left.mean(axis=1, keepdims=True)
        return tied(left / np.sqrt(np.einsum("ij,ij->i", left, left))[:, None])

    def f_statistic(self, drop: FloatArray) -> FloatArray:
        """Return t squared, from reductions of the residual sum of squares."""
        if self.obstacle is not None:
            return drop * 0.0
        return drop * self.freedom / np.maximum(self.rss - drop, 1e-15 * self.rss)

    def z_squared(self, drop: FloatArray) -> FloatArray:
        """Return z squared, with the residual variance of the model without the new column."""
        return drop * 0.0 if self.obstacle is not None else drop * (self.n / self.rss)

    def p_value(self, f: Any) -> Any:
        """Return the p-values of squared t statistics."""
        return fdtrc(1, max(self.freedom, 1), f)

    def likelihood_gain(self, drop: FloatArray) -> FloatArray:
        """Return twice the gain in log-likelihood, from reductions of the residual sum of squares.

        A residual sum of squares below ``floor`` is rounding and counts as ``floor``.
        """
        left = np.maximum(self.rss - drop, self.floor)
        return self.n * np.log(max(self.rss, self.floor) / left)

    def add(self, x: FloatArray, feature: int) -> tuple[FloatArray, float]:
        """Add a column; return its basis vector and the target's component along it."""
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

    def _record(self) -> Mapping[str, Any]:
        bound = {"residual": self.residual, "tss": self.tss, "features": self.features}
        return {"basis": self.basis[: self.size], **bound}

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        model = cls.__new__(cls)
        model.size, model.n = record["basis"].shape
        model.basis = np.concatenate([record["basis"], np.empty((FIRST_COLUMNS, model.n))])
        model.residual, model.tss = record["residual"], record["tss"]
        model.rss = float(model.residual @ model.residual)
        model._features = record["features"].tolist()  # noqa: SLF001 - its own class
        return model

    def _consistent(self) -> Iterator[str]:
        if not self.n:
            yield "there are no rows"


class DowndatableLinearModel(LinearModel):
    """A QR-factorized linear model that also stores R, so that columns can be removed (downdating)."""

    fields = {
        **LinearModel.fields,
        "triangle": Array("f8", "columns", "columns", finite=True),
        "along": Array("f8", "columns", low=-LARGEST_IN_STATE, high=LARGEST_IN_STATE),
    }

    def __init__(self, y: FloatArray) -> None:
        super().__init__(y)
        #: R: column j of the model is ``basis' @ triangle[:, j]``.
        self.triangle = np.zeros((0, 0))
        #: Components of the target along the basis.
        self.along = np.zeros(0)

    def add(self, x: FloatArray, feature: int) -> tuple[FloatArray, float]:
        """Add a column; return its basis vector and the target's component along it."""
        u, weight = super().add(x, feature)
        q = self.size
        triangle = np.zeros((q, q))
        triangle[:-1, :-1] = self.triangle
        triangle[:, -1] = self.basis[:q] @ (x - x.mean())
        self.triangle, self.along = triangle, np.append(self.along, weight)
        return u, weight

    def losses(self) -> FloatArray:
        """Return the increase of the residual sum of squares if each column were removed."""
        if self.size == 0:
            return np.zeros(0)
        inverse = scipy.linalg.solve_triangular(self.triangle, np.eye(self.size))
        losses: FloatArray = (inverse @ self.along) ** 2 / np.einsum("ij,ij->i", inverse, inverse)
        return losses

    def likelihood_loss(self) -> FloatArray:
        """Return twice the loss in log-likelihood if each column were removed; see `likelihood_gain`."""
        least = max(self.rss, self.floor)
        return self.n * np.log(np.maximum(self.rss + self.losses(), least) / least)

    def remove(self, place: int) -> None:
        """Remove a column, by its place in order of arrival, by rotations that free one basis vector."""
        q = self.size
        rest = self.triangle[place:, place + 1 :]
        turn, upper = scipy.linalg.qr(rest) if rest.shape[1] else (np.eye(q - place), rest)
        self.triangle = np.delete(self.triangle, place, axis=1)
        self.triangle[place:, place:] = upper
        self.triangle = self.triangle[:-1]
        self.basis[place:q] = turn.T @ self.basis[place:q]
        self.along[place:] = turn.T @ self.along[place:]
        self.size = q - 1
        self.residual = self.residual + self.along[-1] * self.basis[q - 1]
        self.rss = float(self.residual @ self.residual)
        self.along = self.along[:-1]
        del self._features[place]

    def _record(self) -> Mapping[str, Any]:
        return {**super()._record(), "triangle": self.triangle, "along": self.along}

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        model = super()._rebuilt(record)
        model.triangle, model.along = record["triangle"], record["along"]
        return model

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        if np.any(np.diag(self.triangle) == 0) or np.any(np.tril(self.triangle, -1)):
            yield "the columns do not span the basis"


class LinearCandidates(ModelCandidates):
    """Columns of a block as candidates for a linear model.

    For a column x let u be its part outside the model.  With the residual r of y, ``u'r = x'r`` and
    ``|u|^2 = |x|^2 - |Q'x|^2``, and the residual sum of squares drops by ``(x'r)^2 / |u|^2``: u is never
    formed.  When a column joins, one product with the new basis vector updates both numbers for the rest.
    """

    model: LinearModel

    def __init__(self, model: LinearModel, X: Matrix) -> None:
        self.model = model
        mean, self.ss, self.direction = column_products(X, model.residual)
        # X is multiplied only by vectors that sum to 0, so centering is needed only where offsets cost digits
        far = not sp.issparse(X) and bool(
            np.any(np.abs(mean) * X.shape[0] ** 0.5 > FAR_MEAN * np.sqrt(self.ss))
        )
        self._X = X - mean if far else X
        # with an obstacle, no column is tested
        self.outside = self.ss - model.inside(self._X) if model.obstacle is None else self.ss

    def take(self, j: int, feature: int) -> None:
        """Add a column to the model; afterward only candidates that arrived later are valid."""
        basis, weight = self.model.add(dense_column(self._X, j), feature)
        along = inner_products(self._X, j + 1, basis)
        self.outside[j + 1 :] -= along * along
        self.direction[j + 1 :] -= along * weight

    def measure_again(self, low: int) -> None:
        """Measure the columns from ``low`` on again, because columns have left the model."""
        rest = some_columns(self._X, slice(low, self._X.shape[1]))
        self.direction[low:] = inner_products(self._X, low, self.model.residual)
        self.outside[low:] = self.ss[low:] - self.model.inside(rest)
