"""Data sets in a folder: ``NAME.npz``, as NumPy writes them.

Dense files hold ``X``; sparse ones the arrays of a CSR matrix (``data``, ``indices``, ``indptr``,
``shape``).  Both hold the target, as ``y`` with codes 0 to K - 1 and ``classes`` with their labels, or as
numbers under another name; ``feature_names``, ``train_idx`` and ``test_idx`` may be there.
"""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from streamsieve._validation import clean_sparse
from streamsieve.datasets.dataset import Dataset
from streamsieve.datasets.manifest import Entry
from streamsieve.exceptions import SourceError
from streamsieve.protocols import Matrix, Task

#: The variable that names the folder.
VARIABLE = "STREAMSIEVE_DATA"


def folder() -> Path | None:
    """Return the folder of data sets, if there is one."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else None


def path_of(file: str) -> Path | None:
    """Return the path of a data set, or None if there is none; names cannot lead out of the folder."""
    where = folder()
    if where is None or Path(file).name != file:
        return None
    path = where / f"{file}.npz"
    return path if path.is_file() else None


def names() -> list[str]:
    """Return the names of all files in the folder."""
    where = folder()
    if where is None or not where.is_dir():
        return []
    return sorted(path.stem for path in where.glob("*.npz") if _has_target(path))


def _has_target(path: Path) -> bool:
    """Whether a file may be a data set: an archive with an array y."""
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.startswith("y") for name in archive.namelist())
    except (OSError, zipfile.BadZipFile):
        return False


def read(path: Path, entry: Entry) -> Dataset:
    """Read a file; raise ``SourceError`` if it is not valid."""
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            return _read(file, path, entry)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise SourceError(
            f"{path} does not hold a data set ({error}): it needs X, or the pieces data, indices, indptr and "
            f"shape of a sparse matrix, and {entry.target}; see streamsieve.datasets"
        ) from error


def unlisted(path: Path) -> Entry:
    """Return an entry for a file that is not in the manifest."""
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            y = file["y"]
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise SourceError(f"{path} does not hold a data set ({error}): it needs X and y") from error
    whole = y.dtype.kind != "f" or bool(np.array_equal(y, np.floor(y)))  # 0.0 and 1.0 are classes
    task = Task.MULTICLASS if whole else Task.REGRESSION
    if task is Task.MULTICLASS and len(np.unique(y)) <= 2:
        task = Task.BINARY
    return Entry(path.stem, task, len(y), 0, "A file of your own.", "", file=path.stem)


def _read(file: Any, path: Path, entry: Entry) -> Dataset:
    X, target = _matrix(file), file[entry.target]
    if X.shape[0] != len(target):
        raise ValueError(f"X has {X.shape[0]} rows, but {entry.target} has {len(target)}")
    numeric = entry.task is Task.REGRESSION
    y = target.astype(np.float64) if numeric else target
    classes = None
    if not numeric:
        classes, y = np.unique(y, return_inverse=True)
        if "classes" in file and len(file["classes"]) > int(classes.max()):
            classes = file["classes"][classes]  # the labels of the codes
        y = y.astype(np.int64)
    return Dataset(
        entry.name, X, y, entry.task,
        [str(name) for name in file["feature_names"]] if "feature_names" in file else None,
        classes,
        file["train_idx"].astype(np.int64) if "train_idx" in file else None,
        file["test_idx"].astype(np.int64) if "test_idx" in file else None,
        entry.description, entry.citation, str(path),
    )  # fmt: skip


def _matrix(file: Any) -> Matrix:
    if "X" in file:
        return file["X"].astype(np.float64)
    pieces = file["data"].astype(np.float64), file["indices"].astype(np.int32), file["indptr"]
    return clean_sparse(sp.csr_array(pieces, shape=tuple(file["shape"])), "csr")
