"""A logistic model that columns join one at a time, with the score test of a new column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from streamsieve._caller import warn
from streamsieve._kernels import logistic
from streamsieve.columns.models.linear import LinearModel
from streamsieve.columns.models.stepwise import ModelCandidates
from streamsieve.dependence.blocks import column_products, dense_column, inner_products, some_columns
from streamsieve.protocols import FloatArray, IntArray, Matrix, Reason
from streamsieve.state import Array, Nested, Part

#: L2 penalty on half the variance of the linear predictor: negligible, but it keeps coefficients finite that
#: would otherwise diverge.
RIDGE = 1e-6
#: The classes are separated if the log-odds of every row have the right sign and exceed this.
SEPARATION_MARGIN = 0.01
MOST_STEPS = 100
#: Maximum number of halvings of a step: the largest float halved this often is 0.
MOST_HALVINGS = 2100
#: Lower bound on the weight p (1 - p) of a row, to avoid division by 0 for probabilities near 0 or 1.
LEAST_WEIGHT = 1e-300
#: Lower bound on the curvature: the unpenalized intercept has almost none if all probabilities are near 0 or
#: 1.
LEAST_CURVATURE = 1e-10
#: Fraction of a weighted column that is rounding.
ROUNDING = 1e-12
#: Newton's method stops when a step gains less than this fraction of the loss; convergence is quadratic, so
#: the next step would gain the square of it.
CONVERGED = 1e-12


class LogisticModel(Part):
    """Logistic regression of classes 0 and 1 on an intercept and some columns, refitted when one joins."""

    fields = {
        "_y": Array("f8", "rows", low=0, high=1),
        "_space": Nested(LinearModel, shares=("rows", "columns")),
        # bounds of a state, far beyond what the penalty allows
        "_coefficients": Array("f8", "columns+1", low=-1e12, high=1e12),
    }

    def __init__(self, y: FloatArray) -> None:
        self._y = y
        # an orthonormal basis of the columns, in which Newton's equations are well conditioned
        self._space = LinearModel(y)
        mean = float(y.mean())
        self._coefficients = np.array([np.log(mean / (1 - mean))])
        self._prepare()

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self._y)

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns in the model, in order."""
        return self._space.features

    @property
    def obstacle(self) -> Reason | None:
        """Why no further column can be tested, or None."""
        return Reason.EXACT_FIT if self.separates else None

    def candidates(self, X: Matrix) -> LogisticCandidates:
        """Return columns (dense, or CSC without offsets) as candidates for this model."""
        return LogisticCandidates(self, X)

    def add(self, x: FloatArray, feature: int) -> None:
        """Add a column and refit."""
        self._space.add(x, feature)
        self._coefficients = _fit(self._design(), self._y, np.append(self._coefficients, 0.0))
        self._prepare()

    def _design(self) -> FloatArray:
        """Return one row for the intercept, and one of variance 1 per column."""
        basis = self._space.basis[: self._space.size]
        return np.vstack([np.ones(self.n), np.sqrt(self.n) * basis])

    def _prepare(self) -> None:
        """Prepare the score test at the present coefficients.

        With probabilities p, weights w = p (1 - p) and an orthonormal basis B of the columns times sqrt(w), a
        new column x has the score ``x'(y - p)`` less its projection on the model, and the variance of the
        score is what B leaves of ``x'Wx``.
        """
        design = self._design()
        odds = self._coefficients @ design
        #: Whether the model separates the classes without error.
        self.separates = bool(np.all(np.where(self._y > 0, odds, -odds) > SEPARATION_MARGIN))
        #: Weights of the rows, and the weighted basis times sqrt(w), one vector per row; the first belongs to
        #: the intercept.
        self.weight = np.maximum(expit(odds) * expit(-odds), LEAST_WEIGHT)
        root = np.sqrt(self.weight)
        basis = design * root
        logistic.orthonormalize(basis, ROUNDING)
        self.basis = basis * root
        score = np.where(self._y > 0, expit(-odds), -expit(odds))
        # because of the penalty, the score of the model's own columns is not exactly 0
        score -= (basis @ (score / root)) @ self.basis
        self.residual = score - score.mean()

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        model = super()._rebuilt(record)
        if model.n:
            model._prepare()  # noqa: SLF001 - its own class
        return model

    def _consistent(self) -> Iterator[str]:
        if not np.array_equal(np.unique(self._y), [0.0, 1.0]):
            yield "the target does not hold two classes, 0 and 1"


def _fit(design: FloatArray, y: FloatArray, coefficients: FloatArray) -> FloatArray:
    """Newton's method for the penalized likelihood, started at the fit without the last column.

    The penalty makes the minimum unique and finite; step halving makes the loss decrease.
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
        curvature += np.diag(np.maximum(penalty, LEAST_CURVATURE))
        step = np.linalg.solve(curvature, slope)
        for _ in range(MOST_HALVINGS):
            after = loss(coefficients + step)
            if not after > before or np.array_equal(coefficients + step, coefficients):
                break
            step /= 2
        coefficients, gained = coefficients + step, before - after
        before = after
        if gained <= CONVERGED * before:
            break
    else:
        warn(
            f"the logistic model has not settled after {MOST_STEPS} steps of Newton's method: the last one "
            f"lowered the loss by {gained:.2g}; columns on very different scales should be rescaled",
            ConvergenceWarning,
        )
    return coefficients


class LogisticCandidates(ModelCandidates):
    """Columns of a block as candidates for a logistic model.

    Collinearity is relative to the unweighted length of a column, so a column that varies only in rows with
    probabilities near 0 or 1 counts as collinear.
    """

    model: LogisticModel

    def __init__(self, model: LogisticModel, X: Matrix) -> None:
        self.model = model
        mean, self.ss, self.direction = column_products(X, model.residual)
        # weighting shifts the mean, and a large mean costs digits; CSC blocks have no offsets
        self._X = X if sp.issparse(X) else X - mean
        self.outside = self._left(0)

    def _left(self, low: int) -> FloatArray:
        """Return the variance of the score of columns ``low``, low + 1, ..."""
        model = self.model
        rest = some_columns(self._X, slice(low, self._X.shape[1]))
        products = rest.T @ model.basis.T
        if sp.issparse(rest):
            squared = sp.csc_array((rest.data**2, rest.indices, rest.indptr), shape=rest.shape)
            spread = inner_products(squared, 0, model.weight)
        else:
            spread = np.einsum("ij,ij,i->j", rest, rest, model.weight)
        left: FloatArray = spread - np.einsum("ij,ij->i", products, products)
        return left

    def take(self, j: int, feature: int) -> None:
        """Add a column to the model; afterward only candidates that arrived later are valid."""
        self.model.add(dense_column(self._X, j), feature)
        self.measure_again(j + 1)

    def measure_again(self, low: int) -> None:
        """Measure the columns from ``low`` on again, because the model has changed."""
        self.direction[low:] = inner_products(self._X, low, self.model.residual)
        self.outside[low:] = self._left(low)
