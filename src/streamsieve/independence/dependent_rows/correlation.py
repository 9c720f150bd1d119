"""Base class of the tests of correlation over dependent rows: blocks of columns, and conditioning sets."""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

import numpy as np

from streamsieve.decisions import CONSTANT, IRRELEVANT, RELEVANT, UNRELIABLE
from streamsieve.dependence.blocks import unit_columns
from streamsieve.dependence.contract import Relevance, RelevanceTest
from streamsieve.exceptions import TargetError
from streamsieve.independence.fisher_z import FisherZ
from streamsieve.protocols import FloatArray, Matrix

#: Squared length, as a fraction of the column's, below which a residual is rounding error.
COLLINEAR = 1e-12
#: Covariances of contrasts between more classes would take too much memory.
MOST_CLASSES = 64


class Conditions(NamedTuple):
    """The target and the rows, after a conditioning set was projected out."""

    #: Orthonormal columns, each summing to 0, that span what is left of the target.
    basis: FloatArray
    #: Orthonormal columns that span the conditioning set, without the intercept; often none.
    given: FloatArray


class DependentRowsTest(RelevanceTest):
    """Correlation with a target, with p-values that allow for dependent rows.

    The statistic is the correlation (or correlation ratio) that ``independent`` measures; only its
    distribution under independence of column and target is another.

    Parameters
    ----------
    independent : the test for independent rows: target, level and sign of the statistic
    """

    def __init__(self, independent: FisherZ) -> None:
        if independent.n_contrasts >= MOST_CLASSES:
            raise TargetError(
                f"y has {independent.n_contrasts + 1} classes; tests over dependent rows take {MOST_CLASSES} "
                "at most, because they compare all pairs of classes"
            )
        self.independent, self.n = independent, independent.n
        self._marginal = Conditions(independent.basis, np.zeros((self.n, 0)))

    @property
    def alpha(self) -> float | None:
        """Level of the test; None for no test."""
        return self.independent.alpha

    @property
    def p_value(self) -> str:
        """How ``independent`` computes p-values, which a selector compares with its parameter."""
        return self.independent.p_value

    @abstractmethod
    def p_values(self, Z: FloatArray, under: Conditions) -> FloatArray:
        """Return p-values of columns, the rows of Z; NaN for one that the rows do not suffice to test.

        The columns are centered, of unit length, and orthogonal to the conditioning set.
        """

    def measure(self, X: Matrix) -> Relevance:
        """Test every column of a block against the target; means and norms are kept for redundancy rules.

        A p-value is at least the one for independent rows, and so inherits its confirmation.
        """
        found = self.independent.measure(X)
        p_value = np.full(len(found.reason), np.nan)
        for some, Z in unit_columns(X, np.flatnonzero(found.reason != CONSTANT), *found.columns):
            p_value[some] = self.p_values(Z, self._marginal)
        untestable = np.isnan(p_value)
        if found.p_value is not None:
            p_value = np.where(untestable, 1.0, np.maximum(p_value, np.asarray(found.p_value[:])))
        significant = True if self.alpha is None else p_value <= self.alpha
        reason = np.where(significant, RELEVANT, IRRELEVANT)
        reason = np.where(untestable, UNRELIABLE, reason)
        reason = np.where(found.reason == CONSTANT, CONSTANT, reason).astype(np.uint8)
        return found._replace(reason=reason, p_value=p_value)

    def conditional(self, x: FloatArray, given: FloatArray) -> tuple[float, float]:
        """Return the partial correlation (ratio) of a column given up to three others, and its p-value.

        A column that is a linear function of the others is independent given them: (0, 1).  With too few
        rows the p-value is NaN.
        """
        basis, directions = self.independent.basis, _span(given)
        left = _without(x - x.mean(), directions)
        total = float(((x - x.mean()) ** 2).sum())
        ss = float((left**2).sum())
        if ss <= COLLINEAR * total:
            return 0.0, 1.0
        targets, sizes, _ = np.linalg.svd(_without(basis, directions), full_matrices=False)
        targets = targets[:, sizes**2 > COLLINEAR]
        if not targets.shape[1]:  # the set explains the target
            return 0.0, 1.0
        z = left / np.sqrt(ss)
        p_value = self.p_values(z[None, :], Conditions(targets, directions))
        return float(np.sqrt(((z @ targets) ** 2).sum())), float(p_value[0])


def _span(given: FloatArray) -> FloatArray:
    """Return orthonormal columns that span the centered columns of a set; copies count once."""
    centered = given - given.mean(axis=0)
    norms = np.sqrt((centered**2).sum(axis=0))
    directions, sizes, _ = np.linalg.svd(centered[:, norms > 0] / norms[norms > 0], full_matrices=False)
    spanning: FloatArray = directions[:, sizes**2 > COLLINEAR]
    return spanning


def _without(columns: FloatArray, directions: FloatArray) -> FloatArray:
    """Return columns minus their projection onto directions; done twice, to remove rounding errors."""
    for _ in range(2):
        columns = columns - directions @ (directions.T @ columns)
    return columns
