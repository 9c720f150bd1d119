"""Mean and centred second moment of every (class, feature), for dense rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve._kernels import moments_dense as kernel
from streamsieve._kernels.threads import over_features
from streamsieve._validation import LIMIT, refuse_infinite
from streamsieve.protocols import Arrays, FloatArray, IntArray
from streamsieve.state import expect

_UNIT = np.ones(1)
_NO_ROWS = np.zeros(0, np.int64)


class DenseCells:
    """Arrays (class, feature).  A feature has a weight of its own only once a value was missing."""

    def __init__(self, n_classes: int, n_features: int) -> None:
        self.mean = np.zeros((n_classes, n_features))
        self.m2 = np.zeros((n_classes, n_features))
        self.weight: FloatArray | None = None

    @property
    def nbytes(self) -> int:
        return self.mean.nbytes + self.m2.nbytes + (0 if self.weight is None else self.weight.nbytes)

    @property
    def n_features(self) -> int:
        return self.mean.shape[1]

    def grow(self, n_classes: int, n_features: int, totals: FloatArray) -> None:
        """Make room for late labels and late features; rows so far count as missing for the latter."""
        c, p = self.mean.shape
        if (c, p) == (n_classes, n_features):
            return
        if p < n_features and self.weight is None and np.any(totals > 0):
            self.weight = np.repeat(totals[:c, None], p, axis=1)
        self.mean, self.m2 = (_padded(a, n_classes, n_features) for a in (self.mean, self.m2))
        if self.weight is not None:
            self.weight = _padded(self.weight, n_classes, n_features)

    def update(
        self, X: npt.NDArray[Any], order: IntArray, edges: IntArray, w: FloatArray | None,
        totals: FloatArray, batch: FloatArray,
    ) -> None:  # fmt: skip
        """Take rows into account; ``totals`` and ``batch`` are class weights before and of the batch."""
        shape = self.mean.shape
        if X.shape[1] < shape[1]:  # features that vanished are missing in these rows
            X = np.hstack([X, np.full((len(X), shape[1] - X.shape[1]), np.nan, X.dtype)])
        if self.weight is None:
            first = X[order[np.minimum(edges[:-1], len(order) - 1)]]
            pivot = np.where((totals > 0)[:, None], self.mean, first)
            s1, s2 = np.empty(shape), np.empty(shape)
            fine = self._accumulate(X, order, edges, w, batch, pivot, s1, s2)
            if fine and kernel.far_from_pivot(batch, s1, s2):
                pivot += s1 / np.where(batch > 0, batch, 1.0)[:, None]
                fine = self._accumulate(X, order, edges, w, batch, pivot, s1, s2)
            if fine:
                kernel.commit(totals, batch, pivot, s1, s2, self.mean, self.m2)
                return
        refuse_infinite(X)
        if self.weight is None:
            self.weight = np.repeat(totals[:, None], shape[1], axis=1)
        self._update_missing(X, order, edges, w)

    def _accumulate(
        self, X: npt.NDArray[Any], order: IntArray, edges: IntArray, w: FloatArray | None,
        batch: FloatArray, pivot: FloatArray, s1: FloatArray, s2: FloatArray,
    ) -> bool:  # fmt: skip
        by_rows = X.flags.c_contiguous or X.strides[1] == X.itemsize
        pass_over = kernel.accumulate if by_rows else kernel.accumulate_columns
        data, weights = (X if by_rows else X.T), (_UNIT if w is None else w)
        # deviations of values within the limit from a pivot within it; NaN fails every comparison
        most = 4 * LIMIT**2 * batch
        fine: list[bool] = [bool(np.all(np.abs(pivot) <= LIMIT))]

        def work(low: int, high: int) -> None:
            sums = (most, pivot, s1, s2, low, high)
            fine.append(pass_over(data, order, edges, weights, w is not None, *sums))

        over_features(X.shape[1], X.size, work)
        return all(fine)

    def _update_missing(
        self, X: npt.NDArray[Any], order: IntArray, edges: IntArray, w: FloatArray | None
    ) -> None:
        X = np.ascontiguousarray(X)
        pivot, s0, s1, s2 = np.empty((4, *self.mean.shape))
        weights, known = (_UNIT if w is None else w), self.weight

        def work(low: int, high: int) -> None:
            kernel.accumulate_missing(
                X, order, edges, weights, w is not None, known, self.mean, pivot, s0, s1, s2, low, high
            )

        over_features(X.shape[1], X.size, work)
        kernel.commit_missing(self.weight, pivot, s0, s1, s2, self.mean, self.m2)

    def scale(self, factor: float) -> None:
        """Multiply every weight by a factor."""
        self.m2 *= factor
        if self.weight is not None:
            self.weight *= factor

    def block(
        self,
        low: int,
        high: int,
        totals: FloatArray,
        rows: IntArray,  # noqa: ARG002 - as SparseCells
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return weight, mean and m2 of features low..high, over all rows."""
        part = slice(low, high)
        weight = (
            np.repeat(totals[:, None], high - low, axis=1) if self.weight is None else self.weight[:, part]
        )
        return weight, self.mean[:, part], self.m2[:, part]

    def absorb(
        self, low: int, high: int, totals: FloatArray,
        other: tuple[FloatArray, FloatArray, FloatArray], other_totals: FloatArray,
    ) -> None:  # fmt: skip
        """Merge another's block (see :meth:`block`) into features low..high, by Chan's formula."""
        part = slice(low, high)
        b, mean_b, m2_b = other
        if self.weight is None and not np.array_equal(b, np.repeat(other_totals[:, None], high - low, 1)):
            self.weight = np.repeat(totals[:, None], self.n_features, axis=1)
            self.weight[:, :low] += other_totals[:, None]
        a = self.block(low, high, totals, _NO_ROWS)[0]
        t = a + b
        share = np.divide(b, t, out=np.zeros_like(t), where=t > 0)
        delta = mean_b - self.mean[:, part]
        self.mean[:, part] += delta * share
        self.m2[:, part] += m2_b + delta * delta * a * share
        if self.weight is not None:
            self.weight[:, part] = t

    def forget(self, columns: IntArray, totals: FloatArray) -> None:
        """Let all rows so far count as missing for some features."""
        if self.weight is None:
            self.weight = np.repeat(totals[:, None], self.n_features, axis=1)
        for a in (self.mean, self.m2, self.weight):
            a[:, columns] = 0.0

    def renumbered(self, columns: IntArray, n_features: int, totals: FloatArray) -> DenseCells:
        """Return a copy in which feature i stands at ``columns[i]``; values are missing elsewhere."""
        cells = DenseCells(len(self.mean), n_features)
        cells.mean[:, columns], cells.m2[:, columns] = self.mean, self.m2
        if self.weight is not None or len(columns) < n_features:
            cells.weight = np.zeros_like(cells.mean)
            cells.weight[:, columns] = totals[:, None] if self.weight is None else self.weight
        return cells

    def state(self) -> Arrays:
        return {"mean": self.mean, "m2": self.m2} | ({} if self.weight is None else {"weight": self.weight})

    @classmethod
    def from_state(cls, arrays: Any, n_classes: int, n_features: int) -> DenseCells:
        cells, shape = cls(0, 0), (n_classes, n_features)
        cells.mean = np.array(expect(arrays, "mean", np.float64, shape))
        cells.m2 = np.array(expect(arrays, "m2", np.float64, shape))
        if "weight" in arrays:
            cells.weight = np.array(expect(arrays, "weight", np.float64, shape))
        return cells


def _padded(a: FloatArray, n_classes: int, n_features: int) -> FloatArray:
    wider = np.zeros((n_classes, n_features))
    wider[: a.shape[0], : a.shape[1]] = a
    return wider
