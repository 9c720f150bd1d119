"""Relevant features found: over time, by number selected, by half-life and rate of drift."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from streamsieve._text import plot_name
from streamsieve.evaluation.plots.style import (
    GRAY,
    bare,
    count_rows,
    mark_random,
    mark_shifts,
    new_figure,
    plain,
    style,
)
from streamsieve.evaluation.reports.track import detection_curve
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import FloatArray, IntArray

#: Distinguishable in print: line styles differ as well as colors.
STYLES = (("#0b6e99", "-"), ("#b3541e", "--"), ("#555555", ":"), ("#3f7d20", "-."))
#: Color of what is true of a simulated stream.
TRUTH = "#7b3fa0"
#: Neighboring features that share a cell of a heat map.
CELL = 20
#: Shares above this are written in white: the cell below them is dark.
DARK = 0.6


def detection(
    rows: Sequence[int] | IntArray,
    tops: Mapping[str, Sequence[IntArray]],
    truths: Sequence[IntArray],
    shifts: Sequence[int] = (),
    *,
    n_features: int | None = None,
    title: str = "",
) -> Any:
    """Plot the proportion of relevant features that screens had selected, as figure 3.2 of Wang 2021.

    Parameters
    ----------
    rows : rows seen at every look
    tops : for each screen, by name, the features it had selected at those looks
    truths : the features that were relevant at those looks
    shifts : sequence of int, default=()
        Rows at which the relevant features changed.
    n_features : int or None, default=None
        Number of features; then the share that guessing finds is drawn, too.
    title : str, default=""
        What the stream is.
    """
    figure = new_figure(9, 4.2)
    axes = figure.add_subplot()
    for i, (name, columns) in enumerate(tops.items()):
        axes.plot(rows, detection_curve(columns, truths), label=plot_name(name), **style(i, len(rows)))
    mark_shifts(axes, shifts)
    if n_features is not None:
        mark_random(axes, max(len(columns[-1]) for columns in tops.values()) / n_features)
    count_rows(axes, int(rows[-1]))
    axes.set(ylim=(0, 1.02), ylabel="relevant features found")
    axes.set_title(plain(title))
    bare(axes)
    figure.legend(loc="outside lower center", frameon=False, ncols=3)
    return figure


def drift(
    rows: Sequence[int], tops: Mapping[str, Sequence[IntArray]], truths: Sequence[IntArray], n_features: int
) -> Any:
    """Plot how screens follow relevant features that drift.

    Above, the share of relevant features found over time; below, for each screen, how densely its top
    features cover the feature axis, with the relevant range between two lines.

    Parameters
    ----------
    rows : rows seen at every point in time
    tops : for each screen, the features it had selected at those times
    truths : the features that were relevant at those times
    n_features : number of features
    """
    figure = new_figure(9, 6.4)
    grid = figure.add_gridspec(2, len(tops), height_ratios=(2, 3))
    above = figure.add_subplot(grid[0, :])
    for (name, columns), (color, line) in zip(tops.items(), STYLES, strict=False):
        above.plot(
            rows,
            detection_curve(columns, truths),
            color=color,
            linestyle=line,
            linewidth=2,
            label=plot_name(name),
        )
    mark_random(above, len(next(iter(tops.values()))[-1]) / n_features)
    count_rows(above, rows[-1])
    above.set(ylim=(0, 1), ylabel="relevant features found")
    above.legend(frameon=False, loc="upper right", ncols=len(tops))
    bare(above)
    panels: list[Any] = []
    for place, (name, columns) in enumerate(tops.items()):
        axes = figure.add_subplot(grid[1, place])
        shade = axes.imshow(
            _density(columns, n_features), origin="lower", aspect="auto", cmap="Greys", vmin=0, vmax=1,
            extent=(0, rows[-1], 0, n_features),
        )  # fmt: skip
        for edge in (np.min, np.max):  # a color that no screen has
            (truth,) = axes.plot(rows, [edge(each) for each in truths], color=TRUTH, linewidth=1.4)
        panels.append(axes)
        count_rows(axes, rows[-1])
        axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.set(ylabel="feature" if place == 0 else "", title=f"selected features: {plot_name(name)}")
    panels[0].legend([truth], ["relevant features lie between"], loc="upper left", fontsize=9)
    figure.colorbar(shade, ax=panels, label=f"share of {CELL} neighbors selected")
    return figure


def _density(tops: Sequence[IntArray], n_features: int) -> Any:
    """Proportion of each cell's features that are selected, (cell, time)."""
    edges = np.arange(0, n_features + CELL, CELL)
    return np.stack([np.histogram(top, edges)[0] / CELL for top in tops], axis=1)


