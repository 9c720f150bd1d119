"""The same question on real data: accuracy on the columns that each reading keeps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from studies._columns import cells
from studies._columns.methods import ALWAYS
from studies._columns.splits import ColumnData
from studies._columns.trials import compared
from studies._data import MissingDataError
from studies._desk import Desk
from studies._parts import Part
from studies.markov_blankets._readings import ALGORITHMS, DEFAULT, PAPER, READINGS

#: Sets with few rows for their levels, and one with many rows.
NAMES = ("colon_disc", "leukemia_disc", "wdbc", "ionosphere", "spectf", "spambase")
FOLDS, REPEATS, LEVEL = 5, 2, 0.01
SHOWN = (DEFAULT, PAPER)
#: Of sets with more rows only the first of the folds is taken: with rows for every test, many are made.
MANY = 2000


def compute(desk: Desk) -> list[str]:
    """Compute every data set; return those that are there."""
    settings = {"form": 1, "folds": FOLDS, "repeats": REPEATS, "level": LEVEL, "quick": desk.quick}
    columns, repeats = (15, 1) if desk.quick else (None, REPEATS)
    parts: dict[str, Part] = {
        name: (f"{name}: accuracy", settings, one_set, ColumnData(name, columns), repeats) for name in NAMES
    }
    desk.ahead(*parts.values())
    done = []
    for name, part in parts.items():
        try:
            desk.part(*part)
        except MissingDataError as error:
            desk.skip(name, str(error))
        else:
            done.append(name)
    return done


def one_set(data: ColumnData, repeats: int) -> dict[str, Any]:
    """Return accuracy and size by reading, means over folds."""
    many = len(data.matrices[1]) > MANY
    folds = (data.folds(FOLDS, seed) for seed in range(repeats))
    splits = [split for by_seed in folds for split in (islice(by_seed, 1) if many else by_seed)]

    def maker(algorithm: str, reading: str) -> Any:
        return lambda _codes, alpha, _k: ALGORITHMS[algorithm](
            alpha, test="g2", p_value="chi2", **READINGS[reading]
        )

    methods = {f"{a}, {reading}": maker(a, reading) for a in ALGORITHMS for reading in SHOWN}
    return compared(splits, methods | ALWAYS, codes=True, alpha=LEVEL)


def section(desk: Desk, names: Sequence[str]) -> str:
    """Return the tables."""
    if not names:
        return "## Accuracy on real data\n\nNo data set is at hand.\n"
    found = {name: desk.part.result(f"{name}: accuracy") for name in names}
    rows = {}
    for method in (*(f"{a}, {reading}" for a in ALGORITHMS for reading in SHOWN), *ALWAYS):
        trials = [result[method] for result in found.values()]
        texts = [f"{t['nearest']:.3f} / {t['tree']:.3f} ({t['size']:.1f})" for t in trials]
        rows[method] = [*texts, f"{np.mean([_accuracy(t) for t in trials]):.3f}"]
    return f"""\
## Accuracy on real data

One nearest neighbour / tree (columns kept), {FOLDS} folds, {REPEATS} times (of spambase the first fold each
time), level {LEVEL:g}; columns with more than 32 distinct values in five bins of equal frequency. These are
the sets that were looked at when the default was chosen; the study of OSFS has others.

{cells.table("reading", [*names, "mean"], rows)}
{_verdicts(found)}"""


def _verdicts(found: dict[str, Any]) -> str:
    lines = []
    for algorithm in ALGORITHMS:
        ours, theirs = (
            [_accuracy(r[f"{algorithm}, {reading}"]) for r in found.values()] for reading in SHOWN
        )
        gains = np.array(ours) - np.array(theirs)
        won, lost = int(np.sum(gains > 0.005)), int(np.sum(gains < -0.005))
        lines.append(
            f"- {algorithm}: the default is more accurate on {won} of {len(gains)} sets, less on {lost}, by "
            f"{100 * gains.mean():+.1f} points on average."
        )
    return "\n".join(lines) + "\n"


def _accuracy(trial: dict[str, float]) -> float:
    return (trial["nearest"] + trial["tree"]) / 2
