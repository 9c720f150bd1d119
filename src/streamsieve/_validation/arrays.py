"""Matrices of any container, and scikit-learn's rules about widths and names."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.utils.validation import check_array, validate_data

from streamsieve._frames import (
    as_objects,
    check_arrow,
    holds_text,
    is_frame,
    library_of,
    names_of,
    refuse_text,
    with_dense_columns,
)
from streamsieve._validation.sparse import clean_sparse
from streamsieve._values import refuse_non_finite
from streamsieve.exceptions import InputError, InputTypeError
from streamsieve.protocols import Matrix

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
#: Before 1.9, scikit-learn reads names by the interchange protocol of dataframes, which polars 2 lacks.
_BY_PROTOCOL = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 9)


def clean(X: Any, sparse: str) -> Any:
    """Convert input that NumPy, SciPy or pandas would accept but misinterpret.

    Sparse matrices become CSR or CSC (``sparse``) with checked indices; masked values become NaN; dates and
    records are refused.  Everything else, such as ordinary float arrays, is returned unchanged.
    """
    if type(X) is np.ndarray and X.dtype in FLOATS:
        return X
    if sp.issparse(X):
        return clean_sparse(X, sparse)
    if not isinstance(X, np.ndarray):
        return _clean_object(X, sparse)
    if X.dtype.kind in "mMV":
        raise InputTypeError(
            f"X holds {X.dtype}, but numbers are needed: convert it first, for example dates to days"
        )
    if isinstance(X, np.ma.MaskedArray):
        with as_input_errors():
            return np.ma.filled(X.astype(np.float64), np.nan)
    if X.dtype == np.longdouble:
        with np.errstate(over="ignore"):  # values that become infinite are refused later, by name
            return X.astype(np.float64)
    return X


def _clean_object(X: Any, sparse: str) -> Any:
    """Convert a dataframe, a list, or an object that describes its memory but has no shape."""
    check_arrow(X)
    if hasattr(X, "__array_interface__") and not hasattr(X, "shape"):  # scikit-learn looks for a shape
        with as_input_errors():
            return clean(np.asarray(X), sparse)
    return with_dense_columns(X)


def matrix(selector: Any, X: Any, *, reset: bool, sparse: str) -> Matrix:
    """Validate X through scikit-learn, so that widths and feature names follow its conventions."""
    refuse_sparse(selector, X)
    if reset and getattr(selector, "_library", "") != (library := library_of(X)):
        selector._library = library  # noqa: SLF001 - what it shows comes in the same library
    X = clean(X, sparse)
    # scikit-learn's check of dtypes would fail with an obscure NumPy error
    if is_frame(X) and X.shape[1] == 0:
        raise InputError(f"Found array with 0 feature(s) (shape={X.shape}): X has no columns to select from")
    if _is_plain(X):
        if reset:
            selector.n_features_in_ = X.shape[1]
            if hasattr(selector, "feature_names_in_"):
                del selector.feature_names_in_
        if X.shape[1] == selector.n_features_in_ and not hasattr(selector, "feature_names_in_"):
            return X
    if selector.traits.text and holds_text(X):
        with as_input_errors():
            return as_objects(_validated(selector, X, reset=reset, skip_check_array=True))
    refuse_text(X)
    with as_input_errors():
        out = _validated(
            selector, X, reset=reset, accept_sparse=sparse, dtype=list(FLOATS), ensure_all_finite=False
        )
    if sp.issparse(out):
        # the sparse matrix that scikit-learn made from a dataframe has not been checked
        return out if sp.issparse(X) else clean_sparse(out, sparse)
    return out if out.dtype.isnative else out.astype(out.dtype.newbyteorder("="))


def refuse_sparse(selector: Any, X: Any) -> None:
    """Refuse a sparse matrix if the selector does not support it."""
    if sp.issparse(X) and not selector.traits.sparse:
        raise InputTypeError(
            f"{type(selector).__name__} takes dense arrays only, but X is sparse: use X.toarray()"
        )


def check_frame(selector: Any, X: Any) -> None:
    """Check the names and the width of a dataframe by scikit-learn's rules, without converting it."""
    with as_input_errors():
        _validated(selector, X, reset=False, skip_check_array=True)


def check_kept(selector: Any, X: Any) -> None:
    """Check the values of a dataframe that ``transform`` is about to return."""
    if X.shape[1] == 0 or (selector.traits.text and holds_text(X)):
        return
    refuse_text(X)
    with as_input_errors():
        values = check_array(
            with_dense_columns(X), accept_sparse="csr", dtype=list(FLOATS), ensure_all_finite=False
        )
    if not selector.traits.missing:
        refuse_non_finite(values, names_of(X))


def _validated(selector: Any, X: Any, *, reset: bool, skip_check_array: bool = False, **options: Any) -> Any:
    """Call scikit-learn's ``validate_data``, also for frames whose names it does not find."""
    if not (_BY_PROTOCOL and is_frame(X) and not hasattr(X, "__dataframe__")):
        return validate_data(selector, X, reset=reset, skip_check_array=skip_check_array, **options)
    validate_data(selector, _Header(X), reset=reset, skip_check_array=True)
    return X if skip_check_array else check_array(X, estimator=selector, input_name="X", **options)


class _Header:
    """Shape and names of a dataframe, where scikit-learn before 1.9 looks for them."""

    def __init__(self, X: Any) -> None:
        self.shape, self._names = X.shape, names_of(X)

    def __dataframe__(self) -> _Header:
        return self

    def column_names(self) -> list[str] | None:
        return self._names


def _is_plain(X: Any) -> bool:
    """Whether X is an ordinary float array, or a clean sparse matrix: only its width is left to check."""
    if type(X) is not np.ndarray and not sp.issparse(X):
        return False
    return X.ndim == 2 and X.dtype in FLOATS and X.shape[0] > 0 and X.shape[1] > 0


class as_input_errors:  # noqa: N801 - reads as a statement
    """Context manager that converts scikit-learn's input errors to ours, with the same message."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        # pyarrow raises NotImplementedError for types that NumPy lacks
        if isinstance(error, (TypeError, NotImplementedError)) and not isinstance(error, InputError):
            raise InputTypeError(str(error)) from error
        of_polars = type(error).__module__.startswith("polars")  # it has types of its own
        if isinstance(error, (ValueError, OverflowError)) or (error is not None and of_polars):
            if isinstance(error, InputError):
                return
            raise InputError(str(error)) from error
