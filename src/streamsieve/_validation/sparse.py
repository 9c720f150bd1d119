"""Validation of sparse matrices: kernels and SciPy's compiled code do not check index arrays themselves.

SciPy's constructors do not check index arrays, and its conversions write to the places they name; so every
format is checked before any conversion.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._kernels.sparse_indices import look
from streamsieve.exceptions import InputError, InputTypeError

UNSORTED, BAD_POINTERS = 1, 2
#: The largest number of rows, columns and values.
LARGEST_INT32 = np.iinfo(np.int32).max
#: Names of the major and the minor axis of each compressed format, for errors.
LINES = {"csr": ("row", "column"), "csc": ("column", "row"), "bsr": ("block row", "block column")}

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
_INT32 = np.dtype(np.int32)
_NO_VALUES = np.empty(0)


class CheckedRows(sp.csr_array):  # type: ignore[misc]
    """CSR matrix that was validated during this call, so that later steps need not check it again."""

    @classmethod
    def of(cls, X: Any) -> CheckedRows:
        """Return the same arrays as this class."""
        rows = cls.__new__(cls)
        rows.__dict__.update(X.__dict__)
        return rows


def clean_sparse(X: Any, wanted: str) -> Any:
    """Return a sparse matrix of any format as CSR or CSC of floats, with sorted, unique int32 indices.

    Returns the given matrix itself if it needs no conversion, and never modifies it.

    Parameters
    ----------
    X : SciPy sparse matrix or sparse array
    wanted : "csr" or "csc"

    Raises
    ------
    InputError : an index is out of range, or the arrays do not fit together
    """
    if X.ndim != 2:
        raise InputError(f"Expected 2D array, got a sparse array of shape {X.shape}: reshape it to 2-D")
    data = getattr(X, "data", _NO_VALUES)  # DOK has none
    if not isinstance(data, np.ndarray) or isinstance(data, np.ma.MaskedArray):
        _refuse(f"should have an array of values (data), but has a {type(data).__name__}")
    if not all(isinstance(length, Integral) and int(length) >= 0 for length in X.shape):
        _refuse(f"has the shape {X.shape}")
    if X.dtype.kind not in "fiub":
        complex_ = "Complex data not supported: " if X.dtype.kind == "c" else ""
        raise InputTypeError(f"{complex_}X holds {X.dtype}, but numbers are needed")
    if max(X.shape) > LARGEST_INT32:
        raise InputError(
            f"a sparse matrix may have {LARGEST_INT32:,} rows and columns at most, got {X.shape}: split it"
        )
    if X.format not in ("csr", "csc"):
        X = _compressed(X, wanted)
    X = _canonical(X)
    return X if X.format == wanted else X.asformat(wanted)


def _canonical(X: Any) -> Any:
    """Check CSR or CSC, and return it with floats and sorted, unique int32 indices."""
    width = X.shape[1] if X.format == "csr" else X.shape[0]
    indptr, indices, found = _look(X, X.shape[0] + X.shape[1] - width, width)
    data, entries = X.data, int(indptr[-1])
    if data.ndim != 1 or len(data) != len(indices):
        _refuse(f"has {data.size} values (data) for {len(indices)} indices")
    if data.dtype not in _FLOATS:
        with np.errstate(over="ignore"):  # a longdouble may become infinite, which is refused later, by name
            data = data.astype(np.float64)
    if (
        data is X.data
        and indices is X.indices
        and indptr is X.indptr
        and len(indices) == entries
        and indices.dtype == indptr.dtype == _INT32
        and found != UNSORTED
        and data.flags.c_contiguous
    ):
        return X
    if entries > LARGEST_INT32:
        raise InputError(
            f"a sparse matrix may have {LARGEST_INT32:,} values at most, got {entries:,}: split it"
        )
    # SciPy uses the wider dtype for both, so both are narrowed
    arrays = (np.ascontiguousarray(data[:entries]), indices[:entries].astype(_INT32), indptr.astype(_INT32))
    X = type(X)(arrays, shape=X.shape, copy=found == UNSORTED)
    if found == UNSORTED:
        X.sum_duplicates()
    return X


def _look(X: Any, n: int, width: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any], int]:
    """Check pointers and indices; return both, and whether the lines are sorted without duplicates."""
    line, place = LINES[X.format]
    indptr, indices = _whole_numbers(X.indptr, "indptr"), _whole_numbers(X.indices, "indices")
    if len(indptr) != n + 1:
        _refuse(f"has {len(indptr)} pointers (indptr) for {n} {line}s, but one more than {line}s is needed")
    found = look(indptr, indices, width)
    if found == BAD_POINTERS:
        if indptr[0] != 0:
            _refuse(f"has pointers (indptr) that begin with {indptr[0]}, not with 0")
        falls = np.flatnonzero(indptr[1:] < indptr[:-1])
        if len(falls):
            i = int(falls[0])
            _refuse(f"has pointers (indptr) that fall from {indptr[i]} to {indptr[i + 1]} at {line} {i}")
        _refuse(f"has pointers (indptr) that end at {indptr[-1]}, but {len(indices)} indices")
    if found > BAD_POINTERS:
        bad = int(np.flatnonzero((indices < 0) | (indices >= width))[0])
        i = int(np.searchsorted(indptr, bad, side="right")) - 1
        raise _outside(place, int(indices[bad]), f" in {line} {i}", width)
    return indptr, indices, found


def _compressed(X: Any, wanted: str) -> Any:
    """Check a matrix of another format, and convert it to a compressed one."""
    if X.format == "dok":  # DOK: the keys are Python objects, and SciPy's conversion checks them
        try:
            X = X.tocoo()
        except (ValueError, OverflowError) as error:
            raise InputError(f"X has a key that is no row and column of its {X.shape}: {error}") from error
    if X.format == "bsr":
        _check_blocks(X)
    elif X.format == "coo":
        _check_coordinates(X)
    elif X.format == "lil":
        _check_lists(X)
        return X.tocsr()
    elif X.format == "dia" and (
        X.offsets.ndim != 1
        or X.offsets.dtype.kind != "i"
        or X.data.shape[:1] != X.offsets.shape
        or len(np.unique(X.offsets)) < len(X.offsets)
    ):
        _refuse(f"has {len(X.data)} diagonals (data) for the offsets {X.offsets.tolist()}")
    if X.dtype not in _FLOATS:  # convert before duplicates are summed in a dtype that is too narrow
        X = X.astype(np.float64)
    return X.asformat("csr" if X.format == "bsr" else wanted)


def _check_blocks(X: Any) -> None:
    if X.data.ndim != 3:
        _refuse(f"should have blocks (data) of three dimensions, but has {X.data.shape}")
    rows, columns = X.blocksize
    if rows < 1 or columns < 1 or X.shape[0] % rows or X.shape[1] % columns:
        _refuse(f"has blocks of {X.blocksize}, which do not divide its shape {X.shape}")
    _, indices, _ = _look(X, X.shape[0] // rows, X.shape[1] // columns)
    if X.data.shape != (len(indices), rows, columns):
        _refuse(f"has blocks (data) of shape {X.data.shape} for {len(indices)} indices")


def _check_coordinates(X: Any) -> None:
    if len(X.coords) != 2:
        _refuse(f"has {len(X.coords)} arrays of coordinates (coords), but rows and columns are needed")
    if X.row.shape != X.data.shape or X.col.shape != X.data.shape or X.data.ndim != 1:
        _refuse(f"has {X.row.size} row and {X.col.size} column numbers for {X.data.size} values")
    for place, numbers, width in zip(("row", "column"), (X.row, X.col), X.shape, strict=True):
        numbers = _whole_numbers(numbers, place)  # noqa: PLW2901 - the same ones
        if len(numbers) and (numbers.min() < 0 or numbers.max() >= width):
            bad = int(np.flatnonzero((numbers < 0) | (numbers >= width))[0])
            raise _outside(place, int(numbers[bad]), f" at entry {bad}", width)


def _check_lists(X: Any) -> None:
    if X.rows.shape != X.data.shape or X.rows.shape != X.shape[:1]:
        _refuse(f"has {len(X.rows)} lists of columns and {len(X.data)} of values for {X.shape[0]} rows")
    for i, (columns, values) in enumerate(zip(X.rows, X.data, strict=True)):
        if not (isinstance(columns, list) and isinstance(values, list)):
            _refuse(
                f"should have lists in row {i}, but has {type(columns).__name__}, {type(values).__name__}"
            )
        if len(columns) != len(values):
            _refuse(f"has {len(columns)} column numbers in row {i}, but {len(values)} values")
        for column, value in zip(columns, values, strict=True):
            if not (isinstance(column, Integral) and isinstance(value, (Real, np.bool_))):
                _refuse(f"should have numbers in row {i}, but has {value!r} at column {column!r}")
            if not 0 <= int(column) < X.shape[1]:
                raise _outside("column", column, f" in row {i}", X.shape[1])


def _whole_numbers(a: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """Return index arrays as contiguous int32 or int64: as they are, for all that SciPy makes."""
    if not isinstance(a, np.ndarray):
        _refuse(f"should have an array in {name}, but has a {type(a).__name__}")
    if a.dtype.kind not in "iu" or a.ndim != 1:
        _refuse(f"should have whole numbers in {name}, but has {a.dtype} of shape {a.shape}")
    if a.dtype == _INT32 or a.dtype == np.dtype(np.int64):
        return a if a.flags.c_contiguous else np.ascontiguousarray(a)
    most = np.iinfo(np.int64).max
    return np.ascontiguousarray(np.minimum(a, most) if a.dtype.itemsize == 8 else a, np.int64)


def _outside(place: str, number: Any, where: str, width: int) -> InputError:
    hint = "; one-based indices? subtract 1" if number == width else ""
    return InputError(f"X has {place} number {number}{where}, but {width} {place}s (0 to {width - 1}){hint}")


def _refuse(why: str) -> NoReturn:
    raise InputError(f"the sparse matrix X {why}: build it again, and see X.check_format()")
