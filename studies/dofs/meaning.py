"""What our figures say about those printed: floors, classifiers, and columns chosen before the folds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from studies._columns import cells
from studies._columns.cells import Cell
from studies._desk import Desk
from studies.dofs._guesses import GUESSES
from studies.dofs._published import METHODS, MICROARRAYS, RIVALS, printed
from studies.dofs._readings import AS_OURS, AS_PRINTED, BESIDE, CORRECTED, LITERALLY
from studies.dofs._runs import FOLDS, TOP
from studies.dofs.tables import Found, accuracy, listed, of_shares, of_sizes, results

#: A printed accuracy this near to the share of the largest class is at the floor.
POINT = 0.01
#: Half of the last digit printed.
LAST = 0.5e-4
#: As the mean over folds may differ from the share of all rows.
ALMOST = 0.002
#: Above so many rows any share with four digits is a whole number of rows.
MOST_ROWS = 1000


def section(desk: Desk, names: Sequence[str]) -> str:
    """Return what our figures say about those printed."""
    folds, rows = results(desk, names)
    return f"""\
## What this says about the printed figures

{_floors(rows)}
{_whole_rows(rows)}
{_sizes(desk, names)}
### Which classifier?

The paper does not name one. Candidates, on the columns of the methods as it describes them: those of the
tables above, and three of scikit-learn as they came in 2018, columns unscaled: a support vector machine with
a radial kernel (SVC), a linear one by five passes of stochastic gradients (SGD), a logistic regression.

{_classifiers(desk, names)}
### Chosen before or inside the folds?

Ours are chosen without the test rows. To choose once on all rows, and to cross-validate only the classifier,
is a well-known mistake; the printed numbers of columns are whole, as if there was one choice.

{_before(folds, rows)}
### In short

{_short(desk, names)}"""


def floors(rows: Found) -> tuple[list[str], list[str]]:
    """Return the printed accuracies that are the share of the largest class, and others near or below it."""
    exact, near = [], []
    for name, found in rows.items():
        for method in METHODS:
            value, floor = printed(name, method, "accuracy"), found["majority"]
            if abs(value - floor) <= 2 * LAST:
                exact.append(f"{method} on {name}")
            elif value < floor + POINT:
                near.append(f"{method} on {name} {100 * (value - floor):+.1f}")
    return exact, near


def _floors(rows: Found) -> str:
    exact, near = floors(rows)
    total = len(rows) * len(METHODS)
    return f"""\
