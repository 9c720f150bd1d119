"""Features in units of their standard deviation."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from streamsieve.protocols import FloatArray, Matrix


class Scaler:
    """Centers and divides by standard deviations, as of the rows it was made from.

    Sparse rows keep their zeros: they are divided only.  A constant feature is not divided.
    """

    def __init__(self, X: Matrix) -> None:
        self._mean, deviation = _moments(X)
        self._scale = np.where(deviation > 0, deviation, 1.0)

    def __call__(self, X: Matrix) -> Matrix:
        """Return rows in those units."""
        return scaled(X, self._mean, self._scale)


class RunningScaler:
    """The same for a stream: means and deviations are those of the rows learned so far."""

    def __init__(self) -> None:
        self._n = 0
        self._mean: Any = None
        self._squares: Any = None

    def learn(self, X: Matrix) -> None:
        """Take rows into account (Chan's way of joining means and squares)."""
        n = X.shape[0]
        mean, deviation = _moments(X)
        squares = deviation**2 * n
        if self._mean is None:
            self._n, self._mean, self._squares = n, mean, squares
            return
        total = self._n + n
        apart = mean - self._mean
        self._mean = self._mean + apart * (n / total)
        self._squares = self._squares + squares + apart**2 * (self._n * n / total)
        self._n = total

    def __call__(self, X: Matrix) -> Matrix:
        """Return rows in units of what was learned; as they are, if that is nothing."""
        if self._mean is None:
            return X
        deviation = _unless_rounding(np.sqrt(self._squares / self._n), self._mean)
        return scaled(X, self._mean, np.where(deviation > 0, deviation, 1.0))


def scaled(X: Matrix, mean: FloatArray, scale: FloatArray) -> Matrix:
    """Return dense rows centered and divided, sparse ones divided."""
    if sp.issparse(X):
        out = X.copy()
        out.data = out.data / scale[out.indices]
        return out
    out = np.subtract(X, mean, dtype=np.float64)
    out /= scale
    return out


def _moments(X: Matrix) -> tuple[FloatArray, FloatArray]:
    """Return means and standard deviations; a deviation that is but rounding is 0."""
    n = X.shape[0]
    if sp.issparse(X):
        mean = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel() / n
        centered = X.data - mean[X.indices]
        columns = X.shape[1]
        squares = np.bincount(X.indices, centered**2, columns)
        absent = n - np.bincount(X.indices, minlength=columns)
        deviation = np.sqrt((squares + absent * mean**2) / n)
    else:
        mean = X.mean(axis=0, dtype=np.float64)
        deviation = X.std(axis=0, dtype=np.float64)
    return mean, _unless_rounding(deviation, mean)


def _unless_rounding(deviation: FloatArray, mean: FloatArray) -> FloatArray:
    """Return deviations, 0 where the mean of equal numbers was but off by a rounding."""
    return np.where(deviation <= 10 * np.finfo(np.float64).eps * np.abs(mean), 0.0, deviation)
