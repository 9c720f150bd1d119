"""Accuracy against size, one dot a method."""

from __future__ import annotations

from typing import Any

import numpy as np

from streamsieve.evaluation.plots.style import COLORS, GRAY, bare, new_figure
from studies.ranking._methods import ALL, LATER
from studies.ranking._results import Results

#: Where a name may stand, in points from its dot, and how it is aligned there; the first that is free counts.
PLACES = tuple(
    (side * across, up, "left" if side > 0 else "right")
    for across, up in ((6, 0), (6, 7), (6, -7), (6, 14), (6, -14), (6, 21), (6, -21), (6, 28), (6, -28))
    for side in (1, -1)
)
FONT = 7.5
WIDTH, HEIGHT = 9.0, 5.6
#: Left, bottom, right and top, in points.
Box = tuple[float, float, float, float]


def figure(found: Results) -> Any:
    """Return the picture; bars are the range over the orders of the columns."""
    sizes = found.of("size")
    points = {
        method: (max(float(np.median(sizes[method].mean(axis=1))), 0.5), found.accuracy[method].mean(axis=0))
        for method in found.methods
    }
    picture = new_figure(WIDTH, HEIGHT)
    axes = picture.add_subplot()
    for method, (size, by_order) in points.items():
        new = method in LATER
        axes.plot([size, size], [by_order.min(), by_order.max()], color=GRAY, linewidth=1.2, zorder=1)
        axes.plot(
            size, by_order.mean(), "s" if method == ALL else "o", markersize=6, zorder=2,
            markeredgecolor=COLORS[0], markerfacecolor="white" if new else COLORS[0],
        )  # fmt: skip
    axes.set_xscale("log")
    axes.set(xlabel="columns kept, median over the sets", ylabel="accuracy, mean over sets and orders")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.margins(x=0.12, y=0.06)
    bare(axes)
    axes.plot([], [], "o", color=COLORS[0], label="of the earlier ranking")
    axes.plot([], [], "o", markeredgecolor=COLORS[0], markerfacecolor="white", label="new")
    axes.plot([], [], "s", color=COLORS[0], label="no selection")
    axes.legend(frameon=False, loc="lower right", fontsize=9)
    _name(picture, axes, {method: (size, by_order.mean()) for method, (size, by_order) in points.items()})
    return picture


def _name(picture: Any, axes: Any, points: dict[str, tuple[float, float]]) -> None:
    """Write the name beside each dot, where no other dot or name stands."""
    picture.canvas.draw()  # the layout is made now, and names shall not change it
    dots = axes.transData.transform(list(points.values())) * 72 / picture.dpi
    edge = axes.bbox.x0 * 72 / picture.dpi
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in dots] + [(edge - 99, 0, edge, 72 * HEIGHT)]
    for method, (x, y) in sorted(zip(points, dots.tolist(), strict=True), key=lambda pair: -pair[1][1]):
        boxes = [_box(method, x, y, place) for place in PLACES]
        free = [i for i, box in enumerate(boxes) if not any(_meet(box, other) for other in taken)]
        i = free[0] if free else 0
        across, up, side = PLACES[i]
        taken.append(boxes[i])
        name = axes.annotate(
            method, points[method], (across, up), textcoords="offset points", ha=side, va="center",
            fontsize=FONT, arrowprops={"arrowstyle": "-", "color": GRAY, "linewidth": 0.6, "shrinkA": 0}
            if abs(up) > 7 else None,
        )  # fmt: skip
        name.set_in_layout(False)


def _box(text: str, x: float, y: float, place: tuple[int, int, str]) -> Box:
    """Return the ground that a name would cover."""
    across, up, side = place
    width = 0.56 * FONT * len(text)
    left = x + across - (width if side == "right" else 0)
    return left, y + up - 0.6 * FONT, left + width, y + up + 0.6 * FONT


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
