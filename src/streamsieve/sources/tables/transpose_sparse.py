"""From rows that stream by to columns on disk: one conversion, never the whole matrix in memory."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve.protocols import FloatArray, IntArray, RowBatch
from streamsieve.sources.tables.scratch import full_disk_named


@dataclass(frozen=True)
class ColumnsOnDisk:
    """A CSC matrix whose indices and values are memory-mapped files; slices are read when asked for."""

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
    """Pass over the rows twice: to count the values of each column, and to put each where it belongs.

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
    free = indptr[:-1].copy()  # where the next value of each column goes
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
    # a mapped file that finds the disk full later would kill the process: take the room now
    with full_disk_named(path.parent), path.open("wb") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size * np.dtype(dtype).itemsize)
    return np.memmap(path, dtype, mode="r+" if path.stat().st_size else "w+", shape=(size,))
