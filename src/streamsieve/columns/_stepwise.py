"""Columns that join a model one at a time: whole blocks are judged between two that join."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve.decisions import REASON_CODE, Eviction, Settled
from streamsieve.dependence.blocks import without_offsets
from streamsieve.protocols import BoolArray, FloatArray, IntArray, Reason

#: Columns judged together: the products with the model are one matrix product, and stay in cache.
BLOCK = 1024
#: Share of a centred column outside the model below which it counts as inside: five digits are left.
COLLINEAR = 1e-10

KEPT, CONSTANT, IRRELEVANT, COLLINEAR_CODE = (
    REASON_CODE[reason] for reason in (Reason.RELEVANT, Reason.CONSTANT, Reason.IRRELEVANT, Reason.COLLINEAR)
)


class Candidates(Protocol):
    """Columns of a small block, and what each would do for a model as it is now."""

    #: Which columns are constant.
    constant: BoolArray

    @property
    def direction(self) -> FloatArray:
        """A number of the sign that each column's coefficient would have."""
        ...

    def gain(self, low: int) -> tuple[BoolArray, FloatArray]:
        """Return which columns from ``low`` on lie outside the model, and what each would gain.

        A column inside gains nothing, and none does once the model has an obstacle.
        """
        ...

    def take(self, j: int, feature: int) -> None:
        """Let a column join the model; only columns after it count from now on."""
        ...

    def measure_again(self, low: int) -> None:
        """Look at the columns from ``low`` on anew, because the model lost columns."""
        ...


class Model(Protocol):
    """A regression that columns join in order of arrival."""

    #: Number of rows.
    n: int

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns in the model."""
        ...

    @property
    def obstacle(self) -> Reason | None:
        """Why no column can be tested any more, or None."""
        ...

    def candidates(self, X: Any) -> Candidates:
        """Return some columns (dense, or CSC without offsets) as candidates for this model."""
        ...


class Tried(NamedTuple):
    """The outcome of testing columns in order until one was accepted, or all were."""

    #: Size of the statistic of every column tested.
    statistic: FloatArray
    p_value: FloatArray | None
    #: Whether the last one tested is accepted.
    accepted: bool


#: From the gains of all columns that are left to the outcome of testing them up to the first success.  The
#: other arguments: which of them can be tested at all (the others gain nothing), and the arrival number of
#: the first.
Test = Callable[[FloatArray, BoolArray, int], Tried]
#: What happens when a column joined: from the candidates, the first of them that is left, and the newcomer's
#: arrival number to the columns that leave the model for it.
Joined = Callable[[Candidates, int, int], list[Eviction]]


def offer_stepwise(
    model: Model, X: Any, start: int, test: Test, *, signed: bool = True, joined: Joined | None = None
) -> Settled:
    """Judge the columns of a block in order, the first of which has arrival number ``start``."""
    m = X.shape[1]
    X = without_offsets(X) if sp.issparse(X) else X
    reason, statistic, p_value = np.empty(m, np.uint8), np.zeros(m), np.full(m, np.nan)
    evictions: list[Eviction] = []
    for begin in range(0, m, BLOCK):
        end = min(begin + BLOCK, m)
        candidates = model.candidates(X if m <= BLOCK else some_columns(X, slice(begin, end)))
        low = 0
        while low < end - begin:
            free, gain = candidates.gain(low)
            tried = test(gain, free & (model.obstacle is None), start + begin + low)
            done = len(tried.statistic)
            part, here = slice(begin + low, begin + low + done), slice(low, low + done)
            statistic[part] = (
                np.copysign(tried.statistic, candidates.direction[here]) if signed else tried.statistic
            )
            if tried.p_value is not None:
                p_value[part] = tried.p_value
            reason[part] = _reasons(model, free[:done], candidates.constant[here])
            low += done
            if tried.accepted:
                reason[begin + low - 1] = KEPT
                candidates.take(low - 1, start + begin + low - 1)
                if joined is not None:
                    evictions += joined(candidates, low, start + begin + low - 1)
    return Settled(start, reason, statistic, p_value, evictions=evictions)


def _reasons(model: Model, free: BoolArray, constant: BoolArray) -> npt.NDArray[np.uint8]:
    """Why the columns of a stretch without success were rejected."""
    obstacle = model.obstacle
    reasons = np.full(len(free), IRRELEVANT if obstacle is None else REASON_CODE[obstacle], np.uint8)
    if obstacle is None:
        reasons[~free] = COLLINEAR_CODE
    reasons[constant] = CONSTANT
    return reasons


def some_columns(X: Any, part: slice) -> Any:
    """Some columns of a block; for CSC without a copy."""
    if not sp.issparse(X):
        return X[:, part]
    low, high = X.indptr[part.start], X.indptr[part.stop]
    pieces = (X.data[low:high], X.indices[low:high], X.indptr[part.start : part.stop + 1] - low)
    return sp.csc_array(pieces, shape=(X.shape[0], part.stop - part.start))


def dense_column(X: Any, j: int) -> FloatArray:
    """One column of a block as an array of its own."""
    if not sp.issparse(X):
        return np.array(X[:, j], np.float64)
    column = np.zeros(X.shape[0])
    part = slice(X.indptr[j], X.indptr[j + 1])
    column[X.indices[part]] = X.data[part]
    return column
