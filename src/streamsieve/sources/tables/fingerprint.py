"""Samples of files, by which they are recognized at a cost independent of their size."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from streamsieve.exceptions import SourceError
from streamsieve.sources.identity import another_stream, digest
from streamsieve.sources.text_extent import opened

#: Bytes sampled: at either end, and in pieces spread evenly in between.
END_BYTES, PIECES, PIECE_BYTES = 2**16, 16, 2**12
_ARROW_END = b"\xff\xff\xff\xff\x00\x00\x00\x00"


@dataclass(frozen=True)
class StablePrefix:
    """A file, and how many of its first bytes do not change when rows are appended.

    A file in which appended rows may change any byte, such as compressed text, never ``grows``.
    """

    path: Path
    n_bytes: int
    grows: bool = True

    def identity(self) -> dict[str, Any]:
        """Return the name and a digest of samples as JSON."""
        return {"name": self.path.name, "bytes": self.n_bytes, "digest": sample(self.path, self.n_bytes)}


def sample(path: Path, length: int) -> str:
    """Return a digest of both ends of the first ``length`` bytes, and of pieces in between."""
    reads = [(0, min(END_BYTES, length)), (max(0, length - END_BYTES), length)]
    between = length - 2 * END_BYTES
    reads += [
        (low, low + PIECE_BYTES)
        for low in (END_BYTES + between * k // PIECES for k in range(PIECES))
        if between > PIECES * PIECE_BYTES
    ]
    with _opened(path) as (file, _):
        return digest(str(length).encode(), *(_read(file, low, high) for low, high in reads))


@contextmanager
def _opened(path: Path) -> Iterator[tuple[BinaryIO, int]]:
    """Context manager with a file and its size; errors name the file."""
    try:
        with opened(path) as file:
            yield file, os.fstat(file.fileno()).st_size
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror or error}") from error


def _read(file: BinaryIO, low: int, high: int) -> bytes:
    file.seek(max(low, 0))
    return file.read(max(high - max(low, 0), 0))


def lasting_parquet(path: Path) -> StablePrefix:
    """Return the part before the footer, which is rewritten when row groups are appended."""
    with _opened(path) as (file, size):
        length = int.from_bytes(_read(file, size - 8, size - 4), "little")
    return StablePrefix(path, max(0, size - 8 - length))


def lasting_ipc(path: Path) -> StablePrefix:
    """Return the part before the end mark and the footer of an Arrow IPC file."""
    with _opened(path) as (file, size):
        end = size
        if _read(file, size - 6, size) == b"ARROW1":
            end = max(0, size - 10 - int.from_bytes(_read(file, size - 10, size - 6), "little"))
        if end >= len(_ARROW_END) and _read(file, end - len(_ARROW_END), end) == _ARROW_END:
            end -= len(_ARROW_END)
    return StablePrefix(path, end)


def check_files(known: Sequence[Mapping[str, Any]], files: Sequence[StablePrefix]) -> None:
    """Refuse files that are missing, reordered, shorter or changed; rows may have been appended."""
    names = [file.path.name for file in files]
    for number, was in enumerate(known):
        if number >= len(files):
            raise another_stream(f"the file {was['name']} is missing")
        file, last = files[number], number == len(known) - 1
        if names[number] != was["name"]:
            raise another_stream(_misplaced(number, was["name"], names))
        if file.n_bytes < was["bytes"]:
            raise another_stream(
                f"{file.path} is shorter than it was ({was['bytes']:,} bytes of rows, now {file.n_bytes:,})"
            )
        if sample(file.path, was["bytes"]) != was["digest"]:
            raise another_stream(f"the content of {file.path} has changed")
        if file.n_bytes > was["bytes"] and not file.grows:
            raise another_stream(
                f"{file.path} has grown, and only plain files may: put new rows into a new file"
            )
        if file.n_bytes > was["bytes"] and not last:
            raise another_stream(
                f"{file.path} has grown, but other files come after it (only the last file of a stream may "
                "grow: put new rows there, or into a new file)"
            )


def _misplaced(number: int, was: str, names: Sequence[str]) -> str:
    if was in names:
        return f"its files are in another order (number {number + 1} was {was} and is {names[number]} now)"
    return f"file number {number + 1} was {was} and is {names[number]} now"


def check_last_line(known: Sequence[Mapping[str, Any]], files: Sequence[StablePrefix]) -> None:
    """Refuse text whose last line was continued after it was read: half of a number was learned."""
    if not known:
        return
    path, end = files[len(known) - 1].path, known[-1]["bytes"]
    if not is_line_end(path, end):
        raise another_stream(f"the last line of {path} was not complete when the checkpoint was made")


def is_line_end(path: Path, place: int) -> bool:
    """Whether a line ends before this byte, or the text does."""
    with _opened(path) as (file, _):
        around = _read(file, max(place - 1, 0), place + 1)
    return place == 0 or len(around) < 2 or around[:1] == b"\n" or around[1:] in b"\r\n"
