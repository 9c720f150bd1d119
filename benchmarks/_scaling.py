"""The pictures of how cost grows, drawn from the results of the scaling suite.

``python -m benchmarks._scaling`` draws them again from the recorded results.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from streamsieve.evaluation.plots import save

IMAGES = Path(__file__).parent.parent / "docs" / "images"
BLUE, GREY = "#0b6e99", "#555555"
#: Parts of a note that are no sizes of the data.
_SETTINGS = ("batches", "epsilon")


class Picture(NamedTuple):
    """Curves of some kinds over some quantities, one panel each."""

    file: str
    #: What grows, and how the cases of the suite begin.
    panels: Mapping[str, str]
    #: What is drawn in each panel: colour, line and marker.
    kinds: Mapping[str, tuple[str, str, str]]
    #: Panels that also show what a straight line would be.
    straight: tuple[str, ...]


PICTURES = (
    Picture(
        "scaling.png",
        {
            "rows": "Screen {}, n = ",
            "features": "Screen {}, p = ",
            "classes": "Screen {}, classes = ",
            "1 / epsilon": "Screen {}, 1 / epsilon = ",
        },
        {"mutual_info": (BLUE, "-", "o"), "fisher": (GREY, "--", "s")},
        ("rows", "features"),
    ),
    Picture(
        "scaling_columns.png",
        {"columns": "{}, p = ", "rows": "{}, n = ", "columns kept": "{}, kept = "},
        {
            "FastOSFS": (BLUE, "-", "o"),
            "SAOLA": (GREY, "--", "s"),
            "TopK": ("#999999", "-.", "^"),
            "OnlineFDR": ("#000000", ":", "v"),
        },
        ("columns", "rows"),
    ),
)


def draw(results: Sequence[Any], folder: Path = IMAGES) -> list[str]:
    """Write the pictures that there are results for; return their names."""
    return [picture.file for picture in PICTURES if _draw(picture, results, folder / picture.file)]


def _draw(picture: Picture, results: Sequence[Any], path: Path) -> bool:
    curves = {
        (panel, kind): _points(results, prefix.format(kind))
        for panel, prefix in picture.panels.items()
        for kind in picture.kinds
    }
    if not any(curves.values()):
        return False
    from matplotlib.figure import Figure  # noqa: PLC0415 - needs the cli extra

    figure = Figure(figsize=(11, 3.2), layout="constrained")
    grid = figure.subplots(1, len(picture.panels), sharey=True)  # a small effect must not look large
    for place, (axes, panel) in enumerate(zip(grid, picture.panels, strict=True)):
        for kind, (colour, line, marker) in picture.kinds.items():
            points = curves[panel, kind]
            if points:
                x, seconds = zip(*points, strict=True)
                axes.loglog(x, seconds, color=colour, linestyle=line, marker=marker, label=kind)
                if panel in picture.straight:
                    straight = [seconds[-1] * value / x[-1] for value in x]
                    label = "in proportion" if (place, kind) == (0, next(iter(picture.kinds))) else None
                    axes.loglog(x, straight, color="#bbbbbb", linewidth=1, zorder=0, label=label)
        axes.set(xlabel=panel, ylabel="seconds" if place == 0 else "")
        fixed = {kind: _fixed(results, picture.panels[panel].format(kind)) for kind in picture.kinds}
        known = {kind: text for kind, text in fixed.items() if text}
        same = len({*known.values()}) == 1
        lines = {*known.values()} if same else [f"{kind}: {text}" for kind, text in known.items()]
        axes.set_title("\n".join(lines), fontsize=8, color="#555555")
        axes.spines[["top", "right"]].set_visible(False)
        if place == 0:
            axes.legend(frameon=False)
    save(figure, path, overwrite=True)
    return True


def _cases(results: Sequence[Any], prefix: str) -> list[Any]:
    return [
        result
        for result in results
        if result.suite == "scaling" and result.case.startswith(prefix) and result.ours_seconds
    ]


def _points(results: Sequence[Any], prefix: str) -> list[tuple[float, float]]:
    return sorted(
        (float(result.case.removeprefix(prefix).replace(",", "")), result.ours_seconds)
        for result in _cases(results, prefix)
    )


def _fixed(results: Sequence[Any], prefix: str) -> str:
    """Return what the cases of a curve have in common, as their notes say: "500 features, 2 classes"."""
    sizes = []
    for result in _cases(results, prefix):
        size = re.sub(r"^([\d,]+) x ([\d,]+),", r"\1 rows x \2 features,", result.note.split("; ")[1])
        sizes.append([part for part in re.split(r", | x ", size) if not part.startswith(_SETTINGS)])
    return ", ".join(part for part in (sizes[0] if sizes else []) if all(part in size for size in sizes))


def recorded(path: Path) -> list[Any]:
    """Return the recorded results of the scaling suite."""
    section = json.loads(path.read_text("utf-8"))["scaling"]
    return [SimpleNamespace(**{"suite": "scaling", "note": "", **each}) for each in section["results"]]


if __name__ == "__main__":
    for name in draw(recorded(Path(__file__).parent / "results.json")):
        print(IMAGES / name)
