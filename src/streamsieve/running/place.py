"""The place in its source of a value that a selector refuses, for errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp

from streamsieve.exceptions import BadValueError
from streamsieve.protocols import ColumnBlock, RowBatch


def files_of(source: Any) -> list[Any]:
    """Return the paths that a source reads; empty if it has none."""
    files = getattr(source, "files", [])
    return files if isinstance(files, list) else []


@contextmanager
def bad_values_placed(source: Any, batch: RowBatch | ColumnBlock) -> Iterator[None]:
    """Context manager that adds file and row, as far as known, to an error about a value."""
    try:
        yield
    except BadValueError as error:
        place = _place(source, batch, _row_of(batch.X, error))
        if not place:
            raise
        raise BadValueError(f"{place}: {error}", error.feature, error.value) from error


def _row_of(X: Any, error: BadValueError) -> int | None:
    """Return the first row that holds the value in its column, if it is in this batch at all."""
    if not 0 <= error.feature < X.shape[1]:
        return None
    column = (X.tocsc() if sp.issparse(X) else X)[:, [error.feature]]
    values = column.toarray().ravel() if sp.issparse(column) else column[:, 0]
    found = np.flatnonzero(np.isnan(values) if np.isnan(error.value) else values == error.value)
    return int(found[0]) if len(found) else None


def _place(source: Any, batch: RowBatch | ColumnBlock, row: int | None) -> str:
    """Return file and row as text: the row in its file if known, else in the stream."""
    files, number, first = files_of(source), 0, 0
    if isinstance(batch, RowBatch):
        position, height = batch.position or {}, batch.X.shape[0]
        number, first = position.get("file", 0), position.get("row", 0) - height
        in_file = position.get("row_in_file", first + height if len(files) == 1 else -1) - height
        if row is not None and in_file + row >= 0:
            first = in_file
        else:
            files = []
    elif len(files) > 1:
        files = []
    where = [str(files[number])] if files else []
    if getattr(source, "rows_filtered", False):
        return "".join(where)
    return ", ".join([*where, *([] if row is None else [f"row {first + row + 1:,}"])])
