"""The last rows of a stream, column by column: for criteria that compare rows with each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._parameters import check_choice, check_number
from streamsieve.exceptions import InputError, MergeError
from streamsieve.protocols import FloatArray, IntArray, Matrix
from streamsieve.state import Choice, Nested, register
from streamsieve.summaries.windows.row_pieces import Piece, present, weights_of
from streamsieve.summaries.windows.row_store import HeldRows, RowStore

TARGETS = ("classes", "numeric")
LARGEST = 2**62
#: Sums of as many copies of as many rows are exact.
MOST_COPIES = 2**31
#: Values of dense rows that are turned into columns at once.
BLOCK_VALUES = 2**20


class ColumnsBlock(NamedTuple):
    """Some features of all rows in the window, as sparse columns."""

    #: Feature j has the values data[indptr[j]:indptr[j + 1]] in the rows indices[...], and 0 in the others;
    #: NaN is missing.
    indptr: IntArray
    indices: npt.NDArray[np.int32]
    data: FloatArray
    #: Code of every row's label, or its number.
    y: npt.NDArray[Any]
    #: Copies of every row.
    copies: IntArray
    #: Number of labels; 0 if the target is numeric.
    n_classes: int


@register
class RecentRows(HeldRows):
    """Sliding window of raw rows: the last ``size`` rows of a stream, read column by column.

    Parameters
    ----------
    target : {"classes", "numeric"}, default="classes"
        What ``update`` takes for ``y``.
    size : int, default=1000
        Rows to remember, at least 1.  Rows of weight 0 do not exist and take no place.

    Notes
    -----
    A weight stands for copies of a row and must be a whole number; the copies take one place together.

    Memory is O(size x width), as dense or sparse as the rows came; columns are made when asked for, dense
    ones some at a time.  Sparse rows are 0 in features that came later, dense rows are missing there.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.summaries import RecentRows
    >>> rows = RecentRows(size=2)
    >>> rows.update(np.array([[1.0], [2.0], [4.0]]), np.array(["a", "b", "a"]))
    >>> (block,) = rows.blocks()
    >>> rows.n_rows, block.data, block.y
    (2, array([2., 4.]), array([1, 0]))
    """

    fields = {"target": Choice(*TARGETS), "_rows": Nested(RowStore)}

    def __init__(self, target: str = "classes", *, size: int = 1000) -> None:
        check_number("size", size, low=1, high=LARGEST, integer=True)
        self.target = check_choice("target", target, TARGETS)
        self._rows = RowStore(int(size))

    @property
    def size(self) -> int:
        """Rows remembered at most."""
        return int(self._rows.size or 0)

    @property
    def sparse_rows(self) -> int:
        """How many of the rows are sparse: these are 0 in features that come later."""
        return sum(piece.n_rows for piece in self._rows.pieces() if sp.issparse(piece.X))

    def blocks(self) -> Iterator[ColumnsBlock]:
        """Yield the columns of all features, some at a time."""
        p = self.n_features
        pieces = [piece.widened(p) for piece in self._rows.explicit()]
        if not pieces:
            return
        y, n_classes = self._targets()
        copies = np.concatenate([weights_of(piece) for piece in pieces]).astype(np.int64)
        if any(sp.issparse(piece.X) for piece in pieces):
            X = sp.vstack([as_sparse(piece.X) for piece in pieces], format="csr").tocsc()
            yield ColumnsBlock(
                X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data, y, copies, n_classes
            )
            return
        n = len(y)
        step = max(1, BLOCK_VALUES // n)
        for low in range(0, p, step):
            columns = np.concatenate([piece.X[:, low : low + step] for piece in pieces], dtype=np.float64)
            m = columns.shape[1]
            every = np.tile(np.arange(n, dtype=np.int32), m)
            yield ColumnsBlock(np.arange(m + 1) * n, every, columns.T.reshape(-1), y, copies, n_classes)

    def _targets(self) -> tuple[npt.NDArray[Any], int]:
        """Return codes of the labels and how many there are, or the numbers and 0."""
        labels = self._rows.labels()
        if self.target == "numeric":
            return labels, 0
        distinct, codes = np.unique(labels, return_inverse=True)
        return codes, len(distinct)

    def replay(self, summary: Any, columns: IntArray | None = None, *, pooled: bool = False) -> None:
        """Feed all rows to a summary, cut into the same pieces whatever batches they came in.

        ``columns`` restricts them to some features, in increasing order; ``pooled`` gives all one label.
        """
        for piece in self._rows.explicit():
            X = piece.widened(self.n_features).X
            y = np.zeros(piece.n_rows, np.int64) if pooled else piece.y
            summary.update(X if columns is None else _some_columns(X, columns), y, piece.weight)

    def update(self, X: Matrix, y: npt.NDArray[Any], weight: FloatArray | None = None) -> None:
        """Take rows into account, all of them or (on an error) none; as many old ones leave."""
        self._rows.append(self.checked(X, y, weight))

    def checked(self, X: Matrix, y: npt.NDArray[Any], weight: FloatArray | None = None) -> Piece:
        """Return the rows of positive weight, or refuse them all."""
        piece = present(X, y, weight, self.target)
        if piece.weight is not None:
            w = piece.weight
            wrong = np.flatnonzero((w != np.floor(w)) | (w > MOST_COPIES))
            if len(wrong):
                raise InputError(
                    f"sample_weight must hold whole numbers up to {MOST_COPIES} here, where it says how "
                    f"often a row counts among neighbors; got {w[wrong[0]]:g}: leave it out, or use "
                    "criterion='mutual_info'"
                )
        self._rows.check(piece)
        return piece

    def merge(self, other: Self) -> None:
        """Become the last rows of this stream followed by the other's."""
        if not isinstance(other, RecentRows) or (other.target, other.size) != (self.target, self.size):
            raise MergeError(
                f"only windows of equal size and target merge: {self._name()} here, "
                f"{other._name() if isinstance(other, RecentRows) else type(other).__name__} there"
            )
        self._append(other)

    def _name(self) -> str:
        return f"{self.size} rows with {self.target}"

    def reindexed(self, columns: IntArray, n_features: int) -> Self:
        """Return a copy with feature i at ``columns[i]``, among ``n_features`` features."""
        return self._rebuilt({"target": self.target, "_rows": self._rows.reindexed(columns, n_features)})

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        weights = self._rows.weights()
        if np.any((weights != np.floor(weights)) | (weights > MOST_COPIES)):
            yield "the rows have weights that are not numbers of copies"


def as_sparse(X: Matrix) -> Any:
    """Return rows as CSR of float64; those of a dense array hold their zeros, too."""
    if sp.issparse(X):
        return sp.csr_array(X).astype(np.float64, copy=False)
    n, p = X.shape
    every = np.tile(np.arange(p, dtype=np.int32), n)
    return sp.csr_array((X.reshape(-1).astype(np.float64), every, np.arange(n + 1) * p), shape=(n, p))


def _some_columns(X: Matrix, columns: IntArray) -> Matrix:
    """Return some columns, in increasing order."""
    if not sp.issparse(X):
        return X[:, columns]
    place = np.full(X.shape[1], -1, np.int32)
    place[columns] = np.arange(len(columns), dtype=np.int32)
    moved = place[X.indices]
    there = moved >= 0
    before = np.concatenate([[0], np.cumsum(there)])
    pieces = X.data[there], moved[there], before[X.indptr].astype(np.int32)
    return sp.csr_array(pieces, shape=(X.shape[0], len(columns)))
