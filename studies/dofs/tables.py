"""Numbers of columns and accuracies beside those printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from studies._columns import cells
from studies._columns.cells import Cell
from studies._desk import Desk
from studies.dofs._published import printed
from studies.dofs._readings import BESIDE
from studies.dofs._runs import DRAWS

Cells = dict[tuple[str, str], Cell]
#: What a part found, by data set.
Found = Mapping[str, Mapping[str, Any]]


def results(desk: Desk, names: Sequence[str]) -> tuple[Found, Found]:
    """Return what was found over folds, and on all rows."""
    folds = {name: desk.part.result(f"{name}: folds") for name in names}
    return folds, {name: desk.part.result(f"{name}: all rows") for name in names}


def listed(items: Sequence[str]) -> str:
    """Return things in a row."""
    return ", ".join(items) if items else "none"


def section(desk: Desk, names: Sequence[str]) -> str:
    """Return the tables and what they say."""
    sizes, nearest, tree = (
        of_sizes(desk, names),
        of_shares(desk, names, "nearest"),
        of_shares(desk, names, "tree"),
    )
    return f"""\
## Beside the paper's tables

Paper / ours (the difference). A star marks a difference beyond chance: for columns, beyond two standard
deviations over {DRAWS} draws (methods that do not draw have no such excuse); for accuracies, beyond two
standard errors of a share of the rows.

Number of selected columns, on all rows: {cells.agreement(list(sizes.values()))}.

{_table(sizes, names, spread=False)}
Accuracy of one nearest neighbour: {cells.agreement(list(nearest.values()))}.

{_table(nearest, names, spread=True)}
Accuracy of a tree: {cells.agreement(list(tree.values()))}.

{_table(tree, names, spread=True)}
Two of the author's public prototypes are other methods than their names say: "OSFS" a filter by single F
tests, "Grafting" a threshold on weights after steps of stochastic gradients. Whether they made the tables is
not known; the text names a toolbox in MATLAB.
"""


def of_sizes(desk: Desk, names: Sequence[str]) -> Cells:
    """Return the numbers of columns, by method and data set."""
    made = {}
    for name in names:
        found = desk.part.result(f"{name}: all rows")["sizes"]
        for method, theirs in BESIDE.items():
            spread = 2 * found[method].get("size sd", 0.0)
            where, value = ("sizes", name, method), printed(name, theirs, "n_selected")
            made[method, name] = Cell(where, value, found[method]["size"], spread, 1)
    return made


def of_shares(desk: Desk, names: Sequence[str], kind: str, beside: Mapping[str, str] = BESIDE) -> Cells:
    """Return the accuracies of a kind of classifier, by method and data set."""
    made = {}
    for name in names:
        found, n = desk.part.result(f"{name}: folds"), desk.part.result(f"{name}: all rows")["rows"]
        for method, theirs in beside.items():
            value, ours = printed(name, theirs, "accuracy"), found[method][kind]
            # of the mean of both, because of 1.0000 there is no error
            noise = cells.of_share((value + ours) / 2, n)
            made[method, name] = Cell((kind, name, method), value, ours, noise)
    return made


def _table(made: Cells, names: Sequence[str], *, spread: bool) -> str:
    rows = {}
    for method in BESIDE:
        row = [made[method, name] for name in names]
        rows[method] = [_text(cell) for cell in row]
        if spread:
            gaps = np.array([cell.ours - cell.theirs for cell in row])
            rows[method].append(f"{gaps.mean():+.4f}, {np.abs(gaps).mean():.4f}")
    last = ["mean difference, without sign"] if spread else []
    return cells.table("method", [*names, *last], rows)


def _text(cell: Cell) -> str:
    gap = round(cell.ours - cell.theirs, 4) + 0.0  # no minus before zero
    digits = 0 if cell.digits == 1 and gap == round(gap) else cell.digits
    return f"{cell.text} ({gap:+,.{digits}f})"


def accuracy(trial: Mapping[str, Any]) -> float:
    """Return the mean accuracy of both classifiers."""
    return float((trial["nearest"] + trial["tree"]) / 2)
