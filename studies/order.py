"""Does the order of columns matter?  Twelve random orders (figures 11 to 13 of the paper of OSFS)."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from studies import _report
from studies._columns import cells
from studies._columns.methods import BY_G2, EXPLAINED, FDR
from studies._columns.splits import ColumnData, Split
from studies._columns.toolbox import forced_alpha_investing
from studies._columns.trials import averaged, judged
from studies._data import MissingDataError
from studies._desk import Desk
from studies._parts import Part

ORDERS = 12
LEVEL = 0.05
FORCED = "Alpha-investing, column 1 forced"
CODES = frozenset({"dorothea"})
#: Data sets by the name of their file; those without a published split lose a random third for testing.
FILES = {
    "madelon": "madelon",
    "arcene": "arcene",
    "dexter": "dexter",
    "dorothea": "dorothea",
    "prostate": "prostate_spls6033",
    "leukemia": "leukemia_golub_raw",
}
AS_THEY_RAN = ("OSFS, paper's rule", "Fast-OSFS, paper's rule", FORCED)
AS_OURS = ("OSFS", "Fast-OSFS", "Alpha-investing", "SAOLA")
METHODS = (*BY_G2, FORCED)
SPLIT = frozenset({"madelon", "arcene", "dexter", "dorothea"})


def run(desk: Desk) -> str | None:
    """Compute, and return the page; None if no data set is there."""
    orders = 3 if desk.quick else ORDERS
    settings = {"form": 2, "orders": orders, "level": LEVEL, "fdr": FDR, "quick": desk.quick}
    columns = 100 if desk.quick else None
    parts: dict[str, Part] = {
        name: (name, settings, compute, ColumnData(file, columns), name, orders)
        for name, file in FILES.items()
    }
    desk.ahead(*parts.values())
    done = []
    for name, part in parts.items():
        try:
            desk.part(*part)
        except MissingDataError as error:
            desk.skip(name, str(error))
        else:
            done.append(name)
    if not done:
        return None
    return _report.page(
        desk,
        "The order of columns",
        _INTRODUCTION,
        *(_section(name, desk.part.result(name)) for name in done),
        _summary({name: desk.part.result(name) for name in done}),
    )


def compute(data: ColumnData, name: str, orders: int) -> dict[str, Any]:
    """Return sizes and accuracies over random orders by method, and how alike the selections are."""
    split = data.published() if name in SPLIT else data.random(1 / 3, seed=0)
    chosen: dict[str, list[Any]] = {}
    codes = name in CODES
    k = len(BY_G2["SAOLA"](codes, LEVEL, 0).fit(split.X, split.y).selected_)
    for seed in range(orders):
        order = np.random.default_rng(seed).permutation(split.X.shape[1])
        X = split.X[:, order]
        for method, make in BY_G2.items():
            found = make(codes, LEVEL, k).fit(X, split.y).selected_
            chosen.setdefault(method, []).append(np.sort(order[found]))
        chosen.setdefault(FORCED, []).append(np.sort(order[forced_alpha_investing(X, split.y)]))
    return {method: _judged(split, sets) for method, sets in chosen.items()}


def _judged(split: Split, sets: list[Any]) -> dict[str, float]:
    found = averaged([judged(split, chosen) for chosen in sets])
    alike = [_alike(a, b) for a, b in combinations(sets, 2)]
    return found | {"alike": float(np.mean(alike))}


def _alike(a: Any, b: Any) -> float:
    """Return the share of columns in both among those in either (Jaccard)."""
    either = len(np.union1d(a, b))
    return len(np.intersect1d(a, b)) / either if either else 1.0


# ------------------------------------------------------------------------------------ the page

_INTRODUCTION = f"""\
{ORDERS} random orders of the columns, the same for every method; rows and settings as in the study of OSFS
(G2 at {LEVEL:g} for OSFS and Fast-OSFS). The paper shows madelon as curves without numbers, and says: the
order matters, Fast-OSFS is the most stable method, alpha-investing is highly unstable, and OSFS always keeps
fewer columns than Fast-OSFS. The paper of SAOLA (figures 6 and 7) says that order "does not affect much" on
eight wide sets, of which dorothea is at hand. Mean, standard deviation and range over the orders; "alike" is
the mean share of columns that two orders have in common, of those in either. The size of TopK is SAOLA's in
the order of the file.

{EXPLAINED}"""


def _section(name: str, found: dict[str, dict[str, float]]) -> str:
    rows = {}
    for method in METHODS:
        trial = found[method]
        spread = [_spread(trial, key, digits) for key, digits in (("size", 1), ("nearest", 4), ("tree", 4))]
        rows[method] = [*spread, f"{trial['alike']:.2f}"]
    return f"## {name}\n\n{cells.table('method', ['columns', 'nearest', 'tree', 'alike'], rows)}"


def _spread(trial: dict[str, float], key: str, digits: int) -> str:
    if key not in trial:
        return "-"
    low, high = (cells.number(trial[f"{key} {end}"], digits) for end in ("min", "max"))
    return f"{trial[key]:,.{digits}f} ± {trial[f'{key} sd']:.{digits}f} ({low} to {high})"


def _summary(found: dict[str, Any]) -> str:
    rows = {}
    for method in METHODS:
        trials = [by_method[method] for by_method in found.values()]
        both = [
            f"{100 * np.mean([t[f'{key} sd'] for t in trials]):.2f}" if all(key in t for t in trials) else "-"
            for key in ("nearest", "tree")
        ]
        relative = np.mean([t["size sd"] / max(t["size"], 1.0) for t in trials])
        rows[method] = [*both, f"{relative:.2f}", f"{np.mean([t['alike'] for t in trials]):.2f}"]
    columns = ["nearest, points", "tree, points", "size, share of the mean", "alike"]
    return f"""\
## Over all sets

Standard deviations over the orders, and likeness, means over the data sets:

{cells.table("method", columns, rows)}
{_claims(found)}"""


def _claims(found: dict[str, Any]) -> str:
    parts = []
    if "madelon" in found:
        parts.append(f"""\
What the paper says of madelon, by points of standard deviation of the nearest neighbour:

- As its authors ran them: {_ranked(found["madelon"], AS_THEY_RAN)}.
- As this library has them: {_ranked(found["madelon"], AS_OURS)}.
""")
    osfs, fast = AS_THEY_RAN[:2]
    fewer = sum(by_method[osfs]["size"] < by_method[fast]["size"] for by_method in found.values())
    parts.append(f"""\
OSFS keeps fewer columns than Fast-OSFS on {fewer} of {len(found)} sets as they ran it. Accuracy can be stable
although hardly any column is kept twice: see the last column. Plain TopK is the exact top k, so that only
ties are left to the order.
""")
    if "arcene" in found:
        low, high = (cells.number(found["arcene"]["ADDIS"][f"size {end}"], 0) for end in ("min", "max"))
        parts.append(f"""\
The levels of ADDIS fall while nothing is found, so that the order decides how much it can find at all: on
arcene it keeps {low} to {high} columns.
""")
    return "\n".join(parts)


def _ranked(found: dict[str, dict[str, float]], methods: tuple[str, ...]) -> str:
    ordered = sorted(methods, key=lambda method: found[method]["nearest sd"])
    return ", ".join(f"{method} {100 * found[method]['nearest sd']:.1f}" for method in ordered)
