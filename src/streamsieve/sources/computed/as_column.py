"""Whatever a feature function returns, as a column of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from streamsieve.protocols import FloatArray

_KINDS = {"c": "complex numbers", "M": "dates", "m": "durations", "V": "records"}


class NotAColumnError(ValueError):
    """What came cannot be a column; the text goes on after the name of the feature."""


def column_of(value: Any) -> FloatArray:
    """Return a column as float64; text that looks like numbers is still text."""
    try:
        values = np.asarray(value.toarray() if sp.issparse(value) else value)
        if values.dtype.kind not in "fiubO" or (
            values.dtype.kind == "O" and any(isinstance(cell, (str, bytes)) for cell in values.flat)
        ):
            raise NotAColumnError(
                f"holds {_KINDS.get(values.dtype.kind, 'text')}, not numbers: encode it (for example with "
                "OrdinalEncoder) or leave it out"
            )
        # a copy even of float64: a generator may fill one buffer again and again
        values = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, NotAColumnError):
            raise
        raise NotAColumnError(f"is not a column of numbers: {error}") from error
    if values.ndim == 2 and 1 in values.shape:
        values = values.ravel()
    if values.ndim != 1:
        raise NotAColumnError(
            f"has shape {values.shape}, but a column has one value a row: yield the columns one by one"
        )
    return values
