"""Columns that a Python function computes one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve.exceptions import SourceError
from streamsieve.protocols import ColumnBlock, FloatArray
from streamsieve.sources._checks import as_target, beyond, check_size, check_start, no_axis


class Features:
    """Stream columns that are computed lazily, one after the other, by a Python generator.

    Only one block of columns exists at a time, and a selector that stops early leaves the rest uncomputed.

    Parameters
    ----------
    factory : callable returning an iterator, or iterable
        Gives the columns: each one value a row, or a pair ``(name, column)``; a pandas or polars series
        brings its name.  A callable can be started again, to stream twice or to resume; an iterator
        serves once.
    y : array of one value a row, or None
        The target that the columns are judged by.  None for unsupervised selectors; then the first
        column says how many rows there are.
    names : sequence of str, default=None
        Names in order of arrival, for columns that come without; else they are called x0, x1, ...

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.sources import Features
    >>> t, y = np.arange(4.0), np.array([0, 0, 1, 1])
    >>> def powers():
    ...     for k in range(1, 4):
    ...         yield f"t^{k}", t**k
    >>> for block in Features(powers, y).columns(2):
    ...     print(block.names, block.X.shape, block.position)
    ['t^1', 't^2'] (4, 2) {'column': 2}
    ['t^3'] (4, 1) {'column': 3}
    """

    def __init__(
        self,
        factory: Callable[[], Iterable[Any]] | Iterable[Any],
        y: Any,
        names: Sequence[str] | None = None,
    ) -> None:
        self._factory = factory
        self._y = as_target(y, None)
        self._given = None if names is None else [str(name) for name in names]
        self._spent = False
        self.names: list[str] | None = self._given
        self.n_columns: int | None = None if names is None else len(names)
        self.n_rows: int | None = None if self._y is None else len(self._y)

    @property
    def y(self) -> npt.NDArray[Any] | None:
        """The target, one value a row."""
        return self._y

    def rows(self, batch_size: int = 4096, start: Mapping[str, int] | None = None) -> NoReturn:
        """Refuse: a row is complete only after the last column."""
        del batch_size, start
        raise no_axis(
            self, "rows", "it computes columns one after the other; use columns() and a column selector"
        )

    def columns(
        self, block_size: int = 1024, start: Mapping[str, int] | None = None
    ) -> Iterator[ColumnBlock]:
        """Yield the columns in blocks, computing them on the way.

        If a column cannot be computed, those before it are delivered first, whatever the block size.

        Parameters
        ----------
        block_size : int, default=1024
            Columns in a block; the last may be smaller.
        start : position of a block, default=None
            Begin just after that block; the columns before are computed and dropped.
        """
        size = check_size("block_size", block_size)
        return self._columns(size, check_start(self, start, ("column",))["column"])

    def _columns(self, size: int, start: int) -> Iterator[ColumnBlock]:
        items = self._items(start)
        n, at, going = self.n_rows, start, True
        while going:
            columns: list[FloatArray] = []
            names: list[str | None] = []
            failure: SourceError | None = None
            while going and len(columns) < size:
                try:
                    name, column = next(items)
                    n = len(column) if n is None else n
                    _check_length(at + len(columns), name, column, n)
                except StopIteration:
                    going = False
                except SourceError as error:
                    going, failure = False, error
                else:
                    columns.append(column)
                    names.append(name)
            if columns:
                labels = [f"x{at + k}" if name is None else name for k, name in enumerate(names)]
                some = None if all(name is None for name in names) else labels
                at += len(columns)
                # the transpose of stacked rows: every column is contiguous
                yield ColumnBlock(np.array(columns).T, some, {"column": at})
            if failure is not None:
                raise failure

    def _items(self, start: int) -> Iterator[tuple[str | None, FloatArray]]:
        """Yield (name, column) from number ``start`` on; whatever goes wrong names the feature."""
        at = 0
        try:
            stream = self._stream()
            for item in stream:
                if at >= start:
                    yield self._named(at, item)
                at += 1
        except SourceError:
            raise
        except Exception as error:
            raise SourceError(
                f"feature {at} (counting from 0) could not be computed: the generator raised "
                f"{type(error).__name__}: {' '.join(str(error).split())}"
            ) from error
        if at < start:
            raise beyond(self, "columns", start, at)

    def _stream(self) -> Iterator[Any]:
        made = self._factory() if callable(self._factory) else self._factory
        if not isinstance(made, Iterable):
            raise SourceError(
                "factory must be a function that returns an iterator of columns, or an iterable of "
                f"columns; got {type(made).__name__}"
            )
        stream = iter(made)
        if stream is self._factory:
            if self._spent:
                raise SourceError(
                    "this iterator has been used and cannot start again: pass the function that makes it, "
                    "as in Features(make_columns, y)"
                )
            self._spent = True
        return stream

    def _named(self, at: int, item: Any) -> tuple[str | None, FloatArray]:
        name: str | None = None
        if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str):
            name, item = item
        elif isinstance(getattr(item, "name", None), str):
            name = item.name or None
        if name is None and self._given is not None:
            if at >= len(self._given):
                raise SourceError(
                    f"feature {at} (counting from 0) has no name: names has {len(self._given)} entries; "
                    "give one name a column"
                )
            name = self._given[at]
        return name, _numbers(at, name, item)


def _numbers(at: int, name: str | None, item: Any) -> FloatArray:
    """Return a column as float64; text that looks like numbers is still text."""
    try:
        values = np.asarray(item.toarray() if sp.issparse(item) else item)
        if values.dtype.kind not in "fiubO" or (
            values.dtype.kind == "O" and any(isinstance(value, (str, bytes)) for value in values.flat)
        ):
            raise SourceError(
                f"{_label(at, name)} holds {_KINDS.get(values.dtype.kind, 'text')}, not numbers: "
                "encode it (for example with OrdinalEncoder) or leave it out"
            )
        # a copy even of float64: a generator may fill one buffer again and again
        values = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, SourceError):
            raise
        raise SourceError(f"{_label(at, name)} is not a column of numbers: {error}") from error
    if values.ndim == 2 and 1 in values.shape:
        values = values.ravel()
    if values.ndim != 1:
        raise SourceError(
            f"{_label(at, name)} has shape {values.shape}, but a column has one value a row: yield "
            "the columns one by one"
        )
    return values


_KINDS = {"c": "complex numbers", "M": "dates", "m": "durations", "V": "records"}


def _check_length(at: int, name: str | None, column: FloatArray, n: int) -> None:
    if len(column) != n:
        raise SourceError(
            f"{_label(at, name)} has {len(column)} values, but there are {n} rows: "
            "every column stands over the same rows"
        )


def _label(at: int, name: str | None) -> str:
    return f"feature {at} (counting from 0)" + ("" if name is None else f", {name!r},")
