"""Rows as entries, and arrays with one row per feature that grow with the features."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve.protocols import Matrix


def grow_rows(array: npt.NDArray[Any], length: int) -> npt.NDArray[Any]:
    """Return the array, or if it is too short, a copy at least twice as long, padded with zeros."""
    if len(array) >= length:
        return array
    # the first time exactly: if all features are known from the beginning, no memory is wasted
    longer = np.zeros((max(length, 2 * len(array)), *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


class RowEntries(NamedTuple):
    """Row i has the values ``data[indptr[i]:indptr[i + 1]]`` in the columns ``indices[...]``, increasing."""

    data: npt.NDArray[np.float64]
    indices: npt.NDArray[np.int32]
    indptr: npt.NDArray[np.int64]


def row_entries(X: Matrix) -> RowEntries:
    """Return the entries of a batch; dense rows have entries for zeros, too."""
    if sp.issparse(X):
        return RowEntries(_float64(X.data), X.indices.astype(np.int32, copy=False), _int64(X.indptr))
    n, p = X.shape
    every = np.tile(np.arange(p, dtype=np.int32), n)
    return RowEntries(_float64(np.ascontiguousarray(X).reshape(-1)), every, np.arange(0, n * p + 1, p))


def _float64(values: Any) -> npt.NDArray[np.float64]:
    return np.asarray(values, np.float64)


def _int64(values: Any) -> npt.NDArray[np.int64]:
    return np.asarray(values, np.int64)
