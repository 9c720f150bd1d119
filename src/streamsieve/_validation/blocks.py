"""Blocks of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from streamsieve._frames import is_series, names_of, refuse_text
from streamsieve._validation.arrays import as_input_errors, clean
from streamsieve._values import refuse_non_finite
from streamsieve.exceptions import InputError, SchemaError
from streamsieve.protocols import ColumnBlock


def shaped(X: Any) -> Any:
    """Return what a ``ColumnBlock`` of the caller holds; refuse it if it is no matrix."""
    if len(getattr(X, "shape", ())) != 2:
        raise InputError(
            f"the X of a ColumnBlock must be a matrix of rows and columns; got {type(X).__name__}: give "
            "np.asarray(X).reshape(n_rows, -1)"
        )
    return X


def check_block(
    X: Any, names: Sequence[str] | None, n: int, *, missing: bool = False, omits: bool = False
) -> ColumnBlock:
    """Validate a block of columns over ``n`` rows; names default to those of a dataframe.

    With ``missing``, NaN is a missing value; ``omits`` is that of ``refuse_non_finite``.
    """
    if names is None:
        names = names_of(X)
    X = clean(X, "csc")
    refuse_text(X)
    if getattr(X, "ndim", None) == 1 or is_series(X):
        X = clean(np.asarray(X), "csc").reshape(-1, 1)
    # otherwise `clean` has done all of it
    if not (sp.issparse(X) and X.dtype == np.float64 and min(X.shape) > 0):
        with as_input_errors():
            X = check_array(X, accept_sparse="csc", dtype=np.float64, ensure_all_finite=False, input_name="X")
            X = clean(X, "csc")  # of a dataframe with sparse columns
    if X.shape[0] != n:
        raise SchemaError(
            f"the block has {X.shape[0]} rows, but begin(y) was given {n}: "
            "all columns of a stream must have the same rows"
        )
    if names is not None and len(names) != X.shape[1]:
        raise SchemaError(
            f"names has {len(names)} entries for {X.shape[1]} columns: give one name per column"
        )
    refuse_non_finite(X, names, missing=missing, omits=omits)
    return ColumnBlock(X, None if names is None else tuple(names))
