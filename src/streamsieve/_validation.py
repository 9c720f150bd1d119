"""The border: whatever a user hands in becomes a clean array here, or an error that says what to do.

The only module that talks to scikit-learn's validation.  Behind it, a matrix is a float32 or float64
ndarray, or CSR (rows) / CSC (columns) with sorted unique int32 indices.

Speed: finite values are not checked by a pass of their own for rows (the kernels notice NaN and inf in
sums they need anyway), and ordinary arrays take a path of exact type tests that costs a microsecond.
"""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_array, validate_data

from streamsieve._frames import as_objects, holds_text, is_series, names_of, refuse_text
from streamsieve._parameters import check_choice
from streamsieve._values import HEAVIEST, LIMIT, refuse_non_finite
from streamsieve.exceptions import CapabilityError, InputError, InputTypeError, SchemaError, TargetError
from streamsieve.protocols import ColumnBlock, FloatArray, Matrix, RowBatch, Task

#: More different whole numbers than this, and than a tenth of the rows, are not taken for labels unasked.
MANY_CLASSES = 20
TASKS = ("auto", "classification", "regression")

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


# ------------------------------------------------------------------------------------ rows


def check_rows(selector: Any, X: Any, y: Any, weight: Any, *, target: str | None, reset: bool) -> RowBatch:
    """Validate a batch of rows; ``target`` is "classes", "numeric" or None (no target needed)."""
    X = matrix(selector, X, reset=reset, sparse="csr")
    n = X.shape[0]
    check_traits(selector, X, weight)
    return RowBatch(X, None if target is None else check_target(y, n, target), _weight(weight, n))


def check_traits(selector: Any, X: Matrix, weight: Any, names: Sequence[str] | None = None) -> None:
    """Refuse weights and missing values where the selector's traits do not have them."""
    if weight is not None and not selector.traits.weights:
        raise CapabilityError(
            f"{type(selector).__name__} has no use for sample_weight: leave it out, or use Screen"
        )
    if not selector.traits.missing:
        refuse_non_finite(X, names)


def check_named_rows(selector: Any, batch: RowBatch, *, target: str | None) -> RowBatch:
    """Validate a batch of a source, which carries its names beside the array."""
    X, n = batch.X, batch.X.shape[0]
    if not sp.issparse(X) and X.dtype not in _FLOATS:
        X = X.astype(np.float64)
    check_traits(selector, X, batch.weight, batch.names)
    y = None if target is None else check_target(batch.y, n, target)
    return RowBatch(_canonical(X) if sp.issparse(X) else X, y, _weight(batch.weight, n))


def check_output(X: Any, width: int) -> Matrix:
    """Validate what a transform put out, before it is put back."""
    with _as_input_errors():
        X = check_array(X, accept_sparse="csr", dtype=None, ensure_all_finite=False)
    if X.shape[1] != width:
        raise SchemaError(f"X has {X.shape[1]} columns, but transform puts out {width}")
    return X.toarray() if sp.issparse(X) else X


def matrix(selector: Any, X: Any, *, reset: bool, sparse: str) -> Matrix:
    """Validate X through scikit-learn, so that widths and feature names follow its conventions."""
    refuse_sparse(selector, X)
    if _is_plain(X, sparse):
        if reset:
            selector.n_features_in_ = X.shape[1]
            if hasattr(selector, "feature_names_in_"):
                del selector.feature_names_in_
        if X.shape[1] == selector.n_features_in_ and not hasattr(selector, "feature_names_in_"):
            return _canonical(X) if sp.issparse(X) else X
    if selector.traits.text and holds_text(X):
        with _as_input_errors():
            return as_objects(validate_data(selector, X, reset=reset, skip_check_array=True))
    refuse_text(X)
    with _as_input_errors():
        X = validate_data(
            selector, X, reset=reset, accept_sparse=sparse, dtype=list(_FLOATS), ensure_all_finite=False
        )
    return _canonical(X) if sp.issparse(X) else X


def refuse_sparse(selector: Any, X: Any) -> None:
    """Refuse sparse values for a selector whose traits say that it takes none."""
    if sp.issparse(X) and not selector.traits.sparse:
        raise InputTypeError(
            f"{type(selector).__name__} takes dense arrays only, but X is sparse: use X.toarray()"
        )


def check_frame(selector: Any, X: Any) -> None:
    """Check the names and the width of a dataframe by scikit-learn's rules, without converting it."""
    with _as_input_errors():
        validate_data(selector, X, reset=False, skip_check_array=True)


