"""Standardized rows for annealing, dense or sparse: they are passed over, and lose columns on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._aligned import aligned_zeros
from streamsieve._kernels import fsa as kernel
from streamsieve._threads import over_features
from streamsieve.protocols import FloatArray, IntArray

#: Dense columns that are left, as a share of those carried along, below which the others are removed.
PACK = 0.7
#: Means, in standard deviations, up to which implicit centering is accurate enough.
FAR_MEAN = 100.0
#: Values standardized at a time: they stay in the cache between the two operations.
TILE = 2**15

#: Multiplies a vector by a matrix.
Product = Callable[[FloatArray], FloatArray]


class Steps(NamedTuple):
    """How the steps of one epoch are made; ``limited`` ones are shortened where they would overshoot."""

    batch: int
    rate: float
    momentum: float
    decay: float
    loss: int
    limited: bool


class Weights(NamedTuple):
    """What steps change, in place: arrays (outputs, columns), and (2, outputs) for the intercepts."""

    beta: FloatArray
    velocity: FloatArray
    intercept: FloatArray


class DenseRows:
    """Rows that are standardized in arithmetic, ``(x - mean) * scale``, until few columns are left.

    These are copied, standardized in memory, and shrink.  So the memory of all columns is never needed twice.
    """

    def __init__(self, X: Any, columns: IntArray | None, mean: FloatArray, scale: FloatArray) -> None:
        self.n: int = X.shape[0]
        self._place = np.arange(len(mean))
        if columns is None and _can_stay(X) and np.all(np.abs(mean * scale) <= FAR_MEAN):
            self._block, self._center, self._scale, self._own = X, mean, scale.copy(), False
        else:
            self._standardize(X, columns, mean, scale)

    def _standardize(self, X: Any, columns: IntArray | None, mean: FloatArray, scale: FloatArray) -> None:
        """Make a copy of some columns."""
        width = len(mean)
        Z = np.empty((self.n, width))
        tile = max(1, TILE // max(width, 1))

        def work(low: int, high: int) -> None:
            for first in range(low, high, tile):
                rows = slice(first, min(first + tile, high))
                some = X[rows] if columns is None else X[rows][:, columns]
                np.subtract(some, mean, out=Z[rows])
                Z[rows] *= scale

        over_features(self.n, self.n * width, work)  # rows are as independent as features
        self._block, self._own = Z, True
        self._center, self._scale, self._place = np.zeros(width), np.ones(width), np.arange(width)

    def epoch(
        self, order: IntArray, y: FloatArray, weight: FloatArray, weights: Weights, steps: Steps
    ) -> float:
        """Change the weights by one pass over the rows in order; return the sum of the losses on the way."""
        carried = [np.zeros((len(part), len(self._scale))) for part in weights[:2]]
        for part, own in zip(carried, weights[:2], strict=True):
            part[:, self._place] = own
        total = kernel.epoch_dense(
            self._block, self._center, self._scale, order, y, weight, *carried, weights.intercept, *steps
        )
        for part, own in zip(carried, weights[:2], strict=True):
            own[:] = part[:, self._place]
        return float(total)

    def pair_products(self, rows: IntArray) -> Product:
        """Return what multiplies a vector by the products of all pairs of some rows."""
        Z = (self._block[rows] - self._center) * self._scale
        return lambda vector: Z @ (Z.T @ vector)

    def products(self, beta: FloatArray) -> FloatArray:
        """Return the products of all rows with some vectors (outputs, columns)."""
        factors = np.zeros((len(beta), len(self._scale)))
        factors[:, self._place] = beta
        factors *= self._scale
        return np.asarray(self._block @ factors.T - factors @ self._center)

    def back_products(self, slopes: FloatArray) -> FloatArray:
        """Return the products of all columns with some vectors (rows, outputs), as (outputs, columns)."""
        raw = slopes.T @ self._block - np.outer(slopes.sum(axis=0), self._center)
        return np.asarray((raw * self._scale)[:, self._place])

    def keep(self, columns: IntArray) -> None:
        """Leave some of the columns, given by ascending numbers."""
        place = self._place[columns]
        width = len(self._scale)
        if len(place) > PACK * width:
            gone = np.ones(width, bool)
            gone[place] = False
            self._scale[gone] = 0.0
            self._place = place
        elif self._own:
            flat = self._block.reshape(-1)
            kernel.pack(flat, self.n, width, place)
            self._block = flat[: self.n * len(place)].reshape(self.n, len(place))
            self._center, self._scale = np.zeros(len(place)), np.ones(len(place))
            self._place = np.arange(len(place))
        else:
            self._standardize(self._block, place, self._center[place], self._scale[place])


def _can_stay(X: Any) -> bool:
    """Whether the kernel can read an array as it is."""
    return bool(X.dtype == np.float64 and X.flags.c_contiguous and X.flags.writeable and X.flags.aligned)


class SparseRows:
    """CSR rows in arrays that shrink; means are subtracted in arithmetic, so that zeros stay zeros.

    Columns without zeros are centered in memory, because their means may be far from 0; with a single 0 a
    mean is within a few deviations.
    """

    def __init__(self, X: Any, columns: IntArray | None, mean: FloatArray, scale: FloatArray) -> None:
        self.n, width = X.shape
        full = np.bincount(X.indices[: X.nnz], minlength=width) == self.n
        number, shift, scales = np.arange(width, dtype=np.int32), np.zeros(width), scale
        if columns is not None:
            number, scales, full = _numbers(width, columns), np.zeros(width), full[columns]
            scales[columns] = scale
        shift[full if columns is None else columns[full]] = mean[full]
        self._center = mean * scale
        self._center[full] = 0.0
        self._arrays = np.empty(self.n + 1, np.int32), np.empty(X.nnz, np.int32), np.empty(X.nnz)
        self._take(X, number, shift, scales)

    def _take(self, X: Any, number: npt.NDArray[np.int32], shift: FloatArray, scale: FloatArray) -> None:
        """Make the columns of X that have a number the own ones, in the memory that is there."""
        count = kernel.take_csr(X.indptr, X.indices, X.data, number, shift, scale, *self._arrays)
        indptr, indices, data = self._arrays
        self._X = sp.csr_array(
            (data[:count], indices[:count], indptr), shape=(self.n, len(self._center)), copy=False
        )
        self._offset = self._X @ self._center

    def epoch(
        self, order: IntArray, y: FloatArray, weight: FloatArray, weights: Weights, steps: Steps
    ) -> float:
        """Change the weights by one pass over the rows in order; return the sum of the losses on the way."""
        outputs, width = weights.beta.shape
        cells = aligned_zeros((width, 1 + 3 * outputs))
        cells[:, 1 : 1 + outputs] = weights.beta.T
        cells[:, 1 + outputs : 1 + 2 * outputs] = weights.velocity.T
        X = self._X
        total = kernel.epoch_sparse(
            X.indptr, X.indices, X.data, self._offset, self._center, order, y, weight, cells,
            weights.intercept, *steps,
        )  # fmt: skip
        weights.beta[:] = cells[:, 1 : 1 + outputs].T
        weights.velocity[:] = cells[:, 1 + outputs : 1 + 2 * outputs].T
        return float(total)

    def pair_products(self, rows: IntArray) -> Product:
        """Return what multiplies a vector by the products of all pairs of some rows."""
        X, offset, size = self._X[rows], self._offset[rows], float(self._center @ self._center)

        def product(vector: FloatArray) -> FloatArray:
            total = float(vector.sum())
            return np.asarray(X @ (X.T @ vector) - offset * total + (size * total - offset @ vector))

        return product

    def products(self, beta: FloatArray) -> FloatArray:
        """Return the products of all rows with some vectors (outputs, columns)."""
        return np.asarray(self._X @ beta.T - beta @ self._center)

    def back_products(self, slopes: FloatArray) -> FloatArray:
        """Return the products of all columns with some vectors (rows, outputs), as (outputs, columns)."""
        return np.asarray((self._X.T @ slopes).T - np.outer(slopes.sum(axis=0), self._center))

    def keep(self, columns: IntArray) -> None:
        """Leave some of the columns, given by ascending numbers."""
        width = len(self._center)
        self._center = self._center[columns]
        self._take(self._X, _numbers(width, columns), np.zeros(width), np.ones(width))


def _numbers(width: int, columns: IntArray) -> npt.NDArray[np.int32]:
    """Return the new number of every column, -1 for those that go."""
    number = np.full(width, -1, np.int32)
    number[columns] = np.arange(len(columns), dtype=np.int32)
    return number


Rows = DenseRows | SparseRows
