"""Part 2, redundancy: relevant columns with noisy copies, in the manner of SynthSelect."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.streaming_fs.bench import Bench
from benchmarks.streaming_fs.boards import Board, Cell, filled
from benchmarks.streaming_fs.entries import ENTRIES, Entry

ROWS, RELEVANT, COPIES, NOISE = 500, 4, 3, 84
#: What of the relevant columns makes up the class, which is whether it exceeds its median.
SIGNALS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda X: X.sum(axis=1),
    "minimum": lambda X: X.min(axis=1),
    "cone": lambda X: np.square(X).sum(axis=1),
    "sine": lambda X: np.sin(2 * X).sum(axis=1),
}


def run(bench: Bench) -> Board:
    """Run all entries but those that keep all columns."""
    runs = 2 if bench.quick else 10
    found: dict[str, dict[str, Cell]] = {name: {} for name in ENTRIES}
    for case in bench.cases("copies", SIGNALS):
        for entry in bench.able(f"copies, {case}", ROWS * 100):
            if entry.kind != "baseline":
                name = f"copies {case} {entry.name}"
                result = bench.measure(name, {"runs": runs}, covered, entry, case, runs)
                if result:
                    found[entry.name][case] = Cell(*result)
    about = (
        f"{RELEVANT} relevant columns with {COPIES} noisy copies each among {NOISE} of noise, {ROWS} rows, "
        f"{runs} samples. Share of the relevant columns in the best {2 * RELEVANT}, themselves or a copy."
    )
    kinds = {name: entry.kind for name, entry in ENTRIES.items()}
    return Board("Redundant copies", "share covered", about, kinds, filled(found))


def covered(entry: Entry, case: str, runs: int) -> list[float]:
    """Return the share of relevant columns that are covered, the number of columns, and the seconds."""
    trials = []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        relevant = rng.normal(size=(ROWS, RELEVANT))
        copies = np.tile(relevant, COPIES) + 0.2 * rng.normal(size=(ROWS, RELEVANT * COPIES))
        X = np.hstack([relevant, copies, rng.normal(size=(ROWS, NOISE))])
        signal = SIGNALS[case](relevant)
        y = (signal > np.median(signal)).astype(np.int64)
        order = rng.permutation(X.shape[1])
        started = time.perf_counter()
        kept = order[entry.select(np.asfortranarray(X[:, order]), y, 2 * RELEVANT)]
        seconds = time.perf_counter() - started
        groups = {j % RELEVANT for j in kept.tolist() if j < RELEVANT * (COPIES + 1)}
        trials.append([len(groups) / RELEVANT, float(len(kept)), seconds])
    return np.mean(trials, axis=0).tolist()
