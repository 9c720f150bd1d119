"""Tables with the same columns as one stream, by rows or by columns; base of files and streams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from streamsieve.exceptions import SourceError
from streamsieve.protocols import ColumnBlock, RowBatch
from streamsieve.sources.checks import beyond, check_size, check_start, spans
from streamsieve.sources.shown import ShownSource
from streamsieve.sources.tables import files as table_files
from streamsieve.sources.tables import layout as table_layout
from streamsieve.sources.tables.blocks import READ_VALUES, block_of
from streamsieve.sources.tables.dates import order_of
from streamsieve.sources.tables.files import IpcTable, ParquetTable, Table
from streamsieve.sources.tables.transpose import converted, scratch_folder
from streamsieve.sources.weights import refuse_columns

#: Files that stay open while columns are streamed; with more, each is opened for every block.
KEPT_OPEN = 64

#: Keys of a position in a stream of tables.
POSITION = ("file", "row_in_file", "row")

T = TypeVar("T", bound=Table)


class TableSource(ShownSource, Generic[T]):
    """Stream tables with the same columns, one after the other, by rows or by columns.

    ``names`` are those of the features; ``n_rows`` is None if a table does not know it.
    """

    #: Whether this is a part of a stream, which may have no rows.
    _is_part: bool = False

    def __init__(self, tables: Sequence[T], target: str | None, choice: table_layout.Choice) -> None:
        self._tables = list(tables)
        self._layout = table_layout.layout_of(self._tables, target, choice)
        known = [table.n_rows for table in self._tables if table.n_rows is not None]
        all_known = len(known) == len(self._tables) and not self._layout.filters
        self.names: list[str] | None = self._layout.features
        self.n_rows: int | None = sum(known) if all_known else None
        self.n_columns: int | None = len(self._layout.features)
        self._columnar: Sequence[Table] | None = None
        self._y: npt.NDArray[Any] | None = None
        self._counted: int | None = None
        if self.n_rows == 0:
            raise self._no_rows()

    @property
    def y(self) -> npt.NDArray[Any] | None:
        """The whole target, read once; None without a target."""
        if self._y is None and self._layout.target is not None:
            name = self._layout.target
            pieces = [
                table_layout.labels(batch.column(0), self._layout, file)
                for file in self._tables_by_column()
                for batch in file.batches([name])
            ]
            if not pieces:
                raise self._no_rows()
            self._y = np.concatenate(pieces)
        return self._y

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return all values of one column of any type; missing values are None, NaN or NaT."""
        table_layout.check_names(self._tables[0], [name])
        layout = self._layout
        asked = list(dict.fromkeys([name, *layout.filter_columns]))
        pieces = [
            layout.filtered(batch, file).column(name).to_numpy(zero_copy_only=False)
            for file in self._tables
            for batch in file.batches(asked)
        ]
        if not pieces:
            raise self._no_rows()
        return np.concatenate(pieces)

    def as_written(self, name: str) -> Any:
        """Return one column as Arrow values; those of text with separators keep their digits."""
        import pyarrow as pa  # noqa: PLC0415

        layout = self._layout
        for table in self._tables:
            table_layout.check_names(table, [name])
        asked = list(dict.fromkeys([name, *layout.filter_columns]))
        exact = name not in layout.filter_columns  # conditions compare numbers
        pieces = [
            pa.table({name: layout.filtered(batch, file).column(name)})
            for table in self._tables
            for file in [table.as_written(name) if exact else table]
            for batch in file.batches(asked)
        ]
        return pa.concat_tables(pieces, promote_options="permissive")[name].combine_chunks()

    def times(self, name: str) -> npt.NDArray[Any]:
        """Return the values of a column that rows are sorted by; dates in text become days since 1970."""
        values = self.column(name)
        if values.dtype.kind != "O" or not all(each is None or isinstance(each, str) for each in values):
            return values
        order = order_of(values, month_first=self._layout.choice.month_first)
        return values if order is None else order.days_of(values)

    def rows(self, batch_size: int = 4096, start: Mapping[str, int] | None = None) -> Iterator[RowBatch]:
        """Yield the rows in batches; only the last may be smaller.  Starts just after ``start``."""
        size = check_size("batch_size", batch_size)
        at = check_start(self, start, POSITION)
        if at["file"] >= len(self._tables):
            raise beyond(self, "files", at["file"], len(self._tables))
        return self._rows(size, at)

    def _rows(self, size: int, start: dict[str, int]) -> Iterator[RowBatch]:
        features, target, weight = self._layout.features, self._layout.target, self._layout.choice.weight
        for pieces, position in self._batches(size, start):
            X = _joined([table_layout.matrix(b, features, file, row_major=True) for file, b in pieces])
            y = w = None
            if weight is not None:
                w = _joined(
                    [table_layout.weights(b.column(weight), self._layout, file) for file, b in pieces]
                )
            if target is not None:
                y = _joined([table_layout.labels(b.column(target), self._layout, file) for file, b in pieces])
            yield RowBatch(self._without_missing(X, slice(None)), y, w, self.names, position)

    def _batches(
        self, size: int, start: dict[str, int]
    ) -> Iterator[tuple[list[tuple[Table, Any]], dict[str, int]]]:
        """Yield pieces of record batches that make exactly ``size`` rows, and the position after them."""
        pieces: list[tuple[Table, Any]] = []
        room, row = size, start["row"]
        position = dict(start)
        for number, file in enumerate(self._tables[start["file"] :], start["file"]):
            in_file = start["row_in_file"] if number == start["file"] else 0
            for batch in file.batches(self._layout.columns, size, in_file):
                low = 0
                while low < batch.num_rows:
                    piece = batch.slice(low, room)
                    low, in_file = low + piece.num_rows, in_file + piece.num_rows
                    ready = self._layout.prepared(piece, file)
                    if ready.num_rows or not self._layout.filters:
                        pieces.append((file, ready))
                    row, room = row + ready.num_rows, room - ready.num_rows
                    position = {"file": number, "row_in_file": in_file, "row": row}
                    if room == 0:
                        yield pieces, position
                        pieces, room = [], size
        if pieces:
            yield pieces, position
        elif row == 0 and not self._is_part:
            raise self._no_rows()

    def columns(
        self, block_size: int = 1024, start: Mapping[str, int] | None = None
    ) -> Iterator[ColumnBlock]:
        """Yield the columns in blocks, reading only the columns of a block; begin just after ``start``."""
        refuse_columns(self, self._layout.choice.weight)
        return self._columns(spans(self, "column", len(self._layout.features), block_size, start))

    def _columns(self, pieces: Iterator[slice]) -> Iterator[ColumnBlock]:
        features = self._layout.features
        files = self._tables_by_column()
        n = self._count()
        with ExitStack() as stack:
            for file in files[:KEPT_OPEN]:
                if isinstance(file, ParquetTable):
                    stack.enter_context(file.kept_open())
            for columns in pieces:
                names = features[columns]
                X = self._without_missing(block_of(files, names, n), columns)
                yield ColumnBlock(X, names, {"column": columns.stop})

    def _without_missing(self, X: npt.NDArray[Any], columns: slice) -> npt.NDArray[Any]:
        """Return values with missing ones replaced or refused; the default leaves NaN."""
        del columns
        return X

    def _count(self) -> int:
        """Count the rows by reading one column: a size claimed by a damaged file must not size an array."""
        if self._counted is None:
            column = self._layout.features[:1]
            read = (b.num_rows for file in self._tables_by_column() for b in file.batches(column))
            self.n_rows = self._counted = sum(read) if self.y is None else len(self.y)
        if self._counted == 0:
            raise self._no_rows()
        return self._counted

    def _tables_by_column(self) -> Sequence[Table]:
        """Return tables that can be read by column: these, or a converted copy (of text, of streams)."""
        if self._columnar is None:
            self._columnar = self._tables
            if self._layout.prepares or not all(table.by_column for table in self._tables):
                begin = check_start(self, None, POSITION)
                batches = (pieces for pieces, _ in self._batches(self._read_rows(), begin))
                path = converted(batches, self._layout, scratch_folder(self))
                more = f" and {len(self._tables) - 1} more files" if len(self._tables) > 1 else ""
                self._columnar = [IpcTable(path, f"{self._tables[0].shown}{more}")]
        return self._columnar

    def _read_rows(self) -> int:
        """Return the number of rows to read at a time when all of them are read."""
        return max(1, min(table_files.READ_ROWS, READ_VALUES // len(self._layout.columns)))

    def _no_rows(self) -> SourceError:
        if self._layout.filters:
            said = ", ".join(map(str, self._layout.choice.where)) or "with a target"
            return SourceError(f"{self._tables[0].shown} holds no row {said}: there is nothing to stream")
        return SourceError(f"{self._tables[0].shown} holds no rows: there is nothing to stream")

    def __getstate__(self) -> dict[str, Any]:
        # a copy in another process makes its own temporary file: this one goes away with its owner
        return {**vars(self), "_columnar": None}


def _joined(pieces: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
