"""Which column selector is best?  An earlier ranking, with what came since, in four orders of columns."""

from __future__ import annotations

from studies import _report
from studies._desk import Desk
from studies.ranking import _runs, earlier, more, orders, picture, table
from studies.ranking._judge import NEIGHBOURS, TREES
from studies.ranking._methods import EXPLAINED
from studies.ranking._results import Results
from studies.ranking._runs import FILES, FOLDS, MOST_ROWS, NOT_AT_HAND, ORDERS


def run(desk: Desk) -> str | None:
    """Compute, and return the page; None if no data set is there."""
    done = _runs.compute(desk)
    listed = [name for name in done if name in FILES]
    if not listed:
        return None
    found = Results(desk, listed)
    caption = (
        "Accuracy against the number of columns kept, one dot a method; the bars are the range over the "
        "orders of the columns."
    )
    return _report.page(
        desk,
        "A ranking of column selectors",
        _introduction(found),
        table.section(found),
        desk.picture("ranking", picture.figure(found), caption),
        *([more.section(Results(desk, done))] if len(done) > len(listed) else []),
        earlier.section(found),
        orders.section(found),
    )


def _introduction(found: Results) -> str:
    return f"""\
An earlier ranking compared prototypes on 17 data sets with the columns in the order of the file; the effect
of the order was not examined. This one compares the selectors of this library, including later ones, on the
{len(FILES)} of these sets that are available, in the order of the file and in {len(ORDERS) - 1} random
orders:

{_report.table(["data", "rows", "columns"], found.shapes(found.names))}
At most {MOST_ROWS:,} rows are used, a stratified random sample; those of gisette are its validation part, and
prostate was preprocessed differently. Not available: {", ".join(NOT_AT_HAND)}, among them the two sets with
more than two classes. Selection is inside each of {FOLDS} stratified folds. Accuracy is the mean of
{NEIGHBOURS}-NN, a logistic regression and a random forest of {TREES} trees on the selected columns,
standardized; if nothing is selected, the larger class is predicted. Two of the earlier methods are not in
this library: the plain threshold of OSSFS-DD, and SFS-FI.

{EXPLAINED}"""
