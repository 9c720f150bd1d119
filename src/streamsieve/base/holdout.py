"""Held-out rows, which selection never sees, and the values of the kept columns in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import check_number
from streamsieve.base.row_fingerprints import RowsIdentity, identifiers
from streamsieve.base.stop import KeptValues
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import BoolArray, FloatArray, IntArray, Matrix, Task
from streamsieve.state import Array, Nested, Part, register

#: Fewest rows that may be held out, or left for selection.
LEAST_ROWS = 4


@register
class Holdout(Part):
    """Rows held out of a stream of columns: which they are, their targets, and the kept columns in them.

    Parameters
    ----------
    mask : which rows are held out
    y : target of all rows; labels in any form
    task : type of target
    identity : fingerprints of all rows
    """

    fields = {
        "mask": Array("?", "all", nonempty=True),
        "y": Array("f8", "held", finite=True),
        "identity": Nested(RowsIdentity),
        "columns": Nested(KeptValues),
    }

    def __init__(self, mask: BoolArray, y: npt.NDArray[Any], task: Task, identity: RowsIdentity) -> None:
        self.mask, self.identity = mask, identity
        numbers = y if task is Task.REGRESSION else np.unique(y, return_inverse=True)[1]
        self.y: FloatArray = numbers[mask].astype(np.float64)
        self.columns = KeptValues(len(self.y))

    def seen(self, X: Matrix) -> Matrix:
        """Return the rows that selection sees."""
        return X[np.flatnonzero(~self.mask)]

    def take(self, X: Matrix, arrived: Sequence[int] | IntArray, wanted: Sequence[int] | IntArray) -> None:
        """Store the held-out values of the wanted columns, and drop the columns that are no longer wanted."""
        self.columns.take(X, arrived, wanted, rows=np.flatnonzero(self.mask))

    def _consistent(self) -> Iterator[str]:
        if self.mask.sum() != len(self.y) or self.columns.n != len(self.y):
            yield "there are targets or values of more rows, or of fewer, than are held out"
        elif self.identity.n != len(self.mask) or len(np.unique(self.y)) < 2:
            yield "the rows held out are not some of the stream's, or their target does not vary"


def held_out(holdout: Any, y: npt.NDArray[Any], task: Task, seed: int) -> BoolArray:
    """Return the mask of rows to hold out: a proportion, stratified by class, or the given mask."""
    mask = identifiers(holdout, "holdout must be a proportion in (0, 1), or a boolean mask")
    if mask.ndim == 0:
        check_number("holdout", holdout, low=0, high=1, open_low=True, open_high=True)
        mask = _drawn(float(holdout), y, task, seed)
    else:
        if mask.dtype != bool or mask.shape != y.shape:
            raise ParameterError(
                f"holdout must be a proportion in (0, 1), or a boolean mask of the {len(y)} rows of y; got "
                f"an array of {mask.dtype} of shape {mask.shape}"
            )
        mask = mask.copy()
    for rows, side in ((mask, "held out"), (~mask, "left for selection")):
        if rows.sum() < LEAST_ROWS:
            raise ParameterError(
                f"holdout: {rows.sum()} of {len(y)} rows would be {side}; at least {LEAST_ROWS} are needed"
            )
        if len(np.unique(y[rows])) < 2:
            raise ParameterError(f"holdout: y is constant in the {rows.sum()} rows that would be {side}")
    if task is not Task.REGRESSION and len(np.unique(y[~mask])) < len(np.unique(y)):
        lost = np.setdiff1d(y, y[~mask])[0]
        raise ParameterError(f"holdout: all rows of class {lost.item()!r} would be held out")
    return mask


def _drawn(proportion: float, y: npt.NDArray[Any], task: Task, seed: int) -> BoolArray:
    """Draw a stratified random sample of rows; at least one row per class is left for selection."""
    rng = np.random.default_rng([seed, len(y)])
    strata = np.zeros(len(y), np.int64) if task is Task.REGRESSION else np.unique(y, return_inverse=True)[1]
    mask = np.zeros(len(y), bool)
    for stratum in range(strata.max() + 1):
        rows = rng.permutation(np.flatnonzero(strata == stratum))
        wanted = min(max(1, round(proportion * len(rows))), len(rows) - 1)
        mask[rows[:wanted]] = True
    return mask
