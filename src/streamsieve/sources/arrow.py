"""Tables in files: Parquet, text, Arrow IPC, workbooks, databases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import check_choice
from streamsieve._paths import Paths, resolve
from streamsieve.exceptions import SourceError
from streamsieve.protocols import ColumnBlock, RowBatch
from streamsieve.sources.checks import beyond, check_size, check_start, some, spans
from streamsieve.sources.identity import comparing, digest, names_identity, same, same_names
from streamsieve.sources.shown import ShownSource
from streamsieve.sources.tables import files as table_files
from streamsieve.sources.tables import layout as table_layout
from streamsieve.sources.tables.blocks import READ_VALUES, block_of
from streamsieve.sources.tables.conditions import Condition, conditions
from streamsieve.sources.tables.dialect import Dialect
from streamsieve.sources.tables.files import IpcTable, ParquetTable, TableFile
from streamsieve.sources.tables.fingerprint import check_files, check_last_line
from streamsieve.sources.tables.reading import Reading, as_list
from streamsieve.sources.tables.text import TextTable
from streamsieve.sources.tables.transpose import converted, scratch_folder

#: Files that stay open while columns are streamed; with more, each is opened for every block.
KEPT_OPEN = 64

_POSITION = ("file", "row_in_file", "row")


class ArrowSource(ShownSource):
    r"""Stream tables in files by rows or by columns, out of core.

    Parameters
    ----------
    paths : path, pattern, folder, or list of these
        Parquet (.parquet, .pq), text with separators (.csv, .tsv, .txt), JSON lines (.jsonl, .ndjson,
        .json), Arrow IPC (.arrow, .feather, .ipc), workbooks (.xlsx, .xls, .ods), SQLite and DuckDB (.sqlite,
        .db, .duckdb).  Text may be compressed (.gz, .bz2, .xz, .zst).  "-" is standard input.  Several files
        form one stream, in the order given; those of a pattern or a folder in natural order (2 before 10).
        All must have the same columns, in any order.
    target : str, default=None
        The column that holds the target: numbers, or text for class labels.  It may have no missing values.
    skip_text : bool, default=False
        Leave out columns that do not hold numbers (text, dates, nested values) instead of refusing them.
    exclude : str or sequence of str, default=()
        Columns that are not features: identifiers, times.  They may hold anything; :meth:`column` reads them.
    features : str or sequence of str, default=()
        Columns that may be features.  If empty, all but the target and those excluded.
    categories : {"refuse", "auto", "drop"}, default="refuse"
        What to do with text.  "auto": one indicator column per category, named ``city=Rome``, by
        scikit-learn's OneHotEncoder; of two categories, the second alone.  A missing text is a category
        ``missing``.  Text of one value or more than 50, and nested values, are left out.
    dates : {"refuse", "drop", "number"}, default="refuse"
        What to do with dates.  "number": days since 1970.
    where : str or sequence of str, default=()
        Conditions that a row must fulfil, such as "age>=18" or "city=Rome"; a missing value fulfils none.
    drop_missing_target : bool, default=False
        Leave out rows whose target is missing instead of refusing them.
    missing : {"keep", "impute", "refuse"}, default="keep"
        What to do with missing numbers.  "keep": NaN; "impute": the mean of the column, which takes a pass
        over all rows.
    sep : str, default=None
        Separator of text files, one character.  If None, the comma, semicolon, tab or vertical bar that gives
        most columns.
    decimal : {".", ","}, default=None
        Decimal mark of text files.  If None, a comma where the separator is another character and numbers are
        written so.
    encoding : str, default=None
        Encoding of text files, as Python names it.  If None, UTF-8, or UTF-16 where the file begins so.
    na : str or sequence of str, default=()
        Texts that mean a missing value, besides the empty one, "NA", "NaN", "null" and the like.
    sheet : str, default=None
        Sheet of a workbook.  If None, the first.
    sql : str, default=None
        Query whose result is read from a database; it is opened to be read only.

    Attributes
    ----------
    names : names of the features; the target is not among them
    n_rows : int or None (a CSV file does not say)
    n_columns : number of features
    files : paths of the files, in order
    remarks : list of str
        What was found out about the way the files are written, and files of a folder that were ignored.
    left_out : columns that are no features, by the reason
    encoded : text columns, and the features that were made of them

    Notes
    -----
    Numbers and booleans become float64, missing values become NaN.  All whole numbers of a CSV file are
    read as float64, the target's too.  Columns without a name and ``__index_level_0__`` are left out:
    they are the row numbers that pandas writes.

    Text is read up to its last whole line at the moment of opening: what is appended later belongs to the
    next run, see :func:`streamsieve.run`.  Compressed text is read to its end, and may not grow between runs.

    Columns are read by projection: memory is one block of columns and one batch of rows.  Text has no
    columns to project; its files are converted to a temporary Arrow file (8 bytes per value, under
    ``TMPDIR``) when columns or the whole target are first asked for.  Results of queries are written to such
    a file in batches; workbooks and JSON arrays are in memory while they are converted.

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
        self,
        paths: Paths,
        target: str | None = None,
        *,
        skip_text: bool = False,
        exclude: str | Sequence[str] = (),
        features: str | Sequence[str] = (),
        categories: str = "refuse",
        dates: str = "refuse",
        where: str | Sequence[str] = (),
        drop_missing_target: bool = False,
        missing: str = "keep",
        sep: str | None = None,
        decimal: str | None = None,
        encoding: str | None = None,
        na: str | Sequence[str] = (),
        sheet: str | None = None,
        sql: str | None = None,
    ) -> None:
        table_files.need_pyarrow()
        self._reading = Reading(sep, decimal, encoding, as_list("na", na), sheet, sql)
        resolved = resolve(paths)
        self._files = [self._reading.table(path, self) for path in resolved]
        self.files = [file.path for file in self._files]
        self.remarks = list(dict.fromkeys(remark for file in self._files for remark in file.remarks))
        if resolved.ignored:
            self.remarks.append(
                f"{len(resolved.ignored)} other files ignored ({some(p.name for p in resolved.ignored)})"
            )
        choice = table_layout.Choice(
            as_list("features", features),
            as_list("exclude", exclude),
            "drop" if skip_text else check_choice("categories", categories, ("refuse", "auto", "drop")),
            "drop"
            if skip_text and dates == "refuse"
            else check_choice("dates", dates, ("refuse", "drop", "number")),
            conditions(as_list("where", where)),
            drop_missing_target,
        )
        self._missing = check_choice("missing", missing, ("keep", "impute", "refuse"))
        self._layout = table_layout.layout_of(self._files, target, choice)
        known = [file.n_rows for file in self._files if file.n_rows is not None]
        all_known = len(known) == len(self._files) and not self._layout.filters
        self.names: list[str] | None = self._layout.features
        self.n_rows: int | None = sum(known) if all_known else None
        self.n_columns: int | None = len(self._layout.features)
        self._columnar: list[TableFile] | None = None
        self._y: npt.NDArray[Any] | None = None
        self._counted: int | None = None
        self._means: npt.NDArray[np.float64] | None = None
        if self.n_rows == 0:
            raise self._no_rows()

    @property
    def left_out(self) -> dict[str, list[str]]:
        """Columns that are no features, by the reason."""
        return self._layout.left_out

    @property
    def encoded(self) -> dict[str, list[str]]:
        """Text columns, and the features that were made of them."""
        return {name: each.names for name, each in self._layout.encoders.items()}

    @property
    def dates(self) -> list[str]:
        """Features that are dates, as days since 1970."""
        return [name for name in self._layout.raw if name in self._layout.dates]

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Conditions that every row fulfils."""
        return self._layout.choice.where

    @property
    def dialect(self) -> Dialect | None:
        """How the first file is written, if it is text with separators."""
        return getattr(self._files[0], "dialect", None)

    @property
    def rows_filtered(self) -> bool:
        """Whether rows are left out, so that rows of the stream are not numbered as those of the files."""
        return self._layout.filters

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
        table_layout.check_names(self._files[0], [name])
        layout = self._layout
        asked = list(dict.fromkeys([name, *layout.filter_columns]))
        pieces = [
            layout.filtered(batch, file).column(name).to_numpy(zero_copy_only=False)
            for file in self._files
            for batch in file.batches(asked)
        ]
        if not pieces:
            raise self._no_rows()
        return np.concatenate(pieces)

    def identity(self) -> dict[str, Any]:
        """Return what makes this stream this stream, as JSON: columns, target, and evidence of the files."""
        return {
            "kind": type(self).__name__,
            "names": names_identity(self.names),
            "target": self._layout.target,
            "labels": self._layout.labels,
            "files": [file.lasting().identity() for file in self._files],
            "reading": self._said(),
        }

    def check_identity(self, known: Mapping[str, Any]) -> None:
        """Refuse files that are not those of an earlier identity; the stream may have grown at its end."""
        with comparing(self, known):
            same_names(known["names"], self.names)
            same("the target", known["target"], self._layout.target)
            same("the target's type", known["labels"], self._layout.labels)
            files = [file.lasting() for file in self._files]
            check_files(known["files"], files)
            same("the way of reading", known.get("reading", {}), self._said())
            if self._files[len(known["files"]) - 1].by_lines:
                check_last_line(known["files"], files)

    def _said(self) -> dict[str, Any]:
        """Return the options that decide on rows and values; imputed values depend on all rows."""
        imputed = {"imputed": digest(self._imputed_means().tobytes())} if self._missing == "impute" else {}
        return {**self._reading.said(), **self._layout.choice.said(), **imputed}

    def rows(self, batch_size: int = 4096, start: Mapping[str, int] | None = None) -> Iterator[RowBatch]:
        """Yield the rows in batches; only the last may be smaller.  Begin just after ``start``."""
        size = check_size("batch_size", batch_size)
        at = check_start(self, start, _POSITION)
        if at["file"] >= len(self._files):
            raise beyond(self, "files", at["file"], len(self._files))
        return self._rows(size, at)

    def _rows(self, size: int, start: dict[str, int]) -> Iterator[RowBatch]:
        features, target = self._layout.features, self._layout.target
        for pieces, position in self._batches(size, start):
            X = _joined([table_layout.matrix(b, features, file, row_major=True) for file, b in pieces])
            y = None
            if target is not None:
                y = _joined([table_layout.labels(b.column(target), self._layout, file) for file, b in pieces])
            yield RowBatch(self._without_missing(X, slice(None)), y, None, self.names, position)

    def _batches(
        self, size: int, start: dict[str, int]
    ) -> Iterator[tuple[list[tuple[TableFile, Any]], dict[str, int]]]:
        """Yield pieces of record batches that make exactly ``size`` rows, and the position after them."""
        pieces: list[tuple[TableFile, Any]] = []
        room, row = size, start["row"]
        position = dict(start)
        for number, file in enumerate(self._files[start["file"] :], start["file"]):
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
        elif row == 0:
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
                X = self._without_missing(block_of(files, names, n), columns)
                yield ColumnBlock(X, names, {"column": columns.stop})

    def _without_missing(self, X: npt.NDArray[Any], columns: slice) -> npt.NDArray[Any]:
        """Return values after what was said about missing ones."""
        if self._missing == "keep":
            return X
        missing = np.isnan(X)
        if self._missing == "impute":
            means = self._imputed_means()[columns]
            return np.where(missing, means, X) if missing.any() else X
        places = np.flatnonzero(missing.any(axis=0))
        if len(places):
            names = self._layout.features[columns]
            raise SourceError(
                f"{self._files[0].shown}: missing values in {some(names[j] for j in places)}: "
                "missing='impute' (--missing impute) fills in the mean of the column"
            )
        return X

    def _imputed_means(self) -> npt.NDArray[np.float64]:
        """Return the mean of every column over its known values; 0 where there is none."""
        if self._means is None:
            n, total = np.zeros(len(self._layout.features)), np.zeros(len(self._layout.features))
            for pieces, _ in self._batches(self._read_rows(), check_start(self, None, _POSITION)):
                for file, batch in pieces:
                    X = table_layout.matrix(batch, self._layout.features, file, row_major=False)
                    n, total = n + np.sum(~np.isnan(X), axis=0), total + np.nansum(X, axis=0)
            self._means = total / np.maximum(n, 1)
        return self._means

    def _count(self) -> int:
        """Count the rows by reading one column: what a damaged file claims must not size an array."""
        if self._counted is None:
            column = self._layout.features[:1]
            read = (b.num_rows for file in self._tables_by_column() for b in file.batches(column))
            self.n_rows = self._counted = sum(read) if self.y is None else len(self.y)
        if self._counted == 0:
            raise self._no_rows()
        return self._counted

    def _tables_by_column(self) -> list[TableFile]:
        """Return files that can be read by column: these, or if CSV is among them, a converted copy."""
        if self._columnar is None:
            self._columnar = self._files
            if self._layout.prepares or any(isinstance(file, TextTable) for file in self._files):
                begin = check_start(self, None, _POSITION)
                batches = (pieces for pieces, _ in self._batches(self._read_rows(), begin))
                path = converted(batches, self._layout, scratch_folder(self))
                more = f" and {len(self.files) - 1} more files" if len(self.files) > 1 else ""
                self._columnar = [IpcTable(path, f"{self.files[0]}{more}")]
        return self._columnar

    def _read_rows(self) -> int:
        """Return the number of rows that are read together when all of them are read."""
        return max(1, min(table_files.READ_ROWS, READ_VALUES // len(self._layout.columns)))

    def _no_rows(self) -> SourceError:
        if self._layout.filters:
            said = ", ".join(map(str, self._layout.choice.where)) or "with a target"
            return SourceError(f"{self._files[0].shown} holds no row {said}: there is nothing to stream")
        return SourceError(f"{self._files[0].shown} holds no rows: there is nothing to stream")

    def __getstate__(self) -> dict[str, Any]:
        # a copy in another process makes its own temporary file: this one goes away with its owner
        return {**vars(self), "_columnar": None}


def _joined(pieces: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
