"""Real data sets, from the folder that STREAMSIEVE_DATA names; read when they are first needed."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp


class MissingDataError(Exception):
    """A data set is needed and not there; the message says what to do."""


class RealData:
    """A data set by name: all its rows, training and validation parts together.

    Parameters
    ----------
    name : of its file, without .npz
    rows, columns : at most so many of each, for a quick look; None for all
    """

    def __init__(self, name: str, rows: int | None = None, columns: int | None = None) -> None:
        self.name, self._part = name, (slice(rows), slice(columns))

    @cached_property
    def matrices(self) -> tuple[Any, npt.NDArray[np.int64]]:
        """Rows (a float64 array, or CSR) and labels."""
        folder = os.environ.get("STREAMSIEVE_DATA")
        if not folder:
            raise MissingDataError("STREAMSIEVE_DATA is not set: name the folder of real data sets with it")
        path = Path(folder) / f"{self.name}.npz"
        if not path.exists():
            raise MissingDataError(f"{path} is not there")
        with np.load(path, allow_pickle=False) as file:
            X, y = _matrix(file), file["y"].astype(np.int64)
        rows, columns = self._part
        return X[rows][:, columns], y[rows]

    def batches(self, size: int) -> list[tuple[Any, npt.NDArray[np.int64]]]:
        """Return the rows in batches."""
        X, y = self.matrices
        return [(X[low : low + size], y[low : low + size]) for low in range(0, len(y), size)]


def _matrix(file: Any) -> Any:
    if "X" in file:
        return file["X"].astype(np.float64)
    pieces = file["data"].astype(np.float64), file["indices"].astype(np.int32), file["indptr"]
    return sp.csr_array(pieces, shape=tuple(file["shape"]))
