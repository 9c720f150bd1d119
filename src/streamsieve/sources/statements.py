"""The text of an SQL query, which is one statement; and how Ctrl-C ends a query of DuckDB."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from streamsieve._doors import way
from streamsieve._text import shown
from streamsieve.exceptions import SourceError

#: Comments, strings, quoted names, and dollar-quoted strings of PostgreSQL and DuckDB.
_NO_CODE = re.compile(
    r"""--[^\n]*|/\*.*?\*/|\b[eE]'(?:[^'\\]|\\.)*'|'[^']*'|"[^"]*"|`[^`]*`|\$(\w*)\$.*?\$\1\$""", re.DOTALL
)
#: Characters shown of a statement.
_SHOWN = 60


def code_of(sql: str) -> str:
    """Return a query of the same length whose comments, strings and quoted names are blank."""
    return _NO_CODE.sub(lambda found: " " * len(found[0]), sql)


def one_statement(sql: str) -> str:
    """Return a query without the semicolon at its end; refuse a second statement.

    Drivers disagree about a second one: some ignore it, some run both and return the last.
    """
    code = code_of(sql)
    ends = [*(place.start() for place in re.finditer(";", code)), len(code)]
    starts = [0, *(end + 1 for end in ends)]
    found = [(a, b) for a, b in zip(starts, ends, strict=False) if code[a:b].strip()]
    if len(found) > 1:
        second = " ".join(sql[slice(*found[1])].split())
        where = way("sql", "--sql")
        raise SourceError(
            f"{where} holds {len(found)} statements, and only one query can be streamed: leave out "
            f"{shown(second[:_SHOWN])!r}{'...' * (len(second) > _SHOWN)}"
            + " and what follows" * (len(found) > 2)
            + way("; a connection on which it has run can be given to query()", "")
        )
    return sql if not found else sql[: found[0][1]]


@contextmanager
def ended_by_ctrl_c() -> Iterator[None]:
    """Context: Ctrl-C during a query is not an error of DuckDB, which ends the query."""
    try:
        yield
    except RuntimeError as error:
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from error
        raise
