"""Relevant features found against the number of features selected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from streamsieve.evaluation.plots.style import GREY, bare, new_figure, style
from streamsieve.protocols import FloatArray


def by_size(
    sizes: Sequence[int], panels: Mapping[str, Mapping[str, tuple[FloatArray, FloatArray]]], n_features: int
) -> Any:
    """Show how many relevant features are found as more are selected, with and without forgetting.

    Parameters
    ----------
    sizes : numbers of features selected
    panels : for each panel, by title, and each criterion, by name, the share found at each size with
        forgetting and without
    n_features : number of features

    Returns
    -------
    matplotlib Figure, in the manner of Wang 2021, figure 3.3: solid with forgetting, dashed without
    """
    figure = new_figure(4.6 * len(panels), 4.2)
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (title, curves) in zip(grid, panels.items(), strict=True):
        for i, (name, (forgetting, remembering)) in enumerate(curves.items()):
            look = style(i, len(sizes))
            axes.plot(sizes, forgetting, **(look | {"linestyle": "-"}), label=name)
            axes.plot(sizes, remembering, **(look | {"linestyle": "--", "linewidth": 1}))
        axes.plot(sizes, [size / n_features for size in sizes], color=GREY, linewidth=1, linestyle=":")
        middle = 0.6 * sizes[-1]
        axes.annotate("chance", (middle, middle / n_features), ha="left", va="top", color="#777777")
        axes.set(title=title, xlabel="features selected", xlim=(0, sizes[-1]), ylim=(0, 1.02))
        bare(axes)
    grid[0].set_ylabel("relevant features found")
    grid[0].plot([], [], color="black", linestyle="--", linewidth=1, label="without forgetting")
    handles, labels = grid[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", frameon=False, ncols=len(labels))
    return figure
