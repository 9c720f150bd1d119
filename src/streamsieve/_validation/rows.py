"""Batches of rows, and their weights."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from streamsieve._validation.arrays import FLOATS, as_input_errors, clean, matrix
from streamsieve._validation.sparse import CheckedRows
from streamsieve._validation.targets import check_target
from streamsieve._values import HEAVIEST, LIGHTEST, refuse_non_finite
from streamsieve.exceptions import CapabilityError, InputError, InputTypeError, SchemaError
from streamsieve.protocols import FloatArray, Matrix, RowBatch


def check_batch(batch: Any) -> None:
    """Refuse what is no batch of rows, or has other names than columns."""
    if not isinstance(batch, RowBatch):
        raise InputTypeError(
            f"a batch of a source (RowBatch) is needed, got a {type(batch).__name__}: use partial_fit(X, y) "
            "for arrays"
        )
    if batch.names is None:
        return
    if getattr(batch.X, "ndim", None) != 2:
        raise InputTypeError(f"a batch has a matrix of rows; got a {type(batch.X).__name__}")
    names, width = batch.names, batch.X.shape[1]
    if width == 0:
        raise InputError(f"the batch has 0 features (shape {batch.X.shape}): there is nothing to learn")
    listed = hasattr(names, "__len__") and getattr(names, "ndim", 1) == 1
    if not listed or len(names) != width:
        found = len(names) if listed else f"a {type(names).__name__} of"
        raise SchemaError(f"the batch has {width} features, but {found} names")


def check_rows(selector: Any, X: Any, y: Any, weight: Any, *, target: str | None, reset: bool) -> RowBatch:
    """Validate a batch of rows; ``target`` is "classes", "numeric" or None (no target needed)."""
    X = matrix(selector, X, reset=reset, sparse="csr")
    n = X.shape[0]
    check_traits(selector, X, weight, getattr(selector, "feature_names_in_", None))
    y = None if target is None else check_target(y, n, target, selector)
    return RowBatch(CheckedRows.of(X) if sp.issparse(X) else X, y, _weight(weight, n))


def check_traits(selector: Any, X: Matrix, weight: Any, names: Sequence[str] | None = None) -> None:
    """Refuse weights and missing values if the selector does not support them."""
    if weight is not None and not selector.traits.weights:
        raise CapabilityError(
            f"{type(selector).__name__} does not support sample_weight: leave it out, or use Screen"
        )
    if not selector.traits.missing:
        refuse_non_finite(X, names)


def check_named_rows(selector: Any, batch: RowBatch, *, target: str | None) -> RowBatch:
    """Validate a batch of a source, which carries its names beside the array; `check_batch` comes before."""
    X = clean(batch.X, "csr")
    if type(X) is not np.ndarray or X.dtype not in FLOATS or X.ndim != 2:
        with as_input_errors():
            X = check_array(X, accept_sparse="csr", dtype=list(FLOATS), ensure_all_finite=False)
    n = X.shape[0]
    check_traits(selector, X, batch.weight, batch.names)
    y = None if target is None else check_target(batch.y, n, target, selector)
    return RowBatch(CheckedRows.of(X) if sp.issparse(X) else X, y, _weight(batch.weight, n))


def check_summary_rows(X: Any, y: Any, weight: Any) -> tuple[Matrix, npt.NDArray[Any], FloatArray | None]:
    """Validate rows for a summary; those from a selector have been checked already."""
    if type(X) is not CheckedRows:
        X = clean(X, "csr")
    if len(getattr(X, "shape", ())) != 2:
        raise InputError(f"X must be a matrix of rows; got a {type(X).__name__}")
    y = np.asarray(y)
    if y.shape != X.shape[:1]:
        raise InputError(f"X has {X.shape[0]} rows, but y has shape {y.shape}: one label per row is needed")
    if weight is None:
        return X, y, None
    weight = np.asarray(weight, np.float64)
    if weight.shape != y.shape or not np.all((weight >= 0) & (weight < np.inf)):
        raise InputError(f"X has {X.shape[0]} rows: one finite weight >= 0 per row is needed, or none")
    return X, y, weight


def check_output(X: Any, width: int) -> Matrix:
    """Validate input of ``inverse_transform``."""
    with as_input_errors():
        X = check_array(clean(X, "csr"), accept_sparse="csr", dtype=None, ensure_all_finite=False)
    if X.shape[1] != width:
        raise SchemaError(f"X has {X.shape[1]} columns, but transform puts out {width}")
    return X


def _weight(weight: Any, n: int) -> FloatArray | None:
    if weight is None:
        return None
    plain = type(weight) is np.ndarray and weight.dtype == np.float64 and weight.shape == (n,)
    if plain and n and weight.min() >= 0 and weight.max() <= HEAVIEST:  # NaN is neither
        return _tiny_as_zero(weight)
    if isinstance(weight, numbers.Real):
        weight = np.full(n, weight)
    if np.ma.is_masked(weight):
        raise InputError("sample_weight has masked values: give every row a weight, 0 to leave it out")
    with as_input_errors():
        weight = check_array(
            clean(weight, "csr"),
            ensure_2d=False,
            dtype=np.float64,
            ensure_all_finite=True,
            input_name="sample_weight",
        )
    if weight.ndim != 1 or weight.shape[0] != n:
        raise InputError(
            f"Sample weights must be 1D array or scalar of {n} values, one per row; got shape {weight.shape}"
        )
    if weight.min() < 0 or weight.max() > HEAVIEST:
        worst = weight.min() if weight.min() < 0 else weight.max()
        raise InputError(f"sample_weight must lie between 0 and {HEAVIEST:g}; got {worst:g}")
    return _tiny_as_zero(weight)


def _tiny_as_zero(weight: FloatArray) -> FloatArray:
    """Return weights with those that are too small to be squared as 0."""
    tiny = weight < LIGHTEST
    return np.where(tiny, 0.0, weight) if weight[tiny].any() else weight
