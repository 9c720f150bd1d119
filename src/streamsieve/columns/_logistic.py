"""A logistic model that columns join one at a time, and the score test of what a new one would add."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import expit

from streamsieve._kernels import linear, logistic
from streamsieve.columns._orthonormal import OrthonormalModel
from streamsieve.columns._stepwise import COLLINEAR, dense_column, some_columns
from streamsieve.dependence.blocks import column_products
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, BoolArray, FloatArray, IntArray, Reason
from streamsieve.state import expect, register

#: Penalty on half the variance of the linear predictor: too little to be seen, enough to keep coefficients
#: finite that would grow for ever.
RIDGE = 1e-6
#: Classes are separated when every row lies on its side of an even chance, by log-odds of more than this.
MARGIN = 0.01
MOST_STEPS = 100
#: Rows far from an even chance have no weight left to divide by.
TINY = 1e-300
#: Least curvature: of an intercept, which has no penalty, nothing is left when every row is far out.
FLAT = 1e-10
#: Share of a weighted column that is rounding.
INSIDE = 1e-12
#: Share of the loss that a step must gain for another to be worth while: convergence is quadratic, so that
#: the next one would gain the square of it.
CONVERGED = 1e-12


@register
class LogisticModel:
    """Chances of one of two classes from an intercept and some columns, fitted anew when a column joins.

    Parameters
    ----------
    y : 0 or 1 a row, both of them there
    """

    def __init__(self, y: FloatArray) -> None:
        self.n = len(y)
        self._y = y
        # in an orthonormal basis of the columns Newton's equations are well conditioned
        self._space = OrthonormalModel(y)
        mean = float(y.mean())
        self._coefficients = np.array([np.log(mean / (1 - mean))])
        self._look()

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns in the model."""
        return self._space.features

    @property
    def obstacle(self) -> Reason | None:
        """Why no column can be tested any more, or None."""
        return Reason.EXACT_FIT if self.separates else None

    def candidates(self, X: Any) -> LogisticCandidates:
        """Return some columns (dense, or CSC without offsets) as candidates for this model."""
        return LogisticCandidates(self, X)

    def add(self, x: FloatArray, feature: int) -> None:
        """Take a column in and fit."""
        self._space.add(x, feature)
        self._coefficients = _fit(self._design(), self._y, np.append(self._coefficients, 0.0))
        self._look()

    def _design(self) -> FloatArray:
        """One row for the intercept, and one of variance 1 for each column."""
        basis = self._space.basis[: self._space.size]
        return np.vstack([np.ones(self.n), np.sqrt(self.n) * basis])

    def _look(self) -> None:
        """Prepare the score test at the present coefficients.

        With chances p, weights w = p (1 - p) and an orthonormal basis B of the columns times sqrt(w), a
        new column x has the score ``x'(y - p)`` less what the model explains of it, and its variance is what
        B leaves of ``x'Wx``.
        """
        design = self._design()
        odds = self._coefficients @ design
        #: Whether the model tells the classes apart without error.
        self.separates = bool(np.all(np.where(self._y > 0, odds, -odds) > MARGIN))
        #: Weights of the rows, and the weighted basis times sqrt(w), one vector a row; the first is of the
        #: intercept.
        self.weight = np.maximum(expit(odds) * expit(-odds), TINY)
        root = np.sqrt(self.weight)
        basis = design * root
        logistic.orthonormalise(basis, INSIDE)
        self.basis = basis * root
        score = np.where(self._y > 0, expit(-odds), -expit(odds))
        # the penalty leaves a trace of the model's own columns in the score
        score -= (basis @ (score / root)) @ self.basis
        self.residual = score - score.mean()

    def state(self) -> Arrays:
        """Return the target, the basis and the coefficients."""
        space = {f"space_{name}": array for name, array in self._space.state().items()}
        return {"y": self._y, "coefficients": self._coefficients, **space}

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild."""
        y = np.array(expect(arrays, "y", np.float64, (None,)))
        if not len(y) or not np.array_equal(np.unique(y), [0.0, 1.0]):
            raise StateError("the state's target does not hold two classes, 0 and 1")
        inner = {name.removeprefix("space_"): array for name, array in arrays.items()}
        space = OrthonormalModel.from_state(inner)
        coefficients = np.array(expect(arrays, "coefficients", np.float64, (space.size + 1,)))
        if space.n != len(y) or not np.all(np.isfinite(coefficients)):
            raise StateError("the state's logistic model does not fit its target")
        model = cls(y)
        model._space, model._coefficients = space, coefficients
        model._look()
        return model


def _fit(design: FloatArray, y: FloatArray, coefficients: FloatArray) -> FloatArray:
    """Newton's method for the penalised likelihood, from coefficients that fitted without the last column.

    The penalty makes the minimum unique and finite; halving keeps every step downhill.
    """
    penalty = np.full(len(coefficients), RIDGE)
    penalty[0] = 0.0
    sign = 1 - 2 * y

    def loss(b: FloatArray) -> float:
        return float(np.logaddexp(0, sign * (b @ design)).sum() + penalty @ b**2 / 2)

    before = loss(coefficients)
    for _ in range(MOST_STEPS):
        odds = coefficients @ design
        slope = design @ (y - expit(odds)) - penalty * coefficients
        curvature = logistic.weighted_gram(design, expit(odds) * expit(-odds))
        curvature += np.diag(np.maximum(penalty, FLAT))
        step = np.linalg.solve(curvature, slope)
        while (after := loss(coefficients + step)) > before and np.any(coefficients + step != coefficients):
            step /= 2
        coefficients, gained = coefficients + step, before - after
        before = after
        if gained <= CONVERGED * before:
            break
    return coefficients


class LogisticCandidates:
    """Columns of a block, as far as a logistic model looks at them."""

    def __init__(self, model: LogisticModel, X: Any) -> None:
        self._model = model
        mean, self._ss, self.direction = column_products(X, model.residual)
        #: Which columns are constant.
        self.constant: BoolArray = self._ss == 0
        # weights move the mean, so that a large one would eat digits; CSC comes without offsets
        self._X = X if sp.issparse(X) else X - mean
        self._outside = self._left(0)

    def _left(self, low: int) -> FloatArray:
        """Return the variance of the score of columns ``low``, low + 1, ..."""
        model = self._model
        rest = some_columns(self._X, slice(low, self._X.shape[1]))
        products = rest.T @ model.basis.T
        if sp.issparse(rest):
            squared = sp.csc_array((rest.data**2, rest.indices, rest.indptr), shape=rest.shape)
            spread = linear.products(squared, 0, model.weight)
        else:
            spread = np.einsum("ij,ij,i->j", rest, rest, model.weight)
        left: FloatArray = spread - np.einsum("ij,ij->i", products, products)
        return left

    def gain(self, low: int) -> tuple[BoolArray, FloatArray]:
        """Return which columns from ``low`` on lie outside the model, and the score statistic of each."""
        outside = self._outside[low:]
        # without weights, so that a column of rows whose class is certain counts as inside, too
        free = outside > COLLINEAR * self._ss[low:]
        gain = np.zeros(len(outside))
        if self._model.obstacle is None:
            np.divide(self.direction[low:] ** 2, outside, out=gain, where=free)
        return free, gain

    def take(self, j: int, feature: int) -> None:
        """Let a column join the model; only columns after it count from now on."""
        self._model.add(dense_column(self._X, j), feature)
        self.measure_again(j + 1)

    def measure_again(self, low: int) -> None:
        """Look at the columns from ``low`` on anew, because the model has changed."""
        self.direction[low:] = linear.products(self._X, low, self._model.residual)
        self._outside[low:] = self._left(low)
