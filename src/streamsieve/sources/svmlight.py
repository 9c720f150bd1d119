"""Sparse rows in svmlight (libsvm) text files."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._paths import Paths, resolve
from streamsieve.exceptions import ParameterError, SourceError
from streamsieve.protocols import ColumnBlock, FloatArray, Position, RowBatch
from streamsieve.sources.checks import beyond, check_size, check_start, spans
from streamsieve.sources.identity import another_stream, comparing, same
from streamsieve.sources.parts import SourcePart
from streamsieve.sources.shown import ShownSource
from streamsieve.sources.tables.fingerprint import StablePrefix, check_files, is_line_end
from streamsieve.sources.tables.transpose import ColumnsOnDisk, scratch_folder, to_columns
from streamsieve.sources.text_extent import TextExtent

#: Bytes of text parsed at a time in the conversion to columns.
SLAB_BYTES = 2**24
#: Largest column number.
HIGHEST = 2**31 - 2


class SvmlightSource(ShownSource):
    r"""Stream sparse rows from svmlight text, by rows or (after one conversion) by columns, out of core.

    Parameters
    ----------
    paths : path, pattern, or list of either
        Files of lines ``label index:value index:value ...`` with ascending indices; comments after ``#``
        and ``qid:`` are ignored.  Several files form one stream, in the order given; those of a pattern
        in natural order (Day2 before Day10).
    n_features : int, default=None
        Number of columns.  If None, it follows from the highest index in the files.
    zero_based : {"auto", True, False}, default="auto"
        Whether the first column has index 0 or 1.  "auto": 0 if that index occurs anywhere in the files,
        else 1.

    Attributes
    ----------
    n_rows, n_columns : int, or None until the files have been scanned
    names : None, the format has no names
    files : paths of the files, in order

    Notes
    -----
    Without n_features, or with zero_based="auto", the first use scans all files once; the scan reads
    indices only and is much faster than parsing.  Give both to start at once.  Rows are CSR with float64
    values and int32 indices.

    Files are read up to their last whole line at the moment of opening: what is appended later belongs to
    the next run, see :func:`streamsieve.run`.

    Columns need a conversion: all rows are parsed, and their values are laid out by column in
    memory-mapped files under ``TMPDIR`` (12 bytes per value, twice that on the way), which go away with the
    source.  In memory are 24 bytes per column and the labels.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from streamsieve.sources import SvmlightSource
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "urls.svm")
    ...     _ = path.write_text("+1 1:0.5 3:1\n-1 2:1\n+1 3:2\n")
    ...     source = SvmlightSource(path)
    ...     for batch in source.rows(2):
    ...         print(batch.X.toarray().tolist(), batch.y)
    ...     [block.X.toarray().ravel().tolist() for block in source.columns(1)]
    [[0.5, 0.0, 1.0], [0.0, 1.0, 0.0]] [ 1. -1.]
    [[0.0, 0.0, 2.0]] [1.]
    [[0.5, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 2.0]]
    """

    def __init__(
        self, paths: Paths, n_features: int | None = None, *, zero_based: bool | Literal["auto"] = "auto"
    ) -> None:
        if n_features is not None:
            n_features = check_size("n_features", n_features)
        if zero_based not in (True, False, "auto"):
            raise ParameterError(f"zero_based must be True, False or 'auto'; got {zero_based!r}")
        self._texts = [TextExtent(path) for path in resolve(paths)]
        self.files = [text.path for text in self._texts]
        self._n_features, self._zero_based = n_features, zero_based
        self._extent: _Extent | None = None
        self._on_disk: ColumnsOnDisk | None = None
        self.names: list[str] | None = None
        self.n_rows: int | None = None
        self.n_columns: int | None = n_features

    @property
    def y(self) -> npt.NDArray[Any]:
        """All labels, read once, together with the conversion to columns."""
        return self._by_column().y

    def parts(self, rows: int) -> list[SourcePart]:
        """Return the files as parts; their numbers of rows are not known without parsing."""
        del rows
        p, zero_based = self._settled()
        return [SourcePart(SvmlightSource(file, p, zero_based=zero_based), str(file)) for file in self.files]

    def identity(self) -> dict[str, Any]:
        """Return a JSON description that identifies the stream: the width, and samples of the files."""
        p, zero_based = self._settled()
        return {
            "kind": type(self).__name__,
            "columns": p,
            "zero_based": zero_based,
            "files": [file.identity() for file in self._lasting()],
        }

    def check_identity(self, known: Mapping[str, Any]) -> None:
        """Raise ``SourceError`` if files differ from an earlier identity; rows may have been appended."""
        p, zero_based = self._settled()
        with comparing(self, known):
            check_files(known["files"], self._lasting())
            same("zero_based", known["zero_based"], zero_based)
            if p != known["columns"]:
                raise another_stream(
                    f"it had {known['columns']:,} columns and has {p:,} now (give n_features from the "
                    "beginning, when higher indices may come)"
                )

    def _lasting(self) -> list[StablePrefix]:
        return [StablePrefix(text.path, text.end()) for text in self._texts]

    def rows(self, batch_size: int = 4096, start: Mapping[str, int] | None = None) -> Iterator[RowBatch]:
        """Yield the rows in batches, from just after ``start``; earlier rows are not read."""
        size = check_size("batch_size", batch_size)
        at = check_start(self, start, ("file", "byte", "line", "row"))
        if at["file"] >= len(self.files):
            raise beyond(self, "files", at["file"], len(self.files))
        path, there = self.files[at["file"]], self._texts[at["file"]].end()
        if at["byte"] > there:
            raise beyond(self, f"bytes of {path}", at["byte"], there)
        if not is_line_end(path, at["byte"]):
            raise SourceError(
                f"{path}, line {at['line']:,}: it was read before it was complete, and has gone on since: "
                "start again, and read files only up to the end of a line"
            )
        return self._rows(size, at)

    def _rows(self, size: int, at: Position) -> Iterator[RowBatch]:
        p, zero_based = self._settled()
        pieces: list[tuple[Any, npt.NDArray[Any]]] = []
        room, row = size, at["row"]
        byte, line = at["byte"], at["line"]
        for number, text in enumerate(self._texts[at["file"] :], at["file"]):
            with text.open() as file:
                file.seek(byte)
                while True:
                    lines, found = _take_lines(file, room)
                    if found:
                        pieces.append(_parse_lines(lines, text.path, line, p, zero_based=zero_based))
                    byte, line = byte + sum(map(len, lines)), line + len(lines)
                    room, row = room - found, row + found
                    if room:
                        break  # the file has ended
                    yield _joined(pieces, {"file": number, "byte": byte, "line": line, "row": row})
                    pieces, room = [], size
            if number + 1 < len(self.files):
                byte = line = 0
        if pieces:
            yield _joined(pieces, {"file": number, "byte": byte, "line": line, "row": row})
        elif row == 0:
            raise SourceError(f"{self.files[0]} holds no rows: there is nothing to stream")

    def _scanned(self) -> _Extent:
        if self._extent is None:
            self._extent = _scan(self._texts)
            self.n_rows = self._extent.n_rows
        return self._extent

    def _settled(self) -> tuple[int, bool]:
        """Return the number of columns, and whether indices start at 0; scan the files only if needed."""
        if self._n_features is not None and isinstance(self._zero_based, bool):
            return self._n_features, self._zero_based
        extent = self._scanned()
        zero_based = extent.low == 0 if self._zero_based == "auto" else self._zero_based
        wanted = extent.high + 1 if zero_based else extent.high
        if self._n_features is not None and wanted > self._n_features:
            raise SourceError(
                f"n_features is {self._n_features:,}, but the highest index in the files from "
                f"{self.files[0]} on is {extent.high:,}: give n_features={wanted} or more, or leave it out"
            )
        # labels alone still make a matrix
        self.n_columns = max(wanted, 1) if self._n_features is None else self._n_features
        return self.n_columns, zero_based

    def columns(
        self, block_size: int = 1024, start: Mapping[str, int] | None = None
    ) -> Iterator[ColumnBlock]:
        """Yield the columns in blocks of CSC, after a conversion on first use; begin just after ``start``."""
        return self._columns(spans(self, "column", lambda: self._settled()[0], block_size, start))

    def _columns(self, pieces: Iterator[slice]) -> Iterator[ColumnBlock]:
        on_disk = self._by_column()
        for columns in pieces:
            yield ColumnBlock(on_disk.block(columns.start, columns.stop), None, {"column": columns.stop})

    def _by_column(self) -> ColumnsOnDisk:
        if self._on_disk is None:
            extent, (p, _) = self._scanned(), self._settled()
            mean = extent.n_bytes / max(extent.n_rows, 1)
            slab = max(1, int(SLAB_BYTES / max(mean, 1)))
            self._on_disk = to_columns(self.rows(slab), p, scratch_folder(self))
        return self._on_disk

    def __getstate__(self) -> dict[str, Any]:
        # a copy in another process converts again: these files go away with their owner
        return {**vars(self), "_on_disk": None}


def _joined(pieces: list[tuple[Any, npt.NDArray[Any]]], position: Position) -> RowBatch:
    if len(pieces) == 1:
        ((X, y),) = pieces
    else:
        X = sp.vstack([X for X, _ in pieces], format="csr")
        y = np.concatenate([y for _, y in pieces])
    return RowBatch(X, y, None, None, position)


@dataclass
class _Extent:
    """Extent of the files: number of rows and bytes, lowest and highest index."""

    n_rows: int = 0
    n_bytes: int = 0
    low: int = HIGHEST
    high: int = -1


def _scan(files: Sequence[TextExtent]) -> _Extent:
    """Find the extent of the files without parsing values.

    Indices ascend within a line (the parser requires it), so the first and the last are enough.
    """
    extent = _Extent()
    for text_file in files:
        path = text_file.path
        with text_file.open() as file:
            for number, line in enumerate(file, 1):
                extent.n_bytes += len(line)
                text = line[: line.find(b"#")] if b"#" in line else line
                first = text.find(b":")
                if text[first - 3 : first] == b"qid":
                    first = text.find(b":", first + 1)
                if first < 0:
                    extent.n_rows += not text.isspace() and text != b""
                    continue
                extent.n_rows += 1
                extent.low = min(extent.low, _index(path, number, line, text, first))
                extent.high = max(extent.high, _index(path, number, line, text, text.rfind(b":")))
    return extent


def _index(path: Path, number: int, line: bytes, text: bytes, colon: int) -> int:
    begin = max(text.rfind(b" ", 0, colon), text.rfind(b"\t", 0, colon)) + 1
    try:
        index = int(text[begin:colon])
    except ValueError:
        # the error of the parser is better, unless it raises none
        _parse_lines([line], path, number - 1, HIGHEST + 1, zero_based=True)
        raise _bad_line(path, number, line, "an index is not a whole number") from None
    if not 0 <= index <= HIGHEST:
        raise _bad_line(path, number, line, f"index {index} is outside 0 to {HIGHEST:,}")
    return index


def _take_lines(file: BinaryIO, rows: int) -> tuple[list[bytes], int]:
    """Return lines that hold ``rows`` rows, or all that are left, and their number; others are comments."""
    lines: list[bytes] = []
    found = 0
    while found < rows:
        more = list(itertools.islice(file, rows - found))
        if not more:
            break
        lines += more
        # a row has something before any comment, exactly as the parser sees it
        found += sum(1 for line in more if not line.partition(b"#")[0].isspace() and line[:1] != b"#")
    return lines, found


def _parse_lines(
    lines: list[bytes], path: Path, before: int, n_features: int, *, zero_based: bool
) -> tuple[Any, FloatArray]:
    """Return lines as CSR with int32 indices, and their labels; ``before`` lines came before them."""
    try:
        X, y = _parse(lines, n_features, zero_based=zero_based)
    except (ValueError, OverflowError, IndexError, TypeError) as error:
        for number, line in enumerate(lines, before + 1):
            try:
                _parse([line], n_features, zero_based=zero_based)
            except (ValueError, OverflowError, IndexError, TypeError) as found:
                raise _bad_line(path, number, line, str(found)) from found
        raise SourceError(f"{path}, lines from {before + 1:,} on: {error}") from error
    short = np.int32 if X.nnz < np.iinfo(np.int32).max else np.int64
    return (sp.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(short)), shape=X.shape), y)


def _parse(lines: list[bytes], n_features: int, *, zero_based: bool) -> tuple[Any, FloatArray]:
    from sklearn.datasets import load_svmlight_file  # noqa: PLC0415

    X, y = load_svmlight_file(
        BytesIO(b"".join(lines)), n_features=n_features, dtype=np.float64, zero_based=zero_based
    )
    return X, y


def _bad_line(path: Path, number: int, line: bytes, why: str) -> SourceError:
    """Return the error for a line that is not 'label index:value index:value ...'."""
    shown = line[:60].decode("utf-8", "backslashreplace").rstrip("\r\n")
    dots = "..." if len(line) > 60 else ""
    return SourceError(
        f"{path}, line {number:,}: {why}; wanted 'label index:value index:value ...' with ascending "
        f"indices, got {shown + dots!r}: correct or remove this line"
    )
