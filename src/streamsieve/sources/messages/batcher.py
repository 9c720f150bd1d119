"""Pieces of rows that come one by one, until they make a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, Position, RowBatch


class MessageBuffer:
    """Gather rows into batches of one size, and count them.

    Parameters
    ----------
    size : rows in a batch
    names : names of the features
    row, skipped : rows delivered, and messages passed over, before the first batch
    """

    def __init__(self, size: int, names: Sequence[str], row: int, skipped: int) -> None:
        self._size, self._names = size, names
        self.row, self._skipped = row, skipped
        self._pieces: list[tuple[FloatArray, npt.NDArray[Any]]] = []
        self.count = 0

    @property
    def room(self) -> int:
        """Rows that the batch still lacks."""
        return self._size - self.count

    def add(self, X: FloatArray, y: npt.NDArray[Any], skipped: int = 0) -> None:
        """Add some rows, and count what was passed over on the way."""
        if len(X):
            self._pieces.append((X, y))
        self.count += len(X)
        self.row += len(X)
        self._skipped += skipped

    def batch(self, position: Position) -> RowBatch:
        """Return what has been gathered, and begin the next batch."""
        Xs, ys = zip(*self._pieces, strict=True)
        X, y = (Xs[0], ys[0]) if len(Xs) == 1 else (np.concatenate(Xs), np.concatenate(ys))
        self._pieces, self.count = [], 0
        return RowBatch(X, y, None, self._names, {**position, "row": self.row, "skipped": self._skipped})
