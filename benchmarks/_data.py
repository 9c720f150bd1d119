"""Data that several suites share: generated streams, and real sets from the folder STREAMSIEVE_DATA names."""

from __future__ import annotations

import atexit
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from benchmarks._cases import SkipCase

Labels = npt.NDArray[np.int64]


def dense(n: int, p: int, classes: int = 2, dtype: Any = np.float64) -> tuple[npt.NDArray[Any], Labels]:
    """Normal noise, with labels; a tenth of the columns (at most 50) lean on the label."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, n)
    X = rng.standard_normal((n, p), dtype)
    leaning = np.arange(min(50, max(1, p // 10)))
    X[:, leaning] += (0.3 * y / max(1, classes - 1))[:, None].astype(dtype)
    return X, y


def uniform_csr(n: int, p: int, per_row: int) -> tuple[sp.csr_array, Labels]:
    """Rows with a fixed number of non-zeros at uniform columns: the worst case for a cache."""
    rng = np.random.default_rng(0)
    indices = rng.integers(0, p, (n, per_row), dtype=np.int32)
    indices.sort(axis=1)
    indptr = np.arange(0, n * per_row + 1, per_row, dtype=np.int32)
    X = sp.csr_array((rng.standard_normal(n * per_row), indices.ravel(), indptr), shape=(n, p))
    X.sum_duplicates()
    return X, rng.integers(0, 2, n)


def url_like(
    rng: np.random.Generator, n: int, p: int, per_row: int = 115, real_every: int = 50
) -> tuple[sp.csr_array, Labels]:
    """Rows like those of the url set: popular and rare features, ids scattered, one in ``real_every`` real.

    The values of the others are 1.  A few rows have fewer than ``per_row`` non-zeros.
    """
    drawn = np.minimum(p ** rng.random((n, per_row * 3 // 2)), p - 1).astype(np.int64)
    indices = (drawn * 2_654_435_761 % p).astype(np.int32)
    indices.sort(axis=1)
    kept = np.ones(indices.shape, bool)  # a feature drawn twice in a row counts once
    kept[:, 1:] = indices[:, 1:] != indices[:, :-1]
    counted = np.cumsum(kept, axis=1)
    kept &= counted <= per_row
    indices = indices[kept]
    data = np.ones(len(indices))
    real = indices % real_every == real_every // 2
    data[real] = rng.standard_normal(int(real.sum()))
    indptr = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int32)
    return sp.csr_array((data, indices, indptr), shape=(n, p)), rng.integers(0, 2, n)


def zipf_csc(n: int, p: int, per_row: int) -> tuple[sp.csc_array, Labels]:
    """A bag of words like news20: Zipf column popularity, rows of length 1, 2 % informative columns.

    An informative column loses 70 % of its non-zeros in the rows of one class.
    """
    rng = np.random.default_rng(0)
    popularity = np.cumsum(1 / np.arange(1, p + 1) ** 1.05)
    drawn = np.searchsorted(popularity / popularity[-1], rng.random(n * per_row)).clip(0, p - 1)
    columns = rng.permutation(p)[drawn]
    rows = np.repeat(np.arange(n), per_row)
    y = rng.integers(0, 2, n)
    informative = rng.random(p) < 0.02
    lost = informative[columns] & (y[rows] == 0) & (rng.random(len(columns)) < 0.7)
    rows, columns = rows[~lost], columns[~lost]
    # 32-bit, as files and scikit-learn give them
    X = sp.csc_array((np.ones(len(rows)), (rows.astype(np.int32), columns.astype(np.int32))), shape=(n, p))
    X.sum_duplicates()
    length = np.sqrt(X.multiply(X).sum(axis=1))
    X.data /= length[X.indices]
    X.sort_indices()
    return X, y


def batches(X: Any, y: Labels, size: int) -> list[tuple[Any, Labels]]:
    """Cut rows into batches; dense ones are views."""
    return [(X[low : low + size], y[low : low + size]) for low in range(0, X.shape[0], size)]


def blocks(X: sp.csc_array, size: int) -> Iterator[sp.csc_array]:
    """Cut columns into blocks that share the values of X."""
    n, p = X.shape
    for low in range(0, p, size):
        high = min(low + size, p)
        first, last = X.indptr[low], X.indptr[high]
        pieces = (X.data[first:last], X.indices[first:last], X.indptr[low : high + 1] - first)
        yield sp.csc_array(pieces, shape=(n, high - low))


def real(name: str) -> tuple[Any, Labels]:
    """Return the training rows of a real data set, as a float64 array or CSC, and its labels."""
    folder = os.environ.get("STREAMSIEVE_DATA")
    if not folder:
        raise SkipCase("STREAMSIEVE_DATA is not set: name the folder of real data sets with it")
    path = Path(folder) / f"{name}.npz"
    if not path.exists():
        raise SkipCase(f"{path} is not there")
    with np.load(path, allow_pickle=False) as file:
        X, y = _matrix(file), file["y"].astype(np.int64)
        rows = file["train_idx"] if "train_idx" in file else slice(None)
        X, y = X[rows], y[rows]
    return (sp.csc_array(X) if sp.issparse(X) else X), y


def _matrix(file: Any) -> Any:
    if "X" in file:
        return file["X"].astype(np.float64)
    pieces = file["data"].astype(np.float64), file["indices"].astype(np.int32), file["indptr"]
    return sp.csr_array(pieces, shape=tuple(file["shape"]))


def parquet_files(files: int, n: int, p: int, group: int) -> Path:
    """Write files of n rows of p columns and a target y to a folder that goes away with the process."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    folder = tempfile.TemporaryDirectory(prefix="streamsieve-bench-")
    atexit.register(folder.cleanup)
    rng = np.random.default_rng(0)
    for k in range(files):
        y = rng.integers(0, 2, n)
        columns = {f"c{j}": rng.normal(size=n) + (j < 10) * 0.1 * y for j in range(p)}
        path = Path(folder.name, f"{k:02}.parquet")
        pq.write_table(pa.table({**columns, "y": y}), path, row_group_size=group, use_dictionary=False)
    return Path(folder.name)
