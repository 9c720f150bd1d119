"""Blocks of columns, dense or sparse, in the form that the kernels of contingency tables take."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve.exceptions import InputTypeError, SchemaError
from streamsieve.protocols import FloatArray, IntArray, Matrix


class Pieces(NamedTuple):
    """Where each column begins, rows and values, and whether the block is sparse."""

    pointers: IntArray
    rows: npt.NDArray[np.int32]
    values: FloatArray
    sparse: bool


def pieces_of(X: Matrix, n: int) -> Pieces:
    """Return the arrays of a block of n rows; refuse values that are not finite."""
    if X.dtype.kind not in "fiub":
        raise InputTypeError(f"columns must be numeric; got {X.dtype}: encode categories as numbers first")
    if X.shape[0] != n:
        raise SchemaError(
            f"the block has {X.shape[0]} rows, but the target has {n}: one label per row is required"
        )
    if sp.issparse(X):
        pointers, rows = X.indptr.astype(np.int64, copy=False), X.indices.astype(np.int32, copy=False)
        return Pieces(pointers, rows, X.data.astype(np.float64, copy=False), sparse=True)
    values = np.ascontiguousarray(X.T, np.float64).reshape(-1)
    return Pieces(np.arange(X.shape[1] + 1) * n, np.arange(n, dtype=np.int32), values, sparse=False)


def begins_with_bits(pieces: Pieces) -> bool:
    """Whether the first column of a block holds at most one value besides 0."""
    pointers, values = pieces.pointers, pieces.values
    first = values[: pointers[1]] if len(pointers) > 1 else values[:0]
    others = first[first != 0]
    return bool(np.all(others == others[:1]))
