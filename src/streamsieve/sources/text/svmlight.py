"""Lines of svmlight text: scanned for their extent, cut into pieces, parsed by scikit-learn."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from streamsieve.exceptions import SourceError
from streamsieve.protocols import FloatArray
from streamsieve.sources.text.extent import TextExtent

#: What a column number fits into.
HIGHEST = 2**31 - 2


@dataclass
class Extent:
    """What one pass over the files finds: rows, bytes, the lowest and the highest index."""

    n_rows: int = 0
    n_bytes: int = 0
    low: int = HIGHEST
    high: int = -1


def scan(files: Sequence[TextExtent]) -> Extent:
    """Find the extent of the files without parsing values.

    Indices ascend within a line (the parser insists), so the first and the last of a line are enough.
    """
    extent = Extent()
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
        # the parser words it better, unless it sees nothing wrong
        parse([line], path, number - 1, HIGHEST + 1, zero_based=True)
        raise bad_line(path, number, line, "an index is not a whole number") from None
    if not 0 <= index <= HIGHEST:
        raise bad_line(path, number, line, f"index {index} is outside 0 to {HIGHEST:,}")
    return index


def take(file: BinaryIO, rows: int) -> tuple[list[bytes], int]:
    """Return lines with a number of rows, or what is left, and their number; the rest are comments."""
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


def parse(
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
                raise bad_line(path, number, line, str(found)) from found
        raise SourceError(f"{path}, lines from {before + 1:,} on: {error}") from error
    short = np.int32 if X.nnz < np.iinfo(np.int32).max else np.int64
    return (sp.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(short)), shape=X.shape), y)


def _parse(lines: list[bytes], n_features: int, *, zero_based: bool) -> tuple[Any, FloatArray]:
    from sklearn.datasets import load_svmlight_file  # noqa: PLC0415

    X, y = load_svmlight_file(
        BytesIO(b"".join(lines)), n_features=n_features, dtype=np.float64, zero_based=zero_based
    )
    return X, y


def bad_line(path: Path, number: int, line: bytes, why: str) -> SourceError:
    """Return the error about a line that is not 'label index:value index:value ...'."""
    shown = line[:60].decode("utf-8", "backslashreplace").rstrip("\r\n")
    dots = "..." if len(line) > 60 else ""
    return SourceError(
        f"{path}, line {number:,}: {why}; wanted 'label index:value index:value ...' with ascending "
        f"indices, got {shown + dots!r}: correct or remove this line"
    )
