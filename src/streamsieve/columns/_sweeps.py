"""Selectors that may look at a whole matrix of columns more than once."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import defaultdict
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np

from streamsieve._parameters import check_number
from streamsieve.base import ColumnSelector
from streamsieve.columns._model_columns import Offered
from streamsieve.decisions import KEPT
from streamsieve.protocols import ColumnBlock, Decision, Event, IntArray, Reason
from streamsieve.state import untouched_on_error


class GrowingModel(Protocol):
    """A model of columns."""

    @property
    def features(self) -> IntArray:
        """Arrival numbers of its columns, in order."""


Model = TypeVar("Model", bound=GrowingModel)
#: Sweeps after which a fit that goes on until nothing changes gives up.
MOST_SWEEPS = 1000


class SweepingSelector(ColumnSelector, Generic[Model]):
    """A selector whose verdicts change when a column is offered again.

    In a stream a column comes once.  ``fit`` has all of them, and offers them again and again: ``sweeps``
    times, or until a sweep changes nothing if ``sweeps`` is None.  From the second sweep on the ledger gets
    changes only, with the number of columns for a step.
    """

    sweeps: int | None
    n_sweeps_: int
    #: The class of the model that columns join and leave.
    _kind: ClassVar[type]
    _model_: Model

    @abstractmethod
    def _judge(self, X: Any, start: int) -> Offered:
        """Judge columns in order, the first of which has arrival number ``start``; pass over those kept."""

    def _check_sweeps(self) -> None:
        if self.sweeps is not None:
            check_number("sweeps", self.sweeps, low=1, integer=True)
        self.n_sweeps_ = 1

    def _selected(self) -> IntArray:
        return self._model_.features

    def _model(self, name: str) -> Model:
        """Return the model, of which an attribute is wanted."""
        if not hasattr(self, "_model_"):
            raise AttributeError(f"{name} is there after begin(y) or fit(X, y)")
        return self._model_

    def _restored(self) -> None:
        if not isinstance(self._model_, self._kind):
            raise TypeError(f"its model is a {type(self._model_).__name__}")
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
        names, step = self.names_, self.n_features_in_
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
