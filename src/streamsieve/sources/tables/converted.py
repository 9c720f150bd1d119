"""Tables that are converted to a temporary Arrow file: workbooks, databases, JSON arrays, standard input."""

from __future__ import annotations

import datetime as dt
import json
import math
import shutil
import sqlite3
import sys
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from streamsieve._advice import as_argument, by_interface
from streamsieve._parameters import did_you_mean
from streamsieve._paths import STDIN
from streamsieve._text import in_a_line
from streamsieve.exceptions import SourceError
from streamsieve.sources import databases
from streamsieve.sources.checks import some
from streamsieve.sources.statements import one_query
from streamsieve.sources.tables.dialect import LINES, header_line, is_number
from streamsieve.sources.tables.files import READ_ROWS, IpcTable
from streamsieve.sources.tables.fingerprint import StablePrefix
from streamsieve.sources.tables.nested import OBJECTS, check_levels, flat_row
from streamsieve.sources.tables.transpose import full_disk_named, scratch_folder

_NUMBERS, _DATES = (int, float), (dt.date, dt.datetime)
#: Texts that mean a missing value, as in CSV files.
_MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "#N/A")


class ConvertedTable(IpcTable):
    """A table that is read through a temporary copy; ``path`` is the user's file."""

    _copy: Path | None = None

    @property
    def stored(self) -> Path:
        """The temporary Arrow file; it is written again if it was removed with its owner."""
        if self._copy is None or not self._copy.exists():
            folder = scratch_folder(self)
            with full_disk_named(folder):
                self._copy = self._convert(folder / "converted.arrow")
        return self._copy

    @abstractmethod
    def _convert(self, target: Path) -> Path:
        """Write an Arrow file, and return its path."""

    def lasting(self) -> StablePrefix:
        """Return the whole file, which may not grow, because rows have no known place in its bytes."""
        return StablePrefix(self.path, self.path.stat().st_size, grows=False)


class ExcelTable(ConvertedTable):
    """A sheet of a workbook; the first row after skipped ones names the columns."""

    def __init__(self, path: Path, sheet: str | None, na: Sequence[str], skip_rows: int = 0) -> None:
        self._sheet, self._na, self._skip = sheet, na, skip_rows
        super().__init__(path)

    def _convert(self, target: Path) -> Path:
        try:
            import python_calamine as calamine  # noqa: PLC0415
        except ImportError as error:
            raise SourceError(
                f"{self.shown}: reading workbooks needs python-calamine: pip install 'streamsieve[excel]'"
            ) from error
        try:
            with calamine.load_workbook(str(self.path)) as book:
                rows = book.get_sheet_by_name(self._name(book.sheet_names)).to_python()
        except calamine.CalamineError as error:
            page = "it is a web page or XML under another name: " if _begins_page(self.path) else ""
            raise SourceError(
                f"{self.shown} cannot be read as a workbook: {page}{error}: open it in a spreadsheet program "
                "and save it as .xlsx"
            ) from error
        self._head = [[str(cell).strip() for cell in row] for row in rows[:LINES]]
        rows = [row for row in rows[self._skip :] if any(cell != "" for cell in row)]
        if not rows:
            raise SourceError(f"{self.shown} holds no rows: there is nothing to stream")
        names = [str(cell).strip() for cell in rows[0]]
        return write_rows(names, [rows[1:]], target, self._na)

    def lines_before(self, name: str) -> int:
        """Return the number of rows before the one that names a column."""
        return header_line(self._head, name)

    def no_names(self, name: str) -> str:
        """Return a hint at other sheets that may have the column."""
        del name
        others = [] if self._sheet else self._sheets[1:]
        ways = (as_argument("sheet", each) for each in others[:3])
        return f"; this is the first of {len(others) + 1} sheets: {' or '.join(ways)}" if others else ""

    def _name(self, there: list[str]) -> str:
        self._sheets = there
        wanted = self._sheet or there[0]
        if wanted not in there:
            raise SourceError(
                f"{self.shown} has no sheet {wanted!r}{did_you_mean(wanted, there)}; its sheets are "
                f"{some(there)}"
            )
        if self._sheet is None and len(there) > 1:
            self.remarks.append(
                f"sheet {wanted!r}, the first of {len(there)} (choose by {by_interface('sheet', '--sheet')})"
            )
        return wanted


class JsonArrayTable(ConvertedTable):
    """A JSON array of objects, which is parsed in memory."""

    def _convert(self, target: Path) -> Path:
        content = self.path.read_bytes()
        check_levels(content, self.shown)
        try:
            rows = json.loads(content)
        except ValueError as error:
            raise SourceError(f"{self.shown} cannot be read as JSON: {error}: write it again") from error
        if not all(isinstance(row, dict) for row in rows):
            raise SourceError(
                f'{self.shown} must be an array of objects such as [{{"age": 31, ...}}, ...], or an object '
                "per line: write it so, or as CSV"
            )
        keys = {name for row in rows for name in row}
        rows = [flat_row(row) for row in rows]
        places = list(dict.fromkeys(place for row in rows for place in row))
        objects = {place[:level] for place in places for level in range(1, len(place))}
        # an object that is null in some rows is not a column besides its fields
        places = [
            each for each in places if each not in objects or any(row.get(each) is not None for row in rows)
        ]
        if not places:
            raise SourceError(f"{self.shown} holds no rows: there is nothing to stream")
        names = [".".join(place) for place in places]  # duplicate names are refused with the columns
        made = [name for name in names if name not in keys]
        if made:
            self.remarks.append(f"{OBJECTS}: {some(made, 3)}")
        return write_rows(names, [[[row.get(place) for place in places] for row in rows]], target)


