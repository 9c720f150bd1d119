"""SAOLA and its rivals beside the tables of its paper (Yu, Wu, Ding, Pei, ICDM 2014)."""

from __future__ import annotations

from studies import _report
from studies._columns.methods import EXPLAINED
from studies._columns.published import printed
from studies._desk import Desk
from studies.saola import _runs, bounds, tables
from studies.saola._runs import CASES, FORCED, NO_EVICTIONS, RANDOM_SPLITS


def run(desk: Desk) -> str | None:
    """Compute, and return the page; None if no data set is there."""
    done, levels = _runs.compute(desk)
    if not done:
        return None
    return _report.page(
        desk,
        "SAOLA, Fast-OSFS and alpha-investing",
        _introduction(desk, done),
        tables.section(desk, done),
        bounds.section(desk, done),
        bounds.levels(desk, levels),
        tables.everything(desk, done),
    )


def _introduction(desk: Desk, names: list[str]) -> str:
    lines = []
    for name in names:
        found = desk.part.result(f"{name}: methods")
        theirs = [printed("saola", "I", name, "", what) for what in ("n_features", "n_train", "n_test")]
        ours = [found["features"], found["train"], found["test"]]
        kind = "codes" if CASES[name].codes else "numbers"
        cells = [f"{a:,.0f} / {b:,}" for a, b in zip(theirs, ours, strict=True)]
        lines.append([f"{name} ({kind})", *cells, f"{found['majority']:.4f}"])
    headings = ["data", "features, paper / here", "training rows", "test rows", "share of the largest class"]
    return f"""\
Yu, Wu, Ding, Pei, *Towards scalable and accurate online feature selection for big data*, ICDM 2014, compares
SAOLA with Fast-OSFS and alpha-investing. Of its 14 data sets these are at hand:

{_report.table(headings, lines)}
dexter, madelon and dorothea have the paper's own rows (dorothea has 350 test rows; the paper prints 300, but
its accuracies are multiples of 1/350). Of hiva only the training part is at hand: sizes and times are on all
of it, as in the paper, accuracies by cross-validation in ten folds. For leukemia the paper took two thirds of
the rows, and does not say which: here {RANDOM_SPLITS} random splits of that size, means. lung-cancer,
breast-cancer, ohsumed, apcj-etiology, thrombin, news20 (two classes), url1, kdd2010 and webspam are not at
hand.

Settings: Fisher's z at 0.01 for numbers; symmetric uncertainty (SAOLA) and the G2 test (Fast-OSFS) for codes;
one nearest neighbour on columns as they are; for J48 a scikit-learn tree that is cut back as C4.5 does it.

What the paper's figures come from was found by running variants until the printed sizes came out:

- Fast-OSFS on codes counts degrees of freedom by all levels and calls a test with fewer than five rows each
  "independent" (our `degrees="nominal", reliable="nominal", unreliable="independent"`).
- Alpha-investing takes column 1 for the intercept, has no other, and takes `exp(-z^2 / 2)` for a p-value;
  "{FORCED}" is that program, written again (`studies/_columns/toolbox.py`). The
  classes count as 1 and -1, for hiva as 1 and 0{_other_way(desk, names)}. On dexter column 1 is empty, so
  that nothing else is ever accepted: a fault of the program, not of alpha-investing, which does well there.
- SAOLA-max on codes never evicts: "{NO_EVICTIONS}", in the same file. Of eleven
  rules tried on hiva this one gave the printed size; on dorothea it does if a column at the bound counts as
  redundant, as in the paper's Algorithm 1 (one column more otherwise).

{EXPLAINED}"""


def _other_way(desk: Desk, names: list[str]) -> str:
    """Return how many columns the other coding of the classes would keep."""
    kept = {
        name: desk.part.result(f"{name}: methods")["methods"][FORCED]["other coding"]
        for name in names
        if CASES[name].codes
    }
    listed = " and ".join(f"{size:,.0f} columns of {name}" for name, size in kept.items())
    return f"; the other way round it would keep {listed}" if kept else ""
