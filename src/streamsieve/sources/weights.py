"""Checks of row weights, for all sources that take them from a column, a field or an array."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from streamsieve.exceptions import SourceError
from streamsieve.protocols import FloatArray
from streamsieve.sources.checks import no_axis

#: Part of the errors of every source about its parameter ``weight``.
WHAT = "weights are finite numbers of at least 0, and 0 leaves a row out"


def as_weights(values: Any, where: str) -> FloatArray:
    """Return the weights of some rows as float64.

    Parameters
    ----------
    values : one number per row
    where : the table and its column, or the array, as errors name them

    Raises
    ------
    SourceError : a weight is missing, negative or infinite
    """
    try:
        given = np.asarray(values)
        # NumPy would convert dates to numbers, and drop imaginary parts
        casting: Literal["unsafe", "safe"] = "unsafe" if given.dtype.kind in "ObuifSU" else "safe"
        with np.errstate(over="ignore"):
            weights = given.astype(np.float64, casting=casting)
    except (TypeError, ValueError, OverflowError) as error:
        raise SourceError(f"{where} do not hold numbers ({error}): {WHAT}") from error
    if weights.size and not (weights.min() >= 0 and weights.max() < np.inf):  # NaN is neither
        worst = weights[~((weights >= 0) & (weights < np.inf))][0]
        got = "a missing value" if np.isnan(worst) else f"{worst:g}"
        raise SourceError(f"{where} hold {got}: {WHAT}")
    return weights


def weights_of(weight: Any, n: int | None) -> FloatArray | None:
    """Return weights that are given as an array, one per row."""
    if weight is None:
        return None
    if isinstance(weight, str):
        raise SourceError(f"only a dataframe has a column named {weight!r}: give the weights as an array")
    if np.ma.is_masked(weight):
        raise SourceError(f"the weights hold a missing value: {WHAT}")
    weights = as_weights(weight, "the weights")
    if weights.ndim != 1 or (n is not None and len(weights) != n):
        raise SourceError(f"the data has {n} rows, but the weights have shape {weights.shape}: one per row")
    return weights


def refuse_columns(owner: object, weight: Any) -> None:
    """Refuse to stream columns of a source whose rows have weights: no selector over columns takes them."""
    if weight is not None:
        raise no_axis(
            owner,
            "columns while its rows have weights",
            "selectors over columns do not take them; leave out weight, or use one over rows, such as Screen",
        )
