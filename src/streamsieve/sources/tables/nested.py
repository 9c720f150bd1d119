"""Objects within the rows of JSON, read as columns whose names have a dot: ``user.age``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, Self

import numpy as np

from streamsieve.exceptions import SourceError

#: Beginning of the remark that objects became columns.
OBJECTS = "objects as columns"
#: Maximum nesting of objects and lists: Arrow's parser is recursive, and crashes the process when the stack
#: overflows.
MOST_LEVELS = 100
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"')
#: A line that is null instead of an object: Arrow's parser crashes if a block begins with one.
_NULL_LINE = re.compile(rb"^(?:\xef\xbb\xbf)?[ \t]*null", re.MULTILINE)


def flat_row(row: Mapping[str, Any], before: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Return the values of a row by their path: the names of the enclosing objects, and their own."""
    found: dict[tuple[str, ...], Any] = {}
    for name, value in row.items():
        place = (*before, name)
        found |= flat_row(value, place) if isinstance(value, dict) else {place: value}
    return found


def check_levels(text: bytes, shown: str) -> None:
    """Refuse JSON that is nested too deeply."""
    # brackets in strings are ignored only by the second, slower check
    if _most_levels(text) > MOST_LEVELS and _most_levels(_STRING.sub(b"", text)) > MOST_LEVELS:
        raise SourceError(
            f"{shown} has a row with more than {MOST_LEVELS} objects or lists within each other, too many to "
            "be read: leave out that row, or the field that holds them"
        )


def _most_levels(text: bytes) -> int:
    """Return the maximum nesting of objects and lists."""
    lower = np.frombuffer(text, np.uint8) | 32  # [ becomes {, and ] becomes }
    opening, closing = np.flatnonzero(lower == ord("{")), np.flatnonzero(lower == ord("}"))
    before = np.arange(len(opening)) - np.searchsorted(closing, opening)
    return int(np.max(before + 1 - np.minimum.accumulate(before), initial=0))


class ShallowLines:
    """A file of JSON lines whose lines are checked before a parser gets them."""

    closed = False

    def __init__(self, file: BinaryIO, shown: str) -> None:
        self._file, self._shown, self._begun = file, shown, bytearray()

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes of the file."""
        content = self._file.read(size)
        self._begun += content
        if not content or b"\n" in content:
            end = self._begun.rfind(b"\n") + 1 if content else len(self._begun)
            self._check(bytes(self._begun[:end]))
            del self._begun[:end]
        return content

    def _check(self, lines: bytes) -> None:
        codes = np.frombuffer(lines, np.uint8)
        begins = lines[:1] + codes[np.flatnonzero(codes[:-1] <= ord("\r")) + 1].tobytes()
        if any(each in begins for each in b"n \t\xef") and _NULL_LINE.search(lines.replace(b"\r", b"\n")):
            raise SourceError(f"{self._shown} has a line that is no object but null: leave that line out")
        if _most_levels(lines) > MOST_LEVELS:  # rare: unclosed brackets in strings may add up
            for line in lines.split(b"\n"):
                check_levels(line, self._shown)


def flat_fields(field: Any, before: str = "") -> list[tuple[str, Any]]:
    """Return names and types of the columns made from an Arrow field."""
    import pyarrow as pa  # noqa: PLC0415

    name = before + field.name
    if not pa.types.is_struct(field.type):
        return [(name, field.type)]
    return [each for inner in field.type.fields for each in flat_fields(inner, f"{name}.")]


def flat_batch(batch: Any) -> Any:
    """Return a record batch without objects; all fields of a missing object are missing."""
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
