"""A file as a table, by its format and the options for reading it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamsieve._advice import by_interface
from streamsieve._paths import STDIN, TABLES, format_of
from streamsieve.exceptions import ParameterError, SourceError
from streamsieve.sources.checks import is_list
from streamsieve.sources.tables.converted import DuckTable, ExcelTable, JsonArrayTable, SqliteTable, spooled
from streamsieve.sources.tables.dialect import Dialect
from streamsieve.sources.tables.files import IpcTable, ParquetTable, TableFile
from streamsieve.sources.tables.text import CsvTable, JsonTable
from streamsieve.sources.text_extent import opened

#: Formats to which each option applies.
_ABOUT = {
    "sep": ("csv",),
    "decimal": ("csv",),
    "encoding": ("csv",),
    "na": ("csv", "excel"),
    "skip_rows": ("csv", "excel"),
    "sheet": ("excel",),
    "sql": ("sqlite", "duckdb"),
}
_WHAT = {"csv": "text with separators", "excel": "workbooks", "sqlite": "SQLite", "duckdb": "DuckDB files"}


@dataclass(frozen=True)
class Reading:
    """Options for reading files; None or empty if not given."""

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    na: tuple[str, ...] = ()
    sheet: str | None = None
    sql: str | None = None
    skip_rows: int = 0

    def options(self) -> dict[str, Any]:
        """Return the options that were given, as JSON."""
        found = {name: getattr(self, name) for name in _ABOUT}
        return {name: list(value) if name == "na" else value for name, value in found.items() if value}

    def table(self, path: Path, owner: object) -> TableFile:
        """Return a file as a table; temporary files are removed with the owner."""
        format_ = format_of(path)
        if format_.kind == "svmlight":
            raise SourceError(
                f"{path} is svmlight text, not a table: use SvmlightSource, or open() by itself"
            )
        if path == STDIN:
            return self._made(*_recognized(spooled(owner)), shown="standard input")
        return self._made(path, format_.kind, format_.suffix)

    @property
    def dialect(self) -> Dialect:
        """Dialect of text files."""
        return Dialect(self.sep, self.decimal, self.encoding, self.na, self.skip_rows)

    def _made(self, path: Path, kind: str, suffix: str, shown: str | None = None) -> TableFile:
        self._refuse_strangers(shown or str(path), kind)
        if kind == "parquet":
            return ParquetTable(path, shown)
        if kind == "ipc":
            return IpcTable(path, shown)
        self.dialect.check()
        if kind == "csv":
            return CsvTable(path, suffix, self.dialect, shown)
        if kind == "json":
            return (
                JsonArrayTable(path, shown)
                if _begins(path, b"[")
                else JsonTable(path, suffix, self.dialect, shown)
            )
        if kind == "excel":
            return ExcelTable(path, self.sheet, self.na, self.skip_rows)
        duck = kind == "duckdb" or _begins(path, b"DUCK", skip=8)
        return (DuckTable if duck else SqliteTable)(path, self.sql)

    def _refuse_strangers(self, shown: str, kind: str) -> None:
        for name in self.options():
            if kind not in _ABOUT[name]:
                kinds = " and ".join(_WHAT[each] for each in _ABOUT[name])
                what = by_interface(name, f"--{name.replace('_', '-')}")
                raise ParameterError(f"{what} is about {kinds}, and {shown} is not: leave it out")


def _recognized(path: Path) -> tuple[Path, str, str]:
    """Return the format of standard input, by its first bytes."""
    if _begins(path, b"PAR1"):
        return path, "parquet", ".parquet"
    if _begins(path, b"ARROW1") or _begins(path, b"\xff\xff\xff\xff"):
        return path, "ipc", ".arrow"
    if _begins(path, b"{") or _begins(path, b"["):
        return path, "json", ".jsonl"
    return path, TABLES[".csv"], ".csv"


def _begins(path: Path, mark: bytes, skip: int = 0) -> bool:
    with opened(path) as file:
        return file.read(64)[skip:].lstrip().startswith(mark)


def as_list(name: str, value: str | Sequence[str]) -> tuple[str, ...]:
    """Return one text, or several, as a tuple."""
    values = (value,) if isinstance(value, str) else tuple(value) if is_list(value) else (None,)
    if not all(isinstance(each, str) for each in values):
        raise ParameterError(f"{name} must be text, or a list of texts; got {value!r}")
    return tuple(map(str, values))