- Of {total} printed accuracies {len(exact)} are the share of the largest class to the last digit: \
{listed(exact)}. To always say the same is as good; such a figure says nothing about columns.
- {len(near)} more lie below that share or less than a point above it (differences in points): \
{listed(near)}."""


def whole_rows(value: float, n: int) -> bool:
    """Return whether a share with four digits, cut off or rounded, is a whole number of n rows."""
    return bool(np.any(np.abs(np.floor(1e4 * np.arange(n + 1) / n) / 1e4 - value) < LAST / 10)) or bool(
        np.any(np.abs(np.round(np.arange(n + 1) / n, 4) - value) < LAST / 10)
    )


def _whole_rows(rows: Found) -> str:
    counted = {name: found["rows"] for name, found in rows.items() if found["rows"] <= MOST_ROWS}
    shares = [(name, method) for name in counted for method in METHODS]
    whole = sum(whole_rows(printed(name, m, "accuracy"), counted[name]) for name, m in shares)
    by_chance = sum(min(1.0, 2 * counted[name] / 1e4) for name, _ in shares)
    return (
        f"- Of the {len(shares)} printed for sets of at most {MOST_ROWS:,} rows {whole} are a whole number "
        f"of rows (by chance alone about {by_chance:.0f} would be): the others are means over folds, splits "
        "or runs that the paper does not describe."
    )


def _sizes(desk: Desk, names: Sequence[str]) -> str:
    made = of_sizes(desk, names)
    lines = []
    for title, way in (("to the letter", AS_PRINTED), ("as this library has them", AS_OURS)):
        some = [made[method, name] for method in way.values() for name in names]
        hits = sum(not cell.apart for cell in some)
        lines.append(f"{hits} of {len(some)} {title}")
    return (
        f"- Printed numbers of columns that come out, within the spread of the draws: {'; '.join(lines)}.\n"
    )


def by_classifier(desk: Desk, names: Sequence[str]) -> dict[str, list[Cell]]:
    """Return the accuracies of the methods as the paper describes them, by classifier, the nearest first."""
    beside = {method: BESIDE[method] for method in AS_PRINTED.values()}
    kinds = ("nearest", "tree", *GUESSES)
    made = {kind: list(of_shares(desk, names, kind, beside).values()) for kind in kinds}
    return dict(sorted(made.items(), key=lambda pair: _gap(pair[1])))


def _gap(some: Sequence[Cell]) -> float:
    return float(np.mean([abs(cell.ours - cell.theirs) for cell in some]))


def _classifiers(desk: Desk, names: Sequence[str]) -> str:
    made = by_classifier(desk, names)
    share = {name: desk.part.result(f"{name}: all rows")["majority"] for name in names}
    lines, constant = {}, {}
    for kind, some in made.items():
        above = float(np.mean([cell.ours - cell.theirs for cell in some]))
        within = f"{sum(not cell.apart for cell in some)} of {len(some)}"
        constant[kind] = sum(abs(cell.ours - share[cell.where[1]]) < ALMOST for cell in some)
        lines[kind] = [f"{_gap(some):.4f}", f"{above:+.4f}", within, str(constant[kind])]
    best, least = next(iter(made)), max(constant, key=lambda kind: constant[kind])
    theirs = [cell for cell in made[best] if abs(cell.theirs - share[cell.where[1]]) < ALMOST]
    lines["paper"] = ["", "", "", str(len(theirs))]
    columns = ["mean difference without sign", "with sign", "within chance", "equal to the largest class"]
    return f"""\
{cells.table("classifier", columns, lines)}
Nearest to the paper is "{best}", and that is {100 * _gap(made[best]):.1f} points away on average. The last \
column counts accuracies that are the share of the largest class, but for the rounding of folds: most by \
"{least}".
"""


def _before(folds: Found, rows: Found) -> str:
    wide = [name for name in folds if name in MICROARRAYS]
    narrow = [name for name in folds if name not in MICROARRAYS]
    text = f"Choosing before the folds changes accuracy by {bias(folds, rows, narrow):+.1f} points on average"
    if not wide:
        return f"{text}.\n"
    lines: dict[str, list[str]] = {}
    nearer = 0
    for method, theirs in BESIDE.items():
        lines[method] = []
        for name in wide:
            figure = printed(name, theirs, "accuracy")
            inside, before = accuracy(folds[name][method]), accuracy(rows[name]["afterwards"][method])
            nearer += abs(before - figure) < abs(inside - figure)
            lines[method].append(f"{figure:.4f} / {inside:.4f} / {before:.4f}")
    return f"""\
{text} on the sets of few columns, and by {bias(folds, rows, wide):+.1f} on the microarrays, where it is \
nearer to the printed figure in {nearer} of {len(wide) * len(BESIDE)} cases. Paper / chosen inside / chosen \
before the {FOLDS} folds:

{cells.table("method", wide, lines)}"""


def bias(folds: Found, rows: Found, over: Sequence[str]) -> float:
    """Return how many points choosing on all rows gains on average."""
    gains = [
        accuracy(rows[name]["afterwards"][method]) - accuracy(folds[name][method])
        for name in over
        for method in BESIDE
    ]
    return 100 * float(np.mean(gains)) if gains else 0.0


def _short(desk: Desk, names: Sequence[str]) -> str:
    folds, rows = results(desk, names)
    at_floor, total = sum(map(len, floors(rows))), len(names) * len(METHODS)
    sizes, made = of_sizes(desk, names), by_classifier(desk, names)
    hits = sum(not sizes[method, name].apart for method in AS_PRINTED.values() for name in names)
    kind, some = next(iter(made.items()))

    def mean(method: str) -> float:
        return 100 * float(np.mean([accuracy(folds[name][method]) for name in names]))

    best = max(RIVALS, key=lambda method: mean(AS_OURS[method]))
    fewer = sum(sizes[CORRECTED, name].ours < sizes[AS_OURS[best], name].ours for name in names)
    return f"""\
- From what the paper says, {hits} of its {total} numbers of columns come out, and \
{sum(not cell.apart for cell in some)} of its {total} accuracies within chance by the nearest classifier \
("{kind}").
- {at_floor} of {total} printed accuracies are at the floor. A difference to such a figure says that \
something did not work there, not that something else is better.
- Supervised DOFS has a mean accuracy of {mean(LITERALLY):.1f} % to the letter and {mean(CORRECTED):.1f} % \
corrected; TopK with as many columns has {mean(f"{TOP}: {LITERALLY}"):.1f} % and \
{mean(f"{TOP}: {CORRECTED}"):.1f} %.
- The best rival is {best} with {mean(AS_OURS[best]):.1f} %; corrected, supervised DOFS keeps fewer columns \
than that on {fewer} of {len(names)} sets.
"""
