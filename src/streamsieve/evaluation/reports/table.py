"""A tidy table: one array per column, one entry per row, and nothing else."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Self

import narwhals as nw
import numpy as np
import numpy.typing as npt

from streamsieve._files import refuse_foreign
from streamsieve._parameters import check_choice, did_you_mean
from streamsieve._text import shown, unguarded, write_csv
from streamsieve.exceptions import CapabilityError, ParameterError, StateError
from streamsieve.state import replacing

#: Libraries that can hold a dataframe, the first that is installed counts.
FRAMES = ("pandas", "polars", "pyarrow")
#: Kinds of columns: how each is read from a file.
_READ: dict[str, Callable[[list[str]], npt.NDArray[Any]]] = {
    "bool": lambda cells: np.array([cell == "True" for cell in cells], bool),
    "int": lambda cells: np.array([int(cell) for cell in cells], np.int64),
    "float": lambda cells: np.array([float(cell) for cell in cells], np.float64),
    "text": lambda cells: np.array(cells, np.str_),
}
_KINDS = {"b": "bool", "i": "int", "u": "int", "f": "float", "U": "text"}


class Table(Mapping[str, npt.NDArray[Any]]):
    """Tidy table: columns by name, all of the same length.

    Parameters
    ----------
    columns : arrays or lists by name

    Examples
    --------
    >>> from streamsieve.evaluation import Table
    >>> table = Table({"fold": [0, 0, 1, 1], "selector": ["f", "t", "f", "t"], "score": [0.5, 1, 0.7, 0.8]})
    >>> table.where(selector="t")["score"]
    array([1. , 0.8])
    >>> print(table.mean("score", by="selector"))
    selector  mean  std     n
    f         0.6   0.1414  2
    t         0.9   0.1414  2
    """

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns = {name: _column(values) for name, values in columns.items()}
        lengths = {name: len(values) for name, values in self._columns.items()}
        if len(set(lengths.values())) > 1:
            raise ParameterError(f"the columns of a table have one length; got {lengths}")

    @classmethod
    def of(cls, rows: Sequence[Sequence[Any]], kinds: Mapping[str, str]) -> Self:
        """Return a table of rows; ``kinds`` says by name what each column holds."""
        by_column: list[Any] = list(zip(*rows, strict=True)) if rows else [()] * len(kinds)
        types = {"bool": bool, "int": np.int64, "float": np.float64, "text": np.str_}
        columns = zip(kinds.items(), by_column, strict=True)
        return cls({name: np.array(list(values), types[kind]) for (name, kind), values in columns})

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        try:
            return self._columns[name]
        except KeyError:
            known = ", ".join(map(repr, self._columns))
            raise ParameterError(
                f"there is no column {name!r}{did_you_mean(name, self._columns)}; there is {known}"
            ) from None

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return next((len(values) for values in self._columns.values()), 0)

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows, as plain numbers and text."""
        return zip(*(values.tolist() for values in self._columns.values()), strict=True)

    def unique(self, name: str) -> list[Any]:
        """Return the different values of a column, in the order of their first appearance."""
        return list(dict.fromkeys(self[name].tolist()))

    def where(self, **conditions: Any) -> Table:
        """Return the rows in which columns have these values: one value each, or a list, tuple or set."""
        mask = np.ones(self.n_rows, bool)
        for name, wanted in conditions.items():
            several = isinstance(wanted, (list, tuple, set, frozenset, np.ndarray))
            values = list(wanted) if several else [wanted]
            mask &= np.isin(self[name], values)
        return self.take(mask)

    def take(self, rows: npt.NDArray[Any]) -> Table:
        """Return some rows, by a mask or by their numbers."""
        return Table({name: values[rows] for name, values in self._columns.items()})

    def groups(self, by: str | Sequence[str]) -> dict[tuple[Any, ...], npt.NDArray[np.int64]]:
        """Return the numbers of the rows that agree in some columns, in order of first appearance."""
        names = [by] if isinstance(by, str) else list(by)
        found: dict[tuple[Any, ...], list[int]] = {}
        for row, key in enumerate(zip(*(self[name].tolist() for name in names), strict=True)):
            found.setdefault(key, []).append(row)
        return {key: np.array(rows, np.int64) for key, rows in found.items()}

    def mean(self, column: str, by: str | Sequence[str]) -> Table:
        """Return mean, standard deviation and number of a column's values, for rows that agree in others.

        NaN is left out.  Columns are ``by``, ``mean``, ``std`` (of a sample; NaN for one value) and ``n``.
        """
        names = [by] if isinstance(by, str) else list(by)
        groups = self.groups(names)
        keys = {
            name: self[name][[rows[0] for rows in groups.values()]] if groups else self[name][:0]
            for name in names
        }
        parts = [self[column][rows].astype(np.float64) for rows in groups.values()]
        parts = [part[~np.isnan(part)] for part in parts]
        return Table(
            {
                **keys,
                "mean": np.array([part.mean() if len(part) else np.nan for part in parts], np.float64),
                "std": np.array(
                    [part.std(ddof=1) if len(part) > 1 else np.nan for part in parts], np.float64
                ),
                "n": np.array([len(part) for part in parts], np.int64),
            }
        )

    def sorted(self, by: str, *, descending: bool = False) -> Table:
        """Return the rows sorted by a column, stably; NaN comes last, also in descending order."""
        values = self[by]
        if descending:
            values = -values.astype(np.float64)
        return self.take(np.argsort(values, kind="stable"))

    def kinds(self) -> dict[str, str]:
        """Return what every column holds: "bool", "int", "float" or "text"."""
        return {name: _KINDS[values.dtype.kind] for name, values in self._columns.items()}

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the table as a dataframe of "pandas", "polars" or "pyarrow"; None: the first installed."""
        if backend is not None:
            check_choice("backend", backend, FRAMES)
        libraries: tuple[Any, ...] = FRAMES if backend is None else (backend,)
        for library in libraries:
            try:
                frame = nw.from_dict(
                    {name: values.tolist() for name, values in self._columns.items()}, backend=library
                )
            except ImportError:
                continue
            return frame.to_native()
        missing = " or ".join(FRAMES) if backend is None else backend
        raise CapabilityError(
            f"a dataframe needs {missing}, which is not installed: install it, or use the columns as they are"
        )

    def to_csv(self, path: str | os.PathLike[str], *, raw: bool = False, overwrite: bool = False) -> None:
        """Write the table as CSV; numbers come back as they were.

        Parameters
        ----------
        path : the file
        raw : bool, default=False
            Whether text that a spreadsheet would evaluate is written as it is, instead of with a single quote
            before it, which :meth:`from_csv` removes.
        overwrite : bool, default=False
            Whether a file that is there may be replaced; a table is not known again as one of streamsieve.
        """
        refuse_foreign([path], overwrite=overwrite)
        with replacing(path) as file:
            write_csv(file, chain([list(self)], self.rows()), raw=raw)

    @classmethod
    def from_csv(cls, path: str | os.PathLike[str], kinds: Mapping[str, str], *, raw: bool = False) -> Self:
        """Read what :meth:`to_csv` wrote; ``kinds`` are those of :meth:`kinds`."""
        clean = str if raw else unguarded
        try:
            with Path(path).open(encoding="utf-8", newline="") as file:
                head, *cells = ([clean(cell) for cell in line] for line in _long_lines(file))
            return cls({name: _READ[kinds[name]]([row[j] for row in cells]) for j, name in enumerate(head)})
        except (OSError, ValueError, IndexError, KeyError, csv.Error) as error:
            raise StateError(f"{path} does not hold the table that was written there: {error}") from error

    def __str__(self) -> str:
        return text_of(self)

    def __repr__(self) -> str:
        return f"<table of {self.n_rows:,} rows: {', '.join(self._columns)}>"


def _long_lines(file: Iterable[str]) -> Iterator[list[str]]:
    """Read CSV whose cells may be as long as the names of all features."""
    before = csv.field_size_limit(2**31 - 1)
    try:
        yield from csv.reader(file)
    finally:
        csv.field_size_limit(before)


def text_of(table: Table, most: int = 60) -> str:
    """Return a table as aligned text, with a limit on its rows."""
    cells = [[_shown(value) for value in row] for _, row in zip(range(most), table.rows(), strict=False)]
    lines = [list(table), *cells]
    widths = [max(len(line[j]) for line in lines) for j in range(len(table))]
    text = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    if table.n_rows > most:
        text.append(f"... and {table.n_rows - most:,} more rows")
    return "\n".join(text)


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else shown(value)


def _column(values: Any) -> npt.NDArray[Any]:
    column = np.asarray(values)
    if column.dtype.kind == "O":
        column = column.astype(np.str_)
    if column.ndim != 1 or column.dtype.kind not in _KINDS:
        raise ParameterError(f"a column holds numbers, truths or text, one per row; got {column.dtype}")
    if column.dtype.kind == "u":
        column = column.astype(np.int64)
    return column
