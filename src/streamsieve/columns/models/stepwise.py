"""Stepwise regression over a stream of columns: each column is tested given the model so far.

The model does not change between two columns that join it, so whole blocks of columns are tested together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import ClassVar, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve.decisions import COLLINEAR, CONSTANT, IRRELEVANT, KEPT, REASON_CODE, Eviction, Outcome
from streamsieve.dependence.blocks import dense_columns, some_columns, without_offsets
from streamsieve.protocols import BoolArray, ColumnBlock, FloatArray, IntArray, Matrix, Reason
from streamsieve.state import Part

#: Columns tested together: their products with the model are one matrix product, and stay in cache.
BLOCK = 1024
#: A centered column is collinear if less than this fraction of its sum of squares lies outside the model;
#: five digits are left then.
COLLINEAR_FRACTION = 1e-10
#: Minimum initial wealth of an investing rule, and what 2^53 columns leave of it: levels, which are fractions
#: of the wealth, never underflow to 0.
LEAST_WEALTH, LEAST_LEFT = 1e-100, 1e-110

#: Statistics and p-values of the columns tested, in order, and whether the last of them joins.
Tested: TypeAlias = tuple[FloatArray, FloatArray | None, bool]
#: Function from positions among the columns to be tested to their values, a row per column.
Values: TypeAlias = Callable[[IntArray], FloatArray]


class ModelCandidates(ABC):
    """Columns of a small block, and the gain of each for the current model."""

    model: Model
    #: Products of the columns with the residual; each has the sign of the column's coefficient.
    direction: FloatArray
    #: Sum of squares of every centered column, and of its residual given the model.
    ss: FloatArray
    outside: FloatArray
    #: The block; its dense columns may have been centered.
    _X: Matrix

    def values(self, some: IntArray) -> FloatArray:
        """Return the values of some columns, one per row, up to an additive constant each."""
        return dense_columns(self._X, some)

    def gain(self, low: int) -> tuple[BoolArray, FloatArray]:
        """Return which columns from ``low`` on are not collinear with the model, and the gain of each.

        The gain of a collinear column is 0, and so are all gains once the model has an obstacle.
        """
        outside = self.outside[low:]
        free, gain = outside > COLLINEAR_FRACTION * self.ss[low:], np.zeros(len(outside))
        if self.model.obstacle is None:
            np.divide(self.direction[low:] ** 2, outside, out=gain, where=free)
        return free, gain

    @abstractmethod
    def take(self, j: int, feature: int) -> None:
        """Add a column to the model; afterward only candidates that arrived later are valid."""

    @abstractmethod
    def measure_again(self, low: int) -> None:
        """Measure the columns from ``low`` on again, because the model has changed."""


class Model(Protocol):
    """A regression model that columns join in order of arrival."""

    @property
    def n(self) -> int:
        """Number of rows."""
        ...

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns in the model, in order."""
        ...

    @property
    def obstacle(self) -> Reason | None:
        """Why no further column can be tested, or None."""
        ...

    def candidates(self, X: Matrix) -> ModelCandidates:
        """Return columns (dense, or CSC without offsets) as candidates for this model."""
        ...


class Stepwise(Part, ABC):
    """A model, and the test that a column must pass to join it.

    A subclass implements :meth:`test`, and declares ``model`` among its fields.
    """

    #: Whether the statistic gets the sign of the coefficient.
    signed: ClassVar[bool] = True

    model: Model

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.model.n

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns in the model, in order."""
        return self.model.features

    @abstractmethod
    def test(self, gain: FloatArray, testable: BoolArray, first: int, values: Values) -> Tested:
        """Test columns in order up to the first that passes.

        Parameters
        ----------
        gain : gain of every remaining column
        testable : which of them can be tested; the others have no gain
        first : arrival number of the first
        values : function from positions of columns to their values, a row per column
        """

    def joined(self, candidates: ModelCandidates, low: int, newcomer: int) -> list[Eviction]:  # noqa: ARG002
        """Remove columns from the model after column ``newcomer`` has joined; optional.

        Candidates from ``low`` on are still to be tested.
        """
        return []

    def offer_one(self, x: FloatArray) -> tuple[Reason, float, float] | None:  # noqa: ARG002
        """Reject a single column, as (reason, statistic, p-value), or return None to leave it to `offer`."""
        return None

    def offer(self, block: ColumnBlock, start: int) -> Outcome:
        """Decide on a block whose first column has arrival number ``start``."""
        X = without_offsets(block.X) if sp.issparse(block.X) else block.X
        m = X.shape[1]
        reason, statistic, p_value = np.empty(m, np.uint8), np.zeros(m), np.full(m, np.nan)
        evictions: list[Eviction] = []
        for begin in range(0, m, BLOCK):
            end = min(begin + BLOCK, m)
            candidates = self.model.candidates(X if m <= BLOCK else some_columns(X, slice(begin, end)))
            low = 0
            while low < end - begin:
                free, gain = candidates.gain(low)
                testable = free & (self.model.obstacle is None)
                values = partial(_values, candidates, low)
                found, p_values, accepted = self.test(gain, testable, start + begin + low, values)
                done = len(found)
                part, here = slice(begin + low, begin + low + done), slice(low, low + done)
                statistic[part] = np.copysign(found, candidates.direction[here]) if self.signed else found
                if p_values is not None:
                    p_value[part] = p_values
                reason[part] = self._reasons(free[:done], constant=candidates.ss[here] == 0)
                low += done
                if accepted:
                    reason[begin + low - 1] = KEPT
                    newcomer = start + begin + low - 1
                    candidates.take(low - 1, newcomer)
                    evictions += self.joined(candidates, low, newcomer)
        return Outcome(reason, statistic, p_value, evictions=evictions, start=start)

    def _reasons(self, free: BoolArray, *, constant: BoolArray) -> npt.NDArray[np.uint8]:
        """Return why columns that did not pass were rejected."""
        obstacle = self.model.obstacle
        reasons = np.full(len(free), IRRELEVANT if obstacle is None else REASON_CODE[obstacle], np.uint8)
        if obstacle is None:
            reasons[~free] = COLLINEAR
        reasons[constant] = CONSTANT
        return reasons


def _values(candidates: ModelCandidates, low: int, some: IntArray) -> FloatArray:
    return candidates.values(low + some)
