"""The lines of a text file at the moment it was opened; lines that are written later are not read."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from streamsieve.exceptions import SourceError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

#: Bytes read at a time, forward and in search of the last line.
CHUNK = 2**16


class TextExtent:
    """The lines of a file at one moment.

    A last line without a line end is read if the file has not grown when that line is reached: its writer
    left it so.  If the file has grown, the line was being written, and is left to the next run.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with opened(path) as file:
            self.size = file.seek(0, os.SEEK_END)
            self.whole = _last_line_end(file, self.size) or self.size
        self._complete: bool | None = None

    def end(self) -> int:
        """Return the number of bytes to read, as known so far."""
        if self.whole < self.size and self._complete is None and self._grown():
            self._complete = False
        return self.whole if self._complete is False else self.size

    def settled_end(self) -> int:
        """Return the number of bytes to read, which no longer changes."""
        self._complete = self.end() == self.size
        return self.end()

    def _grown(self) -> bool:
        with opened(self.path) as file:
            return file.seek(0, os.SEEK_END) != self.size

    def open(self, *, whole: bool = False) -> BinaryIO:
        """Open the file, limited to the extent, or to its ``whole`` lines."""
        return io.BufferedReader(_Reader(self, whole=whole), CHUNK)

    def rest(self) -> bytes:
        """Return the last line if it has no line end but is to be read, else nothing."""
        with self.open() as file:
            file.seek(self.whole)
            return file.read()


class _Reader(io.RawIOBase):
    def __init__(self, extent: TextExtent, *, whole: bool) -> None:
        self._extent, self._whole, self._file, self._at = extent, whole, opened(extent.path), 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at}.get(whence, self._extent.end())
        return self._file.seek(self._at)

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        extent = self._extent
        limit = extent.whole if self._whole or self._at < extent.whole else extent.settled_end()
        content = self._file.read(min(len(view), max(limit - self._at, 0)))
        if not content and self._at < limit:
            raise SourceError(f"{extent.path} has become shorter while it was read: read it again")
        view[: len(content)] = content
        self._at += len(content)
        return len(content)

    def close(self) -> None:
        self._file.close()
        super().close()


def opened(path: Path) -> BinaryIO:
    """Open a file to read bytes; raise ``SourceError`` if that fails."""
    try:
        return path.open("rb")
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror or error}") from error


def _last_line_end(file: BinaryIO, size: int) -> int:
    """Return the number of bytes up to the last line end."""
    end = size
    while end > 0:
        begin = max(end - CHUNK, 0)
        file.seek(begin)
        content = file.read(end - begin)
        found = max(content.rfind(b"\n"), content.rfind(b"\r"))
        if found >= 0:
            return begin + found + 1
        end = begin
    return 0
