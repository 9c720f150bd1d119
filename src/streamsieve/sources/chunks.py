"""Chunks of a distributed frame or array: the schema fixed by the driver, and how workers read them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from streamsieve.exceptions import SourceError
from streamsieve.sources.arrays import ArraySource
from streamsieve.sources.arrow_stream import ArrowStreamSource
from streamsieve.sources.parts import SourcePart
from streamsieve.sources.tables.producers import Producer, chunks_of


@dataclass(frozen=True)
class TableChunks:
    """Chunks of a distributed frame, which workers check against the schema that the driver has seen.

    Attributes
    ----------
    schema : Arrow schema of the whole frame
    target : column that holds the target
    exclude : columns that are not features
    skip_text : whether columns that do not hold numbers are left out
    weight : column that holds the weights of rows
    """

    schema: Any
    target: str | None
    exclude: tuple[str, ...] = ()
    skip_text: bool = False
    weight: str | None = None

    def source(self, shown: str, chunks: Iterable[Any]) -> ChunkSource:
        """Return a source of the rows in these dataframes or record batches; there may be none."""
        producer = Producer(shown, lambda _: chunks_of(chunks), once=True, schema=self.schema)
        return ChunkSource(
            producer, self.target, weight=self.weight, skip_text=self.skip_text, exclude=self.exclude
        )

    def stream(self, shown: str, chunks: Iterable[Any]) -> SourcePart:
        """Return some dataframes or record batches as a part of the stream."""
        return SourcePart(self.source(shown, chunks), shown)

    def part(self, shown: str, chunk: Any) -> SourcePart:
        """Return one dataframe as a part of the stream."""
        return self.stream(shown, [chunk])


class ChunkSource(ArrowStreamSource):
    """A piece of a distributed frame; it may be empty."""

    _is_part = True


@dataclass(frozen=True)
class ArrayChunks:
    """Chunks of a distributed array, each with its part of the target and the weights.

    Attributes
    ----------
    names : names of the features, if any
    n_columns : number of features
    """

    names: list[str] | None
    n_columns: int

    def part(self, shown: str, X: Any, y: Any = None, weight: Any = None) -> SourcePart:
        """Return a chunk as a part of the stream; its rows and labels must agree in number."""
        if X.shape[1] != self.n_columns:
            raise SourceError(
                f"{shown} has {X.shape[1]} columns and the whole array {self.n_columns}: each chunk must "
                "hold all columns"
            )
        for what, values in (("labels", y), ("weights", weight)):
            if values is not None and len(values) != X.shape[0]:
                raise SourceError(
                    f"{shown} has {X.shape[0]:,} rows and {len(values):,} {what}: give X and the "
                    f"{'target' if what == 'labels' else what} the same chunks"
                )
        if X.shape[0] == 0:
            return SourcePart(None, shown, n_rows=0)
        y = None if y is None else np.asarray(y)
        return SourcePart(ArraySource(X, y, self.names, weight), shown)
