"""Is the rule behind ``method="auto"`` as good as the best fixed choice?"""

from __future__ import annotations

from streamsieve.evaluation import plots
from studies import _report
from studies._desk import Desk
from studies.defaults import budgets, later, runs, tables
from studies.defaults.methods import WIDEST, K
from studies.defaults.results import Results
from studies.defaults.sets import LEAST_FILLED, MOST_ROWS, NAMES, TOO_LONG, halves


def run(desk: Desk) -> str:
    """Compute, and return the page."""
    found = runs.compute(desk)
    develop, report = ([*found], [*found]) if desk.quick else halves()
    everything, reported, developed = (Results(found, names) for names in ([*found], report, develop))
    test = reported.friedman()
    caption = (
        f"Mean ranks over the {len(reported.names)} sets of the reported half, by the mean balanced accuracy "
        "of three learners; bars join methods that do not differ significantly."
    )
    figure = plots.critical_difference(test.mean_ranks, test.methods, reported.critical_difference())
    return _report.page(
        desk,
        "The default, by evidence",
        _INTRODUCTION,
        f"## The half that the rule was not developed on\n\n{tables.verdict(reported, developed)}",
        desk.picture("defaults", figure, caption),
        tables.methods(reported),
        f"## The half that the rule was developed on\n\n{tables.verdict(developed, reported)}",
        tables.methods(developed),
        f"## All sets, both halves\n\n{tables.verdict(everything)}",
        tables.by_set(everything),
        budgets.section(budgets.Candidates(found, budgets.compute(desk, found))),
        later.section(desk),
        tables.partial(found),
    )


_INTRODUCTION = f"""\
`ss.select(X, y, goal=...)` for every goal against fixed choices, all features ("none") and an L1 penalty (a
linear support vector machine, its C chosen by three inner folds). {runs.FOLDS} folds with each class in its
share; the rule looks at training rows only, and so does every selector. Scores are balanced accuracies of
5-NN, a logistic regression and Gaussian naive Bayes over the selected columns, standardized. At most
{MOST_ROWS:,} rows, drawn with each class in its share, and classes of fewer than five rows left out; of
sparse sets, the columns that are filled in at least {LEAST_FILLED} rows. Selectors that need a number get
{K}, "top_k, 50" is `TopK(50, redundancy_weight=0.5)`, both measure by correlation, and all else is as it
comes. {", ".join(sorted(WIDEST))} stand beside the ranks, on sets of at most {min(WIDEST.values()):,}
columns.

{len(NAMES)} sets were halved by a seed. The rule for "accurate" was SAOLA or Fast-OSFS until the first half
showed that `TopK` has the better ranks there; the second half was not looked at before. Five columns per
class came later, for digits, which is in the second half, and for another set: see the sets that came later.
Left out, so that the
study takes less than half an hour: {", ".join(TOO_LONG)}. On wide discrete columns (lymphoma_disc, dexter)
the searches of SAOLA and Fast-OSFS took minutes.
"""
