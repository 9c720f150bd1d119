"""OSFS and Fast-OSFS beside what their paper says of them (Wu, Yu, Ding, Wang, Zhu, TPAMI 2013)."""

from __future__ import annotations

from collections.abc import Sequence

from studies import _report
from studies._columns.methods import EXPLAINED, G2
from studies._columns.published import printed
from studies._desk import Desk
from studies.osfs import _runs, tables
from studies.osfs._runs import FOLDS, LEVEL


def run(desk: Desk) -> str | None:
    """Compute, and return the page; None if no data set is there."""
    done = _runs.compute(desk)
    if not done:
        return None
    return _report.page(
        desk,
        "OSFS and Fast-OSFS",
        _introduction(desk, done),
        tables.accuracy(desk, done),
        tables.claims(desk, done),
        tables.times(desk, done),
    )


def _introduction(desk: Desk, names: Sequence[str]) -> str:
    lines = []
    for name in names:
        found = desk.part.result(f"{name}: accuracy")
        theirs = [printed("osfs", "1", name, "", what) for what in ("n_features", "n_obs")]
        ours = [found["features"], found["rows"]]
        lines.append([name, *(f"{a:,.0f} / {b:,}" for a, b in zip(theirs, ours, strict=True))])
    return f"""\
Wu, Yu, Ding, Wang, Zhu, *Online feature selection with streaming features*, TPAMI 35, 2013, compares OSFS and
Fast-OSFS with Grafting and alpha-investing on 16 data sets. These are at hand:

{_report.table(["data", "features, paper / here", "rows"], lines)}
(lymphoma there has 227 rows and 7,399 features; the file at hand is another one.) As there: the published
training and validation rows of the first four, {FOLDS} folds for the others, the G2 test at {LEVEL:g}, and
the mean accuracy of one nearest neighbour and a tree. The paper shows accuracies and sizes as curves without
numbers (figures 5 to 9), so they cannot stand beside ours one by one; what it says in words can be checked,
and its times are printed. It does not say how it made codes of numbers: here {G2["bins"]} bins of equal
frequency, because under the paper's rule five bins and 60 rows do not even allow a test given one column.
"Paper's rule" is `degrees="nominal", reliable="nominal", unreliable="independent"`.

{EXPLAINED}"""
