"""Tables in files: Parquet, CSV, Arrow IPC."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from copy import copy
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from streamsieve.exceptions import SourceError
from streamsieve.protocols import ColumnBlock, RowBatch
from streamsieve.sources.checks import (
    TABLES,
    Paths,
    beyond,
    check_size,
    check_start,
    resolve,
    spans,
    suffix_of,
)
from streamsieve.sources.identity import comparing, names_identity, same, same_names
from streamsieve.sources.parts import SourcePart, grouped
from streamsieve.sources.tables import files as table_files
from streamsieve.sources.tables import layout as table_layout
from streamsieve.sources.tables.files import CsvTable, IpcTable, ParquetTable, Table, TableFile
from streamsieve.sources.tables.fingerprint import check_files, check_last_line
from streamsieve.sources.tables.transpose import converted, scratch_folder

#: Files that stay open while columns are streamed; with more, each is opened for every block.
KEPT_OPEN = 64
#: Values that are in memory twice, as Arrow columns and in the array they are copied to: 32 MB.
READ_VALUES = 2**22

_POSITION = ("file", "row_in_file", "row")

T = TypeVar("T", bound=Table)


class TableSource(Generic[T]):
    """Stream tables of the same columns, one after the other, by rows or by columns.

    ``names`` are those of the features, ``n_rows`` is None where a table does not say it.
    """

    #: Whether these are some tables of a stream, which may have no rows.
    _is_part: bool = False

    def __init__(
        self, tables: Sequence[T], target: str | None, *, skip_text: bool, exclude: Sequence[str]
    ) -> None:
        self._tables = list(tables)
        self._layout = table_layout.layout_of(self._tables, target, skip_text=skip_text, exclude=exclude)
        known = [table.n_rows for table in self._tables if table.n_rows is not None]
        self.names: list[str] | None = self._layout.features
        self.n_rows: int | None = sum(known) if len(known) == len(self._tables) else None
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
        """Return all values of one column, whatever they are; a missing value is None, NaN or NaT."""
        table_layout.check_names(self._tables[0], [name])
        pieces = [
            batch.column(0).to_numpy(zero_copy_only=False)
            for file in self._tables
            for batch in file.batches([name])
        ]
        if not pieces:
            raise self._no_rows()
        return np.concatenate(pieces)

    def rows(self, batch_size: int = 4096, start: Mapping[str, int] | None = None) -> Iterator[RowBatch]:
        """Yield the rows in batches; only the last may be smaller.  Begin just after ``start``."""
        size = check_size("batch_size", batch_size)
        at = check_start(self, start, _POSITION)
        if at["file"] >= len(self._tables):
            raise beyond(self, "files", at["file"], len(self._tables))
        return self._rows(size, at)

    def _rows(self, size: int, start: dict[str, int]) -> Iterator[RowBatch]:
        features, target = self._layout.features, self._layout.target
        for pieces, position in self._batches(size, start):
            X = _joined([table_layout.matrix(b, features, file, row_major=True) for file, b in pieces])
            y = None
            if target is not None:
                y = _joined([table_layout.labels(b.column(target), self._layout, file) for file, b in pieces])
            yield RowBatch(X, y, None, self.names, position)

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
                    taken = piece.num_rows
                    pieces.append((file, piece))
                    low, in_file, row, room = low + taken, in_file + taken, row + taken, room - taken
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
                yield ColumnBlock(_block(files, names, n), names, {"column": columns.stop})

    def _count(self) -> int:
        """Count the rows by reading one column: what a damaged file claims must not size an array."""
        if self._counted is None:
            column = self._layout.features[:1]
            read = (b.num_rows for file in self._tables_by_column() for b in file.batches(column))
            self.n_rows = self._counted = sum(read) if self.y is None else len(self.y)
        if self._counted == 0:
            raise self._no_rows()
        return self._counted

    def _tables_by_column(self) -> Sequence[Table]:
        """Return tables that can be read by column: these, or a converted copy (of CSV, of streams)."""
        if self._columnar is None:
            self._columnar = self._tables
            if not all(table.by_column for table in self._tables):
                begin = check_start(self, None, _POSITION)
                size = max(1, min(table_files.READ_ROWS, READ_VALUES // len(self._layout.columns)))
                batches = (pieces for pieces, _ in self._batches(size, begin))
                path = converted(batches, self._layout, scratch_folder(self))
                more = f" and {len(self._tables) - 1} more files" if len(self._tables) > 1 else ""
                self._columnar = [IpcTable(path, f"{self._tables[0].shown}{more}")]
        return self._columnar

    def _no_rows(self) -> SourceError:
        return SourceError(f"{self._tables[0].shown} holds no rows: there is nothing to stream")

    def __getstate__(self) -> dict[str, Any]:
        # a copy in another process makes its own temporary file: this one goes away with its owner
        return {**vars(self), "_columnar": None}


class ArrowSource(TableSource[TableFile]):
    r"""Stream tables in files by rows or by columns, out of core.

    Parameters
    ----------
    paths : path, pattern, or list of either
        Parquet (.parquet, .pq), CSV (.csv, .tsv) or Arrow IPC (.arrow, .feather, .ipc) files.  Several
        files form one stream, in the order given; those of a pattern in natural order (2 before 10).
        All must have the same columns, in any order.
    target : str, default=None
        The column that holds the target: numbers, or text for class labels.  It may have no missing values.
    skip_text : bool, default=False
        Leave out columns that do not hold numbers (text, dates, nested values) instead of refusing them.
    exclude : sequence of str, default=()
        Columns that are not features: identifiers, times.  They may hold anything; :meth:`column` reads them.

    Attributes
    ----------
    names : names of the features; the target is not among them
    n_rows : int or None (a CSV file does not say)
    n_columns : number of features
    files : paths of the files, in order

    Notes
    -----
    Numbers and booleans become float64, missing values become NaN.  All whole numbers of a CSV file are
    read as float64, the target's too.  Columns without a name and ``__index_level_0__`` are left out:
    they are the row numbers that pandas writes.

    Text is read up to its last whole line at the moment of opening: what is appended later belongs to the
    next run, see :func:`streamsieve.run`.

    Columns are read by projection: memory is one block of columns and one batch of rows.  CSV has no
    columns to project; its files are converted to a temporary Arrow file (8 bytes per value, under
    ``TMPDIR``) when columns or the whole target are first asked for.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from streamsieve.sources import ArrowSource
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "clicks.csv")
    ...     _ = path.write_text("age,visits,bought\n31,2,no\n,7,yes\n45,1,no\n")
    ...     source = ArrowSource(path, target="bought")
    ...     for batch in source.rows(2):
    ...         print(batch.names, batch.X.tolist(), batch.y.tolist())
    ...     [(block.names, block.X.ravel().tolist()) for block in source.columns(1)]
    ['age', 'visits'] [[31.0, 2.0], [nan, 7.0]] ['no', 'yes']
    ['age', 'visits'] [[45.0, 1.0]] ['no']
    [(['age'], [31.0, nan, 45.0]), (['visits'], [2.0, 7.0, 1.0])]
    """

    def __init__(
        self, paths: Paths, target: str | None = None, *, skip_text: bool = False, exclude: Sequence[str] = ()
    ) -> None:
        table_files.need_pyarrow()
        tables = [_table(path) for path in resolve(paths)]
        self.files = [file.path for file in tables]
        super().__init__(tables, target, skip_text=skip_text, exclude=exclude)

    def identity(self) -> dict[str, Any]:
        """Return what makes this stream this stream, as JSON: columns, target, and evidence of the files."""
        return {
            "kind": type(self).__name__,
            "names": names_identity(self.names),
            "target": self._layout.target,
            "labels": self._layout.labels,
            "files": [file.lasting().identity() for file in self._tables],
        }

    def check_identity(self, known: Mapping[str, Any]) -> None:
        """Refuse files that are not those of an earlier identity; the stream may have grown at its end."""
        with comparing(self, known):
            same_names(known["names"], self.names)
            same("the target", known["target"], self._layout.target)
            same("the target's type", known["labels"], self._layout.labels)
            files = [file.lasting() for file in self._tables]
            check_files(known["files"], files)
            if isinstance(self._tables[len(known["files"]) - 1], CsvTable):
                check_last_line(known["files"], files)

    def parts(self, rows: int) -> list[SourcePart]:
        """Cut the stream into consecutive parts of about ``rows`` rows; of text, a part is a file."""
        sizes = [0 if table.n_rows is None else table.n_rows for table in self._tables]
        if any(table.n_rows is None for table in self._tables):
            return [SourcePart(self._only(k, k + 1), str(file)) for k, file in enumerate(self.files)]
        found, first = [], 0
        for low, high, skip, size in grouped(sizes, rows):
            more = f" and {high - low - 1} more files" if high - low > 1 else ""
            inside = f", rows {skip + 1:,} to {skip + size:,}" if size < sizes[low] else ""
            start = {"file": 0, "row_in_file": skip, "row": skip} if skip else None
            shown = f"{self.files[low]}{inside}{more}"
            found.append(SourcePart(self._only(low, high), shown, start, size, first))
            first += size
        return found

    def _only(self, low: int, high: int) -> ArrowSource:
        """Return a source of some of the files, with the same columns."""
        twin = copy(self)
        twin._tables, twin.files = self._tables[low:high], self.files[low:high]  # noqa: SLF001 - a twin
        twin._columnar = twin._y = twin._counted = None  # noqa: SLF001
        twin.n_rows, twin._is_part = None, True  # noqa: SLF001
        return twin


def _block(files: Sequence[Table], names: list[str], n: int) -> npt.NDArray[np.float64]:
    """Read some columns of all files into one array, column after column."""
    X = np.empty((n, len(names)), order="F")
    size = max(1024, READ_VALUES // len(names))
    row = 0
    for file in files:
        for batch in file.batches(names, size):
            end = row + batch.num_rows
            if end <= n:
                X[row:end] = table_layout.matrix(batch, names, file, row_major=False)
            row = end
    if row != n:
        raise SourceError(
            f"column {names[0]!r} has {row:,} rows in the files from {files[0].shown} on, but {n:,} were "
            "counted: a file is damaged, or was changed while it was read"
        )
    return X


def _joined(pieces: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def _table(path: Path) -> TableFile:
    suffix = suffix_of(path)
    if suffix not in TABLES:
        raise SourceError(f"{path} is svmlight text, not a table: use SvmlightSource, or open() by itself")
    return table_files.FORMATS[TABLES[suffix]](path)
