"""DOFS and its rivals beside the tables of its paper (Siu, Xu 2018): to the letter, and corrected."""

from __future__ import annotations

from studies import _report
from studies._desk import Desk
from studies.dofs import _runs, claims, literal, meaning, tables
from studies.dofs._published import described
from studies.dofs._readings import CORRECTED, FAULTS, FORCED, GROUP, LEVEL, LITERALLY, MANY, PENALTY
from studies.dofs._runs import DRAWS, FOLDS, TOP


def run(desk: Desk) -> str | None:
    """Compute, and return the page; None if no data set is there."""
    done = _runs.compute(desk)
    if not done:
        return None
    return _report.page(
        desk,
        "DOFS, OGFS, Grafting, OSFS and alpha-investing",
        _introduction(desk, done),
        tables.section(desk, done),
        literal.section(desk, done),
        claims.section(desk, done),
        meaning.section(desk, done),
    )


def _introduction(desk: Desk, names: list[str]) -> str:
    lines = []
    for name in names:
        found = desk.part.result(f"{name}: all rows")
        theirs = [described(name, what) for what in ("n_features", "n_obs")]
        both = zip(theirs, (found["features"], found["rows"]), strict=True)
        lines.append([name, *(f"{a:,.0f} / {b:,}" for a, b in both), f"{found['majority']:.4f}"])
    headings = ["data", "features, paper / here", "rows", "share of the largest class"]
    return f"""\
Siu, Xu, *Diverse online feature selection*, 2018, draws columns by a determinantal point process so that they
are unlike each other, tests the drawn ones for redundancy and class separability, and fits an elastic net.
Its tables compare three modes of this with Grafting, OGFS, OSFS and alpha-investing on eight data sets, of
which these are at hand (lung cancer is not; prostate is another preparation of the same samples):

{_report.table(headings, lines)}
What the paper says is followed: level {LEVEL:g}, penalty {PENALTY:g}, groups of {GROUP} columns in the order
of the file ("m in [5, 10]"), an elastic net for Grafting and DOFS. It does not say how rows were split or
which classifier was used. Chosen here: {FOLDS} folds, columns chosen without the test rows, one nearest
neighbour and a tree as in the other studies; Fisher's z for OSFS; half of the penalty for absolute weights,
half for squares; the logistic loss for Grafting; for OGFS the lasso of its own paper. Numbers of columns are
on all rows, means over {DRAWS} seeds where columns are drawn.

"{FORCED}" is the toolbox that the paper names, written again; see the study of SAOLA. "{LITERALLY}" follows
the paper's listings and formulas: {"; ".join(FAULTS)}. "{CORRECTED}" is what the text wants (see the notes of
`DOFS`): rank correlations of at least 0.9 for redundancy; the variance between classes over that within
them; columns in order of arrival, and a t test that can be failed; both tests needed; any weight stays; one
model a group. The draw is the same in both. The elastic net looks at the classes also in the mode that is
called unsupervised. "{TOP}" is `TopK(k, redundancy_weight=0.5, alpha=None)`, above {MANY} columns with
`redundancy_weight=0`.
"""
