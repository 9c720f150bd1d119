"""A stream of sparse columns too wide to store, with a few that lean on the label; made block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

#: Columns made together.
BLOCK = 2**18
#: How fast popularity falls with rank, as words do.
EXPONENT = 1.05


class WideColumns:
    """Columns over fixed rows: few are popular, most have one entry or none.

    Popularity falls with rank by Zipf's law, and ranks are scattered over the stream.  The entries of a
    column are spread evenly over the rows, those of an informative column over the first four fifths of them,
    where label 1 is more common.

    Parameters
    ----------
    n_rows, n_columns, per_row : the shape, and non-zeros a row on average
    informative : one column in so many leans on the label
    """

    def __init__(self, n_rows: int, n_columns: int, per_row: int, *, informative: int = 50) -> None:
        self.n_rows, self.n_columns = n_rows, n_columns
        self._informative = informative
        rng = np.random.default_rng(0)
        flipped = rng.random(n_rows) < 0.2
        self.y: npt.NDArray[np.int64] = ((np.arange(n_rows) < n_rows // 2) ^ flipped).astype(np.int64)
        self._most = 4 * n_rows // 5
        self._scale = self._scale_for(n_rows * per_row)
        # an odd step without a factor in common reaches every rank once
        self._step = next(s for s in range(2_654_435_761, 2_654_435_861, 2) if np.gcd(s, n_columns) == 1)

    def blocks(self) -> Iterator[sp.csc_array]:
        """Yield all columns, in blocks; the same ones every time."""
        for low in range(0, self.n_columns, BLOCK):
            yield self._block(low, min(low + BLOCK, self.n_columns))

    def _block(self, low: int, high: int) -> sp.csc_array:
        rng = np.random.default_rng([1, low])
        columns = np.arange(low, high)
        rank = 1 + columns * self._step % self.n_columns
        counts = np.minimum(rng.poisson(self._scale * rank**-EXPONENT), self._most)
        ends = np.cumsum(counts)
        indptr = np.zeros(len(columns) + 1, np.int32)
        indptr[1:] = ends
        room = np.where(columns % self._informative == 0, self._most, self.n_rows)
        width = np.repeat(room / np.maximum(counts, 1), counts)
        place = np.arange(ends[-1]) - np.repeat(ends - counts, counts)
        # two neighbours are at least one row apart: no entry comes twice, none needs sorting
        rows = (place * width + rng.random(ends[-1]) * (width - 1)).astype(np.int32)
        data = rng.random(ends[-1], np.float32) + np.float32(0.5)
        return sp.csc_array((data, rows, indptr), shape=(self.n_rows, len(columns)))

    def _scale_for(self, non_zeros: int) -> float:
        """Return the factor of popularity that gives so many non-zeros, none of a column above its most."""
        edges = np.unique(np.geomspace(1, self.n_columns, 2_000).astype(np.int64))
        weight = np.diff(edges, append=self.n_columns + 1)
        scale: Any = 1.0
        for _ in range(60):
            total = float(np.minimum(scale * edges**-EXPONENT, self._most) @ weight)
            scale *= non_zeros / total
        return float(scale)
