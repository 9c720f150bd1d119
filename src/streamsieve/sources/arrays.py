"""Data that is already in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve.exceptions import SourceError
from streamsieve.protocols import ColumnBlock, RowBatch
from streamsieve.sources import _frames
from streamsieve.sources._checks import as_target, beyond, check_names, check_size, check_start


class ArraySource:
    """Stream data in memory by rows or by columns.

    Parameters
    ----------
    X : ndarray, SciPy sparse matrix, pandas or polars DataFrame, Arrow table
        One row an instance, one column a feature.  float32 and float64 arrays are passed on as views,
        everything else becomes float64 batch by batch; missing values become NaN.
    y : array or str, default=None
        The target, one value a row; for a dataframe, also the name of the column that holds it.
    names : sequence of str, default=None
        Names of the features; a dataframe brings its own.

    Notes
    -----
    A sparse matrix is converted to CSR for rows and to CSC for columns, once, when first asked for.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.sources import ArraySource
    >>> source = ArraySource(np.arange(10).reshape(5, 2), y=[0, 1, 0, 1, 1])
    >>> for batch in source.rows(2):
    ...     print(batch.X.shape, batch.y, batch.position)
    (2, 2) [0 1] {'row': 2}
    (2, 2) [0 1] {'row': 4}
    (1, 2) [1] {'row': 5}
    >>> [block.X.shape for block in source.columns(1)]
    [(5, 1), (5, 1)]
    """

    def __init__(self, X: Any, y: Any = None, names: Sequence[str] | None = None) -> None:
        frame = None if isinstance(X, np.ndarray) or sp.issparse(X) else _frames.as_frame(X)
        if frame is not None:
            frame, target = _frames.split_target(frame, y)
            y = y if target is None else target
            _frames.refuse_non_numbers(frame)
            own = frame.columns
            names = own if names is None and all(isinstance(name, str) for name in own) else names
            shape: tuple[int, int] = frame.shape
        elif isinstance(y, str):
            raise SourceError(f"only a dataframe has a column named {y!r}: give y as an array")
        else:
            X = _matrix(X)
            shape = X.shape
        if 0 in shape:
            raise SourceError(f"there is nothing to stream: X has {shape[0]} rows and {shape[1]} columns")
        self._X, self._frame = X, frame
        self._y = as_target(y, shape[0])
        self._converted: dict[str, Any] = {}
        self._shape = shape
        self.names: list[str] | None = check_names(names, shape[1])
        self.n_rows: int | None = shape[0]
        self.n_columns: int | None = shape[1]

    @property
    def y(self) -> npt.NDArray[Any] | None:
        """The target, one value a row."""
        return self._y

    def rows(self, batch_size: int = 4096, start: Mapping[str, int] | None = None) -> Iterator[RowBatch]:
        """Yield the rows in batches.

        Parameters
        ----------
        batch_size : int, default=4096
            Rows in a batch; the last may be smaller.
        start : position of a batch, default=None
            Begin just after that batch.
        """
        size = check_size("batch_size", batch_size)
        row = self._begin(start, "row", self._shape[0])
        return self._rows(size, row)

    def columns(
        self, block_size: int = 1024, start: Mapping[str, int] | None = None
    ) -> Iterator[ColumnBlock]:
        """Yield the columns in blocks.

        Parameters
        ----------
        block_size : int, default=1024
            Columns in a block; the last may be smaller.
        start : position of a block, default=None
            Begin just after that block.
        """
        size = check_size("block_size", block_size)
        column = self._begin(start, "column", self._shape[1])
        return self._columns(size, column)

    def _begin(self, start: Mapping[str, int] | None, key: str, there: int) -> int:
        at = check_start(self, start, (key,))[key]
        if at > there:
            raise beyond(self, f"{key}s", at, there)
        return at

    def _rows(self, size: int, row: int) -> Iterator[RowBatch]:
        n = self._shape[0]
        part = self._parts("csr")
        for low in range(row, n, size):
            rows = slice(low, min(low + size, n))
            y = None if self._y is None else self._y[rows]
            X = part(rows, slice(None))
            yield RowBatch(X, y, None, self.names, {"row": rows.stop})

    def _columns(self, size: int, column: int) -> Iterator[ColumnBlock]:
        p = self._shape[1]
        part = self._parts("csc")
        for low in range(column, p, size):
            columns = slice(low, min(low + size, p))
            names = None if self.names is None else self.names[columns]
            yield ColumnBlock(part(slice(None), columns), names, {"column": columns.stop})

    def _parts(self, format_: str) -> Callable[[slice, slice], Any]:
        """Return the function that cuts out cells as float32 or float64."""
        if self._frame is not None:
            order: Literal["C", "F"] = "C" if format_ == "csr" else "F"
            return lambda rows, columns: _frames.cells(self._frame, rows, columns, order)
        X = self._X
        if sp.issparse(X):
            if format_ not in self._converted:
                self._converted[format_] = X.asformat(format_)
            X = self._converted[format_]
        return lambda rows, columns: _floats(X[rows, columns])


def _matrix(X: Any) -> Any:
    """Return a two-dimensional ndarray or sparse matrix of numbers."""
    if isinstance(X, np.ma.MaskedArray):
        # np.asarray would lay open what the mask hides
        X = np.ma.filled(X.astype(np.float64), np.nan)
    if not sp.issparse(X):
        try:
            X = np.asarray(X)
        except ValueError as error:
            raise SourceError("X must be a matrix; got rows of different lengths") from error
    if X.ndim != 2:
        raise SourceError(
            f"X must have two dimensions, rows and columns; got {type(X).__name__} of shape {X.shape}: "
            "reshape it, for example X.reshape(-1, 1) for one column"
        )
    if X.dtype.kind == "O":
        X = _from_objects(X)
    if X.dtype.kind not in "fiub":
        raise SourceError(
            f"X must hold numbers; got dtype {X.dtype}: encode text (for example with OrdinalEncoder) "
            "or leave it out"
        )
    return X


def _from_objects(X: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if any(isinstance(value, (str, bytes)) for value in X.flat):
        return X.astype(str)  # refused by its dtype: text that looks like numbers is still text
    try:
        return X.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise SourceError(f"X must hold numbers; got objects: {error}") from error


def _floats(X: Any) -> Any:
    return X if X.dtype in (np.float64, np.float32) else X.astype(np.float64)
