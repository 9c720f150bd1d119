"""How much a method's accuracy, its size and its selection depend on the order of the columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import kendalltau

from studies._columns import cells
from studies.ranking._methods import RANKED
from studies.ranking._results import Results

#: Columns that come before this share of the stream, on average, are early; late is the same from the end.
EARLY = 0.4


def section(found: Results) -> str:
    """Return the table and what it says."""
    spread = {method: _spread(found.accuracy[method]) for method in RANKED}
    sizes, shared, rows = found.of("size"), found.of("alike"), {}
    steadiest_first = sorted(RANKED, key=lambda method: (float(spread[method].mean()), method))
    for method in steadiest_first:
        by_order = found.accuracy[method].mean(axis=0)
        worst = int(spread[method].argmax())
        share = _spread(sizes[method]) / np.maximum(sizes[method][:, 1:].mean(axis=1), 1.0)
        rows[method] = [
            *(f"{value:.3f}" for value in by_order),
            f"{100 * spread[method].mean():.2f}",
            f"{100 * spread[method][worst]:.1f} ({found.names[worst]})" if spread[method][worst] else "-",
            f"{share.mean():.2f}",
            f"{shared[method].mean():.2f}",
            f"{shared[method][found.wide].mean():.2f}" if found.wide else "-",
            "-" if (place := found.place(method)) is None else f"{place:.2f}",
        ]
    orders = next(iter(found.accuracy.values())).shape[1] - 1
    columns = [
        "file", *(f"order {i + 1}" for i in range(orders)), "sd, points", "largest sd", "sd of size", "alike",
        "alike, wide sets", "place, wide sets",
    ]  # fmt: skip
    return f"""\
## The order of the columns

Mean accuracy in the order of the file and in {orders} random orders, the same for all methods. *Sd* is the
standard deviation over the random orders, in points of accuracy: mean over the sets, and the largest. *Sd of
size* is that of the number of columns, as a share of it. *Alike* is the share of columns that two random
orders have in common, of those in either. *Place* is where in the stream the columns kept came, as a share of
it: 0.5 if early ones have no advantage. The steadiest first.

{cells.table("method", columns, rows)}
{_said(found, spread, shared)}"""


def _when(found: Results) -> str:
    """Return who keeps what comes first, and who what comes last."""
    places = {method: place for method in RANKED if (place := found.place(method)) is not None}
    ordered = sorted(places, key=lambda method: places[method])
    early, late = (
        ", ".join(f"{method} {places[method]:.2f}" for method in ordered if test(places[method]))
        for test in (lambda place: place < EARLY, lambda place: place > 1 - EARLY)
    )
    return f"""\
Early columns have the better chance with {early or "no method"}: a newcomer counts there by what it adds to
the columns kept, which is little once few rows are explained. Late ones have it with {late or "no method"}.
"""


def _spread(by_order: Any) -> Any:
    """Return the standard deviation over the random orders, by set."""
    return by_order[:, 1:].std(axis=1, ddof=1)


def _said(found: Results, spread: dict[str, Any], shared: dict[str, Any]) -> str:
    free = [method for method in RANKED if not spread[method].any()]
    overall = {method: found.accuracy[method].mean(axis=0) for method in RANKED}
    alone = np.mean([100 * spread[method].mean() for method in RANKED if method not in free])
    between = 100 * float(np.std([found.mean(method) for method in RANKED], ddof=1))
    whole = 100 * float(np.mean([overall[method][1:].std(ddof=1) for method in RANKED]))
    special = {method: 100 * float(values[0] - values[1:].mean()) for method, values in overall.items()}
    most, least = max(special, key=special.__getitem__), min(special, key=special.__getitem__)
    above = sum(value > 0 for value in special.values())
    ranks = [found.ranks(order=i) for i in range(len(overall[most]))]
    file = [ranks[0][method] for method in RANKED]
    taus = [kendalltau(file, [by_order[method] for method in RANKED]).statistic for by_order in ranks[1:]]
    firsts = [min(by_order, key=by_order.__getitem__) for by_order in ranks]
    fickle = min(RANKED, key=lambda method: float(shared[method].mean()))
    untouched = f"The order changes nothing for {', '.join(free)}. " if free else ""
    return f"""\
{untouched}On a single set another order moves the accuracy of the other methods by {alone:.1f} points (mean
standard deviation); over all {len(found.names)} sets much of that averages out and {whole:.1f} points are
left, beside {between:.1f} points between the methods. {fickle} shares fewest columns between two orders, and
its accuracy varies by {100 * spread[fickle].mean():.1f} points.

{_when(found)}
The order of the file is better than random ones for {above} of {len(RANKED)} methods, by {special[most]:+.1f}
points at best ({most}) and {special[least]:+.1f} at worst ({least}). The ranking by mean rank in the order of
the file and those in random orders agree by {min(taus):.2f} to {max(taus):.2f} (Kendall); first are, in turn,
{", ".join(firsts)}.
"""
