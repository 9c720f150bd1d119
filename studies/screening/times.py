"""Time against minibatch size and against epsilon (tables 3.2 and 3.3)."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

from streamsieve.evaluation.plots.style import bare, new_figure, style
from streamsieve.summaries import Quantiles
from studies import _report
from studies._data import RealData
from studies._desk import Desk
from studies.screening._offline import offline_tables
from studies.screening._published import EPSILONS, OFFLINE, published

BINS = 5
EPSILON = 0.001
MINIBATCH = 250
ROUNDS = 7
#: Seconds after which a measurement is not repeated: its best is known well enough.
PATIENCE = 10.0


def compute(desk: Desk, data: RealData, minibatches: Sequence[int]) -> None:
    """Measure one data set."""
    settings = {"bins": BINS, "rounds": ROUNDS, "quick": desk.quick}
    desk.part(f"{data.name}: time offline", settings, _offline, data)
    for size in minibatches:
        desk.part(f"{data.name}: time of minibatch {size}", settings, _online, data, EPSILON, size)
    for name, epsilon in EPSILONS.items():
        desk.part(f"{data.name}: time of epsilon {name}", settings, _online, data, epsilon, MINIBATCH)


def _offline(data: RealData) -> dict[str, float]:
    """Return the seconds it takes to sort everything and count."""
    X, y = data.matrices
    return _best(lambda: offline_tables(X, y, BINS))


def _online(data: RealData, epsilon: float, minibatch: int) -> dict[str, float]:
    """Return the seconds from the first row to the counts in all bins."""
    batches = data.batches(minibatch)

    def once() -> None:
        summary = Quantiles(epsilon)
        for X, y in batches:
            summary.update(X, y)
        for _ in summary.tables(BINS):
            pass

    return _best(once)


def _best(function: Callable[[], Any]) -> dict[str, float]:
    """Return the shortest of several times, which was disturbed least, and how busy the machine was."""
    function()  # untimed, so that compiling is not counted
    best = spent = 0.0
    for _ in range(ROUNDS):
        started = time.perf_counter()
        function()
        seconds = time.perf_counter() - started
        best, spent = min(best or seconds, seconds), spent + seconds
        if spent > PATIENCE:
            break
    return {"seconds": best, "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else math.nan}


# ------------------------------------------------------------------------------------ the page


def section(desk: Desk, names: Sequence[str], minibatches: Sequence[int]) -> str:
    """Return both tables and what they say."""
    loads: list[float] = []

    def ours(name: str, what: str) -> float:
        measured = desk.part.result(f"{name}: time {what}")
        loads.append(measured["load"])
        return 1000 * float(measured["seconds"])

    by_size = {str(size): f"of minibatch {size}" for size in minibatches}
    by_epsilon = {name: f"of epsilon {name}" for name in EPSILONS}
    figure = _figure(names, minibatches, ours)
    size_table = _table("minibatch", "3.2", names, by_size, ours)
    epsilon_table = _table("epsilon", "3.3", names, by_epsilon, ours)
    caption = "Time over that of the largest minibatch. The thesis dashed, ours solid."
    return f"""\
## Time (tables 3.2 and 3.3)

Milliseconds from the first row to the counts in all bins; thesis / ours. The thesis ran MATLAB 2018b on a
machine it does not name, so only shapes compare: how time falls with the minibatch and grows as epsilon
shrinks. Its own tables disagree where they overlap: at epsilon = .001 and a minibatch of about 250 it prints
{_overlap(names)}. Ours are the best of {ROUNDS} runs, measured by this command, at a load average between
{min(loads):.1f} and {max(loads):.1f}.

Minibatch (epsilon = {EPSILON}):

{size_table}
{desk.picture("screening_minibatch", figure, caption)}
Epsilon (minibatch {MINIBATCH}):

{epsilon_table}
Ratios, thesis / ours:

{_ratios(names, minibatches, ours)}
Online over offline tells as much about the offline side: ours sorts all columns with one call of NumPy. The
thesis expects time to grow as epsilon shrinks; its own numbers for madelon fall. Ours need not grow either: a
smaller epsilon means longer runs, but fewer of them are ever merged, and these data sets are so short that
the smallest epsilons merge nothing at all.
"""


def _overlap(names: Sequence[str]) -> str:
    pairs = [(name, published("3.2", name, 256), published("3.3", name, "0.001")) for name in names]
    return ", ".join(f"{a:,.0f} and {b:,.0f} ms for {name}" for name, a, b in pairs)


def _table(
    what: str, number: str, names: Sequence[str], settings: dict[str, str], ours: Callable[[str, str], float]
) -> str:
    rows = {OFFLINE: OFFLINE, **settings}
    return _report.table(
        [what, *names],
        [
            [label, *(f"{published(number, name, label):,.0f} / {ours(name, key):,.1f}" for name in names)]
            for label, key in rows.items()
        ],
    )


def _ratios(names: Sequence[str], minibatches: Sequence[int], ours: Callable[[str, str], float]) -> str:
    first, last = minibatches[0], minibatches[-1]
    compared = {
        f"minibatch {first} over {last}": (
            "3.2",
            first,
            f"of minibatch {first}",
            last,
            f"of minibatch {last}",
        ),
        f"online, minibatch {last}, over offline": ("3.2", last, f"of minibatch {last}", OFFLINE, OFFLINE),
        "epsilon .0005 over .2": ("3.3", "0.0005", "of epsilon 0.0005", "0.2", "of epsilon 0.2"),
    }
    lines = [
        [
            label,
            *(
                f"{published(table, name, above) / published(table, name, below):.2g} / "
                f"{ours(name, our_above) / ours(name, our_below):.2g}"
                for name in names
            ),
        ]
        for label, (table, above, our_above, below, our_below) in compared.items()
    ]
    return _report.table(["", *names], lines)


def _figure(names: Sequence[str], minibatches: Sequence[int], ours: Callable[[str, str], float]) -> Any:
    figure = new_figure(8, 4)
    axes = figure.add_subplot()
    last = minibatches[-1]
    for i, name in enumerate(names):
        look = style(i, len(minibatches)) | {"markevery": 1}
        theirs = [published("3.2", name, size) / published("3.2", name, last) for size in minibatches]
        mine = [
            ours(name, f"of minibatch {size}") / ours(name, f"of minibatch {last}") for size in minibatches
        ]
        axes.plot(minibatches, mine, **(look | {"linestyle": "-"}), label=name)
        axes.plot(minibatches, theirs, **(look | {"linestyle": "--", "linewidth": 1}))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set(xlabel="minibatch (rows)", ylabel="time, over that of the largest")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:g}")
    bare(axes)
    figure.legend(loc="outside right upper", frameon=False)
    return figure
