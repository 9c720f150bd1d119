"""SQL queries whose rows are streamed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamsieve._text import shown
from streamsieve.exceptions import SourceError

#: How addresses begin, by database.
ADDRESSES = {
    "duckdb:///": "duckdb",
    "sqlite:///": "sqlite",
    "postgresql://": "postgresql",
    "postgres://": "postgresql",
}


@dataclass(frozen=True)
class Query:
    """A query and the database that answers it; :func:`query` makes one, ``open`` streams its rows."""

    database: Any
    sql: str

    def __repr__(self) -> str:
        # the address may hold a password
        return f"Query({shown(self.sql)!r})"

    def batches(self, size: int) -> Iterator[Any]:
        """Run the query, and yield its record batches; the database is closed with the last of them."""
        with closing(self._connected()) as connection:
            if _is_duckdb(connection):
                yield from connection.sql(self.sql).to_arrow_reader(size)
                return
            with connection.cursor() as cursor:
                cursor.execute(self.sql)
                yield from cursor.fetch_record_batch()

    def _connected(self) -> Any:
        """Return a connection of its own, or a second cursor of the one that was given."""
        if not isinstance(self.database, str):
            # DuckDB has one open result per connection, and closing an ADBC connection would take the user's
            return self.database.cursor() if _is_duckdb(self.database) else _Borrowed(self.database)
        prefix = next(prefix for prefix in ADDRESSES if self.database.startswith(prefix))
        kind, rest = ADDRESSES[prefix], self.database.removeprefix(prefix)
        if kind == "duckdb":
            return _driver("duckdb").connect(rest or ":memory:", read_only=bool(rest))
        if kind == "sqlite":
            if not Path(rest).is_file():  # SQLite would make an empty one
                raise SourceError(
                    f"there is no SQLite file {rest!r}: sqlite:///name or sqlite:////folder/name"
                )
            return _driver("adbc_driver_sqlite").connect(rest)
        return _driver("adbc_driver_postgresql").connect(self.database)


@dataclass(frozen=True)
class _Borrowed:
    """A connection that its owner closes."""

    connection: Any

    def cursor(self) -> Any:
        return self.connection.cursor()

    def close(self) -> None:
        """Leave it open."""


def query(database: Any, sql: str) -> Query:
    """Describe the rows of an SQL query, to be streamed by :func:`streamsieve.open`.

    Parameters
    ----------
    database : str, DuckDB connection, or ADBC connection
        Addresses are "duckdb:///file.db" ("duckdb:///" for a database in memory, which reads files by
        their names), "sqlite:///file.db" and "postgresql://user@host/name".  An absolute path has four
        slashes.  With an address, every reading opens a connection of its own.
    sql : str
        The query.  To resume a run from a checkpoint, it needs ORDER BY over a unique key.

    Returns
    -------
    Query : give it to ``open``, with the name of the target column

    Notes
    -----
    SQLite and PostgreSQL are reached through ADBC: ``pip install 'streamsieve[sql]'``.  The ADBC driver of
    SQLite infers the type of a column from the first rows: CAST a column in the query if that goes wrong.

    Examples
    --------
    >>> import streamsieve as ss
    >>> rows = ss.query("duckdb:///", "SELECT i % 2 AS y, i * i AS square FROM range(6) t(i) ORDER BY i")
    >>> [batch.X.ravel().tolist() for batch in ss.open(rows, target="y").rows(4)]
    [[0.0, 1.0, 4.0, 9.0], [16.0, 25.0]]
    """
    if not isinstance(sql, str) or not sql.strip():
        raise SourceError(f"sql must be the text of a query; got {sql!r}")
    known = database.startswith(tuple(ADDRESSES)) if isinstance(database, str) else _has_cursor(database)
    if not known:
        # an address may hold a password, which belongs into no message
        got = f"an address that begins with {database[:10]!r}" if isinstance(database, str) else database
        raise SourceError(
            f"a query goes to an address ({', '.join(map(repr, ADDRESSES))}), or to a connection of DuckDB "
            f"or ADBC; got {got}"
        )
    return Query(database, sql)


def _is_duckdb(connection: Any) -> bool:
    return type(connection).__module__.partition(".")[0] in {"duckdb", "_duckdb"}


def _has_cursor(connection: Any) -> bool:
    adbc = type(connection).__module__.startswith("adbc_driver")
    cursor: Callable[[], Any] | None = getattr(connection, "cursor", None)
    return callable(cursor) and (adbc or _is_duckdb(connection))


def _driver(name: str) -> Any:
    try:
        return importlib.import_module(name if name == "duckdb" else f"{name}.dbapi")
    except ImportError as error:
        raise SourceError(f"this query needs {name}: pip install 'streamsieve[sql]'") from error
