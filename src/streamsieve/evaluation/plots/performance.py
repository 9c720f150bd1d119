"""Performance against the number of features selected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve.evaluation.plots.curves import (
    MOST_BANDS,
    add_baseline,
    add_legend,
    add_title,
    check_places,
    check_some,
    count_axis,
    curve,
    room_for,
)
from streamsieve.evaluation.plots.style import bare, new_figure, style
from streamsieve.protocols import FloatArray

#: Rings round the peaks of more curves than this are clutter.
MOST_PEAKS = 8


def performance(
    sizes: Sequence[int] | npt.NDArray[Any],
    panels: Mapping[str, Mapping[str, npt.ArrayLike]],
    baselines: Mapping[str, float] | None = None,
    *,
    measure: str = "AUC",
    baseline: str = "no screening",
    title: str = "",
) -> Any:
    """Show how well methods do as they select more features.

    Parameters
    ----------
    sizes : numbers of features selected, ascending
    panels : for each panel, by title, and each method, by name, its performance at every size; or a
        (size, run) array, of which the mean is drawn, and its standard error where curves are few.  NaN where
        a size is missing
    baselines : mapping or None, default=None
        For some panels, by title, the performance without selection: a line across.
    measure : str, default="AUC"
        What performance is, with its unit if it has one.
    baseline : str, default="no screening"
        What the line across is.
    title : str, default=""
        What the data set is.

    Returns
    -------
    matplotlib Figure, in the manner of Wang 2021, figures 2.1 to 2.4; rings mark peaks where curves are few
    """
    at = check_places("sizes", sizes)
    check_some("panels", panels)
    lines = baselines or {}
    names = list(dict.fromkeys(name for curves in panels.values() for name in curves))
    beside, high = room_for([*names, *([baseline] if lines else [])])
    figure = new_figure(4.8 * len(panels) + beside, max(4.2, high))
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (heading, curves) in zip(grid, panels.items(), strict=True):
        for name, values in curves.items():
            runs = curve(name, values, len(at))
            # one look a method in all panels
            _draw(axes, at, runs, name, style(names.index(name), len(at)), len(curves))
        if heading in lines:
            add_baseline(axes, lines[heading], baseline)
        count_axis(axes.xaxis, at)
        axes.set(xlabel="features selected", title=heading)
        axes.grid(axis="y", color="#e5e5e5", linewidth=0.6)
        axes.set_axisbelow(True)
        bare(axes)
    grid[0].set_ylabel(measure)
    add_legend(figure)
    add_title(figure, title, beside)
    return figure


def _draw(
    axes: Any, at: FloatArray, runs: FloatArray, name: str, look: dict[str, Any], n_curves: int
) -> None:
    means = runs.mean(axis=1)
    axes.plot(at, means, label=name, **look)
    if runs.shape[1] > 1 and n_curves <= MOST_BANDS:
        error = runs.std(axis=1, ddof=1) / np.sqrt(runs.shape[1])
        axes.fill_between(at, means - error, means + error, color=look["color"], alpha=0.15, linewidth=0)
    if n_curves <= MOST_PEAKS and not np.isnan(means).all():
        peak = int(np.nanargmax(means))
        axes.plot(
            at[peak], means[peak], marker="o", markersize=9, markerfacecolor="none",
            markeredgecolor=look["color"], linestyle="none",
        )  # fmt: skip