def check_kept(selector: Any, X: Any) -> None:
    """Check the values of a dataframe that ``transform`` is about to return."""
    if X.shape[1] == 0 or (selector.traits.text and holds_text(X)):
        return
    refuse_text(X)
    with _as_input_errors():
        values = check_array(X, accept_sparse="csr", dtype=list(_FLOATS), ensure_all_finite=False)
    if not selector.traits.missing:
        refuse_non_finite(values, names_of(X))


def _is_plain(X: Any, sparse: str) -> bool:
    """Whether X is an ordinary float array, or sparse as wanted: nothing but its width is left to check."""
    if type(X) is not np.ndarray and not (sp.issparse(X) and X.format == sparse):
        return False
    return X.ndim == 2 and X.dtype in _FLOATS and X.shape[0] > 0 and X.shape[1] > 0


def _canonical(X: Any) -> Any:
    """Sorted, unique, int32 indices: what the kernels rely on.  Never touches the user's matrix."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.indices.dtype != np.int32:
        most = np.iinfo(np.int32).max
        if max(*X.shape, X.nnz) > most:
            raise InputError(
                f"a sparse matrix may have {most:,} rows, columns and values at most, got {X.shape} and "
                f"{X.nnz:,} values: split it"
            )
        # SciPy takes the wider of the two types for both, so both are narrowed
        pieces = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
        X = type(X)(pieces, shape=X.shape, copy=False)
    return X


def check_target(y: Any, n: int, kind: str) -> npt.NDArray[Any]:
    """Validate ``n`` targets: "classes", "numeric", or "either" (fractional numbers are numeric)."""
    if not _is_plain_target(y):
        y = _one_dimensional(y)
    if y.shape[0] != n:
        raise TargetError(f"X has {n} rows, but y has {y.shape[0]}: one label a row is wanted")
    if kind == "either" and y.dtype.kind == "f" and not np.array_equal(y, np.floor(y)):
        kind = "numeric"
    if kind == "numeric":
        return _numeric_target(y)
    if y.dtype.kind == "f":
        _refuse_missing_target(y)
        if not np.array_equal(y, np.floor(y)):
            raise TargetError(
                "y holds fractional numbers, but this method needs class labels; for a numeric target "
                "use criterion='correlation' or 'mutual_info' (rows) or task='regression', or bin y first"
            )
    return np.asarray(y)


def _one_dimensional(y: Any) -> npt.NDArray[Any]:
    if y is None:
        raise TargetError(
            "this selector requires y to be passed, but the target y is None: give one label a row"
        )
    if is_series(y):
        y = nw.from_native(y, series_only=True).to_numpy()
    elif hasattr(y, "to_numpy") and not isinstance(y, np.ndarray):
        y = y.to_numpy()
    try:
        y = np.asarray(y)
    except ValueError as error:
        raise TargetError("y must be one-dimensional, one label a row; got a ragged list") from error
    if y.ndim == 2 and y.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected", DataConversionWarning, stacklevel=4
        )
        y = y.ravel()
    if y.ndim != 1:
        raise TargetError(f"y must be one-dimensional, one label a row; got shape {y.shape}")
    if y.dtype.kind == "c":
        raise TargetError("Complex data not supported: y holds complex numbers")
    if y.dtype.kind == "O":
        return _plain_labels(y)
    if y.dtype.kind not in "fiubU" or (y.dtype == np.uint64 and y.size and y.max() > np.iinfo(np.int64).max):
        raise TargetError(f"y must hold numbers or text; got {y.dtype}: convert it, for example to text")
    return np.asarray(y)


def _plain_labels(y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Turn an object array into text or numbers; refuse mixtures and missing labels."""
    kinds = {type(v) for v in y.tolist()}
    if kinds <= {str}:
        return y.astype(str)
    if type(None) in kinds:
        raise TargetError("y has missing labels (None): drop those rows or give them a label")
    if str in kinds:
        raise TargetError("y mixes text and other types: make all labels text or all numbers")
    try:
        numeric = y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TargetError("y must hold numbers or text; got other objects") from error
    return np.asarray(numeric, np.int64 if kinds <= {int, bool} else np.float64)


def _numeric_target(y: npt.NDArray[Any]) -> FloatArray:
    if y.dtype.kind in "USO":
        raise TargetError(
            f"a numeric target is wanted, but y holds text such as {str(y[0])!r}; "
            "class labels want a method, or a criterion, for classes"
        )
    y = np.ascontiguousarray(y, np.float64)
    _refuse_missing_target(y)
    return y


