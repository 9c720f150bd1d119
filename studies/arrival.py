"""Accuracy while columns stream in (figure 10 of the paper of OSFS): is all of the stream needed?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from streamsieve.evaluation.plots.style import GRAY, bare, new_figure, style
from studies import _report
from studies._columns import cells
from studies._columns.classifiers import nearest
from studies._columns.methods import ALWAYS, BY_G2, EXPLAINED, FDR
from studies._columns.splits import ColumnData, Split
from studies._data import MissingDataError
from studies._desk import Desk

LOOKS = 10
LEVEL = 0.05
REPEATS = 20
#: Data sets by the name of their file.
FILES = {
    "madelon": "madelon",
    "arcene": "arcene",
    "dexter": "dexter",
    "dorothea": "dorothea",
    "colon": "colon_raw",
    "prostate": "prostate_spls6033",
    "leukemia": "leukemia_golub_raw",
}
FEW = frozenset({"colon", "leukemia"})
THIRD = frozenset({"prostate"})
CODES = frozenset({"dorothea"})

SELECTORS = {name: make for name, make in BY_G2.items() if "paper" not in name}
DRAWN = ("Fast-OSFS", "OSFS", "Alpha-investing", "SAOLA + ADDIS", "TopK")


def run(desk: Desk) -> str | None:
    """Compute, and return the page; None if no data set is there."""
    repeats = 2 if desk.quick else REPEATS
    settings = {"form": 1, "repeats": repeats, "level": LEVEL, "fdr": FDR, "quick": desk.quick}
    done = []
    for name, file in FILES.items():
        data = ColumnData(file, 100 if desk.quick else None)
        try:
            desk.part(name, settings, compute, data, name, repeats)
        except MissingDataError as error:
            desk.skip(name, str(error))
        else:
            done.append(name)
    if not done:
        return None
    found = {name: desk.part.result(name) for name in done}
    caption = "Accuracy of one nearest neighbour as columns stream in; grey: all columns of the whole stream."
    return _report.page(
        desk,
        "An unknown feature space",
        _INTRODUCTION,
        desk.picture("arrival", _figure(found), caption),
        *(_section(name, result) for name, result in found.items()),
        _reached(found),
    )


def compute(data: ColumnData, name: str, repeats: int) -> dict[str, Any]:
    """Return accuracies and sizes by method, at each look, means over splits; and accuracy on all columns."""
    accuracy: dict[str, list[list[float]]] = {}
    size: dict[str, list[list[float]]] = {}
    everything = []
    for split in _splits(data, name, repeats):
        everything.append(nearest(split, None).accuracy)
        codes = name in CODES
        k = len(SELECTORS["SAOLA"](codes, LEVEL, 0).fit(split.X, split.y).selected_)
        for method, make in SELECTORS.items():
            seen = [(nearest(split, s).accuracy, float(len(s))) for s in _looks(make(codes, LEVEL, k), split)]
            accuracy.setdefault(method, []).append([a for a, _ in seen])
            size.setdefault(method, []).append([s for _, s in seen])
    return {
        "accuracy": {method: np.mean(rows, axis=0).tolist() for method, rows in accuracy.items()},
        "size": {method: np.mean(rows, axis=0).tolist() for method, rows in size.items()},
        "all": float(np.mean(everything)),
        "splits": len(everything),
        "tested": len(split.test_y),
    }


def _splits(data: ColumnData, name: str, repeats: int) -> Iterator[Split]:
    if name not in FEW | THIRD:
        yield data.published()
        return
    for seed in range(repeats):
        yield data.few(5, seed) if name in FEW else data.random(1 / 3, seed)


def _looks(selector: Any, split: Split) -> Iterator[Any]:
    """Offer a tenth of the columns at a time, and yield what is kept after each."""
    selector.begin(split.y)
    ends = np.linspace(0, split.X.shape[1], LOOKS + 1).astype(int)
    for low, high in pairwise(ends):
        selector.offer(split.X[:, low:high])
        yield selector.selected_


# ------------------------------------------------------------------------------------ the page

_INTRODUCTION = f"""\
Columns arrive in the order of the file; after every tenth of them one nearest neighbour is asked on the
columns kept so far. Rows as in the paper: the published split of madelon, arcene, dexter and dorothea; ten
test rows, five of each class, for colon and leukemia; a third for prostate. The paper draws one random split
of these; here {REPEATS}, means. G2 at {LEVEL:g} for OSFS and Fast-OSFS.

{EXPLAINED}"""


def _section(name: str, found: dict[str, Any]) -> str:
    shares = [f"{100 * (i + 1) // LOOKS} %" for i in range(LOOKS)]
    rows = {
        method: [
            *(f"{accuracy:.3f}" for accuracy in found["accuracy"][method]),
            cells.number(round(found["size"][method][-1], 1), 1),
        ]
        for method in SELECTORS
    }
    return f"""\
## {name}

All columns: {found["all"]:.3f}.

{cells.table("method", [*shares, "columns"], rows)}"""


#: What the paper says of Fast-OSFS and all columns, at the end of the stream.
SAID = {
    "madelon": "above",
    "arcene": "below",
    "dexter": "reached at 70 %",
    "dorothea": "above",
    "colon": "reached or above",
    "prostate": "reached or above",
    "leukemia": "below",
}


def _reached(found: dict[str, Any]) -> str:
    rows, methods = {}, ("Fast-OSFS", "OSFS", "Alpha-investing", "SAOLA", *ALWAYS)
    for name, result in found.items():
        when = [_when(result["accuracy"][method], result["all"]) for method in methods]
        rows[name] = [SAID[name], f"{result['all']:.3f}", *when]
    columns = ["paper, of Fast-OSFS", "all columns", *methods]
    half = [_half(found, method) for method in SELECTORS]
    listed = ", ".join(f"{m} {value:.2f}" for m, value in zip(SELECTORS, half, strict=True))
    return f"""\
## When do a few columns do as well as all?

The share of the stream after which a method stays at least as accurate as one nearest neighbour on all
columns of the whole stream, less half a point; "-" if it ends below.

{cells.table("data", columns, rows)}
Accuracy after half of the stream over that at its end, mean over the sets: {listed}.
"""


def _when(by_look: Sequence[float], everything: float) -> str:
    """Return from which look on the accuracy stays there."""
    there = [accuracy >= everything - 0.005 for accuracy in by_look]
    if not there[-1]:
        return "-"
    since = max((i + 1 for i, good in enumerate(there) if not good), default=0)
    return f"{100 * (since + 1) // LOOKS} %"


def _half(found: dict[str, Any], method: str) -> float:
    looks = [result["accuracy"][method] for result in found.values()]
    return float(np.mean([by_look[LOOKS // 2 - 1] / by_look[-1] for by_look in looks]))


def _figure(found: dict[str, Any]) -> Any:
    figure = new_figure(11, 5.2)
    shares = 100 * np.arange(1, LOOKS + 1) / LOOKS
    for i, (name, result) in enumerate(found.items()):
        axes = figure.add_subplot(2, 4, i + 1)
        axes.axhline(result["all"], color=GRAY, linewidth=1, label="all columns")
        for j, method in enumerate(DRAWN):
            look = style(j, LOOKS) | {"markevery": 1, "markersize": 3}
            axes.plot(shares, result["accuracy"][method], **look, label=method)
        axes.set_title(name, fontsize=10)
        axes.set(xlabel="columns seen, %" if i > 2 else None, ylabel="accuracy" if i % 4 == 0 else None)
        bare(axes)
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", frameon=False)
    return figure
