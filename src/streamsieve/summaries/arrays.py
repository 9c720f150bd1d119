"""Operations on batches of rows and arrays over features that several summaries share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._validation import check_summary_rows
from streamsieve.exceptions import SchemaError
from streamsieve.protocols import FloatArray, IntArray, Matrix


def rows_with_weight(
    X: Matrix, y: npt.NDArray[Any], weight: FloatArray | None
) -> tuple[Matrix, npt.NDArray[Any], FloatArray | None]:
    """Check rows, and return those whose weight is not 0: a row of weight 0 does not exist."""
    X, y, weight = check_summary_rows(X, y, weight)
    if weight is None or weight.all():
        return X, y, weight
    present = np.flatnonzero(weight)
    return X[present], y[present], weight[present]


def in_steps(
    X: Matrix, y: npt.NDArray[Any], weight: FloatArray | None, step: int | None
) -> Iterator[tuple[Matrix, npt.NDArray[Any], FloatArray | None]]:
    """Yield ``step`` rows at a time; None for all of them."""
    n = X.shape[0]
    if step is None or step >= n:  # slicing a sparse matrix costs more than processing a row
        yield X, y, weight
        return
    for low in range(0, n, step):
        part = slice(low, low + step)
        yield X[part], y[part], None if weight is None else weight[part]


def by_class(codes: IntArray, n_classes: int) -> tuple[IntArray, IntArray]:
    """Return the rows in order of their class, and where the rows of each class begin and end there."""
    order = np.argsort(codes.astype(np.int16) if n_classes < 2**15 else codes, kind="stable")
    return order, np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=n_classes))])


def widened(X: Matrix, n_features: int, fill: float) -> Matrix:
    """Append missing features to rows: 0 in sparse rows, ``fill`` in dense ones."""
    n, width = X.shape
    if width >= n_features:
        return X
    if sp.issparse(X):
        return sp.csr_array((X.data, X.indices, X.indptr), shape=(n, n_features))
    return np.hstack([X, np.full((n, n_features - width), fill, X.dtype)])


def padded(a: npt.NDArray[Any], *shape: int) -> npt.NDArray[Any]:
    """Return a copy of a larger shape, with zeros at the ends."""
    larger = np.zeros(shape, a.dtype)
    larger[tuple(slice(n) for n in a.shape)] = a
    return larger


def remainder(whole: Any, part: FloatArray, n_rows: Any) -> FloatArray:
    """Return ``whole - part`` for sums of weights, with rounding errors of n_rows terms set to 0.

    Fractional weights add up differently in different orders; the residue of two sums that should be equal
    must not count as mass.
    """
    rest = whole - part
    # whole numbers add up exactly
    exact = (whole == np.floor(whole)) & (part == np.floor(part))
    slack = np.where(exact, 0.0, whole * np.minimum(n_rows * np.finfo(np.float64).eps, 1e-6))
    return np.where(rest > slack, rest, 0.0)


def checked_columns(columns: IntArray, n_features: int) -> IntArray:
    """Return valid and distinct indices of features, or raise ``SchemaError``."""
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
