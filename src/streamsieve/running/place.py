"""Where in its source a value stands that a selector refuses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp

from streamsieve.exceptions import BadValueError
from streamsieve.protocols import ColumnBlock, RowBatch


@contextmanager
def bad_values_placed(source: Any, batch: RowBatch | ColumnBlock) -> Iterator[None]:
    """Context: an error about a value also names the file and the row, as far as they are known."""
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
    column = X[:, [error.feature]]
    values = column.toarray().ravel() if sp.issparse(column) else column[:, 0]
    found = np.flatnonzero(np.isnan(values) if np.isnan(error.value) else values == error.value)
    return int(found[0]) if len(found) else None


def _place(source: Any, batch: RowBatch | ColumnBlock, row: int | None) -> str:
    files = getattr(source, "files", [])
    number, before = 0, 0
    if isinstance(batch, RowBatch):
        position = batch.position or {}
        number, after = position.get("file", 0), batch.X.shape[0]
        before = position.get("row_in_file", position.get("row", 0)) - after
        if "row_in_file" not in position and len(files) > 1:
            before, files = position.get("row", 0) - after, []
        if row is not None and before + row < 0:  # it came from the file before
            before, files = position.get("row", 0) - after, []
    elif len(files) > 1:
        files = []
    file = [str(files[number])] if files else []
    return ", ".join([*file, *([] if row is None else [f"row {before + row + 1:,}"])])
