"""Checks for values that cannot be used: infinities, magnitudes whose squares overflow, and NaN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from streamsieve.exceptions import BadValueError

#: Larger magnitudes are refused: products of squares, weights and fading factors must not overflow.
LIMIT = 1e100
HEAVIEST = 1e30
#: Smaller weights count as 0: their squares would underflow, and a ratio of two sums of them means nothing.
LIGHTEST = 1e-100
#: Maximum number of values of a BLAS product that runs in one thread.
LONGEST_LINE = 8192
#: The largest magnitude by dtype; float32 cannot represent the limit itself.
LARGEST_VALUE = {np.dtype(np.float32): float(np.finfo(np.float32).max), np.dtype(np.float64): LIMIT}


def refuse_non_finite(X: Any, names: Sequence[str] | None = None, *, missing: bool = False) -> bool:
    """Raise for infinities, values that overflow and, unless ``missing``, NaN; the error names the column.

    Returns whether there are NaN.
    """
    values = X.data if sp.issparse(X) else X
    if values.size == 0:
        return False
    limit = LIMIT if values.dtype.itemsize > 4 else np.inf  # float32 cannot represent the limit itself
    with np.errstate(invalid="ignore", over="ignore"):
        if _sum_of_squares(values) < limit * limit or (values.min() > -limit and values.max() < limit):
            return False
        bad = np.abs(values) >= limit
        if not missing:
            bad |= np.isnan(values)
    if not bad.any():
        return True
    if sp.issparse(X):
        place = int(np.flatnonzero(bad)[0])
        value = float(X.data[place])
        by_rows = X.format == "csr"
        j = int(X.indices[place]) if by_rows else int(np.searchsorted(X.indptr, place, side="right")) - 1
    else:
        i, j = (int(v) for v in np.argwhere(bad)[0])
        value = float(X[i, j])
    raise bad_value(j, value, names)


def _sum_of_squares(values: Any) -> float:
    """Return an upper bound of all squares in one pass without a temporary; not finite if unknown."""
    if values.ndim != 2 or values.dtype.kind != "f":
        return np.nan
    lines = values if values.strides[1] == values.itemsize else values.T
    if lines.shape[1] > LONGEST_LINE:
        return np.nan
    return float(np.vecdot(lines, lines).sum())


def bad_value(feature: int, value: float, names: Sequence[str] | None = None) -> BadValueError:
    """Return the error about a value that is not finite, or whose square overflows."""
    label = feature_label(feature, names)
    if np.isnan(value):
        text = f"Input X contains NaN: feature {label!r} has missing values; impute it or leave it out"
    elif np.isinf(value):
        text = f"Input X contains infinity: feature {label!r} holds {value:g}; clip it or mark it missing"
    else:
        text = (
            f"feature {label!r} holds {value:g}; squares of values beyond {LIMIT:g} may overflow: rescale it"
        )
    return BadValueError(text, feature, value)


def feature_label(j: int, names: Sequence[str] | None) -> str:
    """Return the name of a column, given or generated."""
    return str(names[j]) if names is not None else f"x{j}"
