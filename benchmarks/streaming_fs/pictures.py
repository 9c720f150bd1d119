"""Pictures of a board: critical differences, shares found by width, and Pareto fronts."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from matplotlib.ticker import LogLocator

from benchmarks.streaming_fs.boards import Board
from streamsieve.evaluation import plots
from streamsieve.evaluation.plots.style import add_legend, bare, new_figure, plain, style
from streamsieve.evaluation.reports.html.figures import Picture

COLOURS = {"ours": "#0b5c7a", "peer": "#8c2d04", "baseline": "#777777", "entered": "#41822a"}
#: Curves of a picture: the best of ours, of others, and of printed figures.
CURVES = (3, 2, 2)


def pictures(board: Board) -> list[dict[str, Any]]:
    """Return the pictures of a board, as the page shows them."""
    found = [_critical(board), *by_width(board)]
    if board.title.startswith("Real sets"):
        found += [
            _front(board, "size", "columns kept (mean)"),
            _front(board, "seconds", "seconds to select (mean)"),
        ]
    return [_shown(picture) for picture in found if picture is not None]


def _shown(picture: Picture) -> dict[str, Any]:
    width, height = (round(96 * inches) for inches in picture.figure.get_size_inches())
    return {
        "address": picture.address(), "caption": picture.caption, "alt": picture.alt, "width": width,
        "height": height, "wide": picture.name == "ranks",
    }  # fmt: skip


def _critical(board: Board) -> Picture | None:
    ranks = board.ranks()
    if ranks is None or ranks.n_cases < 3:
        return None
    figure = plots.critical_difference(ranks.means, ranks.entries, ranks.difference)
    caption = (
        f"{board.title}: mean ranks over {ranks.n_cases} cases; "
        "bars join methods that do not differ significantly."
    )
    return Picture("ranks", caption, caption, figure)


def by_width(board: Board) -> list[Picture]:
    """Draw the share found against the width, one picture per shape, for cases named "SHAPE, p = WIDTH"."""
    cases = [(case, re.fullmatch(r"(\w+), p = (\d+)", case)) for case in board.cases]
    shapes: dict[str, list[tuple[int, str]]] = {}
    for case, match in cases:
        if match:
            shapes.setdefault(match[1], []).append((int(match[2]), case))
    found = []
    for shape, places in shapes.items():
        places.sort()
        figure = new_figure(6.2, 3.8)
        axes = figure.add_subplot()
        names = _curves(board, [case for _, case in places])
        for i, (name, values) in enumerate(names.items()):
            axes.plot([p for p, _ in places], values, label=name, **style(i, len(places)))
        axes.set(xscale="log", xlabel="columns", ylabel=board.measure, ylim=(-0.03, 1.03), title=shape)
        bare(axes, grid="y")
        figure.legend(frameon=False, handlelength=3, loc="outside right upper")
        widths = [p for p, _ in places]
        axes.set_xticks(widths, [f"{p:,}" for p in widths])
        axes.set_xticks([], minor=True)
        caption = f"{shape}: {board.measure} against the number of columns."
        found.append(Picture(shape.lower(), caption, caption, figure))
    return found


def _curves(board: Board, cases: list[str]) -> dict[str, list[float]]:
    """Return the best curves of our methods, of others, and of printed figures."""
    run = {
        name: [row[case].score if case in row else math.nan for case in cases]
        for name, row in board.cells.items()
    }
    printed = {name: [row.get(case, math.nan) for case in cases] for name, row in board.published.items()}
    ours = {name: values for name, values in run.items() if board.kinds[name] == "ours"}
    others = {name: values for name, values in run.items() if board.kinds[name] != "ours"}
    chosen: dict[str, list[float]] = {}
    for group, most in zip((ours, others, printed), CURVES, strict=True):
        known = {name: values for name, values in group.items() if not all(map(math.isnan, values))}
        best = sorted(known, key=lambda name: -float(np.nanmean(known[name])))
        chosen |= {name: known[name] for name in best[:most]}
    same: dict[tuple[float, ...], list[str]] = {}  # curves on top of each other are one, with both names
    for name, values in chosen.items():
        same.setdefault(tuple(values), []).append(name)
    return {"\n".join(map(plain, names)): [*values] for values, names in same.items()}


def _front(board: Board, what: str, label: str) -> Picture | None:
    """Draw the score against size or seconds; the front is what no other entry beats in both."""
    points = {name: (board.mean(name, what), board.mean(name)) for name in board.complete}
    points = {
        name: point for name, point in points.items() if all(map(math.isfinite, point)) and point[0] > 0
    }
    if len(points) < 2:
        return None
    figure = new_figure(6.2, 4.2)
    axes = figure.add_subplot()
    for name, (x, y) in points.items():
        kind = board.kinds[name]
        axes.plot(x, y, marker="o", linestyle="none", color=COLOURS[kind], label=kind)
    front = pareto([*points.values()])
    axes.step(*zip(*front, strict=True), where="post", color="#b0b0b0", linewidth=1.2, zorder=0)
    axes.set(xscale="log", xlabel=label, ylabel=board.measure)
    axes.margins(x=0.12)
    widths = [x for x, _ in points.values()]
    few = max(widths) < 100 * min(widths)  # more labels would overlap
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,)))
    axes.xaxis.set_major_formatter(_short)
    axes.xaxis.set_minor_formatter("")
    bare(axes, grid="both")
    add_legend(figure)
    named = {
        name: point for name, point in points.items() if point in front or board.kinds[name] != "ours"
    }  # all names would cover each other
    _name_points(figure, axes, named)
    caption = (
        f"{board.title}: {board.measure} against {label}. The line is the Pareto front; methods of ours that "
        "are not on it have no name."
    )
    return Picture(what, caption, caption, figure)


def _short(value: float, _: int) -> str:
    return f"{value:,.3g}" if value < 1000 else f"{value:,.0f}"


def _name_points(figure: Any, axes: Any, points: dict[str, tuple[float, float]]) -> None:
    """Write names beside points, from the top down; one that would cover another is moved below it."""
    figure.canvas.draw()  # only then it is known where a point lies
    place = {name: axes.transData.transform(point) for name, point in points.items()}
    scale = figure.dpi / 72
    taken: list[tuple[float, float, float]] = []  # left, right and bottom of names
    for name in sorted(place, key=lambda name: -place[name][1]):
        left, point = place[name] + 4 * scale
        bottom, right = point - 4 * scale, left + 4.2 * scale * len(name)
        for other_left, other_right, other in sorted(taken, key=lambda each: -each[2]):
            if left < other_right and other_left < right and abs(bottom - other) < 8 * scale:
                bottom = other - 8 * scale
        taken.append((left, right, bottom))
        down = bottom - place[name][1]
        axes.annotate(
            plain(name), points[name], xytext=(4, down / scale), textcoords="offset points", fontsize=7.5
        )


def pareto(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points that no other one beats by a smaller first and a larger second number, in order."""
    front: list[tuple[float, float]] = []
    for x, y in sorted(points, key=lambda point: (point[0], -point[1])):
        if not front or y > front[-1][1]:
            front.append((x, y))
    return front
