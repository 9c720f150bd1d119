"""A conditional determinantal point process: columns drawn to be diverse, given those kept."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from streamsieve._kernels import dofs as kernel
from streamsieve._kernels.ogfs import products
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import BoolArray, FloatArray, IntArray

#: Similarities of the columns of two matrices, each of mean 0 and variance 1.
KernelFunction: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]

#: Added to the diagonal of a similarity matrix without Cholesky factor, relative to its largest entry.
JITTERS = (0.0, 1e-12, 1e-9)
#: Relative conditional similarity below which a column is in the span of the kept ones, up to rounding.
NEGLIGIBLE = 1e-8
#: How far below 0 an eigenvalue may lie by rounding, relative to the largest similarity.
ROUNDING = 1e-7
#: Initial capacity of a factor.
FIRST_SIZE = 32


class Draw(NamedTuple):
    """The columns drawn from a group."""

    sampled: BoolArray
    #: Probability that each column is drawn, given the kept columns.
    probability: FloatArray
    #: Similarities of the group given the kept columns, and its rows of the Cholesky factor of all.
    given: FloatArray
    rows: FloatArray


class Similarity(NamedTuple):
    """Similarities of columns, from their correlations or by a function of the caller."""

    kernel: str | KernelFunction | None
    gamma: float

    def __call__(
        self, columns: FloatArray, some: IntArray, others: IntArray, correlation: FloatArray | None = None
    ) -> FloatArray:
        """Compare unit columns that are rows of an array; their correlations are computed unless given."""
        if self.kernel not in ("rbf", "squared_correlation"):
            return self._called(columns[some], columns[others])
        if correlation is None:
            correlation = products(columns, some, others)
        if self.kernel == "squared_correlation":
            return correlation**2
        # exp(-gamma |a - b|^2 / n) of columns of unit variance
        return np.exp(2.0 * self.gamma * (correlation - 1.0))

    def _called(self, some: FloatArray, others: FloatArray) -> FloatArray:
        if not callable(self.kernel):
            raise ParameterError("kernel was not saved with the selector: set_params(kernel=...) again")
        scale = np.sqrt(some.shape[1])
        if not len(others):
            return np.zeros((len(some), 0))
        similarity = np.asarray(self.kernel(some.T * scale, others.T * scale))
        if similarity.shape != (len(some), len(others)) or similarity.dtype.kind not in "fiub":
            raise ParameterError(
                f"kernel must return numbers of shape {(len(some), len(others))}, a similarity for each "
                f"column of the first matrix and each of the second; got {similarity.dtype} of shape "
                f"{similarity.shape}"
            )
        if not np.all(np.isfinite(similarity)):
            raise ParameterError("kernel returned NaN or infinity; similarities must be finite")
        return similarity.astype(np.float64)


class Factor:
    """Cholesky factor of the similarities of the kept columns, which grows with them."""

    def __init__(self, rows: FloatArray | None = None) -> None:
        self.size = 0 if rows is None else len(rows)
        room = max(FIRST_SIZE, self.size)
        self._rows = np.zeros((room, room))
        if rows is not None:
            self._rows[: self.size, : self.size] = rows

    @property
    def rows(self) -> FloatArray:
        """One row per kept column."""
        return self._rows[: self.size, : self.size]

    def reduce(self, cross: FloatArray) -> FloatArray:
        """Turn similarities with the kept columns, one row per column, into rows of the factor."""
        rows: FloatArray = kernel.reduce(self._rows, self.size, cross)
        return rows

    def append(self, rows: FloatArray, given: FloatArray) -> None:
        """Add columns by their rows of the factor and their similarities given the columns before."""
        last = _cholesky(given)
        low, high = self.size, self.size + len(rows)
        while len(self._rows) < high:
            self._rows = np.pad(self._rows, (0, len(self._rows)))
        self._rows[low:high, :low], self._rows[low:high, low:high] = rows, last
        self.size = high

    def remove(self, gone: IntArray) -> None:
        """Take columns out, by their positions in rising order."""
        for i in gone[::-1].tolist():
            kernel.remove(self._rows, self.size, i)
            self.size -= 1

    def rebuild(self, similarity: FloatArray) -> None:
        """Factorize all columns at once."""
        self.size = 0
        self.append(np.zeros((len(similarity), 0)), _symmetric(similarity))


class Sampler(NamedTuple):
    """How columns are drawn from their similarities."""

    way: str
    #: Proportion of a group's total similarity that may be lost with the small eigenvalues.
    truncation: float
    seed: int

    def draw(self, factor: Factor, cross: FloatArray, own: FloatArray, features: IntArray) -> Draw:
        """Draw from a group, given kept columns of which there is a factor.

        ``cross`` are the similarities of the group (rows) with those kept, ``own`` those of the group.
        """
        own, rows = _symmetric(own), factor.reduce(cross)
        given = own - rows @ rows.T  # the Schur complement: similarities given the kept columns
        values, vectors = np.linalg.eigh(given)
        largest = max(float(own.diagonal().max()), 0.0)
        if values[0] < -ROUNDING * largest:
            raise _not_positive(float(values[0]))
        # the eigenvalues ascend: the smallest are dropped as long as their sum is below the truncation
        lost = np.cumsum(np.maximum(values, 0.0)) < self.truncation * np.trace(own)
        lost |= values <= NEGLIGIBLE * largest
        values, vectors = values[~lost], vectors[:, ~lost]
        if self.way == "greedy":
            sampled = kernel.greedy(given, len(values), NEGLIGIBLE * largest)
            return Draw(sampled, sampled.astype(np.float64), given, rows)
        share = values / (1.0 + values) if self.way == "dpp" else np.ones_like(values)
        marginal = (vectors * share) @ vectors.T
        probability = np.clip(marginal.diagonal(), 0.0, 1.0)
        sampled = kernel.sample(marginal, uniform_draws(self.seed, features), NEGLIGIBLE)
        return Draw(sampled, probability, given, rows)


def uniform_draws(seed: int, features: IntArray) -> FloatArray:
    """Return uniform draws from [0, 1) that depend only on the seed and the arrival number.

    SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014).
    """
    key = _mixed(np.array([seed], np.uint64))
    return (_mixed(features.astype(np.uint64) + key) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mixed(words: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    words = (words + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _symmetric(similarity: FloatArray) -> FloatArray:
    most = float(np.abs(similarity).max(initial=0.0))
    if np.any(np.abs(similarity - similarity.T) > ROUNDING * most):
        raise ParameterError("kernel must be symmetric: the similarity of a and b is that of b and a")
    return similarity


def _cholesky(similarity: FloatArray) -> FloatArray:
    """Return a Cholesky factor; if rounding prevents it, that of a slightly larger diagonal."""
    largest = float(similarity.diagonal().max(initial=0.0))
    for jitter in JITTERS:
        with contextlib.suppress(np.linalg.LinAlgError):
            shifted = similarity + jitter * largest * np.eye(len(similarity))
            return np.linalg.cholesky(shifted).astype(np.float64, copy=False)
    raise _not_positive(float(np.linalg.eigvalsh(similarity)[0]))


def _not_positive(least: float) -> ParameterError:
    return ParameterError(
        f"kernel must give a positive matrix, but its least eigenvalue is {least:.3g}: take kernel='rbf', or "
        "another positive semidefinite kernel, such as squared correlation instead of absolute correlation"
    )
