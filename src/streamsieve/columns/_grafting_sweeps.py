"""Selectors that may look at a whole matrix of columns more than once."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import defaultdict
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._parameters import check_number
from streamsieve.base import ColumnSelector
from streamsieve.protocols import ColumnBlock, Decision, Event, FloatArray, IntArray, Reason
from streamsieve.state import untouched_on_error
from streamsieve.verdicts import KEPT, Eviction

#: Sweeps after which a fit that goes on until nothing changes gives up.
MOST_SWEEPS = 1000


class Offered(NamedTuple):
    """What became of the columns of a block."""

    #: Codes of the ledger.
    reason: npt.NDArray[np.uint8]
    statistic: FloatArray
    evictions: list[Eviction]


class Pieces(NamedTuple):
    """The columns of a block, one after the other."""

    pointers: IntArray
    #: Rows of the values; none if all are there.
    rows: npt.NDArray[np.int32]
    values: FloatArray


class SweepingSelector(ColumnSelector):
    """A selector whose verdicts change when a column is offered again.

    In a stream a column comes once.  ``fit`` has all of them, and offers them again and again: ``sweeps``
    times, or until a sweep changes nothing if ``sweeps`` is None.  From the second sweep on the ledger gets
    changes only, with the number of columns for a step.
    """

    sweeps: int | None
    n_sweeps_: int

    @abstractmethod
    def _judge(self, X: Any, start: int) -> Offered:
        """Judge columns in order, the first of which has arrival number ``start``; pass over those kept."""

    def _check_sweeps(self) -> None:
        if self.sweeps is not None:
            check_number("sweeps", self.sweeps, low=1, integer=True)
        self.n_sweeps_ = 1

    def _restored(self) -> None:
        super()._restored()
        if type(self.n_sweeps_) is not int or self.n_sweeps_ < 1:
            raise ValueError(f"it has swept {self.n_sweeps_!r} times over its columns")
        if np.any(self.selected_ >= self.n_features_in_):
            raise ValueError("a column in the model was never offered")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Offer the columns of X in order, as often as ``sweeps`` says.

        Parameters
        ----------
        X : all columns (dense, sparse or dataframe)
        y : one label or number a row

        Returns
        -------
        self
        """
        blocks: list[ColumnBlock] = []
        with untouched_on_error(self):
            for block in self._fit_blocks(X, y):
                self._offer_block(block)
                blocks += [block] if self.sweeps != 1 else []
            changed = True
            while changed and self.stopped_ is None and self.n_sweeps_ < (self.sweeps or MOST_SWEEPS):
                self.n_sweeps_ += 1
                changed = self._sweep(blocks) or self.sweeps is not None
        return self

    def _sweep(self, blocks: list[ColumnBlock]) -> bool:
        """Offer all columns once more; return whether the selection changed."""
        changed, start = False, 0
        for block in blocks:
            width = block.X.shape[1]
            size = 1 if self.stop is not None and self.stop.watches_features else width
            for low in range(0, width, size):
                piece, part = block, slice(low, low + size)
                if size < width:
                    piece = ColumnBlock(block.X[:, part], None if block.names is None else block.names[part])
                kept_one = self._offer_again(piece, start + low)
                changed |= kept_one
                if self.stop is not None:
                    if self.stop.accuracy is not None:
                        self._keep_values(piece.X, start + low)
                    self.stopped_ = self.stop.reached(self, self._started_, kept_one=kept_one)
                if self.stopped_ is not None:
                    return changed
            start += width
        return changed

    def _offer_again(self, block: ColumnBlock, start: int) -> bool:
        """Offer columns that came before; note what changes, and return whether anything did."""
        offered = self._judge(block.X, start)
        left = defaultdict(list)
        for gone in offered.evictions:
            left[gone.step - start].append(gone)
        changed = sorted({*np.flatnonzero(offered.reason == KEPT).tolist(), *left})
        names, step = self.ledger_.names, self.n_features_in_
        if block.names is not None:  # those of rejected columns may have been forgotten
            names.restore([start + j for j in changed], [block.names[j] for j in changed])
        for j in changed:
            for gone in left[j]:
                by = tuple(names[i] for i in gone.by)
                numbers = (gone.statistic, gone.p_value)
                self.ledger_.note(
                    Decision(step, names[gone.feature], Event.EVICTED, gone.reason, *numbers, by)
                )
            if offered.reason[j] == KEPT:
                numbers = (float(offered.statistic[j]), math.nan)
                self.ledger_.note(Decision(step, names[start + j], Event.KEPT, Reason.RELEVANT, *numbers))
        if block.names is not None and self.ledger_.keep != "all":
            names.forget(gone.feature for gone in offered.evictions)
        return len(changed) > 0


def pieces_of(X: Any) -> Pieces:
    """Return the columns of a block one after the other; without a copy where they stand so."""
    if sp.issparse(X):
        return Pieces(X.indptr.astype(np.int64), X.indices, X.data)
    n, m = X.shape
    values = np.ascontiguousarray(X.T, np.float64).reshape(-1)
    return Pieces(np.arange(m + 1) * n, np.zeros(0, np.int32), values)


def standardised(y: FloatArray) -> tuple[float, float, FloatArray]:
    """Return mean and deviation of a target that varies, and the target at mean 0 and variance 1.

    Relative to its first value and its largest, so that neither an offset nor a tiny unit costs digits.
    """
    rest = y - y[0]
    rest -= rest.mean()
    most = float(np.abs(rest).max())
    target = rest / most
    spread = math.sqrt(float(np.mean(target**2)))
    target /= spread
    target -= target.mean()
    least = 5e-324  # of numbers so small that half of one is 0
    return float(y[0] + (y - y[0]).mean()), max(most * spread, least), target
