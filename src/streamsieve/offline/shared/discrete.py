"""All features as small codes, and the information that one of them has about many others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._kernels import discrete as kernel
from streamsieve._threads import over_features
from streamsieve.independence import GSquared
from streamsieve.protocols import FloatArray, IntArray, Matrix, Task

#: Codes, row by row, that are made at a time before the zeros among them are dropped: 8 MB.
CHUNK_VALUES = 2**22
#: Information below this number of nats is rounding of a difference.
ROUNDING = 1e-12


class Coded(NamedTuple):
    """One column, row by row, with the counts of its codes and its entropy in nats times the rows."""

    codes: npt.NDArray[np.uint16]
    counts: IntArray
    entropy: float


class CodedFeatures:
    """Features and target discretized as for the tests over contingency tables.

    Up to 32 distinct values stay as they are, more are cut into ``bins`` of equal frequency; a numeric target
    is cut into five classes.
    """

    def __init__(self, X: Matrix, y: npt.NDArray[Any], task: Task, bins: int) -> None:
        test = GSquared(y, task, alpha=0.5, bins=bins)
        self.n, self.p = X.shape
        self._g = test.g
        self.target = self._coded(test.y.astype(np.uint16))
        columns = sp.csc_array(X) if sp.issparse(X) else X
        step = max(1, CHUNK_VALUES // self.n)
        parts = [self._listed(test, columns[:, low : low + step]) for low in range(0, self.p, step)]
        lengths, self.levels, self.entropy, self._rows, self._codes = (
            np.concatenate(pieces) for pieces in zip(*parts, strict=True)
        )
        self._pointers = np.concatenate([[0], np.cumsum(lengths)])

    def _coded(self, codes: npt.NDArray[np.uint16]) -> Coded:
        counts = np.bincount(codes).astype(np.int64)
        return Coded(codes, counts, float(self._g[self.n] - self._g[counts].sum()))

    def _listed(self, test: GSquared, some: Matrix) -> tuple[npt.NDArray[Any], ...]:
        """Return how many rows of some columns have a code other than 0, and everything else about them."""
        m = some.shape[1]
        table = test.encode(test.pieces(some), np.arange(m), np.arange(self.n), self.n)
        column, rows = np.nonzero(table)
        codes = table[column, rows]
        widest = int(table.max()) + 1
        counts = np.bincount(column * widest + codes, minlength=m * widest).reshape(m, widest)
        lengths = counts.sum(axis=1)
        counts[:, 0] = self.n - lengths
        levels = widest - np.argmax(counts[:, ::-1] > 0, axis=1)  # every code occurs
        entropy = np.maximum(self._g[self.n] - self._g[counts].sum(axis=1), 0.0)
        entropy[levels == 1] = 0.0
        return lengths, levels, entropy, rows.astype(np.int32), codes

    def column(self, j: int) -> Coded:
        """Return one feature, row by row."""
        codes = np.zeros(self.n, np.uint16)
        part = slice(self._pointers[j], self._pointers[j + 1])
        codes[self._rows[part]] = self._codes[part]
        return self._coded(codes)

    def information(self, other: Coded, wanted: IntArray) -> FloatArray:
        """Return the mutual information of some features and another column, in nats."""
        out = np.empty(len(wanted))

        def work(low: int, high: int) -> None:
            kernel.informations(
                self._pointers, self._rows, self._codes, self.levels, self.entropy, wanted,
                other.codes, other.counts, other.entropy, self._g, low, high, out,
            )  # fmt: skip

        over_features(len(wanted), 2 * len(self._rows) * len(wanted) // max(1, self.p), work)
        out /= self.n
        out[out < ROUNDING] = 0.0
        return out

    def redundancy(self, j: int, wanted: IntArray) -> FloatArray:
        """Return the mutual information of one feature and some others, in nats."""
        return self.information(self.column(j), wanted)

    def uncertainty(self, other: Coded, wanted: IntArray) -> FloatArray:
        """Return the symmetric uncertainty of some features and another column, between 0 and 1."""
        information = self.information(other, wanted)
        both = (self.entropy[wanted] + other.entropy) / self.n
        return np.asarray(2 * information / np.where(both > 0, both, 1.0))
