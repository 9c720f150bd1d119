"""How screens follow relevant features that drift."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from streamsieve.evaluation.plots.style import bare, count_rows, mark_chance, new_figure
from streamsieve.evaluation.reports.track import detection_curve
from streamsieve.protocols import IntArray

#: Distinguishable in print: line styles differ as well as colours.
STYLES = (("#0b6e99", "-"), ("#b3541e", "--"), ("#555555", ":"), ("#3f7d20", "-."))
#: Neighbouring features that share a cell of a heat map.
CELL = 20


def drift(
    rows: Sequence[int], tops: Mapping[str, Sequence[IntArray]], truths: Sequence[IntArray], n_features: int
) -> Any:
    """Plot how screens follow relevant features that drift.

    Parameters
    ----------
    rows : rows seen at every point in time
    tops : for each screen, the features it had selected at those times
    truths : the features that were relevant at those times
    n_features : number of features

    Returns
    -------
    matplotlib Figure: above, the share of relevant features found over time; below, for each screen, how
    densely its top features cover the feature axis, with the relevant range between two lines
    """
    figure = new_figure(9, 6.4)
    grid = figure.add_gridspec(2, len(tops), height_ratios=(2, 3))
    above = figure.add_subplot(grid[0, :])
    for (name, columns), (colour, line) in zip(tops.items(), STYLES, strict=False):
        above.plot(
            rows, detection_curve(columns, truths), color=colour, linestyle=line, linewidth=2, label=name
        )
    mark_chance(above, len(next(iter(tops.values()))[-1]) / n_features)
    count_rows(above, rows[-1])
    above.set(ylim=(0, 1), ylabel="relevant features found")
    above.legend(frameon=False, loc="upper right", ncols=len(tops))
    bare(above)
    for place, (name, columns) in enumerate(tops.items()):
        axes = figure.add_subplot(grid[1, place])
        axes.imshow(
            _density(columns, n_features), origin="lower", aspect="auto", cmap="Greys", vmin=0, vmax=1,
            extent=(0, rows[-1], 0, n_features),
        )  # fmt: skip
        for edge in (np.min, np.max):
            axes.plot(rows, [edge(truth) for truth in truths], color=STYLES[1][0], linewidth=1.4)
        count_rows(axes, rows[-1])
        axes.set(ylabel="feature" if place == 0 else "", title=f"selected by {name}")
    return figure


def _density(tops: Sequence[IntArray], n_features: int) -> Any:
    """Proportion of each cell's features that are selected, (cell, time)."""
    edges = np.arange(0, n_features + CELL, CELL)
    return np.stack([np.histogram(top, edges)[0] / CELL for top in tops], axis=1)
