"""The tables of the page, and whether the rule does what it must."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from studies._columns import cells
from studies.defaults.methods import FIXED, METHODS
from studies.defaults.results import Results
from studies.defaults.runs import LEARNERS

RULE = "auto, accurate"


def verdict(found: Results, other: Results | None = None) -> str:
    """Return what must hold of the rule, and whether it does.

    ``other`` are sets on which a fixed method can be chosen before it is judged on the sets of ``found``.
    """
    best, ranks, neighbours = found.best([*FIXED]), found.ranks(), found.ranks("5-NN")
    against, plain = found.difference(RULE, best), found.difference(RULE, "none", "5-NN")
    kept = [found.size(name, RULE) < found.about(name)["columns"] for name in found.names]
    test = found.friedman()
    return f"""\
{"" if other is None else _beforehand(found, other)}\
- The best fixed choice by mean rank, in hindsight, is {best} ({ranks[best]:.2f}); the rule has
  {ranks[RULE]:.2f} ({_holds(ranks[RULE] <= ranks[best] + 1)}: within one rank). The rule's balanced
  accuracy differs from it by {against} ({_holds(against.high >= 0)}: not worse by more than the interval).
- With 5-NN the rule has a mean rank of {neighbours[RULE]:.2f} and all features {neighbours["none"]:.2f}; the
  difference is {plain} ({_holds(neighbours[RULE] < neighbours["none"])}: better than none).
- The rule keeps fewer columns than there are on {sum(kept)} of {len(kept)} sets ({_holds(all(kept))}).
- Friedman's test over {len(found.names)} sets and {len(found.methods)} methods: p = {test.p_value:.2g};
  critical difference {found.critical_difference():.1f}.
"""


def _beforehand(found: Results, other: Results) -> str:
    chosen, ranks = other.best([*FIXED]), found.ranks()
    holds = _holds(ranks[RULE] <= ranks[chosen] + 1)
    return f"""\
- The fixed choice with the best mean rank on the other half, which is what one would have used here, is
  {chosen}: it has {ranks[chosen]:.2f} on this half, and the rule {ranks[RULE]:.2f} ({holds}: within
  one rank). The difference of balanced accuracy is {found.difference(RULE, chosen)}.
"""


def _holds(holds: bool) -> str:  # noqa: FBT001 - the one thing it is about
    return "holds" if holds else "does not hold"


def methods(found: Results) -> str:
    """Return ranks, means, sizes and seconds, best first."""
    ranks = found.ranks()
    by_learner = {learner: found.ranks(learner) for learner in LEARNERS}
    rows = {
        method: [
            f"{ranks[method]:.1f}",
            *(f"{by_learner[each][method]:.1f} / {found.mean(method, each):.3f}" for each in LEARNERS),
            cells.number(found.median(method, "size"), 1),
            cells.seconds(found.median(method, "seconds")),
        ]
        for method in sorted(found.methods, key=ranks.__getitem__)
    }
    headings = ["rank", *(f"{each}: rank / mean" for each in LEARNERS), "median columns", "median time"]
    return cells.table("method", headings, rows)


def by_set(found: Results) -> str:
    """Return balanced accuracies and sizes by set, for the rule, the best fixed choice, and all features."""
    shown = [m for m in (RULE, found.best([*FIXED]), "L1", "none") if m in found.methods]
    rows = {}
    for name in found.names:
        about = found.about(name)
        rows[name] = [
            f"{about['rows']:,}", f"{about['columns']:,}", str(about["classes"]),
            *(f"{found.score(name, m):.3f} ({found.size(name, m):,.0f})" for m in shown),
        ]  # fmt: skip
    headings = ["rows", "columns", "classes", *shown]
    return f"Mean over learners, and columns kept.\n\n{cells.table('set', headings, rows)}"


def partial(found: Mapping[str, Any]) -> str:
    """Return how methods that do not take all sets do on those they take, against the rule."""
    everywhere = Results(found, [*found]).methods
    rows = {}
    for method in METHODS:
        names = [name for name in found if method in found[name]["methods"]]
        if method not in everywhere and names:
            some = Results(found, names)
            gain = some.difference(method, RULE)
            rows[method] = [str(len(names)), str(gain), cells.number(some.median(method, "size"), 1)]
    if not rows:
        return ""
    table = cells.table("method", ["sets", f"difference from {RULE}", "median columns"], rows)
    return f"## On the sets they take\n\n{table}"
