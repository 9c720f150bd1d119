"""Stored rows of one form, and how they change when features are added, removed or moved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._values import HEAVIEST, LIMIT, refuse_non_finite
from streamsieve.exceptions import InputTypeError
from streamsieve.protocols import FloatArray, IntArray, Matrix
from streamsieve.state import Array, Int, Part, Texts
from streamsieve.summaries.arrays import rows_with_weight, widened

#: Types of values that are kept.
VALUES = ("f4", "f8")
#: Smallest weight of a row that exists.
LIGHTEST = float(np.nextafter(0.0, 1.0))
#: Most features that a state of sparse rows may claim: no array has their size.
WIDEST = 2**27


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
        """Memory used, in bytes."""
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
        return self._replace(X=widened(self.X, n_features, np.nan))

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

    def reindexed(self, columns: IntArray, n_features: int) -> Piece:
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


def present(
    X: Matrix, y: npt.NDArray[Any], weight: FloatArray | None, target: str, *, missing: bool = True
) -> Piece:
    """Return the rows of positive weight, after refusing values that no statistic survives.

    Without ``missing``, NaN is among these.
    """
    X, y, weight = rows_with_weight(X, y, weight)
    if X.dtype.kind in "biu":
        X = X.astype(np.float64)
    elif X.dtype.kind != "f":
        raise InputTypeError(f"rows are held as numbers, but these are {X.dtype}: encode text first")
    refuse_non_finite(X, missing=missing)
    if target == "numeric":
        return Piece(X, np.asarray(y, np.float64), weight)
    # labels of one kind have one type, so that they come back from a state as they were
    types = {"b": np.int64, "i": np.int64, "u": np.int64, "f": np.float64}
    return Piece(X, np.asarray(y, types.get(y.dtype.kind, np.str_)), weight)


def weights_of(piece: Piece) -> FloatArray:
    """Return the weights of some rows, 1 if there are none."""
    return np.ones(piece.n_rows) if piece.weight is None else piece.weight


def _csr(data: Any, indices: Any, per_row: IntArray, width: int) -> Any:
    """Return CSR rows with ``per_row`` values each."""
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


class RowRun(Part):
    """The state of rows of one form: dense or CSR, with labels or numbers, with weights or without."""

    fields = {
        "dense": Array(
            VALUES, "rows", "features", low=-LIMIT, high=LIMIT, missing=True, copy=False, optional=True
        ),
        "data": Array(VALUES, "stored", low=-LIMIT, high=LIMIT, missing=True, copy=False, optional=True),
        "indices": Array("i4", "stored", low=0, copy=False, optional=True),
        "indptr": Array("i4", "rows+1", low=0, order="sorted", copy=False, optional=True),
        "width": Int(0, WIDEST, optional=True),
        "numbers": Array(("i8", "f8"), "rows", low=-LIMIT, high=LIMIT, copy=False, optional=True),
        "labels": Texts("rows", optional=True),
        "weight": Array("f8", "rows", low=LIGHTEST, high=HEAVIEST, copy=False, optional=True),
    }

    @classmethod
    def of(cls, piece: Piece) -> Self:
        """Return the state of some rows."""
        X, y = piece.X, piece.y
        record: dict[str, Any] = dict.fromkeys(cls.fields)
        if sp.issparse(X):
            record |= {name: getattr(X, name) for name in ("data", "indices", "indptr")}
            record["width"] = X.shape[1]
        else:
            record["dense"] = X
        if y.dtype.kind == "U":
            record["labels"] = y.tolist()
        else:
            record["numbers"] = y
        return cls._rebuilt(record | {"weight": piece.weight})

    def piece(self) -> Piece:
        """Return the rows."""
        record: Any = vars(self)
        X = record["dense"]
        y = record["numbers"] if record["labels"] is None else np.array(record["labels"], np.str_)
        if X is None:
            csr = record["data"], record["indices"], record["indptr"]
            X = sp.csr_array(csr, shape=(len(y), record["width"]))
        return Piece(X, y, record["weight"])

    def _consistent(self) -> Iterator[str]:
        record: Any = vars(self)
        sparse = [record[name] is not None for name in ("data", "indices", "indptr", "width")]
        if any(sparse) is not all(sparse) or any(sparse) is (record["dense"] is not None):
            yield "the rows should be either dense or sparse"
        elif (record["numbers"] is None) is (record["labels"] is None):
            yield "the rows should have either numbers or labels as target"
        elif any(sparse):
            yield from _unlike_csr(record["indices"], record["indptr"], record["width"])


def _unlike_csr(indices: npt.NDArray[Any], indptr: npt.NDArray[Any], width: int) -> Iterator[str]:
    """Yield why some arrays are not CSR rows in canonical order."""
    if indptr[0] != 0 or indptr[-1] != len(indices):
        yield "the sparse rows end elsewhere than their values"
    elif len(indices):
        starts = np.zeros(len(indices), bool)
        starts[indptr[:-1][np.diff(indptr) > 0]] = True
        rising = np.diff(indices, prepend=np.int32(-1)) > 0
        if indices.max() >= width or not np.all(rising | starts):
            yield "the sparse rows name features out of order or out of range"
