"""One file of a table, read as checked Arrow record batches: Parquet, CSV, Arrow IPC.

Arrow trusts what it reads.  Here every batch is validated in full before anybody looks at a value, and
whatever the readers raise becomes a ``SourceError`` that names the file and the place.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from streamsieve.exceptions import SourceError

#: Rows that are read together at most, whatever the batch size.
READ_ROWS = 65_536
#: A CSV row must fit into the block it is read by.
CSV_BLOCK, CSV_LINE = 2**20, 2**28


class TableFile(ABC):
    """A file with named columns.

    ``schema`` holds their Arrow types; ``n_rows`` is what the file claims, None if it does not.
    """

    schema: Any
    n_rows: int | None = None

    def __init__(self, path: Path) -> None:
        self.path = path

    @abstractmethod
    def _read(self, columns: Sequence[str], size: int, skip: int) -> tuple[int, Iterable[Any]]:
        """Return how many of the rows to skip were skipped already, and the batches from there on."""

    def batches(self, columns: Sequence[str], size: int = READ_ROWS, skip: int = 0) -> Iterator[Any]:
        """Yield record batches of these columns, of about ``size`` rows at most, after ``skip`` rows."""
        size = min(size, READ_ROWS)
        with named(self.path):
            row, batches = self._read(columns, size, skip)
            stream = iter(batches)
        while True:
            with named(self.path, row):
                batch = next(stream, None)
                if batch is None:
                    break
                batch.validate(full=True)
                batch = batch.select(columns)
            first, row = row, row + batch.num_rows
            if row > skip:
                yield batch.slice(max(skip - first, 0))
        if row < skip:
            raise SourceError(
                f"start lies after {skip:,} rows of {self.path}, but it has {row:,}: resume with the data "
                "the position came from"
            )


class ParquetTable(TableFile):
    """A Parquet file; reading some columns reads nothing of the others."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._kept: Any = None
        with named(path):
            file = self._open()
            self.schema, self.n_rows = file.schema_arrow, file.metadata.num_rows

    @contextmanager
    def kept_open(self) -> Iterator[None]:
        """Context: the footer, which is long when there are many columns, is parsed only once."""
        with named(self.path):
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
    """An Arrow IPC file (Feather 2) or stream, compressed or not."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        import pyarrow as pa  # noqa: PLC0415

        with named(path), path.open("rb") as file:
            # A stream can only be read from the front; a file has a directory of its batches.
            self._is_stream = file.read(6) != b"ARROW1"
            file.seek(0)
            reader = (pa.ipc.open_stream if self._is_stream else pa.ipc.open_file)(file)
            self.schema = reader.schema
            self.n_rows = None if self._is_stream else self._dataset().count_rows()

    def _dataset(self) -> Any:
        # Arrow's datasets read only what belongs to some columns, also of one huge compressed batch.
        import pyarrow.dataset as ds  # noqa: PLC0415

        return ds.dataset(str(self.path), schema=self.schema, format="ipc")

    def _read(self, columns: Sequence[str], size: int, skip: int) -> tuple[int, Iterable[Any]]:
        del skip  # the lengths of batches stand in the batches
        if self._is_stream:
            return 0, self._stream(columns)
        return 0, self._dataset().to_batches(
            columns=list(columns), batch_size=size, batch_readahead=1, fragment_readahead=1
        )

    def _stream(self, columns: Sequence[str]) -> Iterator[Any]:
        import pyarrow as pa  # noqa: PLC0415

        fields = sorted(self.schema.get_field_index(name) for name in columns)
        options = pa.ipc.IpcReadOptions(included_fields=fields)
        with pa.OSFile(str(self.path)) as file:
            yield from pa.ipc.open_stream(file, options=options)


class CsvTable(TableFile):
    """A CSV or TSV file whose first line names the columns."""

    def __init__(self, path: Path, delimiter: str) -> None:
        super().__init__(path)
        self._delimiter = delimiter
        with named(path):
            self._block = self._block_size()
            with self._open() as reader:
                inferred = reader.schema
            self.schema = _settled(inferred)

    def _block_size(self) -> int:
        with self.path.open("rb") as file:
            longest = max(len(file.readline(CSV_LINE)) for _ in range(3))
        return max(CSV_BLOCK, 8 * longest)

    def _open(self, **convert: Any) -> Any:
        from pyarrow import csv  # noqa: PLC0415

        return csv.open_csv(
            self.path,
            read_options=csv.ReadOptions(block_size=self._block),
            parse_options=csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True),
            convert_options=csv.ConvertOptions(**convert),
        )

    def _read(self, columns: Sequence[str], size: int, skip: int) -> tuple[int, Iterable[Any]]:
        del size, skip  # blocks are cut by bytes, and rows are found by parsing
        types = {name: self.schema.field(name).type for name in columns}
        return 0, self._open(column_types=types, include_columns=list(columns))


def _settled(inferred: Any) -> Any:
    """Read whole numbers and empty columns as float64 from the start.

    Arrow infers types from the first block alone: a column of 0 and 1 that holds 0.5 a million rows later
    would fail there, although all numbers become float64 in the end.
    """
    import pyarrow as pa  # noqa: PLC0415

    plain = (pa.int64(), pa.null())
    return pa.schema([(f.name, pa.float64() if f.type in plain else f.type) for f in inferred])


@contextmanager
def named(path: Path, row: int | None = None) -> Iterator[None]:
    """Context: what Arrow complains about becomes a ``SourceError`` with the file and the place."""
    import pyarrow as pa  # noqa: PLC0415

    try:
        yield
    except SourceError:
        raise
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        place = "" if row is None else f" after row {row:,}"
        text = " ".join(str(error).split()) or type(error).__name__
        raise SourceError(
            f"{path} cannot be read{place}: {text[:500]}; the file is damaged or not what its suffix says: "
            "repair it, write it again, or leave it out"
        ) from error


FORMATS: dict[str, Callable[[Path], TableFile]] = {
    "parquet": ParquetTable,
    "ipc": IpcTable,
    "csv": lambda path: CsvTable(path, ","),
    "tsv": lambda path: CsvTable(path, "\t"),
}
