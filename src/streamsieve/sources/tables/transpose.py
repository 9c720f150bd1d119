"""Conversion of streamed rows to columns on disk, without the whole matrix in memory."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve.exceptions import SourceError
from streamsieve.protocols import FloatArray, IntArray, RowBatch
from streamsieve.sources.tables.files import Table
from streamsieve.sources.tables.layout import labels

if TYPE_CHECKING:
    from streamsieve.sources.tables.layout import Layout


def converted(batches: Iterable[list[tuple[Table, Any]]], layout: Layout, folder: Path) -> Path:
    """Write pieces of record batches to an uncompressed Arrow file, the features as float64.

    All pieces of one list become one record batch, the unit in which columns are read.  Errors in a piece
    name the file that it came from.
    """
    import pyarrow as pa  # noqa: PLC0415

    schema = pa.schema([(name, pa.float64()) for name in layout.features])
    if layout.target is not None:
        schema = schema.append(pa.field(layout.target, layout.target_type))
    path = folder / "converted.arrow"
    with full_disk_named(folder), pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        for pieces in batches:
            cast = []
            for file, batch in pieces:
                cast.append(batch.select(schema.names).cast(schema, safe=False))
                if layout.target is not None:
                    labels(cast[-1].column(layout.target), layout, file)
            table = pa.Table.from_batches(cast)
            writer.write_table(table.combine_chunks())
    return path


def scratch_folder(owner: object) -> Path:
    """Make a folder (under ``TMPDIR``) that is removed with its owner, or at exit at the latest."""
    folder = Path(tempfile.mkdtemp(prefix="streamsieve-"))
    weakref.finalize(owner, _remove, folder, os.getpid())
    return folder


def _remove(folder: Path, maker: int) -> None:
    # A forked worker that drops its copy of the owner must not take the files from the parent.
    if os.getpid() == maker:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def full_disk_named(folder: Path) -> Iterator[None]:
    """Context manager in which failures to write temporary files name the folder, and how to change it."""
    try:
        yield
    except OSError as error:
        raise SourceError(
            f"the temporary files in {folder} could not be written ({error}): make room there, or name a "
            "folder with room in the environment variable TMPDIR"
        ) from error


@dataclass(frozen=True)
class ColumnsOnDisk:
    """A CSC matrix whose indices and values are memory-mapped files; slices are read on access."""

    n_rows: int
    indptr: IntArray
    indices: npt.NDArray[np.int32]
    values: FloatArray
    y: npt.NDArray[Any]

    def block(self, low: int, high: int) -> Any:
        """Return columns low to high - 1, copied to memory."""
        part = slice(int(self.indptr[low]), int(self.indptr[high]))
        indptr = self.indptr[low : high + 1] - self.indptr[low]
        if indptr[-1] <= np.iinfo(np.int32).max:
            indptr = indptr.astype(np.int32)
        arrays = np.array(self.values[part]), np.array(self.indices[part]), indptr
        return sp.csc_array(arrays, shape=(self.n_rows, high - low))


def to_columns(batches: Iterable[RowBatch], n_columns: int, folder: Path) -> ColumnsOnDisk:
    """Convert rows in two passes: count the values of each column, then put each in its place.

    Parsing text is the slow part, so the first pass leaves the rows as binary files for the second.
    """
    counts = np.zeros(n_columns, np.int64)
    labels: list[npt.NDArray[Any]] = []
    for number, batch in enumerate(batches):
        counts += np.bincount(batch.X.indices, minlength=n_columns)
        labels.append(np.asarray(batch.y))
        with full_disk_named(folder):
            sp.save_npz(folder / f"rows-{number}.npz", batch.X, compressed=False)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    indices = _mapped(folder / "indices", np.int32, indptr[-1])
    values = _mapped(folder / "values", np.float64, indptr[-1])
    free = indptr[:-1].copy()  # position of the next value of each column
    row = 0
    for number in range(len(labels)):
        parsed = folder / f"rows-{number}.npz"
        part = sp.csc_array(sp.load_npz(parsed))
        parsed.unlink()
        fresh = np.diff(part.indptr)
        # the k-th value of a column goes k places after the first free one
        place = np.arange(part.nnz) + np.repeat(free - part.indptr[:-1], fresh)
        indices[place] = part.indices + row
        values[place] = part.data
        free += fresh
        row += part.shape[0]
    return ColumnsOnDisk(row, indptr, indices, values, np.concatenate(labels))


def _mapped(path: Path, dtype: Any, size: Any) -> Any:
    # an empty file cannot be mapped
    size = max(int(size), 1)
    # a mapped file that meets a full disk later would kill the process: allocate the space now
    with full_disk_named(path.parent), path.open("wb") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size * np.dtype(dtype).itemsize)
    return np.memmap(path, dtype, mode="r+" if path.stat().st_size else "w+", shape=(size,))
