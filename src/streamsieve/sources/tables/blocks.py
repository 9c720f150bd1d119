"""Some columns of all files as one array."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from streamsieve.exceptions import SourceError
from streamsieve.sources.tables.files import Table
from streamsieve.sources.tables.layout import matrix

#: Values held twice at a time, as Arrow columns and in the array they are copied to: 32 MB.
READ_VALUES = 2**22


def block_of(files: Sequence[Table], names: list[str], n: int) -> npt.NDArray[np.float64]:
    """Read some columns of all files into one array, column after column."""
    X = np.empty((n, len(names)), order="F")
    size = max(1024, READ_VALUES // len(names))
    row = 0
    for file in files:
        for batch in file.batches(names, size):
            end = row + batch.num_rows
            if end <= n:
                X[row:end] = matrix(batch, names, file, row_major=False)
            row = end
    if row != n:
        raise SourceError(
            f"column {names[0]!r} has {row:,} rows in the files from {files[0].shown} on, but {n:,} were "
            "counted: a file is damaged, or was changed while it was read"
        )
    return X
