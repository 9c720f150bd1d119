"""Repeated passes over a matrix of columns, for models that a rejected column may join later."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from streamsieve._caller import warn
from streamsieve.base import ColumnSelector
from streamsieve.decisions import KEPT, Outcome
from streamsieve.protocols import ColumnBlock, Decision, Event, Reason
from streamsieve.state import untouched_on_error

#: Maximum number of passes of a fit that continues until a pass changes nothing.
MOST_PASSES = 1000

if TYPE_CHECKING:
    MixinBase = ColumnSelector
else:
    MixinBase = object


class MultiPass(MixinBase):
    """Mixin for a `ColumnSelector` whose ``fit`` may pass over the columns several times; precedes it.

    A column may be decided differently when it is offered again.  From the second pass on, the ledger records
    only changes, with the number of columns as their step.
    """

    sweeps: int | None

    def _begin(self, y: npt.NDArray[Any]) -> None:
        super()._begin(y)
        self.n_sweeps_ = 1

    def fit(
        self, X: Any, y: Any = None, groups: Any = None, serial: Any = None, *, holdout: Any = None
    ) -> Self:
        """Select features from a whole matrix, in ``sweeps`` passes over its columns.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            All columns.
        y : array-like of shape (n_rows,)
            The target: one label or number per row.
        groups, serial : None
            Not supported, because the method has no test.
        holdout : float or boolean mask, default=None
            Rows to hold out from selection; see ``begin``.

        Returns
        -------
        self
        """
        with untouched_on_error(self):
            for n in self._passes(self._fit_blocks(X, y, groups, serial, holdout)):
                self.n_sweeps_ = n
                self._after_pass()
        return self

    def _settle(self, block: ColumnBlock, start: int) -> Outcome:
        """Decide on a block whose first column has arrival number ``start``; kept columns are skipped."""
        outcome: Outcome = self._process_.offer(block, start)
        return outcome

    def _after_pass(self) -> None:
        """Do what a selector does after each pass; nothing by default."""

    def _passes(self, blocks: Iterable[ColumnBlock]) -> Iterator[int]:
        """Offer all blocks repeatedly; yield the number of passes after each pass."""
        known: list[ColumnBlock] = []
        for block in blocks:
            self._offer_block(block)
            known += [block] if self.sweeps != 1 else []
        n, changed = 1, True
        yield n
        while changed and self.stopped_ is None and n < (self.sweeps or MOST_PASSES):
            changed = self._another_pass(known) or self.sweeps is not None
            n += 1
            yield n
        if changed and self.sweeps is None and n >= MOST_PASSES:
            warn(
                f"the selection still changes after {n:,} passes over the columns: give a number of sweeps",
                ConvergenceWarning,
            )

    def _another_pass(self, blocks: list[ColumnBlock]) -> bool:
        """Offer all columns once more; return whether the selection changed."""
        changed, start, stop = False, 0, self.stop
        for block in blocks:
            width = block.X.shape[1]
            size = 1 if stop is not None and stop.watches_features else width
            for low in range(0, width, size):
                piece, part = block, slice(low, low + size)
                if size < width:
                    piece = ColumnBlock(block.X[:, part], None if block.names is None else block.names[part])
                seen = replace(piece, X=self._seen(piece.X))  # without rows held out
                kept_one = self._record_again(piece, self._settle(seen, start + low))
                if self._has_holdout:
                    self._keep_held_out(piece, start + low)
                self._found_ = max(self._found_, self.n_kept_)
                changed |= kept_one
                if stop is not None:
                    if stop.accuracy is not None:
                        self._keep_values(piece, start + low)
                    self.stopped_ = stop.reached(self, self._started_, kept_one=kept_one)
                if self.stopped_ is not None:
                    return changed
            start += width
        return changed

    def _record_again(self, block: ColumnBlock, outcome: Outcome) -> bool:
        """Record what changed when a block was offered again; return whether anything did."""
        start, ledger = outcome.start, self.ledger_
        left = defaultdict(list)
        for gone in outcome.evictions:
            left[gone.step - start].append(gone)
        changed = sorted({*np.flatnonzero(outcome.reason == KEPT).tolist(), *left})
        names, step = self.names_, self.n_features_in_
        if block.names is not None:  # names of rejected columns may have been forgotten
            names.restore([start + j for j in changed], [block.names[j] for j in changed])
        for j in changed:
            for gone in left[j]:
                ledger.note(gone._replace(step=step).named(names.__getitem__))
            if outcome.reason[j] == KEPT:
                numbers = (float(outcome.statistic[j]), math.nan)
                ledger.note(Decision(step, names[start + j], Event.KEPT, Reason.RELEVANT, *numbers))
        if block.names is not None and ledger.keep != "all":
            names.forget(gone.feature for gone in outcome.evictions)
        return len(changed) > 0
