"""The scatter of a stream of rows, in a few rows: Frequent Directions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._validation import LIMIT
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, FloatArray, Matrix
from streamsieve.state import expect, register, under
from streamsieve.summaries.windows.row_pieces import Piece
from streamsieve.summaries.windows.row_store import RowStore

#: Squared lengths below this share of the largest are rounding of the products they come from.
NEGLIGIBLE = 1e-15
#: Lengths below this share of the largest are rounding of the rows and of earlier sketches.
NOTHING = 1e-12
#: Squared lengths that differ by this share are equal: a direction must not live on by rounding.
EQUAL = 1e-10
#: Products square the spread of singular values; leading ones of a wider spread are computed the slow way.
WIDE = 1e-6
#: Entries of a sketch are sums over rows of values within the limit; larger ones never came from rows.
LARGEST_ENTRY = LIMIT * 1e20


class Sketch(NamedTuple):
    """Orthogonal rows, longest first, whose scatter is nearly that of all rows they stand for."""

    rows: FloatArray
    mean: FloatArray
    n_rows: int
    #: Sum of squares of all rows, about their mean if they are centred.
    mass: float
    #: The scatter matrices differ by this much at most (spectral norm), and by ``mass / size`` at most.
    error: float

    def joined(self, block: FloatArray, size: int, rank: int, *, centre: bool) -> Sketch:
        """Return the sketch of these rows and a block of further rows, of fewer than ``size`` rows.

        The ``rank`` longest rows are exact to rounding even if the others are many times shorter.
        """
        n, p = block.shape
        kept, mean = _widened(self.rows, p), _widened(self.mean, p)
        parts = [kept, block]
        if centre:
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
class FrequentDirections:
    """A sketch that follows a stream of rows.

    Rows wait until a block of them is there, so that the result never depends on how they came in.

    Parameters
    ----------
    sketch : of the rows that wait no longer
    waiting : the rows after these
    """

    def __init__(self, sketch: Sketch = EMPTY, waiting: RowStore | None = None) -> None:
        self.sketch = sketch
        self.waiting = RowStore() if waiting is None else waiting

    @property
    def n_rows(self) -> int:
        """Rows seen."""
        return self.sketch.n_rows + self.waiting.n_rows

    @property
    def n_features(self) -> int:
        """Features seen."""
        return max(int(self.sketch.rows.shape[1]), self.waiting.n_features)

    def learn(self, X: Matrix, size: int, block: int, rank: int, *, centre: bool) -> None:
        """Take rows into account, ``block`` of them at a time."""
        low, n = 0, X.shape[0]
        while low < n:
            part = X[low : low + max(1, block - self.waiting.n_rows)]
            low += part.shape[0]
            if self.waiting.n_rows or part.shape[0] < block:
                self.waiting.append(Piece(part, np.zeros(part.shape[0]), None))
                if self.waiting.n_rows < block:
                    return
                part = self._waiting_rows(X.shape[1])
                self.waiting = RowStore()
            self.sketch = self.sketch.joined(_dense(part), size, rank, centre=centre)

    def current(self, n_features: int, size: int, rank: int, *, centre: bool) -> Sketch:
        """Return the sketch of all rows, those that wait included, as if the stream ended here."""
        if self.waiting.n_rows == 0:
            return self.sketch._replace(
                rows=_widened(self.sketch.rows, n_features), mean=_widened(self.sketch.mean, n_features)
            )
        return self.sketch.joined(self._waiting_rows(n_features), size, rank, centre=centre)

    def _waiting_rows(self, n_features: int) -> FloatArray:
        """Return the rows that wait; features that came after a row are 0 in it."""
        return np.concatenate([_widened(_dense(piece.X), n_features) for piece in self.waiting.pieces()])

    def state(self) -> Arrays:
        """Return everything as arrays."""
        sketch = self.sketch
        return {
            "rows": sketch.rows,
            "mean": sketch.mean,
            "n_rows": np.array([sketch.n_rows], np.int64),
            "sums": np.array([sketch.mass, sketch.error]),
            **{f"waiting/{key}": array for key, array in self.waiting.state().items()},
        }

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild, after checking that the arrays fit together."""
        rows = np.array(expect(arrays, "rows", np.float64, (None, None)))
        mean = np.array(expect(arrays, "mean", np.float64, (rows.shape[1],)))
        n_rows = int(expect(arrays, "n_rows", np.int64, (1,))[0])
        mass, error = expect(arrays, "sums", np.float64, (2,)).tolist()
        if not (np.all(np.abs(rows) <= LARGEST_ENTRY) and np.all(np.abs(mean) <= LIMIT)):
            raise StateError("the state's sketch holds values that are not finite, or too large")
        if n_rows < 0 or not 0 <= error <= mass < np.inf:
            raise StateError(f"the state claims a sketch of {n_rows} rows, mass {mass} and error {error}")
        waiting = RowStore.from_state(under("waiting", arrays))
        for problem in waiting.unlike("numeric", window=False):
            raise StateError(f"the state's rows do not fit: {problem}")
        return cls(Sketch(rows, mean, n_rows, mass, error), waiting)


def _principal(stacked: FloatArray, rank: int) -> tuple[FloatArray, FloatArray]:
    """Return singular values, largest first, and their right singular vectors as rows.

    Values that are nothing but rounding are left out.  The smaller of the two matrices of products gives
    them in a fraction of the time of a singular value decomposition; its error is that of rounding relative
    to the largest value, which is too much only for leading values that are far smaller.
    """
    largest = np.abs(stacked).max(initial=0.0)
    if largest == 0.0:
        return np.zeros(0), np.zeros((0, stacked.shape[1]))
    exponent = int(np.frexp(largest)[1])
    scaled = np.ldexp(stacked, -exponent)  # exact, and no square overflows or vanishes
    m, p = scaled.shape
    squares, vectors = np.linalg.eigh(scaled @ scaled.T if m <= p else scaled.T @ scaled)
    squares, vectors = squares[::-1], vectors[:, ::-1]
    if squares[min(rank, len(squares)) - 1] < WIDE * squares[0]:
        _, lengths, directions = np.linalg.svd(scaled, full_matrices=False)
        there = lengths > NOTHING * lengths[0]
        lengths, directions = lengths[there], directions[there]
    else:
        there = squares > NEGLIGIBLE * squares[0]
        lengths = np.sqrt(squares[there])
        directions = vectors[:, there].T
        if m <= p:
            directions = (directions / lengths[:, None]) @ scaled
    return np.ldexp(lengths, exponent), directions


def _shrunk(lengths: FloatArray, directions: FloatArray, size: int) -> tuple[FloatArray, float]:
    """Return rows shortened by as much as it takes to be rid of row ``size``, and the square of that."""
    shortest = lengths[size - 1] if len(lengths) >= size else 0.0
    lengths, directions = lengths[: size - 1], directions[: size - 1]
    ratio = shortest / lengths  # not the squares: they may vanish
    left = (1.0 - ratio) * (1.0 + ratio)
    there = left > EQUAL
    lost = shortest**2 + (lengths[~there] ** 2 * left[~there]).max(initial=0.0)
    return directions[there] * (lengths[there] * np.sqrt(left[there]))[:, None], float(lost)


def _mean(block: FloatArray) -> FloatArray:
    """Return the mean row; that of equal values is the value itself, not the value and some rounding."""
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
