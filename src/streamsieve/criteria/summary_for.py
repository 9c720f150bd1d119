"""Which summary serves which criterion: the one place where needs and options meet."""

from __future__ import annotations

from typing import Any

from streamsieve.criteria.criterion import Criterion, Needs
from streamsieve.exceptions import CapabilityError
from streamsieve.summaries import (
    CoMoments,
    Contingency,
    Moments,
    Quantiles,
    RecentRows,
    SortedColumns,
    TargetBins,
    Window,
)

PROVIDES: dict[Needs, type[Any]] = {
    Needs.MOMENTS: Moments,
    Needs.COMOMENTS: CoMoments,
    Needs.QUANTILES: Quantiles,
    Needs.COUNTS: Contingency,
    Needs.ROWS: RecentRows,
}
#: Rows whose targets decide where a numeric target is cut if all rows are kept.
ALL_ROWS = 2**31 - 1


def summary_for(
    criterion: Criterion,
    *,
    target: str = "classes",
    half_life: float | None = None,
    window: int | None = None,
    max_rank_error: float = 1e-3,
    exact: bool = False,
) -> Any:
    """Return an empty summary of what a criterion needs.

    Parameters
    ----------
    criterion : says what it ``needs``
    target : "classes" or "numeric"; a numeric one is cut into bins where the summary needs classes
    half_life : rows after which an observation weighs half
    window : number of last rows to summarize
    max_rank_error : largest rank error of quantiles
    exact : keep all rows and sort their columns, where the criterion needs quantiles
    """
    criterion.check_values()
    needs = criterion.needs
    if needs is Needs.ROWS:
        if half_life is not None:
            raise CapabilityError(
                f"criterion={criterion.name!r} needs {needs}, which cannot fade by half_life={half_life:g}: "
                "use window, or criterion='mutual_info'"
            )
        return RecentRows(target, size=criterion.default_window if window is None else window)
    sorts = exact and sorts_columns(criterion)
    summary = SortedColumns() if sorts else _plain(needs, half_life, max_rank_error)
    if target == "numeric" and summary.target == "classes":
        summary = (
            TargetBins(summary, bins=criterion.bins, warm_up=ALL_ROWS)
            if sorts
            else TargetBins(summary, bins=criterion.bins)
        )
    return summary if window is None else Window(summary, size=window)


def _plain(needs: Needs, half_life: float | None, max_rank_error: float) -> Any:
    return (
        Quantiles(max_rank_error, half_life=half_life)
        if needs is Needs.QUANTILES
        else PROVIDES[needs](half_life)
    )


def sorts_columns(criterion: Criterion) -> bool:
    """Whether ``exact=True`` changes anything: sums and counts are exact anyway."""
    return criterion.needs is Needs.QUANTILES


def serves(criterion: Criterion, summary: Any, *, exact: bool = False) -> bool:
    """Whether a summary, without windows and bins around it, is one that a criterion can read."""
    kind = SortedColumns if exact and sorts_columns(criterion) else PROVIDES[criterion.needs]
    return isinstance(summary, kind)


def target_of(criterion: Criterion) -> str | None:
    """Return the kind of target that a criterion's summary is bound to: "numeric", or None for any."""
    return "numeric" if criterion.needs is Needs.COMOMENTS else None
