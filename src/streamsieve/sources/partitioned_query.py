"""Queries that an engine divides into ranges of a key, each run by a worker."""

from __future__ import annotations

from collections.abc import Sequence

from streamsieve.exceptions import SourceError
from streamsieve.sources.arrow_stream import ArrowStreamSource
from streamsieve.sources.chunks import ChunkSource
from streamsieve.sources.parts import SourcePart
from streamsieve.sources.query import Query, Range
from streamsieve.sources.tables.producers import Producer
from streamsieve.sources.tables.reading import as_list


class PartitionedQuery(ArrowStreamSource):
    """Stream the rows of a query in the order of a key, or cut it into ranges of the key.

    Parameters
    ----------
    data : :func:`streamsieve.query` with ``partition_on``
    target, weight, skip_text, exclude
        Those of :class:`~streamsieve.sources.ArrowStreamSource`.

    Attributes
    ----------
    names : names of the features, without the target
    n_rows : number of rows when the query was opened
    n_columns : number of features

    Examples
    --------
    >>> import streamsieve as ss
    >>> rows = ss.query("duckdb:///", "SELECT i, i % 2 AS y FROM range(1000) t(i)", partition_on="i")
    >>> source = ss.open(rows, target="y")
    >>> for part in source.parts(400):
    ...     print(part.shown, part.n_rows)
    the query, i below 400 400
    the query, i from 400 below 800 400
    the query, i from 800 200
    """

    def __init__(
        self,
        data: Query | Producer,
        target: str | None = None,
        *,
        weight: str | None = None,
        skip_text: bool = False,
        exclude: str | Sequence[str] = (),
    ) -> None:
        super().__init__(data, target, weight=weight, skip_text=skip_text, exclude=exclude)
        self._skip_text, self._exclude = skip_text, tuple(as_list("exclude", exclude))
        # an engine chooses the number of parts by it
        self.n_rows = self._query.count()

    @property
    def _query(self) -> Query:
        query = self._producer.query
        if query is None:
            raise SourceError("a query needs partition_on= to be cut into ranges")
        return query

    def parts(self, rows: int) -> list[SourcePart]:
        """Cut the query into ranges of its key of about ``rows`` rows; rows of equal keys stay together."""
        found, first = [], 0
        for each in self._query.ranges(rows):
            found.append(SourcePart(self._piece(each), str(each), None, each.n_rows, first))
            first += each.n_rows
        return found

    def _piece(self, each: Range) -> ChunkSource:
        producer = Producer(str(each), each.batches, ordered=True, schema=self._tables[0].schema)
        target, weight = self._layout.target, self._layout.choice.weight
        return ChunkSource(producer, target, weight=weight, skip_text=self._skip_text, exclude=self._exclude)
