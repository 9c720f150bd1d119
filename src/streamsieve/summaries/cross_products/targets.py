"""Weights and targets of the rows of a batch, for sums of products."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from streamsieve.protocols import FloatArray, IntArray

#: Values per centered piece of a batch, and its minimum number of rows: copies stay small, products fast.
BLOCK_VALUES, BLOCK_ROWS = 2**19, 512


def rows_at_a_time(n_features: int) -> int:
    """Return the number of dense rows to process at a time."""
    return max(BLOCK_ROWS, BLOCK_VALUES // max(1, n_features))


class Targets(NamedTuple):
    """Weights and targets of rows; target 0 is the constant 1, and each row has one of the others."""

    weight: FloatArray
    #: Number of that other target; for a class, 1 + its code.
    place: IntArray
    #: Weight times the target there.
    value: FloatArray

    def part(self, rows: slice) -> Targets:
        """Return some of the rows."""
        return Targets(self.weight[rows], self.place[rows], self.value[rows])

    def sums(self, n_targets: int) -> FloatArray:
        """Return the sum of every target."""
        totals: FloatArray = np.bincount(self.place, self.value, minlength=n_targets).astype(np.float64)
        totals[0] = self.weight.sum()
        return totals

    def times(self, rows: FloatArray, n_targets: int) -> FloatArray:
        """Return the sums over rows of every target times every feature, (target, feature)."""
        n = len(self.place)
        others = sp.csc_array((self.value, self.place, np.arange(n + 1)), shape=(n_targets, n))
        out: FloatArray = others @ rows
        out[0] = self.weight @ rows
        return out
