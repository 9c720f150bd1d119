"""Objects within the rows of JSON, read as columns whose names have a dot: ``user.age``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

#: How a remark on the data begins that says so.
OBJECTS = "objects as columns"


def flat_row(row: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return the values of a row by the names of columns."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        found |= flat_row(value, f"{before}{name}.") if isinstance(value, dict) else {before + name: value}
    return found


def flat_fields(field: Any, before: str = "") -> list[tuple[str, Any]]:
    """Return names and types of the columns that an Arrow field becomes."""
    import pyarrow as pa  # noqa: PLC0415

    name = before + field.name
    if not pa.types.is_struct(field.type):
        return [(name, field.type)]
    return [each for inner in field.type.fields for each in flat_fields(inner, f"{name}.")]


def flat_batch(batch: Any) -> Any:
    """Return a record batch without objects; below a missing one everything is missing."""
    import pyarrow as pa  # noqa: PLC0415

    if not any(map(pa.types.is_struct, batch.schema.types)):
        return batch
    pairs = [pair for name, column in zip(batch.schema.names, batch.columns, strict=True)
             for pair in _flat_columns(name, column)]  # fmt: skip
    return pa.RecordBatch.from_arrays([column for _, column in pairs], names=[name for name, _ in pairs])


def _flat_columns(name: str, column: Any) -> Iterator[tuple[str, Any]]:
    import pyarrow as pa  # noqa: PLC0415

    if not pa.types.is_struct(column.type):
        yield name, column
        return
    for field, inner in zip(column.type.fields, column.flatten(), strict=True):
        yield from _flat_columns(f"{name}.{field.name}", inner)


class FlatReader:
    """A reader of record batches whose objects become columns."""

    def __init__(self, reader: Any) -> None:
        self._reader, self.schema = reader, reader.schema

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._reader.close()

    def __iter__(self) -> Iterator[Any]:
        return map(flat_batch, self._reader)
