"""The text of an SQL query, which is one statement that reads."""

from __future__ import annotations

import re

from streamsieve._advice import by_interface
from streamsieve._text import shown
from streamsieve.exceptions import SourceError

#: Comments, strings, quoted names, and dollar-quoted strings of PostgreSQL and DuckDB, whose names hold
#: dollars themselves.  Databases disagree about where a comment ends that holds another, or a carriage
#: return alone, so such a comment counts as code.
_NO_CODE = re.compile(
    r"""--[^\r\n]*(?=\r?\n|\Z)|/\*(?:(?!/\*).)*?\*/|\b[eE]'(?:[^'\\]|\\.)*'|'[^']*'|"[^"]*"|`[^`]*`"""
    r"""|(?<![\w$\x80-\U0010ffff])\$((?:[A-Za-z_\x80-\U0010ffff][\w\x80-\U0010ffff]*)?)\$.*?\$\1\$""",
    re.DOTALL,
)
#: How queries begin; all but the first three in DuckDB, TABLE in PostgreSQL as well.
_READING = ("select", "with", "values", "from", "table", "pivot", "unpivot", "summarize", "describe", "show")
#: Characters shown of a statement.
_SHOWN = 60


def code_of(sql: str) -> str:
    """Return the query with comments, strings and quoted names replaced by blanks; its length is the same."""
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
        where = by_interface("sql", "--sql")
        raise SourceError(
            f"{where} holds {len(found)} statements, and only one query can be streamed: leave out "
            f"{shown(second[:_SHOWN])!r}{'...' * (len(second) > _SHOWN)}"
            + " and what follows" * (len(found) > 2)
            + by_interface("; a connection on which it has run can be given to query()", "")
        )
    return sql if not found else sql[: found[0][1]]


def one_query(sql: str) -> str:
    """Return a query without the semicolon at its end; refuse a statement that does anything but read."""
    found = one_statement(sql)
    word = re.match(r"[\s(;]*(\w*)", code_of(found))
    if word is None or word[1].lower() not in _READING:
        what = " ".join(found.split())
        raise SourceError(
            f"{by_interface('sql', '--sql')} must be a query that begins with SELECT, WITH or VALUES; got "
            f"{shown(what[:_SHOWN])!r}{'...' * (len(what) > _SHOWN)}"
            + by_interface(". Over a connection of your own you can run any statement", "")
        )
    return found
