"""Curves of several methods: performance by size, column streams, growth of time, orders of arrival."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve._text import plot_name
from streamsieve.evaluation.plots import style as shared
from streamsieve.evaluation.plots.style import (
    GRAY,
    bare,
    check_places,
    check_some,
    curve,
    new_figure,
    plain,
    style,
)
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import FloatArray

STRAIGHT = "in proportion"
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
    higher_is_better: bool = True,
) -> Any:
    """Plot performance against the number of features selected; rings mark peaks where curves are few.

    As figures 2.1 to 2.4 of Wang 2021.

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
    higher_is_better : bool, default=True
        Whether a peak is the highest value; False for errors.
    """
    at = check_places("sizes", sizes)
    check_some("panels", panels)
    sign = 1 if higher_is_better else -1
    lines = baselines or {}
    names = list(dict.fromkeys(name for curves in panels.values() for name in curves))
    beside, high = shared.room_for([*names, *([baseline] if lines else [])])
    figure = new_figure(4.8 * len(panels) + beside, max(4.2, high))
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (heading, curves) in zip(grid, panels.items(), strict=True):
        for name, values in curves.items():
            runs = curve(name, values, len(at))
            # one look per method in all panels
            _draw(axes, at, runs, name, style(names.index(name), len(at)), len(curves), sign)
        if heading in lines:
            shared.add_baseline(axes, lines[heading], baseline)
        shared.count_axis(axes.xaxis, at)
        axes.set(xlabel="features selected", title=plain(heading))
        bare(axes, grid="y")
    grid[0].set_ylabel(plain(measure))
    shared.add_legend(figure)
    shared.add_title(figure, title, beside)
    return figure


def _draw(
    axes: Any, at: FloatArray, runs: FloatArray, name: str, look: dict[str, Any], n_curves: int, sign: int
) -> None:
    means = runs.mean(axis=1)
    axes.plot(at, means, label=plot_name(name), **look)
    if runs.shape[1] > 1 and n_curves <= shared.MOST_BANDS:
        error = runs.std(axis=1, ddof=1) / np.sqrt(runs.shape[1])
        axes.fill_between(at, means - error, means + error, color=look["color"], alpha=0.15, linewidth=0)
    if n_curves <= MOST_PEAKS and not np.isnan(means).all():
        peak = int(np.nanargmax(sign * means))
        axes.plot(
            at[peak], means[peak], marker="o", markersize=9, markerfacecolor="none",
            markeredgecolor=look["color"], linestyle="none",
        )  # fmt: skip


def column_stream(
    offered: Sequence[int] | npt.NDArray[Any],
    accuracy: Mapping[str, npt.ArrayLike],
    sizes: Mapping[str, npt.ArrayLike],
    *,
    measure: str = "accuracy",
    baseline: float | None = None,
    title: str = "",
) -> Any:
    """Plot accuracy and number of features kept as columns arrive, as figures 10 and 18 of Wu et al. 2013.

    Parameters
    ----------
    offered : columns offered at every look, ascending
    accuracy : for each method, by name, its accuracy at every look; or an (order, look) array of several
        orders of arrival, of which the mean is drawn, and the range where curves are few
    sizes : for the same methods the number of features kept, likewise
    measure : str, default="accuracy"
        What accuracy is: "accuracy", "test error", "AUC".
    baseline : float or None, default=None
        Accuracy with all columns: a line across.
    title : str, default=""
        What the data set is.
    """
    at = check_places("offered", offered)
    check_some("accuracy", accuracy)
    if set(accuracy) != set(sizes):
        raise ParameterError(
            f"accuracy and sizes must be of the same methods; got {', '.join(accuracy)} and "
            f"{', '.join(sizes)}"
        )
    beside, high = shared.room_for([*accuracy, *(["all columns"] if baseline is not None else [])])
    figure = new_figure(7.2 + beside, max(5.6, high))
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    for i, name in enumerate(accuracy):
        look = style(i, len(at))
        for axes, given in ((above, accuracy), (below, sizes)):
            values = curve(name, given[name], len(at), runs_first=True)
            axes.plot(at, values.mean(axis=1), label=plot_name(name), **look)
            if len(accuracy) <= shared.MOST_BANDS and values.shape[1] > 1:
                low, top = values.min(axis=1), values.max(axis=1)
                axes.fill_between(at, low, top, color=look["color"], alpha=0.13, linewidth=0)
    if baseline is not None:
        shared.add_baseline(above, baseline, "all columns")
    above.set(ylabel=plain(measure), title=plain(title))
    below.set(ylabel="features kept", xlabel="columns offered")
    below.set_ylim(bottom=0)
    below.xaxis.set_major_formatter(lambda value, _: shared.short(value))
    for axes in (above, below):
        bare(axes, grid="y")
    figure.align_ylabels()
    shared.add_legend(figure)
    return figure


def growth(
    panels: Mapping[str, tuple[Sequence[float] | npt.NDArray[Any], Mapping[str, npt.ArrayLike]]],
    *,
    measure: str = "time (seconds)",
    title: str = "",
) -> Any:
    """Plot how time grows, both axes logarithmic; a gray line shows time in proportion to size.

    Parameters
    ----------
    panels : for each panel, by what grows ("features", "rows"), its sizes, ascending, and for each method, by
        name, its time at every size; or a (size, repetition) array, of which the median is drawn.  NaN where
        a method was not measured
    measure : str, default="time (seconds)"
        What is drawn upwards.
    title : str, default=""
        What was measured.
    """
    from matplotlib.ticker import FixedLocator, NullLocator  # noqa: PLC0415 - needs the cli extra

    check_some("panels", panels)
    names = list(dict.fromkeys(name for _, curves in panels.values() for name in curves))
    beside, high = shared.room_for([*names, STRAIGHT])
    figure = new_figure(4.4 * len(panels) + beside, max(4.2, high))
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (what, (sizes, curves)) in zip(grid, panels.items(), strict=True):
        at = check_places(f"sizes of {what!r}", sizes)
        if at[0] <= 0:
            raise ParameterError(f"sizes of {what!r} must be above 0; got {at[0]:g}")
        axes.set(xscale="log", yscale="log", xlabel=plain(what))
        lowest = []
        for name, values in curves.items():
            seconds = np.median(curve(name, values, len(at)), axis=1)
            if (seconds <= 0).any():
                raise ParameterError(f"times must be above 0; {name!r} has {np.nanmin(seconds):g}")
            axes.plot(
                at, seconds, label=plot_name(name), **(style(names.index(name), len(at)) | {"markevery": 1})
            )
            lowest.extend(seconds[:1][~np.isnan(seconds[:1])].tolist())
        if lowest:
            # below all curves, so that it hides behind none
            axes.plot(at, min(lowest) / 2 * at / at[0], color=GRAY, linewidth=1, zorder=1, label=STRAIGHT)
        if len(at) <= 6:  # so few can all be named, where powers of ten might leave one
            axes.xaxis.set_major_locator(FixedLocator(at.tolist()))
            axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(lambda value, _: shared.short(value))
        bare(axes, grid="both")
    grid[0].set_ylabel(plain(measure))
    shared.add_legend(figure)
    shared.add_title(figure, title, beside)
    return figure


def orders(panels: Mapping[str, Mapping[str, npt.ArrayLike]], *, title: str = "") -> Any:
    """Show results of several random orders of arrival: a circle for each, a bar at the median.

    As figures 11 to 13 of Wu et al. 2013.

    Parameters
    ----------
    panels : for each panel, by what it measures ("accuracy", "features kept"), and each method, by name, one
        value for each order
    title : str, default=""
        What the data set is.
    """
    check_some("panels", panels)
    names = list(next(iter(panels.values())))
    if not names or any(list(methods) != names for methods in panels.values()):
        raise ParameterError("every panel must have the same methods, at least one, in the same order")
    longest = max(map(len, names))
    figure = new_figure(3.6 * len(panels) + 0.08 * longest, 1.1 + 0.32 * len(names))
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (measure, methods) in zip(grid, panels.items(), strict=True):
        for row, values in enumerate(methods.values()):
            found = np.asarray(values, np.float64).ravel()
            axes.plot(
                found, np.full(len(found), row), linestyle="none", marker="o", markersize=6,
                markerfacecolor="none", markeredgecolor="black", alpha=0.55,
            )  # fmt: skip
            if len(found):
                axes.plot((np.median(found),) * 2, (row - 0.32, row + 0.32), color="black", linewidth=2.2)
        axes.set(xlabel=plain(measure), ylim=(len(names) - 0.4, -0.6))
        axes.locator_params(axis="x", nbins=6)
        bare(axes, grid="x")
    grid[0].set_yticks(range(len(names)), [plot_name(name) for name in names])
    if title:
        figure.suptitle(plain(title))
    return figure