class SqlTable(ConvertedTable):
    """The result of a query to a database in a file."""

    def __init__(self, path: Path, sql: str | None) -> None:
        self._sql = sql
        super().__init__(path)

    def _query(self, tables: Sequence[str]) -> str:
        """Return the query; if there is none, the error says how to write one."""
        if self._sql is not None:
            return one_query(self._sql)
        name = tables[0] if tables else "NAME"
        quoted = name if name.isidentifier() else f'"{name}"'
        example = f"select * from {quoted}"  # noqa: S608 - to be read, not run
        raise SourceError(
            f"{self.shown} is a database with the tables {some(tables)}: say which rows to read, "
            f"{as_argument('sql', example)}"
        )

    def _failed(self, error: Exception) -> SourceError:
        why = in_a_line(error)
        return SourceError(f"{self.shown}: the query failed: {why}: correct {by_interface('sql', '--sql')}")


class SqliteTable(SqlTable):
    """The result of a query to an SQLite file, which is opened read-only."""

    def _convert(self, target: Path) -> Path:
        try:
            with databases.sqlite(self.path) as connection:
                named = "select name from sqlite_master where type in ('table', 'view')"
                tables = [name for (name,) in connection.execute(named)]
                found = databases.SqliteRows(connection, self._query(tables))
                return write_rows(found.names, found, target)
        except sqlite3.Error as error:
            raise self._failed(error) from error


class DuckTable(SqlTable):
    """The result of a query to a DuckDB file, which is opened read-only."""

    def _convert(self, target: Path) -> Path:
        duckdb = databases.driver("duckdb")
        try:
            with databases.duck(self.path) as connection:
                tables = [name for (name, *_) in connection.execute("show tables").fetchall()]
                schema, batches = databases.duck_result(connection, self._query(tables), READ_ROWS)
                return _write(schema, batches, target)
        except duckdb.Error as error:
            raise self._failed(error) from error


def spooled(owner: object) -> Path:
    """Write standard input to a temporary file, so that it can be read more than once."""
    if sys.stdin is None or sys.stdin.isatty():
        raise SourceError(
            f"{STDIN} is standard input, and nothing is piped into it: cat data.csv | streamsieve ..."
        )
    folder = scratch_folder(owner)
    path = folder / "stdin"
    with full_disk_named(folder), path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    if path.stat().st_size == 0:
        raise SourceError("standard input is empty: there is nothing to stream")
    return path


def write_rows(
    names: Sequence[str], batches: Iterable[Sequence[Any]], target: Path, na: Sequence[str] = ()
) -> Path:
    """Write rows of Python values as an Arrow file, in two passes: types first.

    A column of numbers only, or of dates only, keeps its type; any other becomes text.
    """
    import pyarrow as pa  # noqa: PLC0415

    missing: set[Any] = {*_MISSING, *na, *(float(mark) for mark in na if is_number(mark, "."))}
    kinds: list[set[type]] = [set() for _ in names]
    for rows in batches:
        for row in rows:
            for kind, value in zip(kinds, row, strict=True):
                if not _is_missing(value, missing):
                    kind.add(type(value))
    types = [_type(kind) for kind in kinds]
    schema = pa.schema(list(zip(names, types, strict=True)))

    def arrays() -> Iterator[Any]:
        for rows in batches:
            columns = zip(*rows, strict=True) if rows else ([] for _ in names)
            yield pa.record_batch(
                [_array(column, type_, missing) for column, type_ in zip(columns, types, strict=True)],
                schema=schema,
            )

    return _write(schema, arrays(), target)


def _write(schema: Any, batches: Iterable[Any], target: Path) -> Path:
    import pyarrow as pa  # noqa: PLC0415

    with pa.OSFile(str(target), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return target


def _type(kind: set[type]) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    if all(issubclass(each, _NUMBERS) for each in kind):
        return pa.float64()
    if any(issubclass(each, (dict, list)) for each in kind):
        return pa.binary()  # cannot become a feature
    return pa.timestamp("us") if all(issubclass(each, _DATES) for each in kind) else pa.string()


def _array(column: Iterable[Any], type_: Any, missing: set[Any]) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    convert: Any = {
        pa.string(): str,
        pa.float64(): _number,
        pa.timestamp("us"): _moment,
        pa.binary(): lambda value: json.dumps(value).encode(),
    }[type_]
    return pa.array([None if _is_missing(value, missing) else convert(value) for value in column], type_)


def _number(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number of JSON, refused later by column and row
        return math.inf if value > 0 else -math.inf


def _moment(value: dt.date) -> dt.datetime:
    return value if isinstance(value, dt.datetime) else dt.datetime.combine(value, dt.time())


def _is_missing(value: Any, missing: set[Any]) -> bool:
    return value is None or (isinstance(value, (str, int, float)) and value in missing)


def _begins_page(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(64).lstrip().startswith(b"<")
