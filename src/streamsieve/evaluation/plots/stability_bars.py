"""Stability of selectors with its intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve.evaluation.plots.style import bare, new_figure
from streamsieve.exceptions import ParameterError


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
    axes.set(xlim=(left * 1.05, 1.0), ylim=(len(methods) - 0.4, -0.6), xlabel=measure, title=title)
    axes.set_yticks(places, [str(name) for name in methods])
    for place, value in enumerate(found.tolist()):
        text = "not defined" if np.isnan(value) else f"{value:.2f}"
        # beside the picture, where no bar or interval can be
        axes.annotate(
            text, (1.015, place), xycoords=("axes fraction", "data"), va="center", fontsize=9,
            annotation_clip=False,
        )  # fmt: skip
    axes.axvline(0, color="black", linewidth=0.8)
    axes.grid(axis="x", color="#e5e5e5", linewidth=0.6)
    axes.set_axisbelow(True)
    bare(axes)
    return figure
