"""A file read as validated Arrow record batches: base class of all formats, Parquet, Arrow IPC.

Arrow trusts its input.  Here every batch is validated in full before a value is used, and errors of the
readers become a ``SourceError`` that names the file and the place.
"""

from __future__ import annotations

import lzma
import re
import zlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from streamsieve._advice import as_argument
from streamsieve._text import in_a_line
from streamsieve.exceptions import SourceError
from streamsieve.sources.tables.fingerprint import StablePrefix, lasting_ipc, lasting_parquet

#: Rows that are read together at most, whatever the batch size.
READ_ROWS = 65_536


class Table(ABC):
    """Rows with named columns, read as record batches.

    ``schema`` has the Arrow types of the columns; ``n_rows`` is the number of rows that the table claims, or
    None.  Errors name the table as ``shown`` and end with ``advice``, or with advice on the specific error.
    """

    n_rows: int | None = None
    advice: str | None = None
    #: Whether some columns can be read without the others.
    by_column: ClassVar[bool] = True
    #: Columns with one value in all rows, which are not stored in the table.
    constants: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, shown: str) -> None:
        self.shown = shown
        with named(self.shown, advice=self.advice):
            self.schema = self._look()
            self.names: list[str] = self.schema.names  # decodes them

    def lines_before(self, name: str) -> int:
        """Return the number of lines before a later one that names a column; 0 if there is none."""
        del name
        return 0

    def no_names(self, name: str) -> str:
        """Return why a column may be missing: the table is transposed, or has no header."""
        del name
        return ""

    def as_written(self, name: str) -> Table:
        """Return the table with one column as it is written, if its numbers may lose digits."""
        del name
        return self

    @abstractmethod
    def _look(self) -> Any:
        """Return the schema, and set ``n_rows`` if the table knows it."""

    @abstractmethod
    def _read(self, columns: Sequence[str], size: int, skip: int) -> tuple[int, Iterable[Any]]:
        """Return how many of the rows to skip have been skipped, and the batches from there on."""

    def batches(self, columns: Sequence[str], size: int = READ_ROWS, skip: int = 0) -> Iterator[Any]:
        """Yield record batches of these columns, of about ``size`` rows at most, after ``skip`` rows."""
        size = min(size, READ_ROWS)
        stored = [name for name in columns if name not in self.constants] or self.names[:1]
        with named(self.shown, advice=self.advice):
            row, batches = self._read(stored, size, skip)
        for batch in self._validated(batches, row):
            first, row = row, row + batch.num_rows
            if row > max(first, skip):
                yield decoded(self._completed(batch, columns).slice(max(skip - first, 0)))
        if row < skip:
            raise SourceError(
                f"start lies after {skip:,} rows of {self.shown}, but it has {row:,}: resume with the data "
                "the position came from"
            )

    def _completed(self, batch: Any, columns: Sequence[str]) -> Any:
        """Return these columns of a batch, with those that are not stored."""
        import pyarrow as pa  # noqa: PLC0415

        for name in self.constants.keys() & columns:
            batch = batch.append_column(name, pa.repeat(self.constants[name], batch.num_rows))
        return batch.select(columns)

    def _validated(self, batches: Iterable[Any], row: int = 0) -> Iterator[Any]:
        stream = iter(batches)
        while True:
            with named(self.shown, row, self.advice):
                batch = next(stream, None)
                if batch is None:
                    return
                batch.validate(full=True)
            row += batch.num_rows
            yield batch


class TableFile(Table):
    """A table in a file; a converted copy is shown as the user's file.

    ``remarks`` describe its inferred dialect.
    """

    #: Whether rows may be added at the end, line by line.
    by_lines = False

    def __init__(self, path: Path, shown: str | None = None) -> None:
        self.path = path
        self.remarks: list[str] = []
        super().__init__(shown or str(path))

    def add_constants(self, said: Mapping[str, float | str | None], texts: Collection[str]) -> None:
        """Add what the names of folders say, numbers or ``texts``, unless the table has such a column."""
        import pyarrow as pa  # noqa: PLC0415

        for name, value in said.items():
            if name not in self.schema.names:
                scalar = pa.scalar(value, pa.string() if name in texts else pa.float64())
                self.constants = {**self.constants, name: scalar}
                self.schema = self.schema.append(pa.field(name, scalar.type))

    @abstractmethod
    def lasting(self) -> StablePrefix:
        """Return the part of the file that stays as it is when rows are added at its end."""


class ParquetTable(TableFile):
    """A Parquet file; reading some columns reads nothing of the others."""

    _kept: Any = None

    def lasting(self) -> StablePrefix:
        """Return the part before the footer."""
        return lasting_parquet(self.path)

    def _look(self) -> Any:
        file = self._open()
        self.n_rows = file.metadata.num_rows
        return file.schema_arrow

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """Context manager in which the footer, long for many columns, is parsed only once."""
        with named(self.shown):
            self._kept = self._open()
        try:
            yield
        finally:
            self._kept = None

    def _open(self) -> Any:
        import pyarrow.parquet as pq  # noqa: PLC0415

        if self._kept is not None:
            return self._kept
        return pq.ParquetFile(self.path, page_checksum_verification=True)

    def _read(self, columns: Sequence[str], size: int, skip: int) -> tuple[int, Iterable[Any]]:
        file = self._open()
        group = skipped = 0
        while group < file.num_row_groups:
            rows = file.metadata.row_group(group).num_rows
            if skipped + rows > skip:
                break
            skipped, group = skipped + rows, group + 1
        groups = list(range(group, file.num_row_groups))
        return skipped, file.iter_batches(size, row_groups=groups, columns=list(columns))


