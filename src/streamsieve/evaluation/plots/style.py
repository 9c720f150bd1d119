"""What the pictures share: lines that differ in print, and bare axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streamsieve._text import shown
from streamsieve.exceptions import CapabilityError

#: Colours whose greys differ, from dark to light.
COLOURS = ("#0b2545", "#8c2d04", "#41822a", "#9a80bd", "#d99a1c", "#1b6a85", "#c2577e")
#: Curves of this number of points have a marker at each.
FEW = 12
LINES = ("-", "--", "-.", ":")
MARKERS = "os^Dv<>Xph"
#: The line of a pair that stands for no forgetting, and of anything that only explains.
GREY = "#999999"
#: More shifts than this are ticks below the curves; lines would hide what they mark.
MOST_LINES = 20


def style(i: int, n_points: int) -> dict[str, Any]:
    """Return how the i-th of several curves looks: colour, dashes and markers all differ from the next."""
    return {
        "color": COLOURS[i % len(COLOURS)],
        "linestyle": LINES[i % len(LINES)],
        "marker": MARKERS[i % len(MARKERS)],
        "markersize": 4,
        # a few markers are enough to tell curves apart, and apart from each other they stay visible
        "markevery": None if n_points <= FEW else (i % 5 * max(1, n_points // 40), max(1, n_points // 8)),
        "linewidth": 1.6,
    }


def plain(name: object) -> str:
    """Return a name as it is drawn: without characters that act, and never as a formula between dollars."""
    return shown(name).replace("$", r"\$")


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure that needs no display."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - needs the cli extra
    except ImportError as error:
        raise CapabilityError(
            "pictures need matplotlib, which is not here: pip install 'streamsieve[cli]'"
        ) from error
    return Figure(figsize=(width, height), layout="constrained")


def bare(axes: Any) -> None:
    """Leave away the lines of the frame that say nothing."""
    axes.spines[["top", "right"]].set_visible(False)


def count_rows(axes: Any, last: int) -> None:
    """Let the horizontal axis count rows from 0 to the last."""
    axes.set(xlabel="rows seen", xlim=(0, last))
    axes.xaxis.set_major_formatter("{x:,.0f}")


def mark_shifts(axes: Any, shifts: Sequence[int]) -> None:
    """Mark the rows at which the truth changed: lines if they are few, ticks below if many."""
    if len(shifts) == 0:
        return
    if len(shifts) <= MOST_LINES:
        for row in shifts:
            axes.axvline(row, color=GREY, linewidth=0.8, linestyle=(0, (1, 3)), zorder=0)
        axes.plot([], [], color=GREY, linewidth=0.8, linestyle=(0, (1, 3)), label="shift")
        return
    # heights in shares of the picture, places in rows
    axes.vlines(shifts, 0, 0.02, transform=axes.get_xaxis_transform(), color=GREY, linewidth=0.5, zorder=0)
    axes.annotate(
        f"{len(shifts):,} shifts", (0, 0.025), xycoords="axes fraction", color="#777777", fontsize=8,
        va="bottom",
    )  # fmt: skip


def mark_chance(axes: Any, share: float) -> None:
    """Draw the share that guessing would find."""
    axes.axhline(share, color=GREY, linewidth=1)
    axes.annotate(
        "chance", (1, share), xycoords=("axes fraction", "data"), ha="right", va="bottom", color="#777777",
        fontsize=9,
    )  # fmt: skip