def _refuse_missing_target(y: npt.NDArray[Any]) -> None:
    if not np.all(np.isfinite(y)):
        raise TargetError("y contains NaN or infinity: drop those rows or fill them in")
    if y.size and max(abs(float(y.max())), abs(float(y.min()))) > LIMIT:
        raise TargetError(f"y holds values beyond {LIMIT:g}, whose squares overflow: rescale it")


def _weight(weight: Any, n: int) -> FloatArray | None:
    if weight is None:
        return None
    plain = type(weight) is np.ndarray and weight.dtype == np.float64 and weight.shape == (n,)
    if plain and n and weight.min() >= 0 and weight.max() <= HEAVIEST:  # NaN is neither
        return weight  # type: ignore[no-any-return]
    if isinstance(weight, numbers.Real):
        weight = np.full(n, weight)
    with _as_input_errors():
        weight = check_array(
            weight, ensure_2d=False, dtype=np.float64, ensure_all_finite=True, input_name="sample_weight"
        )
    if weight.ndim != 1 or weight.shape[0] != n:
        raise InputError(
            f"Sample weights must be 1D array or scalar of {n} values, one per row; got shape {weight.shape}"
        )
    if weight.min() < 0 or weight.max() > HEAVIEST:
        worst = weight.min() if weight.min() < 0 else weight.max()
        raise InputError(f"sample_weight must lie between 0 and {HEAVIEST:g}; got {worst:g}")
    return weight  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------ columns


def check_block(X: Any, names: Sequence[str] | None, n: int, *, missing: bool = False) -> ColumnBlock:
    """Validate a block of columns over ``n`` rows; names default to those of a dataframe.

    With ``missing``, NaN is a missing value.
    """
    if names is None:
        names = names_of(X)
    refuse_text(X)
    if getattr(X, "ndim", None) == 1 or is_series(X):
        X = np.asarray(X).reshape(-1, 1)
    with _as_input_errors():
        X = check_array(X, accept_sparse="csc", dtype=np.float64, ensure_all_finite=False, input_name="X")
    if X.shape[0] != n:
        raise SchemaError(
            f"the block has {X.shape[0]} rows, but begin(y) was given {n}: "
            "all columns of one stream stand over the same rows"
        )
    if sp.issparse(X):
        X = _canonical(X)
    if names is not None and len(names) != X.shape[1]:
        raise SchemaError(f"names has {len(names)} entries for {X.shape[1]} columns: give one name a column")
    refuse_non_finite(X, names, missing=missing)
    return ColumnBlock(X, None if names is None else tuple(names))


def task_of(y: Any, task: str) -> tuple[npt.NDArray[Any], Task]:
    """Validate the whole target of a column stream and say what kind it is."""
    check_choice("task", task, TASKS)
    if not _is_plain_target(y):
        y = _one_dimensional(y)
    if y.shape[0] == 0:
        raise TargetError("y is empty: at least two rows are needed")
    continuous = y.dtype.kind == "f" and not np.array_equal(y, np.floor(y))
    if task == "regression" or (task == "auto" and continuous):
        y = _numeric_target(y)
        if y.min() == y.max():
            raise TargetError(
                f"y is constant ({y.flat[0]:g}), so no feature can explain it: give a target that varies"
            )
        return y, Task.REGRESSION
    y = check_target(y, y.shape[0], "classes")
    classes = len(np.unique(y))
    if task == "auto" and y.dtype.kind in "fiu" and classes > max(MANY_CLASSES, len(y) / 10):
        raise TargetError(
            f"y holds {classes} different whole numbers over {len(y)} rows, which may be classes or a "
            "quantity: say task='classification' or task='regression' (--task)"
        )
    if classes < 2:
        raise TargetError(
            f"y holds one class only ({y[0].item()!r}), so no feature can tell classes apart: "
            "give rows of at least two classes"
        )
    return y, Task.BINARY if classes == 2 else Task.MULTICLASS


def _is_plain_target(y: Any) -> bool:
    return type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "fib"


class _as_input_errors:  # noqa: N801 - reads as a statement
    """Context: scikit-learn's complaints about input become ours, with the same words."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, nw.exceptions.DuplicateError):
            raise SchemaError(f"two columns have the same name; names must differ: {error}") from error
        if isinstance(error, TypeError):
            raise InputTypeError(str(error)) from error
        if isinstance(error, ValueError) and not isinstance(error, InputError):
            raise InputError(str(error)) from error
