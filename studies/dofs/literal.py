"""The paper's rules to the letter and the corrected ones, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from studies._columns import cells
from studies._desk import Desk
from studies.dofs._published import DPP_ONLY, SUPERVISED, UNSUPERVISED, described, printed
from studies.dofs._readings import (
    CORRECTED,
    DRAWN,
    KERNELS,
    LITERALLY,
    MODES,
    READINGS,
    UNSUPERVISED_LITERAL,
    UNSUPERVISED_OURS,
)
from studies.dofs._runs import PAIRED, RANDOM, THRESHOLD, TOP, WIDEST
from studies.dofs.tables import Found, accuracy, results

#: Differences in accuracy that count as equal: half a point.
EQUAL = 0.005
VARIANTS = {
    DPP_ONLY: (DRAWN,),
    UNSUPERVISED: (UNSUPERVISED_LITERAL, UNSUPERVISED_OURS),
    SUPERVISED: (LITERALLY, CORRECTED),
}
#: What may become of a column, as the ledger counts it.
STAGES = ("not sampled", "redundant", "irrelevant", "evicted", "left")


def section(desk: Desk, names: Sequence[str]) -> str:
    """Return the tables and what they say."""
    folds, rows = results(desk, names)
    pairs = {name: desk.part.result(f"{name}: pairs") for name in names}
    return f"""\
## Literal and corrected criteria

"{TOP}" and "{RANDOM}" have the size of the method above them, fold by fold. Accuracies from here on are means
of the nearest neighbour's and the tree's.

{_accuracies(folds, rows)}
The same as won / equal / lost over the sets (half a point counts as equal), and the mean difference:

{_records(folds, rows)}
What becomes of columns, in per cent of all: not drawn / redundant (by its test, or in the elastic net) /
irrelevant (they do not separate classes, or would have no weight in the elastic net alone) / kept and evicted
later / kept to the end.

{_stages(rows)}
Share of pairs of columns (of {PAIRED} at random) that tests call redundant, in per cent:

{_pairs(pairs)}

Mean correlation with the class, without sign, of the columns kept:

{_relevance(rows)}
{_upside_down(rows)}

### Fault by fault

The supervised mode again: other readings of the paper, and the corrected criteria with one literal rule each.
{_reading_accuracies(folds)}
Number of columns, on all rows, means over the draws; the last column counts the sets whose printed number
lies between the least and the largest of the draws:

{_reading_sizes(rows)}
### The draw alone

{_kernels(rows)}"""


# ------------------------------------------------------------------------------------ accuracy


def _accuracies(folds: Found, rows: Found) -> str:
    lines: dict[str, list[str]] = {}
    for variant, methods in VARIANTS.items():
        lines[f"{variant}, paper"] = _means([printed(name, variant, "accuracy") for name in folds])
        for method in methods:
            lines[method] = _means([accuracy(found[method]) for found in folds.values()])
            for baseline in (TOP, RANDOM):
                values = [accuracy(found[f"{baseline}: {method}"]) for found in folds.values()]
                lines[f"{baseline} ({method.removeprefix('DOFS, ')})"] = _means(values)
    lines["largest class"] = _means([found["majority"] for found in rows.values()])
    return cells.table("method", [*folds, "mean"], lines)


def _means(values: Sequence[float]) -> list[str]:
    return [f"{value:.4f}" for value in [*values, float(np.mean(values))]]


def _records(folds: Found, rows: Found) -> str:
    lines = {}
    for method in MODES:
        against = {
            kind: [accuracy(found[method]) - accuracy(found[f"{kind}: {method}"]) for found in folds.values()]
            for kind in (TOP, RANDOM)
        }
        against["largest class"] = [accuracy(folds[name][method]) - rows[name]["majority"] for name in folds]
        lines[method] = [f"{record(gains)}, {np.mean(gains):+.4f}" for gains in against.values()]
    return cells.table("method", [f"against {TOP}", f"against {RANDOM}", "against the largest class"], lines)


def record(gains: Sequence[float]) -> str:
    """Return how often something was won, equal, or lost."""
    won, lost = sum(gain > EQUAL for gain in gains), sum(gain < -EQUAL for gain in gains)
    return f"{won} / {len(gains) - won - lost} / {lost}"


# ------------------------------------------------------------------------------------ stages


def _stages(rows: Found) -> str:
    lines = {
        method: [
            " / ".join(
                f"{100 * found['stages'][method].get(what, 0) / found['features']:.0f}" for what in STAGES
            )
            for found in rows.values()
        ]
        for method in MODES
    }
    return cells.table("method", list(rows), lines)


def _per_cent(some: int, of: int) -> str:
    return f"{100 * some / max(1, of):.0f} %"


def _pairs(pairs: Found) -> str:
    """Return how often each test of redundancy finds pairs, and whether they are the right ones."""
    kinds = {
        "Wilcoxon's test, columns as they are": "Wilcoxon",
        "Wilcoxon's test, columns of mean 0 and variance 1": "Wilcoxon, standardised",
        f"rank correlation of at least {THRESHOLD:g}": "alike",
    }
    lines = {
        label: [f"{100 * found[key] / max(1, found['pairs']):.1f}" for found in pairs.values()]
        for label, key in kinds.items()
    }
    alike, caught, taken, every = (
        sum(found[key] for found in pairs.values())
        for key in ("alike", "Wilcoxon, alike", "Wilcoxon", "pairs")
    )
    most = max(pairs, key=lambda name: pairs[name]["alike"])
    return f"""\
{cells.table("test", list(pairs), lines)}
Over all sets Wilcoxon's test calls {_per_cent(caught, alike)} of the {alike} pairs redundant that have such
a rank correlation (the most of one set are of {most}), and {_per_cent(taken - caught, every - alike)} of the
others. It asks whether two columns lie at
the same place, not whether they depend on each other, so its answer hangs on units and is another one for
standardised columns.
"""


# ------------------------------------------------------------------------------------ relevance


def _relevance(rows: Found) -> str:
    lines = {
        method: [f"{found['relevance'][method]:.3f}" for found in rows.values()] for method in ("all", *MODES)
    }
    lines = {"all columns": lines.pop("all"), **lines}
    return cells.table("method", list(rows), lines)


def _upside_down(rows: Found) -> str:
    def below(method: str) -> int:
        return sum(found["relevance"][method] < found["relevance"]["all"] for found in rows.values())

    return (
        "Columns that tell less about the class than the average column of the set are kept by the "
        f"supervised criteria on {below(LITERALLY)} of {len(rows)} sets by the letter, on {below(CORRECTED)} "
        f"if corrected; by the draw alone, which does not look at the class, on {below(DRAWN)}."
    )


# ------------------------------------------------------------------------------------ fault by fault


def _reading_accuracies(folds: Found) -> str:
    narrow = {name: found for name, found in folds.items() if all(reading in found for reading in READINGS)}
    if not narrow:
        return ""
    lines = {
        method: _means([accuracy(found[method]) for found in narrow.values()])
        for method in (LITERALLY, CORRECTED, *READINGS)
    }
    return f"""\
