"""Connections to databases that read only, and the record batches of a query; Ctrl-C ends a query."""

from __future__ import annotations

import importlib
import sqlite3
import threading
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from streamsieve._threads import answering
from streamsieve.exceptions import SourceError

T = TypeVar("T")
#: Rows that SQLite is asked for at a time: few enough to stay in the cache.
READ_ROWS = 1024
#: Kinds of statements of DuckDB that read; one that pivots is MULTI.
_READING = ("SELECT", "MULTI")


def driver(name: str) -> Any:
    """Return a module of a database, or say how to install it."""
    try:
        return importlib.import_module(name if name == "duckdb" else f"{name}.dbapi")
    except ImportError as error:
        extra = "duckdb" if name == "duckdb" else "sql"
        raise SourceError(f"this query needs {name}: pip install 'streamsieve[{extra}]'") from error


def ended_by_ctrl_c(call: Callable[[], T], cancel: Callable[[], Any]) -> T:
    """Return what a database answers; Ctrl-C ends the query, for drivers that do not look at signals."""
    ended = threading.Event()

    def work() -> T:
        try:
            return call()
        finally:
            ended.set()

    try:
        return answering(work)
    except KeyboardInterrupt:
        cancel()
        ended.wait()  # the connection may not be closed before
        raise


def _each(reader: Any, cancel: Callable[[], Any]) -> Iterator[Any]:
    """Yield the record batches of a reader; Ctrl-C ends its query."""
    while batch := ended_by_ctrl_c(lambda: next(reader, None), cancel):
        yield batch


# ------------------------------------------------------------------------------------ SQLite


class SqliteRows:
    """The rows of a query to an SQLite file, a batch at a time, as often as they are asked for."""

    def __init__(self, connection: sqlite3.Connection, sql: str) -> None:
        self._connection, self._sql = connection, sql
        self._begun: sqlite3.Cursor | None = self._started()
        self.names = [each[0] for each in self._begun.description]

    def __iter__(self) -> Iterator[list[Any]]:
        # what was begun to learn the names has the first rows already
        cursor, self._begun = self._begun or self._started(), None
        while rows := self._answer(lambda: cursor.fetchmany(READ_ROWS)):
            yield rows

    def _started(self) -> sqlite3.Cursor:
        return self._answer(lambda: self._connection.execute(self._sql))

    def _answer(self, call: Callable[[], T]) -> T:
        return ended_by_ctrl_c(call, self._connection.interrupt)


def sqlite(path: str | Path) -> closing[sqlite3.Connection]:
    """Open an SQLite file that is there; nothing in it can be changed."""
    address = f"file:{urllib.parse.quote(str(path))}?mode=ro"
    connection = sqlite3.connect(address, uri=True, check_same_thread=False)
    # a file that is attached, or vacuumed into, would be made
    connection.set_authorizer(
        lambda what, *_: sqlite3.SQLITE_DENY if what == sqlite3.SQLITE_ATTACH else sqlite3.SQLITE_OK
    )
    return closing(connection)


def sqlite_batches(path: str | Path, sql: str) -> Iterator[Any]:
    """Yield the rows of a query as record batches; a type is that of the values of a batch."""
    import pyarrow as pa  # noqa: PLC0415

    with sqlite(path) as connection:
        found = SqliteRows(connection, sql)
        for rows in found:
            columns = [_array(column) for column in zip(*rows, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, names=found.names)


def _array(column: tuple[Any, ...]) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    found = pa.array(column)
    # later batches may hold numbers
    return found.cast(pa.float64()) if pa.types.is_null(found.type) else found


# ------------------------------------------------------------------------------------ DuckDB


@contextmanager
def duck(path: str | Path = "") -> Iterator[Any]:
    """Open a DuckDB file to be read only, or a database in memory; a query cannot change the settings."""
    config = {"lock_configuration": "true"}  # a log is a file that a setting names
    with driver("duckdb").connect(str(path), read_only=bool(path), config=config) as connection:
        yield connection


def duck_result(connection: Any, sql: str, size: int, *, own: bool = False) -> tuple[Any, Iterator[Any]]:
    """Return the schema and the record batches of a query; over the user's own connection, of any statement.

    DuckDB runs all statements of a text and returns the last.  Only its own parser separates them for
    certain.  DuckDB notices Ctrl-C itself, but then waits for the tasks under way, which may be the
    whole query.
    """
    kinds = [each.type.name for each in connection.extract_statements(sql)]
    if len(kinds) != 1 or not (own or kinds[0] in _READING):
        raise SourceError(
            f"only one query that reads can be streamed; DuckDB finds {', '.join(kinds) or 'none'} here"
        )
    reader = ended_by_ctrl_c(lambda: connection.sql(sql).to_arrow_reader(size), connection.interrupt)
    return reader.schema, _each(reader, connection.interrupt)


# ------------------------------------------------------------------------------------ PostgreSQL


def postgresql_batches(address: str, sql: str) -> Iterator[Any]:
    """Yield the record batches of a query, in a transaction that reads only."""
    with driver("adbc_driver_postgresql").connect(address) as connection, connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION READ ONLY")
        yield from adbc_batches(cursor, sql)


def adbc_batches(cursor: Any, sql: str) -> Iterator[Any]:
    """Yield the record batches of a query by an ADBC cursor."""

    def cancel() -> None:
        with suppress(cursor.connection.NotSupportedError):  # such as that of SQLite
            cursor.adbc_cancel()

    ended_by_ctrl_c(lambda: cursor.execute(sql), cancel)
    yield from _each(cursor.fetch_record_batch(), cancel)
