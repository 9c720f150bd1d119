"""What the plots share: lines that differ in print, axes, legends, and checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve._text import plot_name
from streamsieve.exceptions import CapabilityError, ParameterError
from streamsieve.protocols import FloatArray

#: Colors whose grays differ, from dark to light.
COLORS = ("#0b2545", "#8c2d04", "#41822a", "#9a80bd", "#d99a1c", "#1b6a85", "#c2577e")
#: Curves of this number of points have a marker at each.
MOST_MARKED = 12
LINES = ("-", "--", "-.", ":")
MARKERS = "os^Dv<>Xph"
#: The line of a pair that stands for no forgetting, and of anything that only explains.
GRAY = "#999999"
#: More shifts than this are ticks below the curves; lines would hide what they mark.
MOST_LINES = 20
#: Bands of more curves than this hide each other.
MOST_BANDS = 4
#: A legend of more names than this stands beside the picture, in one column.
MOST_BELOW = 4
#: Width of a letter of a legend, of what stands before its text, and height of a line, in inches.
LETTER, SAMPLE, LINE = 0.078, 0.75, 0.215
#: Logarithmic from this ratio of the largest to the smallest number on.
WIDE = 30


def style(i: int, n_points: int) -> dict[str, Any]:
    """Return how the i-th of several curves looks: color, dashes and markers all differ from the next."""
    return {
        "color": COLORS[i % len(COLORS)],
        "linestyle": LINES[i % len(LINES)],
        "marker": MARKERS[i % len(MARKERS)],
        "markersize": 4,
        # a few markers are enough to tell curves apart, and apart from each other they stay visible
        "markevery": None
        if n_points <= MOST_MARKED
        else (i % 5 * max(1, n_points // 40), max(1, n_points // 8)),
        "linewidth": 1.6,
    }


def plain(text: object) -> str:
    """Return a title or the name of a measure as it is drawn; `plot_name` does the same for shorter names."""
    return plot_name(text, longest=300)


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure that needs no display."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - needs the cli extra
    except ImportError as error:
        raise CapabilityError(
            "pictures need matplotlib, which is not here: pip install 'streamsieve[cli]'"
        ) from error
    return Figure(figsize=(width, height), layout="constrained")


def bare(axes: Any, *, grid: str | None = None) -> None:
    """Remove the upper and right lines of the frame; draw a pale grid along "x", "y" or "both"."""
    axes.spines[["top", "right"]].set_visible(False)
    if grid is not None:
        axes.grid(axis=grid, color="#e5e5e5", linewidth=0.6)
        axes.set_axisbelow(True)


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
            axes.axvline(row, color=GRAY, linewidth=0.8, linestyle=(0, (1, 3)), zorder=0)
        axes.plot([], [], color=GRAY, linewidth=0.8, linestyle=(0, (1, 3)), label="shift")
        return
    # heights in shares of the picture, places in rows
    axes.vlines(shifts, 0, 0.02, transform=axes.get_xaxis_transform(), color=GRAY, linewidth=0.5, zorder=0)
    axes.annotate(
        f"{len(shifts):,} shifts", (0, 0.025), xycoords="axes fraction", color="#777777", fontsize=8,
        va="bottom",
    )  # fmt: skip


def mark_random(axes: Any, share: float) -> None:
    """Draw the share that random selection would find."""
    axes.axhline(share, color=GRAY, linewidth=1)
    where = {"xycoords": ("axes fraction", "data"), "ha": "right", "va": "top"}
    axes.annotate("random selection", (1, share), color="#777777", fontsize=9, **where)


def curve(name: str, values: npt.ArrayLike, n_points: int, *, runs_first: bool = False) -> FloatArray:
    """Return (point, run) values of a curve that may be given without runs."""
    table = np.asarray(values, np.float64)
    table = table[:, None] if table.ndim == 1 else table.T if runs_first else table
    if table.ndim != 2 or len(table) != n_points or not table.shape[1]:
        shape = " x ".join(map(str, np.shape(values))) or "a single number"
        raise ParameterError(f"{name!r} must have a value for each of {n_points} points; it is {shape}")
    return table


def check_some(what: str, given: Mapping[str, Any]) -> None:
    """Refuse to draw nothing."""
    if not given:
        raise ParameterError(f"there is nothing to draw: {what} is empty")


def check_places(what: str, places: Sequence[float] | npt.NDArray[Any]) -> FloatArray:
    """Return where the points of curves stand: at least one, ascending."""
    at = np.asarray(places, np.float64)
    if at.ndim != 1 or not len(at) or not np.isfinite(at).all() or (np.diff(at) <= 0).any():
        raise ParameterError(f"{what} must be at least one number, ascending; got {places!r}")
    return at


def room_for(names: Iterable[str]) -> tuple[float, float]:
    """Return the width and the height, in inches, that a legend of these names takes beside a picture."""
    listed = [plot_name(name) for name in names]
    if len(listed) <= MOST_BELOW:
        return 0.0, 0.0
    return SAMPLE + LETTER * max(map(len, listed)), LINE * len(listed) + 0.2


def add_title(figure: Any, title: str, beside: float) -> None:
    """Write a title over the panels, of which a legend of some width stands to the right."""
    if title:
        figure.suptitle(plain(title), x=0.5 * (1 - beside / figure.get_size_inches()[0]))


def add_baseline(axes: Any, value: float, label: str) -> None:
    """Draw a line across that no curve can be taken for: solid, broad and pale."""
    axes.axhline(value, color="#b0b0b0", linewidth=3, zorder=1, label=plot_name(label))


def labeled(figure: Any) -> dict[str, Any]:
    """Return the handles of all panels by label, each label once."""
    known: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            known.setdefault(label, handle)
    return known


def add_legend(figure: Any) -> None:
    """Explain the curves of all panels once: below if they are few, beside the picture if many."""
    known = labeled(figure)
    where: dict[str, Any] = {"loc": "outside right upper"}
    if len(known) <= MOST_BELOW:
        where = {"loc": "outside lower center", "ncols": len(known)}
    figure.legend(list(known.values()), list(known), frameon=False, handlelength=3, **where)


def count_axis(axis: Any, places: FloatArray) -> None:
    """Let an axis count things, with a scale for the numbers there are."""
    from matplotlib.ticker import FuncFormatter, NullFormatter  # noqa: PLC0415 - needs the cli extra

    if places[0] > 0 and places[-1] / places[0] >= WIDE:
        axis.axes.set_xscale("log")
        axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))


def short(value: float) -> str:
    """Return a count in few letters: 20, 1,500, 20k, 3M."""
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= 10 * unit or (value >= unit and value % unit == 0):
            return f"{value / unit:,.4g}{letter}"
    return f"{value:,.6g}"
