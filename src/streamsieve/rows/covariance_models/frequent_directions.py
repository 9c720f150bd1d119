"""Frequent Directions: a sketch of the scatter matrix of a stream of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from streamsieve._values import LIMIT
from streamsieve.protocols import FloatArray, Matrix
from streamsieve.rows.linear.minibatch_buffer import MinibatchBuffer, rows_of
from streamsieve.state import Array, Float, Int, Nested, Part, register

#: Squared lengths below this fraction of the largest are rounding errors of the products.
SQUARED_ROUNDING = 1e-15
#: Lengths below this fraction of the largest are rounding errors of the rows and of earlier sketches.
ROUNDING = 1e-12
#: Squared lengths that differ by less than this fraction count as equal, so that rounding keeps no direction.
TIE = 1e-10
#: Forming products squares the condition number; beyond this range of singular values an SVD is used.
LEAST_FOR_PRODUCTS = 1e-6
#: Entries of a sketch are sums over rows of values within the limit; larger ones never came from rows.
LARGEST_ENTRY = LIMIT * 1e20


class Sketch(NamedTuple):
    """Sketch: orthogonal rows, longest first, whose scatter approximates that of all rows."""

    rows: FloatArray
    mean: FloatArray
    n_rows: int
    #: Sum of squares of all rows, about their mean if they are centered.
    mass: float
    #: Bound on the spectral norm of the difference of the scatter matrices; at most ``mass / size``.
    error: float

    def joined(self, block: FloatArray, size: int, rank: int, *, center: bool) -> Sketch:
        """Return the sketch of these rows and a block of further rows, of fewer than ``size`` rows.

        The ``rank`` longest rows are accurate up to rounding, even if the others are many times shorter.
        """
        n, p = block.shape
        kept, mean = _widened(self.rows, p), _widened(self.mean, p)
        parts = [kept, block]
        if center:
            of_block = _mean(block)
            parts[1] = block - of_block
            if self.n_rows:
                # scatter about the common mean = both scatters about their own means + this row's
                shift = of_block - mean
                parts.append(np.sqrt(self.n_rows * (n / (self.n_rows + n))) * shift[None, :])
                mean = mean + shift * (n / (self.n_rows + n))
            else:
                mean = of_block
        mass = self.mass + sum(float(np.vdot(part, part)) for part in parts[1:])
        lengths, directions = _principal(np.concatenate(parts), rank)
        rows, lost = _shrunk(lengths, directions, size)
        return Sketch(rows, mean, self.n_rows + n, mass, self.error + lost)


EMPTY = Sketch(np.zeros((0, 0)), np.zeros(0), 0, 0.0, 0.0)


@register
class FrequentDirections(Part):
    """Streaming sketch of rows (Frequent Directions).

    Rows are buffered until there is a block of them, so that the result does not depend on how they are cut
    into batches.

    Attributes
    ----------
    sketch : sketch of the rows that are no longer buffered
    buffer : the rows after these
    """

    fields = {
        "rows": Array("f8", "directions", "features", low=-LARGEST_ENTRY, high=LARGEST_ENTRY),
        "mean": Array("f8", "features", low=-LIMIT, high=LIMIT),
        "n_rows": Int(),
        "mass": Float(0),
        "error": Float(0),
        "buffer": Nested(MinibatchBuffer),
    }

    def __init__(self) -> None:
        self.sketch, self.buffer = EMPTY, MinibatchBuffer()

    @property
    def n_rows(self) -> int:
        """Number of rows seen."""
        return self.sketch.n_rows + len(self.buffer)

    @property
    def n_features(self) -> int:
        """Number of features of the sketch."""
        return int(self.sketch.rows.shape[1])

    def learn(self, X: Matrix, size: int, block: int, rank: int, *, center: bool) -> None:
        """Add rows to the sketch in blocks of ``block`` rows."""
        low, n = 0, X.shape[0]
        while low < n:
            part = X[low : low + max(1, block - len(self.buffer))]
            low += part.shape[0]
            if len(self.buffer) or part.shape[0] < block:
                self.buffer.append(rows_of(part), np.ones(part.shape[0]))
                if len(self.buffer) < block:
                    return
                dense = self._buffered_rows(X.shape[1])
                self.buffer.clear()
            else:
                dense = _dense(part)
            self.sketch = self.sketch.joined(dense, size, rank, center=center)

    def current(self, n_features: int, size: int, rank: int, *, center: bool) -> Sketch:
        """Return the sketch of all rows, buffered ones included, as if the stream ended here."""
        if not len(self.buffer):
            return self.sketch._replace(
                rows=_widened(self.sketch.rows, n_features), mean=_widened(self.sketch.mean, n_features)
            )
        return self.sketch.joined(self._buffered_rows(n_features), size, rank, center=center)

    def _buffered_rows(self, n_features: int) -> FloatArray:
        """Return the rows in the buffer; features that came after a row are 0 in it."""
        rows, _ = self.buffer.joined()
        if isinstance(rows, np.ndarray):
            return _widened(rows, n_features)
        return _dense(sp.csr_array(tuple(rows), (len(rows.indptr) - 1, n_features)))

    def _record(self) -> Mapping[str, Any]:
        return {**self.sketch._asdict(), "buffer": self.buffer}

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        directions = cls()
        directions.buffer = record.pop("buffer")
        directions.sketch = Sketch(**record)
        return directions

    def _consistent(self) -> Iterator[str]:
        if self.sketch.error > self.sketch.mass:
            yield f"error {self.sketch.error} of a total of {self.sketch.mass}"


def _principal(stacked: FloatArray, rank: int) -> tuple[FloatArray, FloatArray]:
    """Return singular values, largest first, and their right singular vectors as rows.

    Values at the level of rounding errors are left out.  An eigendecomposition of the smaller Gram matrix
    takes a fraction of the time of an SVD; its error is relative to the largest value, which is too much only
    for leading values that are far smaller.
    """
    largest = np.abs(stacked).max(initial=0.0)
    if largest == 0.0:
        return np.zeros(0), np.zeros((0, stacked.shape[1]))
    exponent = int(np.frexp(largest)[1])
    scaled = np.ldexp(stacked, -exponent)  # a power of two: exact, and squares neither overflow nor underflow
    m, p = scaled.shape
    squares, vectors = np.linalg.eigh(scaled @ scaled.T if m <= p else scaled.T @ scaled)
    squares, vectors = squares[::-1], vectors[:, ::-1]
    if squares[min(rank, len(squares)) - 1] < LEAST_FOR_PRODUCTS * squares[0]:
        _, lengths, directions = np.linalg.svd(scaled, full_matrices=False)
        there = lengths > ROUNDING * lengths[0]
        lengths, directions = lengths[there], directions[there]
    else:
        there = squares > SQUARED_ROUNDING * squares[0]
        lengths = np.sqrt(squares[there])
        directions = vectors[:, there].T
        if m <= p:
            directions = (directions / lengths[:, None]) @ scaled
    return np.ldexp(lengths, exponent), directions


def _shrunk(lengths: FloatArray, directions: FloatArray, size: int) -> tuple[FloatArray, float]:
    """Return rows shrunk by the squared length of row ``size``, which becomes 0, and that squared length."""
    shortest = lengths[size - 1] if len(lengths) >= size else 0.0
    lengths, directions = lengths[: size - 1], directions[: size - 1]
    ratio = shortest / lengths  # not the squares, which may underflow
    left = (1.0 - ratio) * (1.0 + ratio)
    there = left > TIE
    lost = shortest**2 + (lengths[~there] ** 2 * left[~there]).max(initial=0.0)
    return directions[there] * (lengths[there] * np.sqrt(left[there]))[:, None], float(lost)


def _mean(block: FloatArray) -> FloatArray:
    """Return the mean row; the mean of equal values is exactly that value."""
    mean: FloatArray = block.mean(axis=0)
    mean += (block - mean).mean(axis=0)
    return mean


def _dense(X: Matrix) -> FloatArray:
    dense = X.toarray() if sp.issparse(X) else X
    return np.ascontiguousarray(dense, np.float64)


def _widened(array: FloatArray, width: int) -> FloatArray:
    """Append zeros to the last axis."""
    missing = width - array.shape[-1]
    return array if missing == 0 else np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, missing)])
