"""Accuracy and size of a selection while columns stream in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy.typing as npt

from streamsieve.evaluation.plots.curves import (
    MOST_BANDS,
    add_baseline,
    add_legend,
    check_places,
    check_some,
    curve,
    room_for,
    short,
)
from streamsieve.evaluation.plots.style import bare, new_figure, style
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import FloatArray


def column_stream(
    offered: Sequence[int] | npt.NDArray[Any],
    accuracy: Mapping[str, npt.ArrayLike],
    sizes: Mapping[str, npt.ArrayLike],
    *,
    measure: str = "accuracy",
    baseline: float | None = None,
    title: str = "",
) -> Any:
    """Show how accuracy and the number of features kept change as columns arrive.

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

    Returns
    -------
    matplotlib Figure, in the manner of Wu et al. 2013, figures 10, 18 and 19
    """
    at = check_places("offered", offered)
    check_some("accuracy", accuracy)
    if set(accuracy) != set(sizes):
        raise ParameterError(
            f"accuracy and sizes must be of the same methods; got {', '.join(accuracy)} and "
            f"{', '.join(sizes)}"
        )
    beside, high = room_for([*accuracy, *(["all columns"] if baseline is not None else [])])
    figure = new_figure(7.2 + beside, max(5.6, high))
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    for i, name in enumerate(accuracy):
        look = style(i, len(at))
        bands = len(accuracy) <= MOST_BANDS
        _draw(above, at, curve(name, accuracy[name], len(at), runs_first=True), name, look, bands=bands)
        _draw(below, at, curve(name, sizes[name], len(at), runs_first=True), name, look, bands=bands)
    if baseline is not None:
        add_baseline(above, baseline, "all columns")
    above.set(ylabel=measure, title=title)
    below.set(ylabel="features kept", xlabel="columns offered")
    below.set_ylim(bottom=0)
    below.xaxis.set_major_formatter(lambda value, _: short(value))
    for axes in (above, below):
        axes.grid(axis="y", color="#e5e5e5", linewidth=0.6)
        axes.set_axisbelow(True)
        bare(axes)
    figure.align_ylabels()
    add_legend(figure)
    return figure


def _draw(
    axes: Any, at: FloatArray, orders: FloatArray, name: str, look: dict[str, Any], *, bands: bool
) -> None:
    axes.plot(at, orders.mean(axis=1), label=name, **look)
    if bands and orders.shape[1] > 1:
        axes.fill_between(
            at, orders.min(axis=1), orders.max(axis=1), color=look["color"], alpha=0.13, linewidth=0
        )
