"""What the order of arrival does to a selection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve.evaluation.plots.curves import check_some
from streamsieve.evaluation.plots.style import bare, new_figure
from streamsieve.exceptions import ParameterError


def orders(panels: Mapping[str, Mapping[str, npt.ArrayLike]], *, title: str = "") -> Any:
    """Show results of several random orders of arrival: a circle for each, a bar at the median.

    Parameters
    ----------
    panels : for each panel, by what it measures ("accuracy", "features kept"), and each method, by name, one
        value for each order
    title : str, default=""
        What the data set is.

    Returns
    -------
    matplotlib Figure, in the manner of Wu et al. 2013, figures 11 to 13
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
        axes.set(xlabel=measure, ylim=(len(names) - 0.4, -0.6))
        axes.grid(axis="x", color="#e5e5e5", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.locator_params(axis="x", nbins=6)
        bare(axes)
    grid[0].set_yticks(range(len(names)), names)
    if title:
        figure.suptitle(title)
    return figure
