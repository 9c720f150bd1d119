"""Some rows of one form, and what becomes of them when features come late, leave or move."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._validation import HEAVIEST, LIMIT, refuse_infinite
from streamsieve.exceptions import InputError, InputTypeError, StateError
from streamsieve.protocols import Arrays, FloatArray, IntArray, Matrix
from streamsieve.state import expect, pack_strings, unpack_strings
from streamsieve.summaries._inner import under


class Piece(NamedTuple):
    """Some rows of one form: C-ordered array or CSR, labels or numbers, weights or None."""

    X: Matrix
    y: npt.NDArray[Any]
    weight: FloatArray | None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        X = (self.X.data, self.X.indices, self.X.indptr) if sp.issparse(self.X) else (self.X,)
        return sum(a.nbytes for a in (*X, self.y, self.weight) if a is not None)

    @property
    def form(self) -> tuple[Any, ...]:
        """What two pieces must have in common to become one."""
        return (sp.issparse(self.X), self.X.dtype, self.X.shape[1], self.weight is None, self.y.dtype.kind)

    def part(self, low: int, high: int) -> Piece:
        """Return rows low..high, without copying."""
        if (low, high) == (0, self.n_rows):
            return self
        weight = None if self.weight is None else self.weight[low:high]
        return Piece(_rows_of(self.X, low, high), self.y[low:high], weight)

    def widened(self, n_features: int) -> Piece:
        """Return the same rows with more features: 0 in sparse rows, missing in dense ones."""
        n, width = self.X.shape
        if width >= n_features:
            return self
        if sp.issparse(self.X):
            X = sp.csr_array((self.X.data, self.X.indices, self.X.indptr), shape=(n, n_features))
        else:
            X = np.hstack([self.X, np.full((n, n_features - width), np.nan, self.X.dtype)])
        return self._replace(X=X)

    def without(self, columns: IntArray) -> Piece:
        """Return the same rows with some features missing; sparse rows then store NaN for them."""
        if len(columns) == 0:
            return self
        if not sp.issparse(self.X):
            X = self.X.copy()
            X[:, columns] = np.nan
            return self._replace(X=X)
        n = self.n_rows
        rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(self.X.indptr))
        stays = ~np.isin(self.X.indices, columns)
        data = np.concatenate(
            [self.X.data[stays], np.full(n * len(columns), np.nan, self.X.dtype)], dtype=self.X.dtype
        )
        i = np.concatenate([rows[stays], np.repeat(np.arange(n, dtype=np.int32), len(columns))])
        j = np.concatenate([self.X.indices[stays], np.tile(columns.astype(np.int32), n)])
        order = np.lexsort((j, i))
        return self._replace(X=_csr(data[order], j[order], np.bincount(i, minlength=n), self.X.shape[1]))

    def renumbered(self, columns: IntArray, n_features: int) -> Piece:
        """Return the same rows with feature i moved to columns[i]; the others are 0 or missing."""
        n, width = self.X.shape
        if not sp.issparse(self.X):
            X = np.full((n, n_features), np.nan, self.X.dtype)
            X[:, columns[:width]] = self.X
            return self._replace(X=X)
        rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(self.X.indptr))
        j = columns[self.X.indices].astype(np.int32)
        order = np.lexsort((j, rows))
        return self._replace(X=_csr(self.X.data[order], j[order], np.diff(self.X.indptr), n_features))


def present(X: Matrix, y: npt.NDArray[Any], weight: FloatArray | None, target: str) -> Piece:
    """Return the rows of positive weight, after refusing values that no statistic survives."""
    if weight is not None and not weight.all():
        there = np.flatnonzero(weight)
        X, y, weight = X[there], y[there], weight[there]
    if X.dtype.kind in "biu":
        X = X.astype(np.float64)
    elif X.dtype.kind != "f":
        raise InputTypeError(f"rows are held as numbers, but these are {X.dtype}: encode text first")
    refuse_infinite(X)
    if target == "numeric":
        return Piece(X, np.asarray(y, np.float64), weight)
    # labels of one kind have one type, so that they come back from a state as they were
    types = {"b": np.int64, "i": np.int64, "u": np.int64, "f": np.float64}
    return Piece(X, np.asarray(y, types.get(y.dtype.kind, np.str_)), weight)


def weights_of(piece: Piece) -> FloatArray:
    """Return the weights of some rows, 1 if there are none."""
    return np.ones(piece.n_rows) if piece.weight is None else piece.weight


def _csr(data: Any, indices: Any, per_row: IntArray, width: int) -> Any:
    """Return CSR rows of so many values each."""
    indptr = np.zeros(len(per_row) + 1, np.int32)
    np.cumsum(per_row, out=indptr[1:])
    return sp.csr_array((data, indices, indptr), shape=(len(per_row), width))


def _rows_of(X: Matrix, low: int, high: int) -> Matrix:
    if not sp.issparse(X):
        return X[low:high]
    a, b = X.indptr[low], X.indptr[high]
    return sp.csr_array(
        (X.data[a:b], X.indices[a:b], X.indptr[low : high + 1] - a), shape=(high - low, X.shape[1])
    )


def copied(piece: Piece) -> Piece:
    """Own the rows: the user's arrays may change."""
    X = piece.X
    if sp.issparse(X):
        indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        X = sp.csr_array((X.data.copy(), indices, indptr), shape=X.shape)
    else:
        X = np.array(X, order="C")
    return Piece(X, piece.y.copy(), None if piece.weight is None else piece.weight.astype(np.float64))


