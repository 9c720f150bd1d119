"""Moments of every (feature, class) over the non-zeros of CSR rows; the zeros are inferred."""

from __future__ import annotations

from typing import Any

import numpy as np

from streamsieve._kernels import moments_sparse as kernel
from streamsieve._kernels.aligned import aligned_zeros
from streamsieve.protocols import Arrays, FloatArray, IntArray
from streamsieve.state import expect
from streamsieve.summaries._fading import remainder

WEIGHT, MEAN, M2, MISSING = range(4)
_UNIT = np.ones(1)


class SparseCells:
    """A table (feature, class, 4): weight, mean and m2 of what is stored, weight of what is missing."""

    def __init__(self, n_classes: int, n_features: int) -> None:
        self.table = aligned_zeros((n_features, n_classes, 4))

    @property
    def nbytes(self) -> int:
        return self.table.nbytes

    @property
    def n_features(self) -> int:
        return len(self.table)

    def grow(self, n_classes: int, n_features: int, totals: FloatArray) -> None:  # noqa: ARG002
        """Make room for late labels and late features; rows so far count as zeros for the latter."""
        p, c, _ = self.table.shape
        if (c, p) != (n_classes, n_features):
            table = aligned_zeros((n_features, n_classes, 4))
            table[:p, :c] = self.table
            self.table = table

    def update(self, X: Any, codes: IntArray, w: FloatArray | None) -> None:
        """Take CSR rows into account; their values must have been checked."""
        weights = _UNIT if w is None else w
        indptr = X.indptr.astype(np.int64, copy=False)
        kernel.update(indptr, X.indices, X.data, codes, weights, w is not None, self.table)

    def scale(self, factor: float) -> None:
        """Multiply every weight by a factor."""
        self.table[..., [WEIGHT, M2, MISSING]] *= factor

    def block(
        self, low: int, high: int, totals: FloatArray, rows: IntArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return weight, mean and m2 (class, feature) of features low..high, zeros included."""
        n, mean, m2, missing = np.moveaxis(self.table[low:high], (2, 1), (0, 1))
        weight = remainder(totals[:, None], missing, rows[:, None])
        zeros = remainder(weight, n, rows[:, None])
        share = np.divide(n, n + zeros, out=np.zeros_like(n), where=weight > 0)
        return weight, mean * share, m2 + mean * mean * share * zeros

    def absorb(
        self, low: int, high: int, totals: FloatArray,  # noqa: ARG002
        other: tuple[FloatArray, FloatArray, FloatArray], other_totals: FloatArray,
    ) -> None:  # fmt: skip
        """Merge another's block into features low..high; all of its rows count as stored."""
        weight, mean, m2 = (a.T for a in other)
        part = self.table[low:high]
        _merge(part, weight, mean, m2)
        part[..., MISSING] += other_totals[None, :] - weight

    def merge(self, other: SparseCells, classes: IntArray) -> None:
        """Merge a table of the same features; its class i is ours ``classes[i]``."""
        part = self.table[:, classes]
        _merge(part, *(other.table[..., k] for k in (WEIGHT, MEAN, M2)))
        part[..., MISSING] += other.table[..., MISSING]
        self.table[:, classes] = part

    def forget(self, columns: IntArray, totals: FloatArray) -> None:
        """Let all rows so far count as missing for some features."""
        self.table[columns] = 0.0
        self.table[columns, :, MISSING] = totals

    def renumbered(self, columns: IntArray, n_features: int, totals: FloatArray) -> SparseCells:  # noqa: ARG002
        """Return a copy in which feature i stands at ``columns[i]``; there are zeros elsewhere."""
        cells = SparseCells(self.table.shape[1], n_features)
        cells.table[columns] = self.table
        return cells

    def state(self) -> Arrays:
        return {"table": self.table}

    @classmethod
    def from_state(cls, arrays: Any, n_classes: int, n_features: int) -> SparseCells:
        saved = expect(arrays, "table", np.float64, (n_features, n_classes, 4))
        cells = cls(n_classes, n_features)
        cells.table[...] = saved
        return cells


def _merge(part: FloatArray, n: FloatArray, mean: FloatArray, m2: FloatArray) -> None:
    """Chan's merge of stored values into a part of a table, in place."""
    have = part[..., WEIGHT]
    total = have + n
    share = np.divide(n, total, out=np.zeros_like(total), where=total > 0)
    delta = mean - part[..., MEAN]
    part[..., M2] += m2 + delta * delta * have * share
    part[..., MEAN] += delta * share
    part[..., WEIGHT] = total
