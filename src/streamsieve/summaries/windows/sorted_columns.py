"""All rows, and their columns in rising order: tables over bins without any error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._kernels import sorted_columns as kernel
from streamsieve._parameters import check_choice, check_number
from streamsieve._threads import over_features
from streamsieve.exceptions import MergeError
from streamsieve.protocols import FloatArray, IntArray, Matrix
from streamsieve.state import Choice, Nested, register
from streamsieve.summaries.class_totals import FREQUENCY, IMPORTANCE, WEIGHT_KINDS
from streamsieve.summaries.table_block import TableBlock, features_at_once, table_block
from streamsieve.summaries.windows.recent_rows import as_sparse
from streamsieve.summaries.windows.row_pieces import present
from streamsieve.summaries.windows.row_store import HeldRows, RowStore

#: Values that are sorted at once.
BLOCK_VALUES = 2**21
#: Relative cost of a value, in units of the threading threshold (``threads.SMALL``).
EFFORT = 8


class _Sorted(NamedTuple):
    """Some features: pointers, and rows and values in rising order, missing ones last."""

    pointers: IntArray
    rows: npt.NDArray[np.int32]
    values: FloatArray


class _Rows(NamedTuple):
    """All rows: code of the class, weight, and the mass of every class."""

    codes: IntArray
    weight: FloatArray
    mass: FloatArray


@register
class SortedColumns(HeldRows):
    """Exact quantiles: stores all rows, and sorts their columns on access for tables over any number of bins.

    For data that fit into memory, and as the exact counterpart of :class:`Quantiles`.

    Parameters
    ----------
    weight_kind : {"frequency", "importance"}, default="frequency"
        Whether weight k is the same as k copies of a row, or how much one row counts; see :class:`Quantiles`.

    Notes
    -----
    Memory is that of the rows.  Columns are sorted on access, some at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.summaries import SortedColumns
    >>> columns = SortedColumns()
    >>> columns.update(np.arange(10.0)[:, None], np.repeat(["a", "b"], 5))
    >>> next(columns.tables(5)).counts[0]
    array([[2., 2., 1., 0., 0.],
           [0., 0., 1., 2., 2.]])
    """

    target = "classes"
    _bounded = False
    fields = {"_rows": Nested(RowStore), "_kind": Choice(None, IMPORTANCE)}  # absent: frequency

    def __init__(self, *, weight_kind: str = FREQUENCY) -> None:
        check_choice("weight_kind", weight_kind, WEIGHT_KINDS)
        self._rows = RowStore()
        self._kind = None if weight_kind == FREQUENCY else weight_kind

    @property
    def weight_kind(self) -> str:
        """What a weight is: "frequency" or "importance"."""
        return self._kind or FREQUENCY

    def tables(self, bins: int) -> Iterator[TableBlock]:
        """Yield contingency tables of all features over bins of equal frequency, some at a time.

        Parameters
        ----------
        bins : number of bins, at least 2.  Cut i is the smallest value whose mass reaches i of ``bins`` parts
            of the whole; a value is in the bin of the first cut it does not exceed.
        """
        check_number("bins", bins, low=2, integer=True)
        if not self.n_rows:
            return
        rows = self._all_rows()
        whole = bool(np.all(rows.weight == np.floor(rows.weight)))
        squares = rows.mass
        if self._kind == IMPORTANCE:
            squares = np.asarray(np.bincount(rows.codes, rows.weight**2), np.float64)
        for part in self._sorted(features_at_once(len(rows.mass), bins)):
            m = len(part.pointers) - 1
            counts = np.zeros((m, len(rows.mass), bins))

            def work(low: int, high: int, part: _Sorted = part, counts: FloatArray = counts) -> None:
                kernel.tables(*part, rows.codes, rows.weight, rows.mass, whole, low, high, counts)

            over_features(m, EFFORT * len(part.values), work)
            yield table_block(counts, rows.mass, squares, ordered=True)

    def purities(self) -> FloatArray:
        """Return the purity after the best split of each feature, from 0 to 1; -1 without two classes.

        The sum over the two sides of their share of the mass times the sum of squared class shares.
        """
        if not self.n_rows:
            return np.zeros(0)
        rows = self._all_rows()
        found = []
        for part in self._sorted(self.n_features):
            out = np.zeros(len(part.pointers) - 1)

            def work(low: int, high: int, part: _Sorted = part, out: FloatArray = out) -> None:
                kernel.purities(*part, rows.codes, rows.weight, rows.mass, low, high, out)

            over_features(len(out), EFFORT * len(part.values), work)
            found.append(out)
        return np.concatenate(found)

    def _all_rows(self) -> _Rows:
        _, codes = np.unique(self._rows.labels(), return_inverse=True)
        weight = self._rows.weights()
        return _Rows(codes.astype(np.int64), weight, np.asarray(np.bincount(codes, weight), np.float64))

    def _sorted(self, most: int) -> Iterator[_Sorted]:
        """Yield all features in order, at most ``most`` at a time."""
        p = self.n_features
        pieces = [piece.widened(p).X for piece in self._rows.explicit()]
        step = max(1, min(most, BLOCK_VALUES // self.n_rows))
        if not any(sp.issparse(X) for X in pieces):
            for low in range(0, p, step):
                columns = np.concatenate([X[:, low : low + step] for X in pieces], dtype=np.float64).T
                order = np.argsort(columns, axis=1, kind="stable")
                values = np.take_along_axis(columns, order, axis=1)
                yield _Sorted(
                    np.arange(len(columns) + 1) * self.n_rows, order.reshape(-1).astype(np.int32),
                    values.reshape(-1),
                )  # fmt: skip
            return
        X = sp.vstack([as_sparse(X) for X in pieces], format="csr").tocsc()
        for low in range(0, p, most):
            part = X[:, low : low + most]
            column = np.repeat(np.arange(part.shape[1]), np.diff(part.indptr))
            order = np.lexsort((part.data, column))
            yield _Sorted(
                part.indptr.astype(np.int64), part.indices[order].astype(np.int32), part.data[order]
            )

    def update(self, X: Matrix, y: npt.NDArray[Any], weight: FloatArray | None = None) -> None:
        """Add rows, all of them or (on an error) none."""
        piece = present(X, y, weight, self.target)
        self._rows.check(piece)
        self._rows.append(piece)

    def merge(self, other: Self) -> None:
        """Merge another summary, as if its rows had been added after these."""
        if not isinstance(other, SortedColumns):
            raise MergeError(
                f"sorted columns only merge with sorted columns, not with a {type(other).__name__}"
            )
        if other.weight_kind != self.weight_kind:
            raise MergeError(
                f"only sorted columns of equal weight_kind merge: {self.weight_kind} here, "
                f"{other.weight_kind} there"
            )
        self._append(other)

    def reindexed(self, columns: IntArray, n_features: int) -> Self:
        """Return a copy with feature i at columns[i]; the others are missing (dense) or 0 (sparse) so far."""
        return self._rebuilt({"_rows": self._rows.reindexed(columns, n_features), "_kind": self._kind})
