"""A stream of rows over a billion columns, with a few relevant ones among them; generated, never stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve.exceptions import SourceError
from streamsieve.protocols import Position, RowBatch

#: Rows that are drawn together, whatever the batches are.
BLOCK = 4096


class WideStream:
    """Rows of norm 1 with one non-zero in each of ``per_row`` equal ranges of columns.

    So indices come out sorted and different without sorting.  In the ranges of the ``n_relevant`` planted
    columns, these are drawn with probability ``share`` instead of any other.  A planted column speaks for
    class 1 or class 0, alternately; the label follows the majority in the row, and is drawn where there is
    none.

    Parameters
    ----------
    n_rows, n_features, per_row : the shape, and non-zeros a row; ``n_features`` is a multiple of ``per_row``
    n_relevant : planted columns, at most ``per_row``
    share : how often a planted column occurs, 0 to 1
    seed : of everything
    """

    names = None

    def __init__(
        self,
        n_rows: int = 1_000_000,
        n_features: int = 1_000_000_000,
        per_row: int = 1_000,
        *,
        n_relevant: int = 100,
        share: float = 0.2,
        seed: int = 0,
    ) -> None:
        if n_features % per_row or not n_relevant <= per_row:
            raise ValueError("n_features must be a multiple of per_row, and per_row at least n_relevant")
        self.n_rows, self.n_features, self.per_row = n_rows, n_features, per_row
        self.share, self.seed = share, seed
        rng = np.random.default_rng([seed, 0])
        self._range = n_features // per_row
        self._ranges = np.sort(rng.choice(per_row, n_relevant, replace=False))
        within = rng.integers(0, self._range, n_relevant)
        #: The planted columns, in order.
        self.relevant: npt.NDArray[np.int64] = self._ranges * self._range + within

    def identity(self) -> dict[str, Any]:
        """Return what makes this stream this stream."""
        shape = [self.n_rows, self.n_features, self.per_row]
        return {"kind": "wide", "shape": shape, "relevant": self.relevant.tolist(), "seed": self.seed}

    def check_identity(self, known: Mapping[str, Any]) -> None:
        """Refuse to go on with another stream."""
        if dict(known) != self.identity():
            raise SourceError(f"another wide stream was read before: {dict(known)}, now {self.identity()}")

    def rows(self, batch_size: int = BLOCK, start: Position | None = None) -> Iterator[RowBatch]:
        """Yield batches; a batch size that does not divide :data:`BLOCK` leaves shorter ones at its end."""
        low = 0 if start is None else start["row"]
        while low < self.n_rows:
            block = low // BLOCK
            indices, data, y = self._block(block)
            end = min((block + 1) * BLOCK, self.n_rows)
            for first in range(low, end, batch_size):
                last = min(first + batch_size, end)
                here = slice(first - block * BLOCK, last - block * BLOCK)
                yield RowBatch(self._csr(indices[here], data[here]), y[here], position={"row": last})
            low = end

    def _block(self, block: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32], Any]:
        rng = np.random.default_rng([self.seed, 1, block])
        shape = (BLOCK, self.per_row)
        indices = rng.integers(0, self._range, shape, np.int32)
        indices += np.arange(0, self.n_features, self._range, dtype=np.int32)
        planted = rng.random((BLOCK, len(self.relevant))) < self.share
        here = indices[:, self._ranges]
        indices[:, self._ranges] = np.where(planted, self.relevant, here)
        votes = planted @ np.where(np.arange(len(self.relevant)) % 2, -1, 1)
        y = np.where(votes == 0, rng.integers(0, 2, BLOCK), votes > 0)
        data = np.full(shape, self.per_row**-0.5, np.float32)
        return indices, data, y

    def _csr(self, indices: npt.NDArray[np.int32], data: npt.NDArray[np.float32]) -> sp.csr_array:
        indptr = np.arange(0, indices.size + 1, self.per_row, dtype=np.int32)
        return sp.csr_array((data.ravel(), indices.ravel(), indptr), shape=(len(indices), self.n_features))
