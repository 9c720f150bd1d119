"""Screens followed by learners, in repeated cross-validation (Wang 2021, chapter 2, tables 2.2-2.9)."""

from __future__ import annotations

from collections.abc import Sequence

from studies import _report
from studies._desk import Desk
from studies.screens_and_learners import _runs, findings, groups, leakage, picture
from studies.screens_and_learners._cases import CASES, FOLDS
from studies.screens_and_learners._methods import FSA_KEEPS, LEAF, SAMPLED, TREES
from studies.screens_and_learners._published import figures
from studies.screens_and_learners._runs import RIGHT
from studies.screens_and_learners._tiers import Found


def run(desk: Desk) -> str | None:
    """Compute, and return the page; None if no data set is there."""
    done = _runs.compute(desk)
    few_rows = leakage.compute(desk)
    if not done:
        return None
    classes = [name for name in done if not CASES[name].numeric]
    both = [name for name in done if CASES[name].literal_runs]
    return _report.page(
        desk,
        "Screens and learners",
        _introduction(desk, done),
        findings.section(desk, done),
        *([groups.marks_section(desk, both)] if both else []),
        groups.groups_section(desk, done),
        *([groups.counts_section(desk, classes)] if classes else []),
        leakage.section(desk, both, few_rows),
        picture.section(desk, done),
    )


def _introduction(desk: Desk, names: Sequence[str]) -> str:
    lines = []
    for name in names:
        case, found = CASES[name], Found(desk, name, RIGHT)
        theirs = "" if case.printed is None else f"{int(figures()['2.1', case.printed, 'n_obs']):,}"
        lines.append(
            [
                name,
                f"{found.stored['rows']:,}",
                theirs,
                f"{found.stored['features']:,}",
                ", ".join(f"{size:,}" for size in found.sizes),
                f"{case.runs} / {case.literal_runs or '-'}",
            ]
        )
    headings = [
        "data",
        "rows",
        "rows there",
        "features",
        "numbers of features tried",
        "runs, right / its way",
    ]
    return f"""\
Wang, *Online and Offline Feature Screening and Applications*, 2021, chapter 2: does a screen before a learner
help? Every screen with every learner at several numbers of features, {FOLDS} folds, run several times; each
combination counts at the number of features where it is best (`streamsieve.evaluation.screening_protocol`).
*Right* means that features are scaled and selected by the training rows of a fold alone, that folds have each
class in its share, and that every fold has a score of its own. *Its way* is the thesis's: features are scaled
by all rows, folds are drawn without a look at classes, and the predictions of all folds of a run have one
score together (`literal=True`). The thesis prints no AUC and no R2, only marks and counts, so these are what
can be compared.

{_report.table(headings, lines)}
What differs from the thesis:

- Data: dexter, madelon and the places of ujiindoorloc (equal rows left out) are the thesis's, row for row.
  Of gisette only the validation part is at hand, 1,000 rows of its 7,000. Three sets of gene expressions
  stand in for its SMK_CAN_187 and GLI_85. Columns that are the same in all rows are left out, 8,965 of
  dexter's 20,000.
- It has 30 numbers of features and 7 runs; here there are fewer, on costly sets fewest, so that the study
  takes minutes.
- Screens: all seven for classes and all three for numbers. It does not say how many neighbours Relief looks
  at: 10 here (for numbers, of {SAMPLED} rows drawn at random). Bins are 5 of equal frequency; `gini` tries
  every threshold; `mrmr` is the difference of informations.
- Learners: it gives no parameters. `boosting` is {TREES["max_iter"]} trees of at most
  {TREES["max_leaf_nodes"]} leaves of {LEAF} rows or more, `svm` a linear one (C = 0.01), `nb` Gaussian,
  `logistic` and `ridge` have scikit-learn's penalty of 1, where MATLAB's logistic regression has none. `fsa`
  keeps {FSA_KEEPS} features, or all if the screen leaves fewer; without a screen, as many as the numbers
  tried say, and the best of them counts.
"""
