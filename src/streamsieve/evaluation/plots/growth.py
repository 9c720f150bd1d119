"""How time grows with the number of features and of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve.evaluation.plots.curves import (
    add_legend,
    add_title,
    check_places,
    check_some,
    curve,
    room_for,
    short,
)
from streamsieve.evaluation.plots.style import GREY, bare, new_figure, style
from streamsieve.exceptions import ParameterError

STRAIGHT = "in proportion"


def growth(
    panels: Mapping[str, tuple[Sequence[float] | npt.NDArray[Any], Mapping[str, npt.ArrayLike]]],
    *,
    measure: str = "time (seconds)",
    title: str = "",
) -> Any:
    """Show how time grows, both axes logarithmic: a straight line of slope one is in proportion.

    Parameters
    ----------
    panels : for each panel, by what grows ("features", "rows"), its sizes, ascending, and for each method, by
        name, its time at every size; or a (size, repetition) array, of which the median is drawn.  NaN where
        a method was not measured
    measure : str, default="time (seconds)"
        What is drawn upwards.
    title : str, default=""
        What was measured.

    Returns
    -------
    matplotlib Figure; a grey line in every panel shows time in proportion to size
    """
    from matplotlib.ticker import FixedLocator, NullLocator  # noqa: PLC0415 - needs the cli extra

    check_some("panels", panels)
    names = list(dict.fromkeys(name for _, curves in panels.values() for name in curves))
    beside, high = room_for([*names, STRAIGHT])
    figure = new_figure(4.4 * len(panels) + beside, max(4.2, high))
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (what, (sizes, curves)) in zip(grid, panels.items(), strict=True):
        at = check_places(f"sizes of {what!r}", sizes)
        if at[0] <= 0:
            raise ParameterError(f"sizes of {what!r} must be above 0; got {at[0]:g}")
        axes.set(xscale="log", yscale="log", xlabel=what)
        lowest = []
        for name, values in curves.items():
            seconds = np.median(curve(name, values, len(at)), axis=1)
            if (seconds <= 0).any():
                raise ParameterError(f"times must be above 0; {name!r} has {np.nanmin(seconds):g}")
            axes.plot(at, seconds, label=name, **(style(names.index(name), len(at)) | {"markevery": 1}))
            lowest.extend(seconds[:1][~np.isnan(seconds[:1])].tolist())
        if lowest:
            # below all curves, so that it hides behind none
            axes.plot(at, min(lowest) / 2 * at / at[0], color=GREY, linewidth=1, zorder=1, label=STRAIGHT)
        if len(at) <= 6:  # so few can all be named, where powers of ten might leave one
            axes.xaxis.set_major_locator(FixedLocator(at.tolist()))
            axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(lambda value, _: short(value))
        axes.grid(color="#e5e5e5", linewidth=0.6)
        bare(axes)
    grid[0].set_ylabel(measure)
    add_legend(figure)
    add_title(figure, title, beside)
    return figure
