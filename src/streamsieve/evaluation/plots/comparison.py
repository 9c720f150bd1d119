"""Methods side by side: critical differences of mean ranks, and stability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import check_number
from streamsieve._text import plot_name
from streamsieve.evaluation.plots.style import bare, new_figure, plain
from streamsieve.evaluation.significance.nemenyi import together
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import FloatArray

#: Everything is placed in inches: width of the axis and of a letter, heights of a name and of a bar.
AXIS, LETTER, LINE, BAR = 5.2, 0.08, 0.21, 0.11
#: Heights of what is above the axis and of the space between the bars and the first name.
TOP, GAP = 0.95, 0.2
#: How far a bar reaches beyond the ranks it joins, so that it shows where they are equal.
BEYOND = 0.05


def critical_difference(
    mean_ranks: Sequence[float] | npt.NDArray[Any],
    methods: Sequence[str],
    difference: float,
    *,
    alpha: float = 0.05,
    title: str = "",
) -> Any:
    """Draw a critical-difference diagram (Demsar 2006): bars join methods that do not differ significantly.

    Parameters
    ----------
    mean_ranks : one per method, 1 is best
    methods : their names
    difference : critical difference, for example of :func:`streamsieve.evaluation.significance.nemenyi`
    alpha : float, default=0.05
        Level of the test, for the caption.
    title : str, default=""
        What was compared.
    """
    means = np.asarray(mean_ranks, np.float64)
    if means.shape != (len(methods),) or len(methods) < 2 or not np.isfinite(means).all():
        raise ParameterError(
            f"there must be a finite mean rank for each of at least 2 methods; got {len(methods)} methods "
            f"and {means.size} ranks"
        )
    check_number("difference", difference, low=0)
    order = np.argsort(means, kind="stable")
    ordered, names = means[order], [str(methods[i]) for i in order.tolist()]
    joined = together(ordered, difference)
    half = (len(names) + 1) // 2
    side = 0.45 + LETTER * max(len(_label(n, r)) for n, r in zip(names, ordered.tolist(), strict=True))
    top = TOP + (0.3 if title else 0)
    below = top + BAR * (len(joined) + 1) + GAP
    figure = new_figure(AXIS + 2 * side, below + LINE * half + 0.1)
    axes = _canvas(figure)
    scale = _scale(axes, ordered, difference, side, top, alpha)
    for place, (first, last) in enumerate(joined, start=1):
        ends = scale(ordered[first]) - BEYOND, scale(ordered[last - 1]) + BEYOND
        axes.plot(ends, (top + BAR * place,) * 2, color="black", linewidth=3.2, solid_capstyle="butt")
    for i, (name, rank) in enumerate(zip(names, ordered.tolist(), strict=True)):
        left = i < half
        # the outermost names stand highest, so that no line crosses another
        height = below + LINE * (i if left else len(names) - 1 - i)
        edge = side - 0.15 if left else side + AXIS + 0.15
        axes.plot((scale(rank), scale(rank), edge), (top, height, height), color="#555555", linewidth=0.9)
        axes.text(
            edge + (-0.06 if left else 0.06), height, _label(name, rank), ha="right" if left else "left",
            va="center", fontsize=9.5,
        )  # fmt: skip
    if title:
        axes.text(side + AXIS / 2, 0.18, plain(title), ha="center", va="center", fontsize=11)
    return figure


def _label(name: str, rank: float) -> str:
    return f"{plot_name(name)}  {rank:.2f}"


def _canvas(figure: Any) -> Any:
    """Return axes that fill the figure and count inches from its upper left corner."""
    width, height = figure.get_size_inches().tolist()
    figure.set_layout_engine("none")
    axes = figure.add_subplot()
    axes.set_position((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    return axes


def _scale(axes: Any, ordered: FloatArray, difference: float, side: float, top: float, alpha: float) -> Any:
    """Draw the axis and the critical difference; return where a rank stands, in inches."""
    low = math.floor(float(ordered[0]))
    high = max(math.ceil(float(ordered[-1])), low + 1, math.ceil(low + float(difference)))

    def place(rank: float) -> float:
        return side + AXIS * (rank - low) / (high - low)

    axes.plot((place(low), place(high)), (top, top), color="black", linewidth=1.2)
    every = max(1, math.ceil((high - low) / 20))
    for rank in range(low, high + 1):
        named = (rank - low) % every == 0
        axes.plot((place(rank),) * 2, (top, top - (0.09 if named else 0.05)), color="black", linewidth=1)
        if named:
            axes.text(place(rank), top - 0.14, str(rank), ha="center", va="bottom", fontsize=9)
    bar = top - 0.52
    ends = place(low), place(low + difference)
    axes.plot(ends, (bar, bar), color="black", linewidth=1.6)
    for end in ends:
        axes.plot((end, end), (bar - 0.05, bar + 0.05), color="black", linewidth=1.6)
    axes.text(
        ends[0], bar - 0.12, f"critical difference {difference:.3g} at {alpha:g}", ha="left", va="bottom",
        fontsize=9,
    )  # fmt: skip
    axes.text(
        place(high), bar - 0.12, "mean rank (1 is best)", ha="right", va="bottom", fontsize=9, color="#555555"
    )
    return place


def stability_bars(
    methods: Sequence[str],
    values: Sequence[float] | npt.NDArray[Any],
    low: Sequence[float] | npt.NDArray[Any],
    high: Sequence[float] | npt.NDArray[Any],
    *,
    measure: str = "stability (1: always the same features, 0: as by chance)",
    title: str = "",
) -> Any:
    """Show how stable selectors are, with confidence intervals.

    Parameters
    ----------
    methods : names, from the top down
    values : stability of each; NaN where it is not defined
    low, high : ends of their confidence intervals; NaN for none
    measure : str, default="stability (1: always the same features, 0: as by chance)"
        What the values are.
    title : str, default=""
        What was selected from.
    """
    found, lower, upper = (np.asarray(each, np.float64) for each in (values, low, high))
    if not len(methods) or any(each.shape != (len(methods),) for each in (found, lower, upper)):
        raise ParameterError(
            f"there must be a value, a low and a high end for each of {len(methods)} methods"
        )
    longest = max(len(str(name)) for name in methods)
    figure = new_figure(5.6 + 0.08 * longest, 1.2 + 0.32 * len(methods))
    axes = figure.add_subplot()
    places = np.arange(len(methods))
    axes.barh(places, np.nan_to_num(found), height=0.62, color="#c9c9c9", edgecolor="#444444", linewidth=0.8)
    drawn = ~(np.isnan(found) | np.isnan(lower) | np.isnan(upper))
    reach = np.stack([found - lower, upper - found])[:, drawn]
    axes.errorbar(
        found[drawn], places[drawn], xerr=np.maximum(reach, 0), fmt="none", ecolor="black", elinewidth=1.6,
        capsize=4,
    )  # fmt: skip
    left = min(0.0, float(np.nanmin(np.concatenate([found, lower]), initial=0.0)))
    axes.set(
        xlim=(left * 1.05, 1.0), ylim=(len(methods) - 0.4, -0.6), xlabel=plain(measure), title=plain(title)
    )
    axes.set_yticks(places, [plot_name(name) for name in methods])
    for place, value in enumerate(found.tolist()):
        text = "not defined" if np.isnan(value) else f"{value:.2f}"
        # beside the picture, where no bar or interval can be
        axes.annotate(
            text, (1.015, place), xycoords=("axes fraction", "data"), va="center", fontsize=9,
            annotation_clip=False,
        )  # fmt: skip
    axes.axvline(0, color="black", linewidth=0.8)
    bare(axes, grid="x")
    return figure
