"""Text tables read line by line: CSV of any dialect and JSON lines, compressed or not."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, cast

from streamsieve._advice import as_argument
from streamsieve._paths import UNCERTAIN
from streamsieve.exceptions import SourceError
from streamsieve.sources.checks import some
from streamsieve.sources.tables.dialect import (
    SAMPLE,
    SEPARATORS,
    Dialect,
    cells,
    decoded,
    encoding_of,
    is_ascii_based,
    is_number,
    lines_before,
    sniffed,
)
from streamsieve.sources.tables.files import Table, TableFile, named, not_utf8
from streamsieve.sources.tables.fingerprint import StablePrefix
from streamsieve.sources.tables.nested import OBJECTS, FlatReader, ShallowLines, flat_fields
from streamsieve.sources.text_extent import TextExtent, opened

#: Bytes per block, and the maximum length of a line, which must fit into a block.
CSV_BLOCK, CSV_LINE = 2**20, 2**28


def _open_zstd(path: Path) -> BinaryIO:
    import pyarrow as pa  # noqa: PLC0415

    return cast(BinaryIO, io.BufferedReader(pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")))


#: Functions that open compressed text, by its first bytes, whatever its name.
_COMPRESSED: dict[bytes, Callable[[Path], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
    b"(\xb5/\xfd": _open_zstd,
}
#: Files that are not text, by their first bytes.
_OTHERS = {
    b"PAR1": "a Parquet file: rename it to end in .parquet",
    b"ARROW1": "an Arrow file: rename it to end in .arrow",
    b"PK\x03\x04": "an Excel workbook or a zip archive: rename it to end in .xlsx, or unzip it",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook: rename it to end in .xls",
    b"SQLite format 3": "an SQLite database: rename it to end in .sqlite",
}


class TextTable(TableFile):
    """A table whose rows are lines.

    A plain file may grow while it is read and between two runs: it is read up to its last whole line.
    Compressed text, and text whose line ends are not single bytes, is read to its end, and may not grow.
    """

    by_column: ClassVar[bool] = False
    _extent: TextExtent | None = None
    _decompress: Callable[[Path], Any] | None = None

    def __init__(self, path: Path, suffix: str, dialect: Dialect, shown: str | None = None) -> None:
        self._suffix, self._given = suffix, dialect
        super().__init__(path, shown)
        self.by_lines = self._extent is not None

    def lasting(self) -> StablePrefix:
        """Return the lines; plain text may grow at its end."""
        if self._extent is None:
            return StablePrefix(self.path, self.path.stat().st_size, grows=False)
        return StablePrefix(self.path, self._extent.end())

    def _look(self) -> Any:
        with opened(self.path) as file:
            begin = file.read(16)
        for mark, what in _OTHERS.items():
            if begin.startswith(mark):
                raise SourceError(f"{self.shown} is not text but {what}")
        self._decompress = next((way for mark, way in _COMPRESSED.items() if begin.startswith(mark)), None)
        with self._whole_file() as file:
            head = file.read(SAMPLE)
        plain = self._decompress is None and is_ascii_based(encoding_of(head, self._given.encoding))
        self._extent = TextExtent(self.path) if plain else None
        self._settle(head)
        with self._text(whole=False) as file:
            lengths = [len(file.readline(CSV_LINE)) for _ in range(3)]
        self._block = max(CSV_BLOCK, 8 * max(lengths))
        # types are inferred from whole lines, unless the only row has no line end
        self._half = self._extent is not None and lengths[0] < self._extent.whole < self._extent.size
        # the beginning of the file may have given rise to advice
        with (
            named(self.shown, advice=self.advice),
            self._text(whole=self._half) as file,
            self._open(file) as reader,
        ):
            return self._inferred(reader.schema)

    def _whole_file(self) -> BinaryIO:
        return opened(self.path) if self._decompress is None else cast(BinaryIO, self._decompress(self.path))

    def _text(self, *, whole: bool) -> BinaryIO:
        return self._whole_file() if self._extent is None else self._extent.open(whole=whole)

    def _batches(self, columns: Sequence[str]) -> Iterator[Any]:
        with self._text(whole=self._half) as file, self._open(file, columns) as reader:
            yield from reader
        # examined when all rows before it have been read
        rest = self._extent.rest() if self._extent is not None and self._half else b""
        if rest:
            yield from self._open(io.BytesIO(rest), columns, rest=True)

    def _read(self, columns: Sequence[str], size: int, skip: int) -> tuple[int, Iterable[Any]]:
        del size, skip  # blocks are cut by bytes, and rows are found by parsing
        return 0, self._batches(columns)

    def _settle(self, head: bytes) -> None:
        """Examine the beginning of the file."""

    @abstractmethod
    def _open(self, file: BinaryIO, columns: Sequence[str] | None = None, *, rest: bool = False) -> Any:
        """Return a reader of record batches: of some columns, or of all, whose types are inferred."""

    def _inferred(self, schema: Any) -> Any:
        """Read whole numbers and empty columns as float64 from the start.

        Arrow infers types from the first block alone: a column of 0 and 1 that holds 0.5 a million rows later
        would fail there, although all numbers become float64 in the end.
        """
        import pyarrow as pa  # noqa: PLC0415

        plain = (pa.int64(), pa.null())
        return pa.schema([(f.name, pa.float64() if f.type in plain else f.type) for f in schema])


class CsvTable(TextTable):
    """Text with separators whose first line names the columns."""

    def _settle(self, head: bytes) -> None:
        suffix, self._head = self._suffix, head
        titles = 0 if self._given.skip_rows else lines_before(self._beginning())
        if titles:
            self.advice = (
                f"line {titles + 1} may be the one that names the columns: "
                f"{as_argument('skip_rows', titles)} begins there"
            )
        default = None if suffix in UNCERTAIN else "\t" if suffix in (".tsv", ".tab") else ","
        try:
            self.dialect = sniffed(head, self._given, default)
        except SourceError as error:
            advice = f"; {self.advice}" if self.advice else ""
            if "  " in self._beginning().strip():
                advice += (
                    '; columns that blanks align are separated with pandas, for example python -c "import '
                    f"pandas; pandas.read_csv({str(self.path)!r}, sep=r'\\s+')"
                    f".to_csv('{self.path.stem}.csv', index=False)\""
                )
            raise SourceError(f"{self.shown} cannot be read as a table: {error}{advice}") from error
        said, found = self._given, self.dialect
        self._names = self._with_row_names()
        usual = "\t" if suffix in (".tsv", ".tab") else ","
        if said.sep is None and found.sep != usual:
            self.remarks.append(f"separator: {SEPARATORS.get(str(found.sep), repr(found.sep))}")
        if said.decimal is None and found.decimal == ",":
            self.remarks.append("decimal comma")
        if said.encoding is None and found.encoding != "utf-8":
            self.remarks.append(f"encoding: {found.encoding}")

    def _with_row_names(self) -> list[str] | None:
        """Return the names of columns where the first line lacks one, as in files of R's write.table."""
        lines = self._beginning().splitlines(keepends=True)[self._given.skip_rows :]
        rows = cells("".join(lines), str(self.dialect.sep))
        if len(rows) < 2 or {len(row) for row in rows[1:]} != {len(rows[0]) + 1}:
            return None
        ends = not any(row[-1] for row in rows[1:])  # a separator at the end of lines is not a column
        return None if ends else ["", *rows[0]]

    def _beginning(self) -> str:
        return decoded(self._head, encoding_of(self._head, self._given.encoding))

    def lines_before(self, name: str) -> int:
        """Return the number of lines before the one that names a column."""
        return lines_before(self._beginning(), name)

    def as_written(self, name: str) -> Table:
        """Return the table with one column as text, so that 007 and long identifiers stay as they are."""
        import pyarrow as pa  # noqa: PLC0415

        other = copy(self)
        other.schema = self.schema.set(self.schema.get_field_index(name), pa.field(name, pa.string()))
        return other

    def no_names(self, name: str) -> str:
        """Return why a column may be missing: the table is transposed, or has no header."""
        sep, decimal = str(self.dialect.sep), str(self.dialect.decimal)
        nameless = 2 * sum(is_number(each, decimal) for each in self.names) > len(self.names)
        if any(row[0].strip() == name for row in cells(self._beginning(), sep)[1:]):
            more = ("" if sep == "," else f", sep={sep!r}") + ", header=None" * nameless
            file = str(self.path) if self.shown == str(self.path) else "FILE"  # standard input is a copy
            return (
                f"; a line begins with {name!r}: if features are in rows, transpose the table with pandas: "
                f'python -c "import pandas; pandas.read_csv({file!r}{more}, index_col=0).T'
                f".to_csv('transposed.csv'{', index=False' * nameless})\""
            )
        if nameless:
            return "; its first line holds numbers: if it names no columns, write a line above it that does"
        return ""

    def _open(self, file: BinaryIO, columns: Sequence[str] | None = None, *, rest: bool = False) -> Any:
        from pyarrow import csv  # noqa: PLC0415

        dialect = self.dialect
        convert: dict[str, Any] = {}
        if columns is not None:
            types = {name: self.schema.field(name).type for name in columns}
            convert = {"column_types": types, "include_columns": list(columns)}
        if dialect.na:  # of a whole number also as 99.0
            floats = (str(float(mark)) for mark in dialect.na if is_number(mark, "."))
            marks = [*dialect.na, *(mark.replace(".", str(dialect.decimal)) for mark in floats)]
            convert["null_values"] = [*csv.ConvertOptions().null_values, *marks]
        return csv.open_csv(
            file,
            read_options=csv.ReadOptions(
                block_size=self._block,
                column_names=self.names if rest else self._names,
                encoding=dialect.encoding,
                skip_rows=0 if rest else dialect.skip_rows + (self._names is not None),
            ),
            parse_options=csv.ParseOptions(delimiter=dialect.sep, newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                decimal_point=dialect.decimal,
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                **convert,
            ),
        )

    def _inferred(self, schema: Any) -> Any:
        from pyarrow import types as t  # noqa: PLC0415

        for field in schema:
            if t.is_binary(field.type):
                raise SourceError(f"{self.shown}: column {field.name!r} {not_utf8()}")
        return super()._inferred(schema)


