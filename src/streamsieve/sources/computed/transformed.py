"""Columns computed on demand from the columns of another source."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve.exceptions import ParameterError
from streamsieve.protocols import ColumnSource, FloatArray, Position
from streamsieve.sources.checks import check_start
from streamsieve.sources.computed.compute import Items, Maker, Several
from streamsieve.sources.generated import Features

#: Number of columns read from the source at a time.
READ_COLUMNS = 64


class Transformed(Features):
    """Columns that a function computes from the name and values of each column of a source.

    ``transform`` returns a column, a pair ``(name, column)``, or an iterator of these.
    """

    def __init__(
        self, source: ColumnSource, transform: Callable[[str, FloatArray], Any], workers: int = 0
    ) -> None:
        if not callable(transform):
            raise ParameterError(
                f"transform must be a function of a name and a column, or of some of them; got {transform!r}"
            )
        super().__init__((), None, compute=transform, workers=workers)
        self._source, self._transform = source, transform

    @property
    def y(self) -> npt.NDArray[Any] | None:
        """The target of the source."""
        return self._source.y

    @property
    def maker(self) -> Maker:
        """Computes columns from a column."""
        return Several(self._transform)

    def place_of(self, start: Mapping[str, int]) -> tuple[int, int]:
        """Return the item to begin with, and how many of its first columns to drop."""
        if "item" not in start:  # given a number of columns, only computing them shows the item
            return 0, start["column"]
        place = check_start(self, start, ("item", "inside"))
        return place["item"], place["inside"]

    def position_after(self, at: int, number: int, inside: int) -> Position:
        """Return the position after ``at`` columns, the last of which was number ``inside`` of an item."""
        return {"column": at, "item": number, "inside": inside}

    def _items(self, number: int, *, packed: bool) -> Items:
        return Items(self._read_columns(number), number, self._packed if packed else None)

    def _read_columns(self, number: int) -> Iterator[tuple[str, FloatArray]]:
        from streamsieve._validation import clean  # noqa: PLC0415 - imports scikit-learn

        for block in self._source.columns(READ_COLUMNS, {"column": number} if number else None):
            X = clean(block.X, "csc")
            first = block.position["column"] - X.shape[1]
            for j in range(X.shape[1]):
                name = f"x{first + j}" if block.names is None else block.names[j]
                column = X[:, [j]]
                yield name, np.array(column.toarray() if sp.issparse(column) else column, np.float64).ravel()
