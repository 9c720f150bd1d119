"""Relevant features found over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from streamsieve.evaluation.plots.style import bare, count_rows, mark_chance, mark_shifts, new_figure, style
from streamsieve.evaluation.reports.track import detection_curve
from streamsieve.protocols import IntArray


def detection(
    rows: Sequence[int] | IntArray,
    tops: Mapping[str, Sequence[IntArray]],
    truths: Sequence[IntArray],
    shifts: Sequence[int] = (),
    *,
    n_features: int | None = None,
    title: str = "",
) -> Any:
    """Plot the proportion of relevant features that screens had selected.

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

    Returns
    -------
    matplotlib Figure, in the manner of Wang 2021, figure 3.2
    """
    figure = new_figure(9, 4.2)
    axes = figure.add_subplot()
    for i, (name, columns) in enumerate(tops.items()):
        axes.plot(rows, detection_curve(columns, truths), label=name, **style(i, len(rows)))
    mark_shifts(axes, shifts)
    if n_features is not None:
        mark_chance(axes, max(len(columns[-1]) for columns in tops.values()) / n_features)
    count_rows(axes, int(rows[-1]))
    axes.set(ylim=(0, 1.02), ylabel="relevant features found")
    axes.set_title(title)
    bare(axes)
    figure.legend(loc="outside lower center", frameon=False, ncols=3)
    return figure
