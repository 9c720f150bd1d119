"""One selector on one split: what it keeps, how well classifiers do on that, and how long it takes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from studies._columns.classifiers import nearest, tree
from studies._columns.methods import WIDEST, Maker, saola
from studies._columns.splits import Split

#: Runs of which the fastest counts, and seconds after which there are no more.
ROUNDS, PATIENCE = 3, 2.0

Trial = dict[str, float]


def judged(split: Split, chosen: Any) -> Trial:
    """Return size and accuracies of a selection; the tree is left out where a selection is very wide."""
    by_neighbour = nearest(split, chosen)
    found = {
        "size": float(len(chosen)),
        "nearest": by_neighbour.accuracy,
        "low": by_neighbour.low,
        "high": by_neighbour.high,
    }
    return found | ({"tree": tree(split, chosen)} if len(chosen) <= WIDEST else {})


def compared(
    splits: Iterable[Split], methods: Mapping[str, Maker], *, codes: bool, alpha: float, timed: bool = False
) -> dict[str, Trial]:
    """Return for each method the means over splits, the spreads, and the seconds on the first split."""
    trials: dict[str, list[Trial]] = {name: [] for name in methods}
    seconds: dict[str, float] = {}
    for split in splits:
        k = len(saola(codes, alpha, 0).fit(split.X, split.y).selected_)
        for name, make in methods.items():
            selector = make(codes, alpha, k).fit(split.X, split.y)
            trials[name].append(judged(split, selector.selected_))
            if timed and name not in seconds:
                seconds[name] = best_time(selector, split)
    return {
        name: averaged(found) | ({"seconds": seconds[name]} if timed else {})
        for name, found in trials.items()
    }


def averaged(trials: Sequence[Mapping[str, float]]) -> Trial:
    """Return means and, if there are several trials, their spread as "... sd", "... min" and "... max"."""
    found: Trial = {}
    for key in trials[0]:
        values = [trial[key] for trial in trials if key in trial]
        found[key] = float(np.mean(values))
        if len(trials) > 1:
            found[f"{key} sd"] = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
            found[f"{key} min"], found[f"{key} max"] = min(values), max(values)
    return found


def best_time(selector: Any, split: Split) -> float:
    """Return the seconds of the fastest of several runs; the selector has run before, so all is compiled."""
    best = spent = 0.0
    for _ in range(ROUNDS):
        started = time.perf_counter()
        selector.fit(split.X, split.y)
        seconds = time.perf_counter() - started
        best, spent = min(best or seconds, seconds), spent + seconds
        if spent > PATIENCE:
            break
    return best
