"""Checks for values that cannot be used: infinities, magnitudes whose squares overflow, and NaN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from streamsieve._text import shown
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


def refuse_non_finite(
    X: Any, names: Sequence[str] | None = None, *, missing: bool = False, omits: bool = False
) -> bool:
    """Raise for infinities, values that overflow and, unless ``missing``, NaN; the error names the column.

    Returns whether there are NaN.  The error about NaN proposes missing='omit' if the selector ``omits``.
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
        places = np.flatnonzero(bad)
        columns = X.indices if X.format == "csr" else np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
        j, value = int(columns[places[0]]), float(X.data[places[0]])
        incomplete = columns[np.isnan(X.data)]
    else:
        i, j = (int(v) for v in np.argwhere(bad)[0])
        value = float(X[i, j])
        incomplete = np.nonzero(np.isnan(X))[1]
    raise bad_value(j, value, names, of=(len(np.unique(incomplete)), X.shape[1]), omits=omits)


def _sum_of_squares(values: Any) -> float:
    """Return an upper bound of all squares in one pass without a temporary; not finite if unknown."""
    if values.ndim != 2 or values.dtype.kind != "f":
        return np.nan
    lines = values if values.strides[1] == values.itemsize else values.T
    if lines.shape[1] > LONGEST_LINE:
        return np.nan
    return float(np.vecdot(lines, lines).sum())


def bad_value(
    feature: int,
    value: float,
    names: Sequence[str] | None = None,
    *,
    of: tuple[int, int] = (1, 1),
    omits: bool = False,
) -> BadValueError:
    """Return the error about a value that is not finite, or whose square overflows.

    ``of`` is the number of columns with missing values, and of all columns looked at.
    """
    label = feature_label(feature, names)
    if np.isnan(value):
        more = f" ({of[0]:,} of these {of[1]:,} columns have)" * (of[0] > 1)
        omit = "give missing='omit' (each test uses the rows that are complete), " * omits
        what = f"Input X contains NaN: feature {label!r} has missing values{more}"
        text = f"{what}; {omit}impute it or leave it out"
    elif np.isinf(value):
        text = f"Input X contains infinity: feature {label!r} holds {value:g}; clip it or mark it missing"
    else:
        text = (
            f"feature {label!r} holds {value:g}; squares of values beyond {LIMIT:g} may overflow: rescale it"
        )
    return BadValueError(text, feature, value)


def number_from(part: object, what: str, value: Any) -> float:
    """Return what a measure or test of the user's own returned, which must be one real number."""
    found = np.asarray(value)
    if found.ndim or found.dtype.kind not in "fiub":
        raise ValueError(f"{part!r} returned {shown(value)[:60]} as {what}: it must be one real number")
    return float(found)


def feature_label(j: int, names: Sequence[str] | None) -> str:
    """Return the name of a column, given or generated."""
    return str(names[j]) if names is not None else f"x{j}"
