"""The picture of how cost grows, drawn from the results of the scaling suite."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from streamsieve.evaluation.plots import save

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "scaling.png"
#: What grows, and how the cases of the suite begin.
PANELS = {
    "rows": "Screen {}, n = ",
    "features": "Screen {}, p = ",
    "classes": "Screen {}, classes = ",
    "1 / epsilon": "Screen {}, 1 / epsilon = ",
}
CRITERIA = {"mutual_info": ("#0b6e99", "-", "o"), "fisher": ("#555555", "--", "s")}


def draw(results: Sequence[Any], path: Path = PICTURE) -> bool:
    """Write the picture; return whether there was anything to draw."""
    curves = {
        (panel, criterion): _points(results, prefix.format(criterion))
        for panel, prefix in PANELS.items()
        for criterion in CRITERIA
    }
    if not any(curves.values()):
        return False
    from matplotlib.figure import Figure  # noqa: PLC0415 - needs the cli extra

    figure = Figure(figsize=(11, 3.2), layout="constrained")
    grid = figure.subplots(1, len(PANELS), sharey=True)  # a small effect must not look large
    for place, (axes, panel) in enumerate(zip(grid, PANELS, strict=True)):
        for criterion, (colour, line, marker) in CRITERIA.items():
            points = curves[panel, criterion]
            if points:
                x, seconds = zip(*points, strict=True)
                axes.loglog(x, seconds, color=colour, linestyle=line, marker=marker, label=criterion)
                if panel in ("rows", "features"):
                    straight = [seconds[-1] * value / x[-1] for value in x]
                    axes.loglog(x, straight, color="#bbbbbb", linewidth=1, zorder=0)
        axes.set(xlabel=panel, ylabel="seconds" if place == 0 else "")
        axes.spines[["top", "right"]].set_visible(False)
        if place == 0:
            axes.legend(frameon=False)
    save(figure, path)
    return True


def _points(results: Sequence[Any], prefix: str) -> list[tuple[float, float]]:
    found = [
        (float(result.case.removeprefix(prefix).replace(",", "")), result.ours_seconds)
        for result in results
        if result.suite == "scaling" and result.case.startswith(prefix) and result.ours_seconds
    ]
    return sorted(found)
