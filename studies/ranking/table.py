"""The ranking itself, and the accuracies behind it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from studies._columns import cells
from studies.ranking._judge import CLASSIFIERS
from studies.ranking._methods import ALL, LATER, RANKED, RIVAL
from studies.ranking._results import Results
from studies.ranking._statistics import tested, won_and_lost


def section(found: Results) -> str:
    """Return the ranking, with what it is worth."""
    ranks, wide = found.ranks(), found.ranks(found.wide) if found.wide else None
    sizes, seconds = found.of("size"), found.of("seconds")
    by_classifier = {key: found.of(key) for key in CLASSIFIERS}
    rivals = [method for method in RANKED if method != RIVAL]
    p, corrected = tested({method: found.gains(method) for method in rivals})
    rows = {}
    for method in [*found.ranked, ALL]:
        won, lost = won_and_lost(found.gains(method))
        rows[f"{method} (new)" if method in LATER else method] = [
            f"{ranks[method]:.1f}" if method in ranks else "-",
            f"{wide[method]:.1f}" if wide is not None and method in wide else "-",
            f"{found.mean(method):.3f}",
            " / ".join(f"{values[method].mean():.3f}" for values in by_classifier.values()),
            f"{np.median(sizes[method].mean(axis=1)):,.0f}",
            f"{won} / {lost}" if method != RIVAL else "-",
            f"{p[method]:.3f}" if method in p else "-",
            f"{corrected[method]:.2f}" if method in p else "-",
            cells.seconds(float(seconds[method].mean())) if method != ALL else "-",
        ]
    columns = [
        "mean rank", "wide sets", "accuracy", "3-NN / logistic / forest", "columns", "won / lost", "p",
        "Holm", "time",
    ]  # fmt: skip
    return f"""\
## The ranking

Means over all orders of the columns. *Mean rank* is among {len(RANKED)} methods, equals sharing their ranks;
*wide sets* is the same over the sets with 500 columns or more. *Columns* is the median over the sets. *Won /
lost* and *p* (Wilcoxon's signed-rank test, exact) are against {RIVAL} over the {len(found.names)} sets, and
*Holm* is p for all {len(rivals)} comparisons together. *Time* is the fastest of all folds and orders, mean
over the sets, while other processes ran. Methods that the earlier ranking did not have are marked "new".

{cells.table("method", columns, rows)}
{_worth(found, p, corrected)}
{nothing(found, found.names)}
{_by_set(found)}"""


def _worth(found: Results, p: dict[str, float], corrected: dict[str, float]) -> str:
    """Return what can be said of the differences."""
    n, best = len(found.names), min(p, key=lambda method: p[method])
    least = 2.0 ** (1 - n)
    proven = [method for method in corrected if corrected[method] <= 0.05]
    verdict = (
        f"What differs from {RIVAL} after Holm's correction: {', '.join(proven)}."
        if proven
        else f"After Holm's correction no method differs from {RIVAL}."
    )
    possible = (
        f"""It could not be otherwise: {n} sets that all point the same way have p = {least:.3f}, and with
{len(p)} comparisons the smallest must be below {0.05 / len(p):.4f}. The order of the table is a suggestion,
as it was in the earlier one."""
        if least > 0.05 / len(p)
        else ""
    )
    gain = 100 * found.gains(best).mean()
    return f"""\
The smallest p is that of {best} ({p[best]:.3f}; {gain:+.1f} points). {verdict} {possible}
"""


def nothing(found: Results, names: Sequence[str]) -> str:
    """Return who keeps no column at all, in any fold and order."""
    sizes, listed = found.of("size"), []
    for method in RANKED:
        empty = [name for name in names if not sizes[method][found.names.index(name)].any()]
        if empty:
            listed.append(f"{method} on {', '.join(empty)}")
    return f"Not one column is kept by {'; '.join(listed)}.\n" if listed else ""


def _by_set(found: Results) -> str:
    rows = {
        method: [f"{value:.3f}" for value in found.accuracy[method].mean(axis=1)]
        for method in [*found.ranked, ALL]
    }
    return f"Accuracy by set, means over the orders:\n\n{cells.table('method', found.names, rows)}"
