"""Rows that came one or a few at a time, kept until they are worth a pass over all features."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve._kernels.quantiles_dense import beyond
from streamsieve._validation import LARGEST_VALUE, LIMIT

#: Batches of more rows than this are learnt at once.
SMALL = 64
#: Rows (and values, for wide ones) kept at most.
MOST_ROWS, MOST_VALUES = 256, 2**20


class Pending:
    """A buffer in front of a selector whose result does not depend on how rows are cut into batches.

    Only rows that cannot be refused later are taken: plain arrays of the known width and type, finite or
    missing, with labels already known.  Everything else goes the long way through validation.

    Parameters
    ----------
    width : number of features
    dtype : of the rows, float32 or float64
    numeric : whether the target is numeric
    """

    def __init__(self, width: int, dtype: np.dtype[Any], *, numeric: bool) -> None:
        self.rows = np.empty((max(1, min(MOST_ROWS, MOST_VALUES // max(1, width))), width), dtype)
        self.limit = LARGEST_VALUE[self.rows.dtype]
        self.numeric = numeric
        self.labels: list[Any] = []
        self.known: frozenset[Any] = frozenset()

    def take(self, X: Any, y: Any) -> bool:
        """Keep some rows, or say that they have to go the long way."""
        rows, filled = self.rows, len(self.labels)
        if (
            type(X) is not np.ndarray
            or type(y) is not np.ndarray
            or X.ndim != 2
            or y.ndim != 1
            or not 0 < (n := len(y)) <= SMALL
            or X.shape != (n, rows.shape[1])
            or X.dtype != rows.dtype
            or filled + n > len(rows)
            or not X.flags.c_contiguous
            or y.dtype.kind not in "fiubU"
        ):
            return False
        labels = y.tolist()
        if not (self._all_numbers(labels) if self.numeric else self.known.issuperset(labels)):
            return False
        if beyond(X, self.limit):
            return False
        rows[filled : filled + n] = X
        self.labels += labels
        return True

    @staticmethod
    def _all_numbers(targets: list[Any]) -> bool:
        return all(not isinstance(v, str) and math.isfinite(v) and abs(v) <= LIMIT for v in targets)

    def drain(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the rows and their targets, and be empty."""
        labels, self.labels = self.labels, []
        y = np.array(labels, np.float64) if self.numeric else np.array(labels)
        return self.rows[: len(labels)], y
