"""Accuracy and size, what the paper says of them, and times (tables 3 to 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from studies import _report
from studies._columns import cells
from studies._columns.methods import ALWAYS
from studies._columns.published import printed
from studies._desk import Desk
from studies.osfs._runs import FORCED, OURS, PAPERS

#: Differences in accuracy that count as equal: half a point.
EQUAL = 0.005


def accuracy(desk: Desk, names: Sequence[str]) -> str:
    """Return accuracies and sizes."""
    found = _found(desk, names)
    methods = [*PAPERS, FORCED, *OURS]
    both = {m: [_accuracy(found[name][m]) for name in names] for m in methods}
    rows = {
        m: [*("-" if v is None else f"{v:.4f}" for v in values), _mean(values)] for m, values in both.items()
    }
    sizes = {m: [cells.number(found[name][m]["size"], 1) for name in names] for m in methods}
    return f"""\
## Accuracy and size (figures 5 to 9)

Mean accuracy of one nearest neighbour and a tree:

{cells.table("method", [*names, "mean"], rows)}
Columns kept (means over folds):

{cells.table("method", names, sizes)}
Under the paper's rule at most three columns of colon, prostate and leukemia can stay, whatever there is to
find: three levels given two columns take 90 rows, given three 270, and "untestable" counts as independent.
"""


def _found(desk: Desk, names: Sequence[str]) -> dict[str, Any]:
    return {name: desk.part.result(f"{name}: accuracy")["methods"] for name in names}


def _accuracy(trial: dict[str, float]) -> float | None:
    return (trial["nearest"] + trial["tree"]) / 2 if "tree" in trial else None


def _mean(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{sum(known) / len(known):.4f}" if len(known) == len(values) else "-"


# ------------------------------------------------------------------------------------ what the paper says


def claims(desk: Desk, names: Sequence[str]) -> str:
    """Return how far the paper's statements hold here."""
    found, seconds = _found(desk, names), {name: desk.part.result(f"{name}: times") for name in names}
    rule = ", paper's rule"

    def better(first: str, second: str) -> str:
        pairs = [(_accuracy(found[name][first]), _accuracy(found[name][second])) for name in names]
        gains = [a - b for a, b in pairs if a is not None and b is not None]
        won, lost = sum(g > EQUAL for g in gains), sum(g < -EQUAL for g in gains)
        return f"{won} / {len(gains) - won - lost} / {lost}"

    def fewer(first: str, second: str) -> str:
        return _count(names, lambda name: found[name][first]["size"] < found[name][second]["size"])

    def faster(first: str, second: str) -> str:
        return _count(names, lambda name: seconds[name][first]["0.05"] < seconds[name][second]["0.05"])

    rows = [
        ["Fast-OSFS more accurate than OSFS", "13 of 16",
         better(f"Fast-OSFS{rule}", f"OSFS{rule}"), better("Fast-OSFS", "OSFS")],
        ["OSFS keeps fewer columns than Fast-OSFS", "always",
         fewer(f"OSFS{rule}", f"Fast-OSFS{rule}"), fewer("OSFS", "Fast-OSFS")],
        ["OSFS more accurate than alpha-investing", "10 / 3 / 3",
         better(f"OSFS{rule}", FORCED), better("OSFS", "Alpha-investing")],
        ["Fast-OSFS more accurate than alpha-investing", "loses 2",
         better(f"Fast-OSFS{rule}", FORCED), better("Fast-OSFS", "Alpha-investing")],
        ["OSFS keeps fewer columns than alpha-investing", "most sets",
         fewer(f"OSFS{rule}", FORCED), fewer("OSFS", "Alpha-investing")],
        ["Fast-OSFS faster than OSFS", "all sets",
         faster(f"Fast-OSFS{rule}", f"OSFS{rule}"), faster("Fast-OSFS", "OSFS")],
        ["TopK more accurate than Fast-OSFS", "",
         better("TopK", f"Fast-OSFS{rule}"), better("TopK", "Fast-OSFS")],
        ["Fast-OSFS + ADDIS more accurate than Fast-OSFS", "",
         better("Fast-OSFS + ADDIS", f"Fast-OSFS{rule}"), better("Fast-OSFS + ADDIS", "Fast-OSFS")],
    ]  # fmt: skip
    return f"""\
## What the paper says

Accuracies as won / equal / lost over the {len(names)} sets at hand; half a point counts as equal. In the
third column all methods are as the authors ran them (alpha-investing with column 1 forced into the model), in
the fourth as this library has them. With 60 to 600 test rows in all, differences of two or three points are
chance.

{_report.table(["", "paper", "as they ran it", "ours"], rows)}"""


def _count(names: Sequence[str], holds: Callable[[str], bool]) -> str:
    return f"{sum(holds(name) for name in names)} of {len(names)}"


# ------------------------------------------------------------------------------------ times


def times(desk: Desk, names: Sequence[str]) -> str:
    """Return the times beside those printed."""
    parts = []
    for level, table in (("0.01", "3"), ("0.05", "4")):
        rows = {}
        for name in names:
            ours = desk.part.result(f"{name}: times")
            row = []
            for method in ("OSFS", "Fast-OSFS"):
                theirs = printed("osfs", table, name, method, "time_s", level)
                rule, default = (ours[m][level] for m in (f"{method}, paper's rule", method))
                row += [f"{theirs:g} s / {cells.seconds(rule)}", cells.seconds(default)]
            row += [cells.seconds(ours[method][level]) for method in ALWAYS]
            rows[name] = row
        columns = ["OSFS, paper / ours", "default rule", "Fast-OSFS, paper / ours", "default rule", *ALWAYS]
        parts.append(f"Level {level} (table {table}):\n\n{cells.table('data', columns, rows)}")
    return "\n".join([_TIMES, *parts, _table_5(desk, names)])


_TIMES = """\
## Time (tables 3 to 5)

The paper's programs are in C, on a PC at 2.9 GHz, and its times are whole seconds. Ours: best of three runs
on whole matrices, after compiling, making codes of numbers included. Our OSFS does not repeat sets it has
tried before, with the same result, so the paper's ratio of tests (table 2) has no counterpart here.
"""


def _table_5(desk: Desk, names: Sequence[str]) -> str:
    if "dorothea" not in names:
        return ""
    ours = desk.part.result("dorothea: times")["Alpha-investing"]["0.05"]
    theirs = printed("osfs", "5", "dorothea", "Alpha-investing", "time_s", "0.05")
    return (
        f"Alpha-investing on dorothea (table 5): {theirs:g} s there (MATLAB), {cells.seconds(ours)} here.\n"
    )
