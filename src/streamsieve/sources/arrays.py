"""Source of data in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._frames import check_arrow
from streamsieve.exceptions import SourceError
from streamsieve.protocols import ColumnBlock, RowBatch
from streamsieve.sources.checks import as_target, check_names, spans
from streamsieve.sources.identity import (
    another_stream,
    comparing,
    digest,
    names_identity,
    not_fewer,
    same,
    same_names,
)
from streamsieve.sources.parts import SourcePart, grouped
from streamsieve.sources.shown import ShownSource
from streamsieve.sources.tables import frames
from streamsieve.sources.weights import refuse_columns, weights_of

#: Size of the sample by which data are recognized when a run is resumed.
SAMPLED_ROWS, SAMPLED_VALUES, SAMPLED_LABELS = 64, 2**20, 2**14


class ArraySource(ShownSource):
    """Stream data in memory by rows or by columns.

    Parameters
    ----------
    X : ndarray, SciPy sparse matrix, pandas or polars DataFrame, Arrow table
        One row per sample, one column per feature. float32 and float64 arrays are passed on as views,
        everything else is converted to float64 batch by batch; missing values become NaN.
    y : array or str, default=None
        The target, one value per row; for a dataframe, also the name of the column that holds it.
    names : sequence of str, default=None
        Names of the features.  If None, those of a dataframe.
    weight : array or str, default=None
        The weights of rows, for selectors that take them: one number per row, or the name of the column of a
        dataframe that holds them, which is then no feature.

    Notes
    -----
    A sparse matrix is validated at once.  It is converted once, on first use, to CSR for rows or to CSC for
    columns; other formats are converted to CSR at once.

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

    def __init__(self, X: Any, y: Any = None, names: Sequence[str] | None = None, weight: Any = None) -> None:
        frame = None if isinstance(X, np.ndarray) or sp.issparse(X) else frames.as_frame(X)
        if frame is not None:
            check_arrow(frame.to_native())
            frame, target = frames.split_target(frame, y)
            y = y if target is None else target
            frame, weight = frames.split_weight(frame, weight)
            frames.refuse_non_numbers(frame)
            own = frame.columns
            names = own if names is None and all(isinstance(name, str) for name in own) else names
            shape: tuple[int, int] = frame.shape
        elif isinstance(y, str):
            raise SourceError(f"only a dataframe has a column named {y!r}: give y as an array")
        else:
            given = X
            X = _checked(X) if sp.issparse(X) else _matrix(X)
            shape, self._dtype = X.shape, str(given.dtype if sp.issparse(X) else X.dtype)
        if 0 in shape:
            raise SourceError(f"there is nothing to stream: X has {shape[0]} rows and {shape[1]} columns")
        self._X, self._frame = X, frame
        self._y, self._weight = as_target(y, shape[0]), weights_of(weight, shape[0])
        self._converted: dict[str, Any] = {}
        self._shape = shape
        self.names: list[str] | None = check_names(names, shape[1])
        self.n_rows: int | None = shape[0]
        self.n_columns: int | None = shape[1]

    @property
    def y(self) -> npt.NDArray[Any] | None:
        """The target, one value per row."""
        return self._y

    def identity(self) -> dict[str, Any]:
        """Return a JSON description that identifies the stream: columns, types, and a sample of the rows."""
        n, p = self._shape
        dtype = "float64" if self._frame is not None else self._dtype
        return {
            "kind": type(self).__name__,
            "rows": n,
            "columns": p,
            "names": names_identity(self.names),
            "dtype": f"sparse {dtype}" if sp.issparse(self._X) else dtype,
            "target": None if self._y is None else _kind_of(self._y),
            "weighted": self._weight is not None,
            "sample": self._sample(n),
        }

    def check_identity(self, known: Mapping[str, Any]) -> None:
        """Refuse data that differ from an earlier identity; rows may have been appended."""
        now = self.identity()
        with comparing(self, known):
            same_names(known["names"], self.names)
            same("the number of columns", known["columns"], now["columns"])
            not_fewer("rows", known["rows"], now["rows"])
            same("the type of the values", known["dtype"], now["dtype"])
            same("the target", known["target"], now["target"])
            same("whether rows have weights", known.get("weighted", False), now["weighted"])
            if self._sample(known["rows"]) != known["sample"]:
                raise another_stream("values of rows that were there before have changed")

    def _sample(self, n: int) -> str:
        """Return a digest of evenly spaced rows and labels among the first ``n``."""
        part = self._parts("csr")
        parts = [_bytes(part(slice(row, row + 1), slice(None))) for row in _spread(n, self._sampled_rows)]
        labels = [] if self._y is None else [self._y[_spread(n, SAMPLED_LABELS)]]
        return digest(*parts, *(repr(y.tolist()).encode("utf-8", "backslashreplace") for y in labels))

    @property
    def _sampled_rows(self) -> int:
        return max(2, min(SAMPLED_ROWS, SAMPLED_VALUES // self._shape[1]))

    @property
    def n_stored(self) -> int:
        """Number of values in memory; a sparse matrix stores few."""
        return int(self._X.nnz) if sp.issparse(self._X) else self._shape[0] * self._shape[1]

    def rows(self, batch_size: int = 4096, start: Mapping[str, int] | None = None) -> Iterator[RowBatch]:
        """Yield the rows in batches; only the last may be smaller.  Starts just after ``start``."""
        return self._rows(spans(self, "row", self._shape[0], batch_size, start))

    def columns(
        self, block_size: int = 1024, start: Mapping[str, int] | None = None
    ) -> Iterator[ColumnBlock]:
        """Yield the columns in blocks; only the last may be smaller.  Starts just after ``start``."""
        refuse_columns(self, self._weight)
        return self._columns(spans(self, "column", self._shape[1], block_size, start))

    def parts(self, rows: int) -> list[SourcePart]:
        """Cut the rows into consecutive parts of about ``rows`` rows."""
        cuts = [(skip, skip + size) for _, _, skip, size in grouped([self._shape[0]], rows)]
        return [
            SourcePart(self._only(low, high), f"rows {low + 1:,} to {high:,}", None, high - low, low)
            for low, high in cuts
        ]

    def _only(self, low: int, high: int) -> ArraySource:
        """Return a source of these rows only, so that no others are sent to another process."""
        if self._frame is not None:
            X = self._frame[low:high].to_native()
        else:
            X = (self._X.tocsr() if sp.issparse(self._X) else self._X)[low:high]
        y, weight = (None if each is None else each[low:high] for each in (self._y, self._weight))
        return ArraySource(X, y, self.names, weight)

    def _rows(self, pieces: Iterator[slice]) -> Iterator[RowBatch]:
        part = self._parts("csr")
        for rows in pieces:
            y, weight = (None if each is None else each[rows] for each in (self._y, self._weight))
            X = part(rows, slice(None))
            yield RowBatch(X, y, weight, self.names, {"row": rows.stop})

    def _columns(self, pieces: Iterator[slice]) -> Iterator[ColumnBlock]:
        part = self._parts("csc")
        for columns in pieces:
            names = None if self.names is None else self.names[columns]
            yield ColumnBlock(part(slice(None), columns), names, {"column": columns.stop})

    def _parts(self, format_: str) -> Callable[[slice, slice], Any]:
        """Return the function that cuts out cells as float32 or float64."""
        if self._frame is not None:
            order: Literal["C", "F"] = "C" if format_ == "csr" else "F"
            return lambda rows, columns: frames.cells(self._frame, rows, columns, order)
        X = self._X
        if sp.issparse(X):
            if format_ not in self._converted:
                self._converted[format_] = X.asformat(format_)  # its indices have been checked
            X = self._converted[format_]
        return lambda rows, columns: _floats(X[rows, columns])


def _matrix(X: Any) -> Any:
    """Return a two-dimensional ndarray of numbers."""
    masked = np.ma.getmask(X)
    try:
        X = np.asarray(X)
    except ValueError as error:
        raise SourceError("X must be a matrix; got rows of different lengths") from error
    except TypeError as error:  # an object that describes its memory wrongly
        raise SourceError(f"X must be a matrix; got {type(X).__name__}: {error}") from error
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
    # np.asarray exposed the masked values
    return X if masked is np.ma.nomask else np.where(masked, np.nan, X.astype(np.float64))


def _checked(X: Any) -> Any:
    """Return a sparse matrix as CSR or CSC whose indices are in range."""
    from streamsieve._validation import clean_sparse  # noqa: PLC0415 - imports scikit-learn

    return clean_sparse(X, "csc" if X.format == "csc" else "csr")


def _from_objects(X: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if any(isinstance(value, (str, bytes)) for value in X.flat):
        return X.astype(str)  # refused by dtype: text that looks like numbers is still text
    try:
        return X.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise SourceError(f"X must hold numbers; got objects: {error}") from error


def _floats(X: Any) -> Any:
    if X.dtype in (np.float64, np.float32):
        return X
    with np.errstate(over="ignore"):  # a longdouble may become infinite, which a selector refuses by name
        return X.astype(np.float64)


def _spread(n: int, few: int) -> npt.NDArray[np.intp]:
    """Return at most ``few`` of n positions, including the first and the last."""
    return np.unique(np.linspace(0, n - 1, min(n, few)).astype(np.intp))


def _bytes(X: Any) -> bytes:
    if not sp.issparse(X):
        return bytes(np.ascontiguousarray(X).data)
    X = X.tocsr(copy=True)
    X.sum_duplicates()
    return bytes(X.indices.astype(np.int64).data) + bytes(X.data.data)


def _kind_of(y: npt.NDArray[Any]) -> str:
    return {"U": "text", "O": "objects"}.get(y.dtype.kind, "numbers")
