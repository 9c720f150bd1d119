"""All features without their means and of length 1, and their products with other vectors.

Sparse features stay sparse: a vector that sums to 0 does not see a mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve.dependence.blocks import column_products, without_offsets
from streamsieve.independence import FisherZ
from streamsieve.protocols import BoolArray, FloatArray, IntArray, Matrix, Task

#: A share of variance below this is rounding.
ROUNDING = 1e-12


class StandardFeatures:
    """Features ready for products, dense or sparse."""

    def __init__(self, X: Matrix) -> None:
        X = sp.csc_array(X) if sp.issparse(X) else X
        self.n, self.p = X.shape
        mean, squares, _ = column_products(X, np.zeros(self.n))
        #: Lengths of the features without their means; 0 for constant ones.
        self.norm: FloatArray = np.sqrt(np.maximum(squares, 0.0))
        self._over = 1.0 / np.where(self.norm > 0, self.norm, np.inf)
        self._columns = without_offsets(X) if sp.issparse(X) else X - mean

    @property
    def varies(self) -> BoolArray:
        """Whether a feature is not constant."""
        return np.asarray(self.norm > 0)

    def column(self, j: int) -> FloatArray:
        """Return one feature; zeros if it is constant."""
        x = self._columns[:, [j]].toarray()[:, 0] if sp.issparse(self._columns) else self._columns[:, j]
        x = x.astype(np.float64)
        for _ in range(2):  # the second time takes out what rounding left
            x -= x.mean()
        return np.asarray(x * self._over[j])

    def columns(self, chosen: IntArray) -> FloatArray:
        """Return some features side by side."""
        return np.column_stack([np.zeros((self.n, 0)), *(self.column(int(j)) for j in chosen)])

    def products(self, vectors: FloatArray) -> FloatArray:
        """Return the products of all features with a vector, or with each column of a matrix."""
        vectors = vectors - vectors.mean(axis=0)
        products = (self._columns.T @ vectors).T
        return np.asarray(products * self._over).T


class CorrelatedFeatures(StandardFeatures):
    """Features ready to be correlated with the target and with each other."""

    def __init__(self, X: Matrix, y: npt.NDArray[Any], task: Task) -> None:
        super().__init__(X)
        #: Orthonormal columns that span what the target can say.
        self.basis = FisherZ(y, task, alpha=0.5).basis
        loads = self.products(self.basis)
        #: Share of a feature's variance that the target explains.
        self.share: FloatArray = np.minimum(np.einsum("ij,ij->i", loads, loads), 1.0)

    def f(self) -> FloatArray:
        """Return the F statistic of every feature and the target; finite also where a feature is perfect."""
        between = self.basis.shape[1]
        within = max(self.n - 1 - between, 1)
        return np.asarray(self.share / np.maximum(1 - self.share, ROUNDING) * (within / between))

    def correlations(self, j: int, wanted: IntArray) -> FloatArray:
        """Return the absolute correlations of one feature and some others; 0 for constant ones."""
        r = np.abs(self.products(self.column(j))[wanted])
        r[r < ROUNDING] = 0.0
        return np.asarray(np.minimum(r, 1.0))
