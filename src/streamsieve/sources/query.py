"""SQL queries whose rows are streamed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from streamsieve._text import in_a_line, shown
from streamsieve.exceptions import CapabilityError, SourceError
from streamsieve.sources import databases
from streamsieve.sources.statements import code_of, one_query, one_statement

#: Rows per batch of the result of an auxiliary query.
READ_ROWS = 1024
#: Databases by the prefix of their addresses.
ADDRESSES = {
    "duckdb:///": "duckdb",
    "sqlite:///": "sqlite",
    "postgresql://": "postgresql",
    "postgres://": "postgresql",
}


@dataclass(frozen=True)
class Query:
    """An SQL query and its database, made by :func:`query`; ``open`` streams its rows."""

    database: Any
    sql: str
    partition_on: str | None = None

    def __repr__(self) -> str:
        # the address may hold a password
        return f"Query({shown(self.sql)!r})"

    def batches(self, size: int) -> Iterator[Any]:
        """Run the query, and yield its record batches; the database is closed with the last of them."""
        whole = self.partition_on is None
        return self._run(one_statement(self.sql) if whole else self._in_order("1 = 1"), size)

    def ranges(self, rows: int) -> list[Range]:
        """Cut the query into ranges of ``partition_on``, each of about ``rows`` rows.

        Rows of equal keys are in one range.  The database sorts the keys once and returns the ends of ranges.
        """
        if not isinstance(self.database, str):
            raise CapabilityError(
                "workers cannot use an open connection: give the address of the database to query(), such as "
                "'duckdb:///file.db' or 'postgresql://user@host/name'"
            )
        key = _quoted(self.partition_on)
        rank = f"{key} AS k, rank() OVER (ORDER BY {key} NULLS FIRST) - 1 AS r"
        # equal keys have equal ranks, and so the same range
        by_rank = f"GROUP BY r - r % {rows} ORDER BY min(r)"
        ends = _select("min(k) AS low, count(*) AS n", _select(rank, self._inner), by_rank)
        found = self._answer(ends)
        lows = [row["low"] for row in found[1:]]
        for low in lows:
            if not isinstance(low, int):
                raise SourceError(
                    f"partition_on={self.partition_on!r} must be a column of whole numbers; it holds {low!r} "
                    f"({type(low).__name__}): CAST it in the query, or add row_number()"
                )
        edges = [None, *lows, None]
        return [
            Range(self, low, high, row["n"]) for (low, high), row in zip(pairwise(edges), found, strict=True)
        ]

    def count(self) -> int:
        """Return the number of rows."""
        return int(self._answer(_select("count(*) AS n", self._inner))[0]["n"])

    def _answer(self, sql: str) -> list[dict[str, Any]]:
        """Return the rows of an auxiliary query about this one."""
        try:
            return [row for batch in self._run(sql, READ_ROWS) for row in batch.to_pylist()]
        except SourceError:
            raise
        except Exception as error:
            raise SourceError(f"the query cannot be cut into ranges: {in_a_line(error)[:500]}") from error

    @property
    def _inner(self) -> str:
        """The query as it stands in parentheses; a comment at its end must not swallow them."""
        return one_statement(self.sql).strip() + "\n"

    def _in_order(self, condition: str) -> str:
        order = f"ORDER BY {_quoted(self.partition_on)} NULLS FIRST"
        return _select("*", self._inner, f"WHERE {condition} {order}")

    def _run(self, sql: str, size: int) -> Iterator[Any]:
        if not isinstance(self.database, str):
            # of its own, because DuckDB has one open result per connection
            with self.database.cursor() as cursor:
                if not _is_duckdb(cursor):
                    yield from databases.adbc_batches(cursor, sql)
                    return
                yield from databases.duck_result(cursor, sql, size, own=True)[1]
            return
        prefix = next(prefix for prefix in ADDRESSES if self.database.startswith(prefix))
        kind, rest = ADDRESSES[prefix], self.database.removeprefix(prefix)
        if kind == "duckdb":
            with databases.duck(rest) as connection:
                yield from databases.duck_result(connection, sql, size)[1]
        elif kind == "sqlite":
            if not Path(rest).is_file():
                raise SourceError(
                    f"there is no SQLite file {rest!r}: sqlite:///name or sqlite:////folder/name"
                )
            yield from databases.sqlite_batches(rest, sql)
        else:
            yield from databases.postgresql_batches(self.database, sql)


@dataclass(frozen=True)
class Range:
    """The rows of a query whose key is in a range; it can be sent to another process.

    Attributes
    ----------
    query : the whole query, to an address
    low, high : keys from ``low`` up to but not including ``high``; None for no bound.  Without ``low``, rows
        without a key are included
    n_rows : number of rows when the range was created
    """

    query: Query
    low: int | None
    high: int | None
    n_rows: int

    def __str__(self) -> str:
        ends = (
            "" if self.low is None else f" from {self.low}",
            "" if self.high is None else f" below {self.high}",
        )
        return f"the query, {self.query.partition_on}{ends[0]}{ends[1]}" if any(ends) else "the query"

    def batches(self, size: int) -> Iterator[Any]:
        """Run the query over the range, and yield its record batches."""
        return self.query._run(self.query._in_order(self._condition), size)  # noqa: SLF001 - a piece of it

    @property
    def _condition(self) -> str:
        key = _quoted(self.query.partition_on)
        if self.low is None:
            return "1 = 1" if self.high is None else f"({key} < {self.high} OR {key} IS NULL)"
        return f"{key} >= {self.low}" + ("" if self.high is None else f" AND {key} < {self.high}")


def query(database: Any, sql: str, *, partition_on: str | None = None) -> Query:
    """Define an SQL query whose rows are streamed by :func:`streamsieve.open`.

    Parameters
    ----------
    database : str, DuckDB connection, or ADBC connection
        Addresses are "duckdb:///file.db" ("duckdb:///" for a database in memory, which reads files by
        their names), "sqlite:///file.db" and "postgresql://user@host/name".  An absolute path has four
        slashes.  With an address, every pass opens its own connection, which only reads; a connection is
        used as it is.
    sql : str
        The query, one statement.  To resume a run from a checkpoint, it needs ORDER BY over a unique key.
    partition_on : str or None, default=None
        A column of the query that holds whole numbers, best a unique key.  With it an engine cuts the query
        into ranges, and each worker runs its own: ``run(..., engine="local")``.  The stream is in the order
        of this column, which is a feature unless ``open(..., exclude=)`` names it.

    Returns
    -------
    Query
        Pass it to ``open``, with the name of the target column.

    Notes
    -----
    DuckDB and PostgreSQL need ``pip install 'streamsieve[sql]'``.  A column of SQLite has no type: CAST it in
    the query if it holds numbers in some rows and text in others.  Ctrl-C ends a query, except over an ADBC
    connection of your own to SQLite: that driver cannot cancel, so it takes effect with the next rows.

    Examples
    --------
    >>> import streamsieve as ss
    >>> rows = ss.query("duckdb:///", "SELECT i % 2 AS y, i * i AS square FROM range(6) t(i) ORDER BY i")
    >>> [batch.X.ravel().tolist() for batch in ss.open(rows, target="y").rows(4)]
    [[0.0, 1.0, 4.0, 9.0], [16.0, 25.0]]
    """
    if not isinstance(sql, str) or not code_of(sql).strip(" \t\r\n;"):
        raise SourceError(f"sql must be the text of a query; got {sql!r}")
    known = database.startswith(tuple(ADDRESSES)) if isinstance(database, str) else _has_cursor(database)
    if not known:
        # an address may hold a password, which must not appear in messages
        got = f"an address that begins with {database[:10]!r}" if isinstance(database, str) else database
        raise SourceError(
            f"a query goes to an address ({', '.join(map(repr, ADDRESSES))}), or to a connection of DuckDB "
            f"or ADBC; got {got}"
        )
    if partition_on is not None and (not isinstance(partition_on, str) or not partition_on):
        raise SourceError(f"partition_on must be the name of a column of the query; got {partition_on!r}")
    (one_query if isinstance(database, str) else one_statement)(sql)
    return Query(database, sql, partition_on)


def _select(what: str, inner: str, rest: str = "") -> str:
    return f"SELECT {what} FROM ({inner}) q {rest}"  # noqa: S608 - the query is the user's own


def _quoted(name: str | None) -> str:
    return '"' + str(name).replace('"', '""') + '"'


def _is_duckdb(connection: Any) -> bool:
    return type(connection).__module__.partition(".")[0] in {"duckdb", "_duckdb"}


def _has_cursor(connection: Any) -> bool:
    adbc = type(connection).__module__.startswith("adbc_driver")
    cursor: Callable[[], Any] | None = getattr(connection, "cursor", None)
    return callable(cursor) and (adbc or _is_duckdb(connection))
