"""The ranking over all sets at hand, which are enough for a test to find something."""

from __future__ import annotations

from studies import _report
from studies._columns import cells
from studies.ranking._methods import RANKED, RIVAL
from studies.ranking._results import Results
from studies.ranking._runs import FILES, MORE
from studies.ranking._statistics import tested, won_and_lost
from studies.ranking.table import nothing


def section(found: Results) -> str:
    """Return the ranking over the listed sets and more, and what is proven by it."""
    new = [i for i, name in enumerate(found.names) if name in MORE]
    old = [i for i, name in enumerate(found.names) if name in FILES]
    ranks, apart = found.ranks(), [found.ranks(sets) for sets in (old, new)]
    p, corrected = tested({method: found.gains(method) for method in RANKED if method != RIVAL})
    rows = {}
    for method in found.ranked:
        won, lost = won_and_lost(found.gains(method))
        rows[method] = [
            f"{ranks[method]:.1f}",
            *(f"{by_method[method]:.1f}" for by_method in apart),
            f"{found.mean(method):.3f}",
            *(
                [f"{won} / {lost}", f"{p[method]:.4f}", f"{corrected[method]:.3f}"]
                if method != RIVAL
                else ["-"] * 3
            ),
        ]
    columns = [
        "mean rank", f"the {len(old)} sets", f"the {len(new)} others", "accuracy", "won / lost", "p", "Holm",
    ]  # fmt: skip
    proven = [method for method in found.ranked if corrected.get(method, 1.0) <= 0.05]
    return f"""\
## More sets

The same on {len(new)} sets at hand that the earlier ranking did not have, and on all {len(found.names)}
together. Of lymphoma the largest class stands against the rest; the emailing list and usenet1 are streams
that drift, of which the folds know nothing.

{_report.table(["data", "rows", "columns"], found.shapes([found.names[i] for i in new]))}
{cells.table("method", columns, rows)}
{_proven(found, proven)}
{nothing(found, [found.names[i] for i in new])}"""


def _proven(found: Results, proven: list[str]) -> str:
    if not proven:
        return f"After Holm's correction no method differs from {RIVAL} on these either.\n"
    listed = ", ".join(f"{method} ({100 * found.gains(method).mean():+.1f} points)" for method in proven)
    return f"What differs from {RIVAL} after Holm's correction: {listed}.\n"