def joined(parts: list[Piece]) -> Piece:
    """Make one piece of several of one form."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    y = np.concatenate([part.y for part in parts])
    weight = None if first.weight is None else np.concatenate([weights_of(part) for part in parts])
    if not sp.issparse(first.X):
        return Piece(np.concatenate([part.X for part in parts]), y, weight)
    data, indices = (
        np.concatenate([getattr(part.X, name) for part in parts]) for name in ("data", "indices")
    )
    per_row = np.concatenate([np.diff(part.X.indptr) for part in parts])
    return Piece(_csr(data, indices, per_row, first.X.shape[1]), y, weight)


def run_state(piece: Piece) -> Arrays:
    """Return rows of one form as arrays."""
    X, y = piece.X, piece.y
    arrays: Arrays = (
        {name: getattr(X, name) for name in ("data", "indices", "indptr")} if sp.issparse(X) else {"x": X}
    )
    if y.dtype.kind == "U":
        arrays |= {f"y/{key}": array for key, array in pack_strings(y.tolist()).items()}
    else:
        arrays["y"] = y
    return arrays if piece.weight is None else arrays | {"weight": piece.weight}


def run_from_state(arrays: Arrays, n: int, width: int, target: str) -> Piece:
    """Rebuild so many rows, after checking that they are such as :func:`present` lets through."""
    X = _dense_from_state(arrays, n, width) if "x" in arrays else _csr_from_state(arrays, n, width)
    y = _target_from_state(arrays, n, target)
    weight = None
    if "weight" in arrays:
        weight = expect(arrays, "weight", np.float64, (n,))
        if not np.all((weight > 0) & (weight <= HEAVIEST)):
            raise StateError("the state's rows have weights that are not positive numbers")
    try:
        refuse_infinite(X)
    except InputError as error:
        raise StateError(f"the state's rows do not fit: {error}") from error
    return Piece(X, y, weight)


def _dense_from_state(arrays: Arrays, n: int, width: int) -> Matrix:
    return expect(arrays, "x", _float_type(arrays["x"]), (n, width))


def _float_type(array: npt.NDArray[Any]) -> Any:
    return array.dtype if array.dtype == np.float32 else np.float64


def _csr_from_state(arrays: Arrays, n: int, width: int) -> Matrix:
    indptr = expect(arrays, "indptr", np.int32, (n + 1,))
    indices = expect(arrays, "indices", np.int32, (None,))
    data = expect(arrays, "data", _float_type(arrays.get("data", indices)), (len(indices),))
    if indptr[0] != 0 or indptr[-1] != len(indices) or np.any(np.diff(indptr) < 0):
        raise StateError("the state's sparse rows do not fit together")
    if len(indices):
        starts = np.zeros(len(indices), bool)
        starts[indptr[:-1][np.diff(indptr) > 0]] = True
        rising = np.diff(indices, prepend=np.int32(-1)) > 0
        if indices.min() < 0 or indices.max() >= width or not np.all(rising | starts):
            raise StateError("the state's sparse rows name features out of order or out of range")
    return sp.csr_array((data, indices, indptr), shape=(n, width))


def _target_from_state(arrays: Arrays, n: int, target: str) -> npt.NDArray[Any]:
    if "y" not in arrays and target == "classes":
        words = unpack_strings(under("y", arrays))
        if len(words) != n:
            raise StateError(f"the state has {len(words)} labels for {n} rows")
        return np.array(words, np.str_)
    whole = target == "classes" and "y" in arrays and arrays["y"].dtype == np.int64
    y = expect(arrays, "y", np.int64 if whole else np.float64, (n,))
    if not np.all(np.abs(y) <= LIMIT):
        raise StateError("the state's targets are not finite, or too large")
    return y