class JsonTable(TextTable):
    """JSON lines: an object per line, whose keys name the columns; objects within it become columns, too."""

    _whole_as_floats = True

    def as_written(self, name: str) -> Table:
        """Return the table with whole numbers as integers, so that long identifiers keep their digits."""
        del name
        other = copy(self)
        other._whole_as_floats = False  # noqa: SLF001
        return other

    def _open(self, file: BinaryIO, columns: Sequence[str] | None = None, *, rest: bool = False) -> Any:
        import pyarrow as pa  # noqa: PLC0415
        from pyarrow import json  # noqa: PLC0415

        del rest  # every line has its names
        schema = None if columns is None else pa.schema(self._holding({*columns}))
        behavior = "infer" if schema is None else "ignore"
        reader = json.open_json(
            ShallowLines(file, self.shown),
            read_options=json.ReadOptions(block_size=self._block),
            parse_options=json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=behavior),
        )
        return FlatReader(reader)

    def _inferred(self, schema: Any) -> Any:
        import pyarrow as pa  # noqa: PLC0415

        self._fields = [(field, flat_fields(field)) for field in schema]
        made = [name for field, flat in self._fields for name, _ in flat if name != field.name]
        if made:
            self.remarks.append(f"{OBJECTS}: {some(made, 3)}")
        return super()._inferred(pa.schema([each for _, flat in self._fields for each in flat]))

    def _holding(self, columns: set[str]) -> list[Any]:
        """Return the fields of the file, as numbers that may become fractions, that hold some columns."""
        return [
            _with_numbers(field, whole=self._whole_as_floats)
            for field, flat in self._fields
            if not columns.isdisjoint(name for name, _ in flat)
        ]


def _with_numbers(field: Any, *, whole: bool) -> Any:
    """Return a field whose empty values, and ``whole`` numbers, are float64, also within objects."""
    import pyarrow as pa  # noqa: PLC0415

    if pa.types.is_struct(field.type):
        return field.with_type(pa.struct([_with_numbers(inner, whole=whole) for inner in field.type.fields]))
    plain = (pa.int64(), pa.null()) if whole else (pa.null(),)
    return field.with_type(pa.float64() if field.type in plain else field.type)
