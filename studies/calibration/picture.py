"""The heat map: size divided by level, on a logarithmic scale that is blue below 1 and red above."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from studies.calibration.sizes import Size
from studies.calibration.subjects import LEVELS

#: Blue and red of ColorBrewer's RdBu, which color-blind readers distinguish.
COLORS = LinearSegmentedColormap.from_list("size", ["#2166AC", "#FFFFFF", "#B2182B"])
#: Ratio at which the colors saturate, and its logarithm.
LIMIT, SATURATED = 8.0, 3.0


def heat_map(
    rows: Sequence[tuple[str, int]], subjects: Sequence[str], grid: Sequence[Sequence[Sequence[Size]]]
) -> Figure:
    """Draw sizes: one row per family and n, and for each test four narrow cells, one per level.

    A cell is white where the interval reaches the level within 20 %, gray where there is no such test, and
    has a dot where the test is liberal by the whole interval.
    """
    width = len(LEVELS)
    shade = np.full((len(rows), width * len(subjects)), np.nan)
    dots = []
    for i, some in enumerate(grid):
        for j, found in enumerate(some):
            for k, size in enumerate(found):
                depth = np.clip(np.log2(max(size.ratio, 1 / LIMIT)), -SATURATED, SATURATED)
                shade[i, width * j + k] = 0.0 if size.verdict == "right" else depth
                dots += [(width * j + k, i)] if size.verdict == "liberal" else []
    figure = Figure(figsize=(4.2 + 0.13 * shade.shape[1], 2.9 + 0.13 * len(rows)), layout="constrained")
    axes = figure.subplots()
    axes.set_facecolor("#D9D9D9")
    drawn = axes.imshow(
        shade, cmap=COLORS, vmin=-SATURATED, vmax=SATURATED, aspect="auto", interpolation="nearest"
    )
    if dots:
        axes.scatter(*np.array(dots).T, s=2.5, color="black", linewidths=0)
    for edge in range(width, shade.shape[1], width):
        axes.axvline(edge - 0.5, color="#808080", linewidth=0.6)
    for i in range(1, len(rows)):
        if rows[i][0] != rows[i - 1][0]:
            axes.axhline(i - 0.5, color="#808080", linewidth=0.3)
    axes.set_xticks(np.arange(len(subjects)) * width + (width - 1) / 2, subjects, rotation=90, fontsize=7)
    axes.xaxis.tick_top()
    labels = [f"{f}, {n}" if i == 0 or rows[i - 1][0] != f else f"{n}" for i, (f, n) in enumerate(rows)]
    axes.set_yticks(np.arange(len(rows)), labels, fontsize=6)
    axes.tick_params(length=0)
    bar = figure.colorbar(drawn, ax=axes, location="bottom", aspect=30, pad=0.02)
    bar.set_ticks([-3, -2, -1, 0, 1, 2, 3], labels=["1/8", "1/4", "1/2", "1", "2", "4", "8"])
    bar.set_label("size / level, at .05, .01, .001, .0001", fontsize=7)
    bar.ax.tick_params(labelsize=7)
    return figure