class IpcTable(TableFile):
    """An Arrow IPC file (Feather 2) or stream, compressed or not.

    It is not read through Arrow datasets: their threads compute on batches that were not validated, so a
    damaged file would crash the process.
    """

    @property
    def stored(self) -> Path:
        """The Arrow file itself; a converted copy of another file lies elsewhere."""
        return self.path

    def lasting(self) -> StablePrefix:
        """Return the part before the end mark."""
        return lasting_ipc(self.path)

    def _look(self) -> Any:
        with self.stored.open("rb") as file:
            # A stream can only be read from the front; a file has a directory of its batches.
            self._is_file = file.read(6) == b"ARROW1"
        with self._opened() as reader:
            schema = reader.schema
        if self._is_file and len(schema) > 0:
            self.n_rows = sum(batch.num_rows for batch in self._validated(self._projected(_quick(schema))))
        return schema

    @contextmanager
    def _opened(self, fields: Sequence[int] = ()) -> Iterator[Any]:
        import pyarrow as pa  # noqa: PLC0415

        options = pa.ipc.IpcReadOptions(included_fields=list(fields))
        with pa.OSFile(str(self.stored)) as file:
            yield (pa.ipc.open_file if self._is_file else pa.ipc.open_stream)(file, options=options)

    def _read(self, columns: Sequence[str], size: int, skip: int) -> tuple[int, Iterable[Any]]:
        del size, skip  # batches are as they were written, and their lengths stand in them
        return 0, self._projected(sorted(self.schema.get_field_index(name) for name in columns))

    def _projected(self, fields: Sequence[int]) -> Iterator[Any]:
        import pyarrow as pa  # noqa: PLC0415

        pool = pa.default_memory_pool()
        with self._opened(fields) as reader:
            if not self._is_file:
                yield from reader
                return
            for number in range(reader.num_record_batches):
                # Arrow takes room for a batch of all columns and fills in those asked for.  Unless it is
                # given back, block after block fills the same room, until all columns are in memory.
                pool.release_unused()
                yield reader.get_batch(number)


def _quick(schema: Any) -> list[int]:
    """Return the position of a column that is quick to read, to count rows."""
    from pyarrow import types as t  # noqa: PLC0415

    return [next((k for k, type_ in enumerate(schema.types) if t.is_primitive(type_)), 0)]


def plain(type_: Any) -> Any:
    """Return the type of the values of a column, whatever their encoding."""
    from pyarrow import types as t  # noqa: PLC0415

    return type_.value_type if t.is_dictionary(type_) or t.is_run_end_encoded(type_) else type_


def decoded(batch: Any) -> Any:
    """Return a record batch without run-end encoding, which Arrow cannot cast."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415
    from pyarrow import types as t  # noqa: PLC0415

    encoded = [t.is_run_end_encoded(type_) for type_ in batch.schema.types]
    if not any(encoded):
        return batch
    columns = [pc.run_end_decode(c) if runs else c for c, runs in zip(batch.columns, encoded, strict=True)]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def need_pyarrow() -> None:
    """Raise an error that says how to install pyarrow if it is missing."""
    try:
        import pyarrow as pa  # noqa: F401, PLC0415
    except ImportError as error:
        raise SourceError(
            "reading Parquet, CSV and Arrow files needs pyarrow: pip install 'streamsieve[cli]'"
        ) from error


@contextmanager
def named(shown: str, row: int | None = None, advice: str | None = None) -> Iterator[None]:
    """Context manager that turns errors of Arrow into a ``SourceError`` with the table and the place."""
    import pyarrow as pa  # noqa: PLC0415

    try:
        yield
    except SourceError:
        raise
    except (
        pa.ArrowException,
        OSError,
        ValueError,
        MemoryError,
        EOFError,
        zlib.error,
        lzma.LZMAError,
    ) as error:
        place = "" if row is None else f" after row {row:,}"
        text = in_a_line(error)
        if advice is None or _is_not_utf8(text):  # a wrong encoding is the first thing to mend
            advice = _advice(text)
        raise SourceError(f"{shown} cannot be read{place}: {text[:300]}; {advice}") from error


def not_utf8() -> str:
    """Return the text of the error for bytes that are not UTF-8."""
    return (
        f"is not UTF-8 text: say how it is encoded, {as_argument('encoding', 'cp1252')} (Western Europe, "
        "like latin-1, with the signs that Windows adds), or save the file as UTF-8"
    )


def _is_not_utf8(text: str) -> bool:
    return "UTF8" in text or "utf-8" in text


def _advice(text: str) -> str:
    """Return advice on an error of a reader."""
    if _is_not_utf8(text):
        return f"it {not_utf8()}"
    if found := re.search(r"conversion error to \w+.*: invalid value '(.*?)'", text):
        return (
            "the rows before hold another type in that column: if it means a missing value, say "
            f"{as_argument('na', found[1])}; otherwise correct it, or leave the column out"
        )
    if re.search(r"Expected \d+ columns", text):
        return (
            "a line has more or fewer cells than the first one: repair it, or, if the separator was "
            f"mistaken, say {as_argument('sep', ';')}"
        )
    return "the file is damaged or not what its suffix says: repair it, write it again, or leave it out"
