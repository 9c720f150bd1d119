"""Streams of Arrow record batches: queries, lazy frames, datasets, readers, iterators of chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from streamsieve.exceptions import SourceError
from streamsieve.protocols import RowBatch
from streamsieve.sources.identity import another_stream, comparing, digest, names_identity, same, same_names
from streamsieve.sources.table_source import TableSource
from streamsieve.sources.tables.files import need_pyarrow
from streamsieve.sources.tables.layout import Choice
from streamsieve.sources.tables.producers import Producer, producer_of
from streamsieve.sources.tables.reading import as_list
from streamsieve.sources.tables.streams import StreamTable

#: Number of first rows by which a stream is recognized when a run is resumed.
SAMPLED_ROWS = 64


class ArrowStreamSource(TableSource[StreamTable]):
    r"""Stream Arrow record batches of any producer: lazy frames, queries, datasets, readers, iterators.

    Parameters
    ----------
    data : object that produces record batches
        A polars LazyFrame, a DuckDB relation or result, a pyarrow dataset, scanner or RecordBatchReader, a
        narwhals LazyFrame, an ibis table, an ADBC cursor, a :func:`streamsieve.query`, anything else with
        ``__arrow_c_stream__``; an iterator or a list of dataframes, Arrow tables or dicts (one per row), or a
        function without arguments that returns such an iterator.
    target : str, default=None
        The column that holds the target: numbers, or text for class labels.  It may have no missing values.
    weight : str, default=None
        The column that holds the weights of rows; it is not a feature.
    skip_text : bool, default=False
        Whether to leave out columns that do not hold numbers instead of refusing them.
    exclude : str or sequence of str, default=()
        Columns that are not features: identifiers, times.
    ordered : bool or None, default=None
        Whether reading again gives the same rows in the same order, which resuming from a checkpoint needs.
        If None, it is assumed of datasets, of lists, of queries and relations with ORDER BY (the key should
        be unique), and of polars plans without joins, group-bys and the like.

    Attributes
    ----------
    names : names of the features, without the target
    n_rows : None, as it is not known
    n_columns : number of features

    Notes
    -----
    Values are converted as for files, see :class:`~streamsieve.sources.ArrowSource`.  All batches must
    have the columns of the first one, in any order; numbers may be of another type.

    Memory does not depend on the number of rows, except of a pyarrow scanner, whose threads read ahead: give
    the dataset, which is scanned without them.

    Readers, scanners, cursors and iterators can be read once, so a run over them cannot be resumed.  To read
    an iterator of chunks twice, give the function that makes it.

    Columns cannot be projected out of a stream: it is converted to a temporary Arrow file (8 bytes per
    value, under ``TMPDIR``) on the first access of columns or of the whole target.

    Examples
    --------
    >>> import pandas as pd, streamsieve as ss
    >>> def chunks():
    ...     for day in range(3):
    ...         yield pd.DataFrame({"day": [day, day], "clicks": [day * 2, None], "bought": ["no", "yes"]})
    >>> source = ss.open(chunks, target="bought")
    >>> for batch in source.rows(4):
    ...     print(batch.names, batch.X.tolist(), batch.y.tolist())
    ['day', 'clicks'] [[0.0, 0.0], [0.0, nan], [1.0, 2.0], [1.0, nan]] ['no', 'yes', 'no', 'yes']
    ['day', 'clicks'] [[2.0, 4.0], [2.0, nan]] ['no', 'yes']
    """

    def __init__(
        self,
        data: Any,
        target: str | None = None,
        *,
        weight: str | None = None,
        skip_text: bool = False,
        exclude: str | Sequence[str] = (),
        ordered: bool | None = None,
    ) -> None:
        need_pyarrow()
        producer = data if isinstance(data, Producer) else producer_of(data)
        if producer is None:
            raise SourceError(
                f"a {type(data).__name__} does not produce Arrow record batches: use streamsieve.open, which "
                "takes any data"
            )
        self._producer, self._ordered = producer, producer.ordered if ordered is None else ordered
        of_text = "drop" if skip_text else "refuse"
        choice = Choice(exclude=as_list("exclude", exclude), categories=of_text, dates=of_text, weight=weight)
        super().__init__([StreamTable(producer, target)], target, choice)

    @property
    def shown(self) -> str:
        """What errors call the stream, such as "the polars LazyFrame"."""
        return self._producer.shown

    def identity(self) -> dict[str, Any]:
        """Return a JSON description that identifies the stream: columns, target, query, and the first rows.

        Raises
        ------
        SourceError : it cannot be read again, or the order of its rows is not known
        """
        self._refuse_resuming()
        first = self._first_rows()
        return {
            "kind": type(self).__name__,
            "names": names_identity(self.names),
            "target": self._layout.target,
            "labels": self._layout.labels,
            "weight": self._layout.choice.weight,
            "evidence": [digest(text.encode("utf-8", "surrogatepass")) for text in self._producer.evidence],
            "rows": first.X.shape[0],
            "first": _digest(first, first.X.shape[0]),
        }

    def check_identity(self, known: Mapping[str, Any]) -> None:
        """Refuse a stream that differs from an earlier identity; rows may have been appended."""
        self._refuse_resuming()
        with comparing(self, known):
            same_names(known["names"], self.names)
            same("the target", known["target"], self._layout.target)
            same("the target's type", known["labels"], self._layout.labels)
            same("the weights", known.get("weight"), self._layout.choice.weight)
            now, was = self.identity(), list(known["evidence"])
            if now["evidence"][: len(was)] != was:
                raise another_stream("its query, its plan or its list of files has changed")
            if _digest(self._first_rows(), int(known["rows"])) != known["first"]:
                raise another_stream("values of its first rows have changed")

    def _refuse_resuming(self) -> None:
        shown = self._producer.shown
        if self._producer.once:
            raise SourceError(
                f"{shown} can be read once, so a run over it cannot be resumed: open the query or the files "
                "instead, or leave out checkpoint="
            )
        if not self._ordered:
            raise SourceError(
                f"the order of rows of {shown} is not known, and resuming needs the same rows in the same "
                "order: add ORDER BY over a unique key, or say ordered=True if you know that it is"
            )

    def _first_rows(self) -> RowBatch:
        stream = self.rows(SAMPLED_ROWS)
        try:
            return next(stream)
        finally:
            stream.close()  # type: ignore[attr-defined]  # a generator, which lets go of the connection


def _digest(batch: RowBatch, rows: int) -> str:
    y = [] if batch.y is None else batch.y[:rows].tolist()
    values = np.ascontiguousarray(batch.X[:rows])
    return digest(values.tobytes(), repr(y).encode("utf-8", "backslashreplace"))