Accuracy on sets of at most {WIDEST:,} columns:

{cells.table("reading", [*narrow, "mean"], lines)}
{_costs(narrow)}
"""


def _reading_sizes(rows: Found) -> str:
    theirs = {name: printed(name, SUPERVISED, "n_selected") for name in rows}
    lines = {"paper": [*(f"{value:,.0f}" for value in theirs.values()), ""]}
    for method in (LITERALLY, CORRECTED, *READINGS):
        sizes = {name: found["sizes"][method] for name, found in rows.items()}
        hits = sum(size["size min"] <= theirs[name] <= size["size max"] for name, size in sizes.items())
        lines[method] = [*(cells.number(size["size"], 1) for size in sizes.values()), str(hits)]
    factors = {method: _factor(rows, theirs, method) for method in (LITERALLY, CORRECTED, *READINGS)}
    best = min(factors, key=lambda method: factors[method])
    return f"""\
{cells.table("reading", [*rows, "as printed"], lines)}
Nearest to the printed numbers is "{best}", by a factor of {factors[best]:.1f} on average; \
"{LITERALLY}" is away by {factors[LITERALLY]:.1f}, "{CORRECTED}" by {factors[CORRECTED]:.1f}.
"""


def _factor(rows: Found, theirs: Mapping[str, float], method: str) -> float:
    """Return the geometric mean of how many times one size is the other; no column counts as half of one."""
    ratios = [max(rows[name]["sizes"][method]["size"], 0.5) / size for name, size in theirs.items()]
    return float(np.exp(np.mean(np.abs(np.log(ratios)))))


def _kernels(rows: Found) -> str:
    theirs = [f"{printed(name, DPP_ONLY, 'n_selected') / described(name, 'n_features'):.2f}" for name in rows]
    lines = {"paper": theirs}
    for kernel in KERNELS:
        lines[kernel] = [f"{found['drawn'][kernel] / found['features']:.2f}" for found in rows.values()]
    return f"""\
Without criteria, the kernel decides how many columns are drawn, and the paper does not name it: a draw takes
half of the columns if no two are alike, and fewer the more alike they are. Share of columns that one draw
keeps:

{cells.table("kernel", list(rows), lines)}"""


def _costs(folds: Found) -> str:
    """Return which single fault costs most, and what all of them cost together."""

    def mean(method: str) -> float:
        return float(np.mean([accuracy(found[method]) for found in folds.values()]))

    single = [reading for reading in READINGS if reading.startswith("corrected")]
    costs = {reading: 100 * (mean(CORRECTED) - mean(reading)) for reading in single}
    worst = max(costs, key=lambda reading: costs[reading])
    best = min(costs, key=lambda reading: costs[reading])
    together = 100 * (mean(CORRECTED) - mean(LITERALLY))
    return (
        f"All literal rules together change the mean accuracy by {-together:+.1f} points. Alone, the one "
        f'that costs most is "{_fault(worst)}" ({-costs[worst]:+.1f} points), the one that costs least '
        f'"{_fault(best)}" ({-costs[best]:+.1f} points). With some hundred rows a set, a point is chance.'
    )


def _fault(reading: str) -> str:
    return reading.removeprefix("corrected, but: ")
