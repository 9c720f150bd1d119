"""Nominal columns as indicators of their levels, for learners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from streamsieve.protocols import IntArray, Matrix


class Indicators(NamedTuple):
    """A matrix in which some columns are replaced by indicators of their levels.

    ``first`` is the position of the first indicator of each original column, followed by the width.
    """

    X: Matrix
    first: IntArray

    @classmethod
    def of(cls, X: Matrix, nominal: Sequence[int]) -> Indicators:
        """Replace the nominal columns; without any, the matrix is unchanged."""
        levels = {j: np.unique(X[:, [j]].toarray() if sp.issparse(X) else X[:, j]) for j in nominal}
        widths = np.array([len(levels.get(j, [0])) for j in range(X.shape[1])], np.int64)
        first = np.concatenate([[0], np.cumsum(widths)])
        if not levels:
            return cls(X, first)
        dense = X.toarray() if sp.issparse(X) else X
        parts = [
            np.asarray(dense[:, [j]] == levels[j], np.float64) if j in levels else dense[:, [j]]
            for j in range(X.shape[1])
        ]
        return cls(np.concatenate(parts, axis=1), first)

    def columns(self, some: IntArray | None) -> IntArray | None:
        """Return the positions of some original columns; None stands for all."""
        if some is None or self.first[-1] == len(self.first) - 1:
            return some
        return np.concatenate([np.arange(0), *(np.arange(*self.first[j : j + 2]) for j in some)])