def by_size(
    sizes: Sequence[int], panels: Mapping[str, Mapping[str, tuple[FloatArray, FloatArray]]], n_features: int
) -> Any:
    """Plot relevant features found against features selected, with forgetting (solid) and without (dashed).

    As figure 3.3 of Wang 2021.

    Parameters
    ----------
    sizes : numbers of features selected
    panels : for each panel, by title, and each criterion, by name, the share found at each size with
        forgetting and without
    n_features : number of features
    """
    figure = new_figure(4.6 * len(panels), 4.2)
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (title, curves) in zip(grid, panels.items(), strict=True):
        for i, (name, (forgetting, remembering)) in enumerate(curves.items()):
            look = style(i, len(sizes))
            axes.plot(sizes, forgetting, **(look | {"linestyle": "-"}), label=plot_name(name))
            axes.plot(sizes, remembering, **(look | {"linestyle": "--", "linewidth": 1}))
        axes.plot(sizes, [size / n_features for size in sizes], color=GRAY, linewidth=1, linestyle=":")
        middle = 0.6 * sizes[-1]
        axes.annotate("random selection", (middle, middle / n_features), ha="left", va="top", color="#777777")
        axes.set(title=plain(title), xlabel="features selected", xlim=(0, sizes[-1]), ylim=(0, 1.02))
        bare(axes)
    grid[0].set_ylabel("relevant features found")
    grid[0].plot([], [], color="black", linestyle="--", linewidth=1, label="without forgetting")
    handles, labels = grid[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", frameon=False, ncols=len(labels))
    return figure


def heat_map(
    grid: FloatArray,
    half_lives: Sequence[float | None],
    rates: Sequence[int],
    *,
    title: str = "relevant features found",
) -> Any:
    """Show what is found at each half-life and rate of drift; the best half-life of each rate is framed.

    As figure 3.2 of Wang 2021.

    Parameters
    ----------
    grid : (rate, half-life) shares found
    half_lives : rows after which a row weighs half; None never forgets
    rates : rows between two shifts
    title : str, default="relevant features found"
        What the shares are.
    """
    values = np.asarray(grid, np.float64)
    if values.shape != (len(rates), len(half_lives)):
        raise ParameterError(
            f"grid must have a row for each of {len(rates)} rates and a column for each of "
            f"{len(half_lives)} half-lives; it is {' x '.join(map(str, values.shape))}"
        )
    from matplotlib.patches import Rectangle  # noqa: PLC0415 - needs the cli extra

    figure = new_figure(2.2 + 0.8 * len(half_lives), 1.6 + 0.55 * len(rates))
    axes = figure.add_subplot()
    image = axes.imshow(values, cmap="Greys", vmin=0, vmax=1, aspect="auto")
    for (i, j), value in np.ndenumerate(values):
        ink = "white" if value > DARK else "black"
        axes.text(j, i, f"{value:.2f}", ha="center", va="center", color=ink, fontsize=9)
    for i, j in enumerate(np.nanargmax(values, axis=1).tolist()):
        axes.add_patch(Rectangle((j - 0.46, i - 0.44), 0.92, 0.88, fill=False, edgecolor="#d95f02", lw=2))
    lives = ["never\nforgets" if life is None else f"{life:,.0f}" for life in half_lives]
    axes.set_xticks(range(len(half_lives)), lives)
    axes.set_yticks(range(len(rates)), [f"{rate:,}" for rate in rates])
    axes.set(xlabel="half-life (rows)", ylabel="rows between shifts", title=plain(title))
    figure.colorbar(image, ax=axes, label="share", fraction=0.04)
    return figure
