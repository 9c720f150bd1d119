"""Computed columns collected in a block, up to the first failure."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from streamsieve.exceptions import SourceError
from streamsieve.protocols import ColumnBlock, FloatArray, Position
from streamsieve.sources.computed.compute import Computed, Failed


class Growing:
    """A block to which computed columns are added; ``n`` is the number of rows, if that is known."""

    def __init__(self, n: int | None) -> None:
        self.n = n
        self.columns: list[FloatArray] = []
        self.names: list[str | None] = []
        self.seconds: list[float] = []
        self.failure: Failed | None = None

    def add(self, result: Computed | Failed) -> bool:
        """Add a column; for a failure, note it and return False."""
        if isinstance(result, Failed):
            self.failure = result
            return False
        n = self.n = len(result.column) if self.n is None else self.n
        if len(result.column) != n:
            text = (
                f"has {len(result.column)} values, but there are {n} rows: every column stands over the "
                "same rows"
            )
            self.failure = Failed(result.name, text, None)
            return False
        self.columns.append(result.column)
        self.names.append(result.name)
        self.seconds.append(result.seconds)
        return True

    def whole(self, at: int, position: Position) -> ColumnBlock:
        """Return the block; its first column has number ``at`` in the stream."""
        # the transpose of stacked rows: every column is contiguous
        X = np.array(self.columns).T
        return ColumnBlock(X, names_from(at, self.names), position, np.array(self.seconds))


class Candidate(NamedTuple):
    """A feature to be computed by another process, serialized."""

    name: str | None
    content: bytes


def names_from(at: int, names: list[str | None]) -> list[str] | None:
    """Return the names of columns from number ``at`` on; None if no column has a name of its own."""
    if all(name is None for name in names):
        return None
    return [f"x{at + k}" if name is None else name for k, name in enumerate(names)]


def error_of(at: int, failed: Failed) -> SourceError:
    """Return the error that names feature number ``at``, with its cause."""
    error = SourceError(f"{label(at, failed.name)} {failed.text}")
    error.__cause__ = failed.error
    return error


def label(at: int, name: str | None) -> str:
    """Return the name of a feature for errors."""
    return f"feature {at} (counting from 0)" + ("" if name is None else f", {name!r},")
