"""Summary of numeric and categorical columns: quantities in one summary, levels in another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve.exceptions import CapabilityError, MergeError, ParameterError
from streamsieve.protocols import Fades, FloatArray, IntArray, Matrix
from streamsieve.state import Array, Part, register
from streamsieve.summaries.arrays import checked_columns, checked_places, rows_with_weight, widened
from streamsieve.summaries.nesting import AnySummary, check_empty, takes_missing


@register
class ByType(Part):
    """Summarize some features by their levels and all others as numbers.

    Parameters
    ----------
    numbers : summary
        An empty one, of the features that are quantities.
    levels : summary
        An empty one with the same kind of target, for example ``Contingency()``.
    at : int64 array
        Columns of the features with levels, rising; at least one.  Their cells may be text.

    Notes
    -----
    Numbers among the features with levels go to both summaries: a matrix without some of its columns would be
    a copy, and the results for these features in the summary of numbers are never read.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.summaries import ByType, Contingency, Moments
    >>> summary = ByType(Moments(), Contingency(), np.array([1]))
    >>> X = np.array([[1.0, "red"], [3.0, "blue"], [5.0, "red"]], dtype=object)
    >>> summary.update(X, np.array([0, 0, 1]))
    >>> summary.levels.counts(0), summary.numbers.block(0, 1).mean
    (array([[1., 1.],
           [0., 1.]]), array([[2.],
           [5.]]))
    """

    fields = {
        "numbers": AnySummary(),
        "levels": AnySummary(),
        "at": Array("i8", "levels", low=0, high=2**31 - 1, order="rising", nonempty=True),
    }

    def __init__(self, numbers: Any, levels: Any, at: npt.ArrayLike) -> None:
        check_empty("a summary by type", numbers, ("classes", "numeric"))
        check_empty("a summary by type", levels, (numbers.target,))
        self.at = np.array(at, np.int64)
        if self.at.ndim != 1 or not len(self.at) or self.at[0] < 0 or np.any(np.diff(self.at) <= 0):
            raise ParameterError(f"at must be columns in rising order, at least one; got {at!r}")
        self.numbers, self.levels = numbers.copy(), levels.copy()

    @property
    def target(self) -> str:
        """What ``update`` takes for ``y``, "classes" or "numeric"."""
        return str(self.numbers.target)

    @property
    def classes(self) -> list[Any]:
        """Labels seen; empty if the target is numeric and not cut into classes."""
        return list(self.numbers.classes)

    @property
    def half_life(self) -> float | None:
        """Number of rows after which a weight is halved, if the summary of numbers fades."""
        half_life: float | None = self.numbers.half_life
        return half_life

    @property
    def n_rows(self) -> int:
        """Number of rows seen, except those of weight 0."""
        return int(self.numbers.n_rows)

    @property
    def n_features(self) -> int:
        """Number of features seen."""
        return int(self.numbers.n_features)

    @property
    def nbytes(self) -> int:
        """Memory used, in bytes."""
        return int(self.numbers.nbytes) + int(self.levels.nbytes)

    @property
    def missing(self) -> bool:
        """Whether missing values are taken."""
        return takes_missing(self.numbers) and takes_missing(self.levels)

    def update(self, X: Matrix, y: npt.NDArray[Any], weight: FloatArray | None = None) -> None:
        """Take rows into account, all of them or (on an error) none; cells of levels may be text."""
        X, y, weight = rows_with_weight(X, y, weight)
        if X.shape[0] == 0:
            return
        numbers = self._as_numbers(X)
        width = int(self.at[-1]) + 1
        wide = widened(X, width, 0.0 if sp.issparse(X) else np.nan) if X.shape[1] < width else X
        # the summary of numbers refuses what either of them refuses, before anything has changed
        self.numbers.update(numbers, y, weight)
        self.levels.update(wide[:, self.at], y, weight)

    def _as_numbers(self, X: Matrix) -> Matrix:
        """Return rows whose text is missing: only features with levels have any."""
        if sp.issparse(X) or X.dtype.kind not in "OUT":
            return X
        out = np.full(X.shape, np.nan)
        rest = np.setdiff1d(np.arange(X.shape[1]), self.at)
        out[:, rest] = X[:, rest].astype(np.float64)
        return out

    def fade(self, factor: float) -> None:
        """Multiply the weight of all rows so far by ``factor``, 0 < factor <= 1."""
        for part in (self.numbers, self.levels):
            if not isinstance(part, Fades):
                raise CapabilityError(f"the rows of {type(part).__name__} cannot fade: it has no `fade`")
        self.numbers.fade(factor)
        self.levels.fade(factor)

    def merge(self, other: Self) -> None:
        """Merge another summary, as if its rows had been added after these."""
        if not isinstance(other, ByType) or not np.array_equal(self.at, other.at):
            theirs = getattr(other, "at", None)
            there = type(other).__name__ if theirs is None else f"columns {theirs.tolist()}"
            raise MergeError(
                f"columns {self.at.tolist()} are levels here, {there} there: declare the same types for both"
            )
        levels = self.levels.copy()  # either may be refused
        levels.merge(other.levels)
        self.numbers.merge(other.numbers)
        self.levels = levels

    def forget(self, columns: IntArray) -> None:
        """Treat all rows so far as missing for some features."""
        columns = checked_columns(columns, self.n_features)
        self.numbers.forget(columns)
        self.levels.forget(np.flatnonzero(np.isin(self.at, columns)))

    def reindexed(self, columns: IntArray, n_features: int) -> Self:
        """Return a copy with feature i at ``columns[i]``, among ``n_features`` features."""
        columns = checked_places(columns, self.n_features, n_features)
        if len(columns) <= self.at[-1]:
            raise MergeError(f"column {self.at[-1]} has levels, but only {len(columns)} columns were seen")
        moved = columns[self.at]
        twin: Self = self.copy()
        twin.at = np.sort(moved)
        twin.numbers = self.numbers.reindexed(columns, n_features)
        twin.levels = self.levels.reindexed(np.argsort(np.argsort(moved)), len(moved))
        return twin

    def _consistent(self) -> Iterator[str]:
        if self.numbers.target != self.levels.target:
            yield "numbers and levels have different kinds of target"
        elif self.numbers.n_rows != self.levels.n_rows:
            yield f"{self.numbers.n_rows} rows of numbers, and {self.levels.n_rows} of levels"
