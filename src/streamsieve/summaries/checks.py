"""Checks of rows and columns that all summaries share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from streamsieve.exceptions import SchemaError
from streamsieve.protocols import FloatArray, IntArray

if TYPE_CHECKING:
    from streamsieve.protocols import Matrix


def rows_with_weight(
    X: Matrix, y: npt.NDArray[Any], weight: FloatArray | None
) -> tuple[Matrix, npt.NDArray[Any], FloatArray | None]:
    """Return the rows whose weight is not 0: a row of weight 0 does not exist."""
    if weight is None or weight.all():
        return X, y, weight
    present = np.flatnonzero(weight)
    return X[present], y[present], weight[present]


def checked_columns(columns: IntArray, n_features: int) -> IntArray:
    """Return indices of features that all exist and all differ, or raise ``SchemaError``."""
    columns = np.asarray(columns, np.int64)
    outside = columns[(columns < 0) | (columns >= n_features)]
    if len(outside):
        raise SchemaError(f"there is no feature {outside[0]}: they go from 0 to {n_features - 1}")
    if len(np.unique(columns)) < len(columns):
        raise SchemaError("a feature is named twice among the columns: name each once")
    return columns


def checked_places(columns: IntArray, n_features: int, n_after: int) -> IntArray:
    """Return where each of ``n_features`` features goes among ``n_after``, or raise ``SchemaError``."""
    places = checked_columns(np.asarray(columns)[:n_features], n_after)
    if len(places) < n_features:
        raise SchemaError(f"each of {n_features} features needs a new place; got {len(places)} columns")
    return places
