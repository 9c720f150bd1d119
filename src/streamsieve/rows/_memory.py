"""Which summary remembers the rows: the criterion's own, over a window of rows, with a binned target."""

from __future__ import annotations

from typing import Any

from streamsieve.criteria._formula import Formula
from streamsieve.criteria.ksg import KSG
from streamsieve.summaries._target_bins import TargetBins
from streamsieve.summaries._window import Window


def new_memory(
    formula: Formula, *, regression: bool, half_life: float | None, window: int | None, epsilon: float
) -> Any:
    """Make an empty summary for a formula."""
    if isinstance(formula, KSG):  # it reads the window itself
        target = "numeric" if regression else "classes"
        return formula.new_summary(half_life=half_life, target=target, window=window)
    summary = formula.new_summary(half_life=half_life, epsilon=epsilon)
    if regression and summary.target == "classes":
        summary = TargetBins(summary, getattr(formula, "bins", 5))
    return summary if window is None else Window(summary, window)
