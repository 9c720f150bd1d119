"""Repeated passes over a matrix of columns, for models that a rejected column may join later."""

from __future__ import annotations

import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from streamsieve.base import ColumnSelector
from streamsieve.decisions import KEPT, Outcome
from streamsieve.protocols import ColumnBlock, Decision, Event, Reason

#: Maximum number of passes of a fit that continues until a pass changes nothing.
MOST_PASSES = 1000
#: Decides on a block whose first column has a given arrival number; columns in the model are skipped.
Settle: TypeAlias = Callable[[ColumnBlock, int], Outcome]


def passes(
    selector: ColumnSelector, blocks: Iterable[ColumnBlock], most: int | None, settle: Settle
) -> Iterator[int]:
    """Offer all blocks repeatedly; yield the number of passes after each pass.

    From the second pass on, the ledger records only changes, with the number of columns as their step.

    Parameters
    ----------
    selector : a selector whose decisions may change when a column is offered again
    blocks : all columns, in order
    most : maximum number of passes; None to continue until a pass changes nothing
    settle : function that decides on a block from the second pass on
    """
    known: list[ColumnBlock] = []
    for block in blocks:
        selector._offer_block(block)  # noqa: SLF001
        known += [block] if most != 1 else []
    n, changed = 1, True
    yield n
    while changed and selector.stopped_ is None and n < (most or MOST_PASSES):
        changed = _another_pass(selector, known, settle) or most is not None
        n += 1
        yield n
    if changed and most is None and n >= MOST_PASSES:
        warnings.warn(
            f"the selection still changes after {n:,} passes over the columns: give a number of sweeps",
            ConvergenceWarning,
            stacklevel=2,
        )


def _another_pass(selector: ColumnSelector, blocks: list[ColumnBlock], settle: Settle) -> bool:
    """Offer all columns once more; return whether the selection changed."""
    changed, start, stop = False, 0, selector.stop
    for block in blocks:
        width = block.X.shape[1]
        size = 1 if stop is not None and stop.watches_features else width
        for low in range(0, width, size):
            piece, part = block, slice(low, low + size)
            if size < width:
                piece = ColumnBlock(block.X[:, part], None if block.names is None else block.names[part])
            seen = replace(piece, X=selector._seen(piece.X))  # noqa: SLF001 - without rows held out
            kept_one = _offer_again(selector, piece, settle(seen, start + low))
            if hasattr(selector, "_holdout_"):
                selector._hold(piece, start + low)  # noqa: SLF001
            selector._found_ = max(selector._found_, selector.n_kept_)
            changed |= kept_one
            if stop is not None:
                if stop.accuracy is not None:
                    selector._keep_values(piece, start + low)  # noqa: SLF001
                selector.stopped_ = stop.reached(selector, selector._started_, kept_one=kept_one)
            if selector.stopped_ is not None:
                return changed
        start += width
    return changed


def _offer_again(selector: ColumnSelector, block: ColumnBlock, outcome: Outcome) -> bool:
    """Record what changed when a block was offered again; return whether anything did."""
    start, ledger = outcome.start, selector.ledger_
    left = defaultdict(list)
    for gone in outcome.evictions:
        left[gone.step - start].append(gone)
    changed = sorted({*np.flatnonzero(outcome.reason == KEPT).tolist(), *left})
    names, step = selector.names_, selector.n_features_in_
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
