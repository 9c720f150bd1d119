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
An earlier ranking of prototypes had 17 data sets, their columns in the order of the file, and left open what
the order does. Here it is again with the selectors of this library and those that came since, on the
{len(FILES)} sets that are at hand, in the order of the file and in {len(ORDERS) - 1} random orders:

{_report.table(["data", "rows", "columns"], found.shapes(found.names))}
At most {MOST_ROWS:,} rows, drawn at random with each class in its share; gisette is the validation part, and
prostate is another preparation of the set than theirs. Not at hand: {", ".join(NOT_AT_HAND)}, among them the
two with more than two classes. {FOLDS} folds with each class in its share, selection inside the fold;
accuracy is the mean of {NEIGHBOURS}-NN, a logistic regression and a random forest of {TREES} trees on the
selected columns, standardised. Where nothing is selected the larger class is predicted. Two of the earlier
methods are not in this library: the bare threshold of OSSFS-DD, and SFS-FI.

{EXPLAINED}"""
