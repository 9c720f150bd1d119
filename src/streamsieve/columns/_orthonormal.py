"""A linear model as an orthonormal basis: what a new column adds is one product."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import fdtrc

from streamsieve._kernels import linear
from streamsieve.columns._stepwise import COLLINEAR, dense_column, some_columns
from streamsieve.dependence.blocks import column_products
from streamsieve.protocols import Arrays, BoolArray, FloatArray, IntArray, Reason
from streamsieve.state import expect, register

EXACT = 1e-10
#: A mean this many standard deviations from 0 costs more digits than the test of collinearity can spare.
FAR = 1e3


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
        return self.rss <= self.floor

    @property
    def floor(self) -> float:
        """Residual sum of squares below which there is nothing but rounding."""
        return EXACT * self.tss

    @property
    def freedom(self) -> int:
        """Degrees of freedom that are left when one more column is tested."""
        return self.n - self.size - 2

    @property
    def obstacle(self) -> Reason | None:
        """Why no column can be tested any more, or None."""
        if self.fits_exactly:
            return Reason.EXACT_FIT
        return Reason.UNRELIABLE if self.freedom <= 0 else None

    # ---------------------------------------------------------------- what a column would do

    def candidates(self, X: Any) -> LinearCandidates:
        """Return some columns (dense, or CSC without offsets) as candidates for this model."""
        return LinearCandidates(self, X)

    def inside(self, X: Any) -> FloatArray:
        """Return the squared length of every column's part inside the model, intercept aside."""
        products = X.T @ self.basis[: self.size].T
        squared: FloatArray = np.einsum("ij,ij->i", products, products)
        return squared

    def f_statistic(self, drop: FloatArray) -> FloatArray:
        """Return the square of t, from drops in the residual sum of squares."""
        if self.obstacle is not None:
            return drop * 0.0
        return drop * self.freedom / np.maximum(self.rss - drop, 1e-15 * self.rss)

    def z_squared(self, drop: FloatArray) -> FloatArray:
        """Return the square of z, in which the variance is that without the new column."""
        return drop * 0.0 if self.obstacle is not None else drop * (self.n / self.rss)

    def p_value(self, f: Any) -> Any:
        """Return the p-values of squares of t."""
        return fdtrc(1, max(self.freedom, 1), f)

    def likelihood_gain(self, drop: FloatArray) -> FloatArray:
        """Return twice the gain in log-likelihood, from drops in the residual sum of squares.

        Below an exact fit there is nothing but rounding, so what is left counts as at least that.
        """
        left = np.maximum(self.rss - drop, self.floor)
        return self.n * np.log(max(self.rss, self.floor) / left)

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

    # ---------------------------------------------------------------- state

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


class LinearCandidates:
    """Columns of a block, as far as a linear model looks at them.

    For a column x let u be its part outside the model.  With the residual r of y, ``u'r = x'r`` and
    ``|u|^2 = |x|^2 - |Q'x|^2``, and the residual sum of squares drops by ``(x'r)^2 / |u|^2``: u is never
    formed.  When a column joins, one product with the new basis vector repairs both numbers for the rest.
    """

    def __init__(self, model: OrthonormalModel, X: Any) -> None:
        self._model = model
        mean, self._ss, self._dot = column_products(X, model.residual)
        # Everything X meets below sums to 0, so centring matters only where offsets would eat digits.
        far = not sp.issparse(X) and bool(np.any(np.abs(mean) * X.shape[0] ** 0.5 > FAR * np.sqrt(self._ss)))
        self._X = X - mean if far else X
        # once nothing can be tested any more, nobody asks what lies outside
        self._outside = self._ss - model.inside(self._X) if model.obstacle is None else self._ss
        #: Which columns are constant.
        self.constant: BoolArray = self._ss == 0

    @property
    def direction(self) -> FloatArray:
        """A number of the sign that each column's coefficient would have."""
        return self._dot

    def gain(self, low: int) -> tuple[BoolArray, FloatArray]:
        """Return which columns from ``low`` on lie outside the model, and by how much each lowers the RSS."""
        outside = self._outside[low:]
        free = outside > COLLINEAR * self._ss[low:]
        gain = np.zeros(len(outside))
        if self._model.obstacle is None:
            np.divide(self._dot[low:] ** 2, outside, out=gain, where=free)
        return free, gain

    def take(self, j: int, feature: int) -> None:
        """Let a column join the model; only columns after it count from now on."""
        basis, weight = self._model.add(dense_column(self._X, j), feature)
        along = linear.products(self._X, j + 1, basis)
        self._outside[j + 1 :] -= along * along
        self._dot[j + 1 :] -= along * weight

    def measure_again(self, low: int) -> None:
        """Look at the columns from ``low`` on anew, because the model lost a column."""
        rest = some_columns(self._X, slice(low, self._X.shape[1]))
        self._dot[low:] = linear.products(self._X, low, self._model.residual)
        self._outside[low:] = self._ss[low:] - self._model.inside(rest)
