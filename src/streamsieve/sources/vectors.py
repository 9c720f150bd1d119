"""Columns of Spark vectors, dense or sparse, as they arrive in Arrow record batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from streamsieve.exceptions import SourceError
from streamsieve.protocols import RowBatch
from streamsieve.sources.parts import SourcePart
from streamsieve.sources.tables.conditions import is_missing
from streamsieve.sources.weights import as_weights


@dataclass(frozen=True)
class VectorChunks:
    """Reader of record batches with a column of vectors, whose elements are the features.

    Attributes
    ----------
    column : the column of vectors
    names : names of the features, from the attributes of the column; None if it has none
    n_columns : elements of each vector
    target : the column that holds the target
    target_type : its Arrow type
    weight : the column that holds the weights of rows
    """

    column: str
    names: list[str] | None
    n_columns: int
    target: str | None
    target_type: Any
    weight: str | None = None

    def stream(self, shown: str, batches: Iterable[Any]) -> SourcePart:
        """Return the rows in these record batches as a part of the stream."""
        return SourcePart(_Vectors(self, shown, batches), shown)


@dataclass(frozen=True)
class _Vectors:
    chunks: VectorChunks
    shown: str
    batches: Iterable[Any] = field(repr=False)

    def rows(self, batch_size: int, start: Any = None) -> Iterator[RowBatch]:
        """Yield the rows, at most ``batch_size`` at a time."""
        del start  # a part is read from the front
        row = 0
        for whole in self.batches:
            for low in range(0, whole.num_rows, batch_size):
                batch = whole.slice(low, batch_size)
                X = self._matrix(batch.column(self.chunks.column))
                row += batch.num_rows
                yield RowBatch(X, self._labels(batch), self._weights(batch), self.chunks.names, {"row": row})

    def _labels(self, batch: Any) -> Any:
        name = self.chunks.target
        if name is None:
            return None
        column = batch.column(name).cast(self.chunks.target_type, safe=False)
        if is_missing(column).true_count:
            raise SourceError(
                f"{self.shown}: the target column {name!r} has missing values: drop those rows or fill "
                "them in"
            )
        values = column.to_numpy(zero_copy_only=False)
        return values.astype(str) if values.dtype.kind == "O" else values

    def _weights(self, batch: Any) -> Any:
        name = self.chunks.weight
        if name is None:
            return None
        values = batch.column(name).to_numpy(zero_copy_only=False)
        return as_weights(values, f"{self.shown}: the values of the weight column {name!r}")

    def _matrix(self, column: Any) -> Any:
        """Return vectors as a matrix: dense if all of them are, else CSR."""
        width, name = self.chunks.n_columns, self.chunks.column
        if column.null_count:
            raise SourceError(f"{self.shown}: column {name!r} has missing vectors: drop those rows")
        # a slice of a struct array does not slice its children
        kinds, sizes, indices, values = column.flatten()
        is_dense = kinds.to_numpy(zero_copy_only=False) == 1
        lengths = values.value_lengths().to_numpy(zero_copy_only=False)
        found = np.where(is_dense, lengths, sizes.fill_null(0).to_numpy(zero_copy_only=False))
        if (found != width).any():
            wrong = int(found[found != width][0])
            raise SourceError(
                f"{self.shown}: column {name!r} holds a vector of {wrong} elements, others have {width}"
            )
        flat = values.flatten().to_numpy(zero_copy_only=False)
        if is_dense.all():
            return flat.reshape(-1, width).astype(np.float64, copy=False)
        places = np.empty(len(flat), np.int64)
        dense_cells = np.repeat(is_dense, lengths)
        places[dense_cells] = np.tile(np.arange(width), int(is_dense.sum()))
        places[~dense_cells] = indices.flatten().to_numpy(zero_copy_only=False)
        return sp.csr_array((flat, places, np.concatenate([[0], np.cumsum(lengths)])), (len(kinds), width))
