"""Consecutive parts of a stream of rows, which can be read in other processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from streamsieve.exceptions import SourceError
from streamsieve.protocols import Position, RowBatch


@dataclass(frozen=True)
class SourcePart:
    """Consecutive rows of a source; can be pickled.

    Attributes
    ----------
    source : where the rows are read; for files, these files only
    shown : name of the part in errors
    start : where to begin, None for the beginning
    n_rows : number of rows to read; None for all
    first_row : number of rows before this part; None if not known
    """

    source: Any
    shown: str
    start: Position | None = None
    n_rows: int | None = None
    first_row: int | None = None

    def rows(self, batch_size: int) -> Iterator[RowBatch]:
        """Yield the rows in batches, exactly ``n_rows`` of them unless that is None."""
        left = self.n_rows
        if left == 0:
            return
        for batch in self.source.rows(batch_size, self.start):
            height = batch.X.shape[0]
            if left is None:
                yield batch
                continue
            yield batch if height <= left else _head(batch, left)
            left -= min(height, left)
            if left == 0:
                return
        if left:
            raise SourceError(
                f"{self.shown} has {left:,} rows less than when the run was planned: leave data alone while "
                "they are read"
            )


def _head(batch: RowBatch, rows: int) -> RowBatch:
    """Return the first rows of a batch, with the position after them."""
    cut = batch.X.shape[0] - rows
    place = {k: v - cut if k in {"row", "row_in_file"} else v for k, v in batch.position.items()}
    y, weight = (None if each is None else each[:rows] for each in (batch.y, batch.weight))
    return replace(batch, X=batch.X[:rows], y=y, weight=weight, position=place)


def grouped(sizes: Sequence[int], rows: int) -> Iterator[tuple[int, int, int, int]]:
    """Group consecutive files into pieces of about ``rows`` rows, and cut files that have many more.

    Yields (first file, file after the last, rows to skip in the first file, rows of the piece).
    """
    low = held = 0
    for number, size in enumerate(sizes):
        if size >= 2 * rows:
            if held:
                yield low, number, 0, held
            pieces = size // rows
            edges = [size * k // pieces for k in range(pieces + 1)]
            for start, end in pairwise(edges):
                yield number, number + 1, start, end - start
            low, held = number + 1, 0
            continue
        held += size
        if held >= rows:
            yield low, number + 1, 0, held
            low, held = number + 1, 0
    if held or low < len(sizes):
        yield low, len(sizes), 0, held
