"""Part 2: non-linear truth by width, by Passemiers' protocol; and truth in very few rows."""

from __future__ import annotations

import csv
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from benchmarks.streaming_fs import copies
from benchmarks.streaming_fs.bench import Bench
from benchmarks.streaming_fs.boards import Board, Cell, filled
from benchmarks.streaming_fs.entries import ENTRIES, Entry
from studies.interactions import FOLDS, ROWS, WIDTHS, data

SHAPES = ("ring", "xor")
#: Shares found as printed in the results of AntoinePassemiers/Feature-Selection-Benchmark at 8bebfde.
PUBLISHED = Path(__file__).parent / "published" / "passemiers2024.csv"

#: Samples of few rows, by name: what they are and how many of their columns are relevant.
FEW = {"XOR, 50 rows": 2, "CorrAL-100, 32 rows": 4}


def run(bench: Bench) -> list[Board]:
    """Run all entries."""
    widths, folds = ((8, 32), 2) if bench.quick else (WIDTHS, FOLDS)
    names = [f"{shape.upper()}, p = {width}" for shape in SHAPES for width in widths]
    cases = bench.cases("shapes", names)
    found: dict[str, dict[str, Cell]] = {name: {} for name in ENTRIES}
    for case in cases:
        shape, width = case.split(", p = ")
        for entry in _columns(bench, case, ROWS * int(width)):
            result = bench.measure(
                f"shape {case} {entry.name}",
                {"folds": folds},
                by_width,
                entry,
                shape.lower(),
                int(width),
                folds,
            )
            if result:
                found[entry.name][case] = Cell(*result)
    about = (
        f"Passemiers' generators: {ROWS:,} rows of uniform columns, of which two make up the label. Share of "
        f"the two among a method's best two, a mean over the training parts of {folds} folds, columns "
        "shuffled in each. Rows marked as published are the figures of the generators' authors "
        "(github.com/AntoinePassemiers/Feature-Selection-Benchmark) for one data set, not run again."
    )
    kinds = {name: entry.kind for name, entry in ENTRIES.items()}
    board = Board("Two relevant columns among p", "share found", about, kinds, filled(found), published())
    return [board, copies.run(bench), _few(bench, kinds)]


@cache
def published() -> dict[str, dict[str, float]]:
    """Return the figures of Passemiers' repository for 1,000 rows, by method and case."""
    found: dict[str, dict[str, float]] = {}
    with PUBLISHED.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            case = f"{row['shape'].upper()}, p = {row['columns']}"
            found.setdefault(f"{row['method']}, published", {})[case] = float(row["share_in_best_two"])
    return found


def _columns(bench: Bench, case: str, values: int) -> list[Entry]:
    """Return the entries that take a case; to keep all columns finds nothing."""
    return [entry for entry in bench.able(case, values) if entry.kind != "baseline"]


def by_width(entry: Entry, shape: str, width: int, folds: int) -> list[float]:
    """Return the share of the two relevant columns among the best two, their number, and the seconds."""
    X, y = data(shape, width, 0)
    rng = np.random.default_rng(0)
    trials = []
    for rows, _ in KFold(folds).split(X):
        order = rng.permutation(width)
        started = time.perf_counter()
        kept = order[entry.select(X[np.ix_(rows, order)], y[rows], 2)]
        trials.append([float(np.sum(kept < 2)) / 2, float(len(kept)), time.perf_counter() - started])
    return np.mean(trials, axis=0).tolist()


def _few(bench: Bench, kinds: dict[str, str]) -> Board:
    runs = 3 if bench.quick else 20
    found: dict[str, dict[str, Cell]] = {name: {} for name in ENTRIES}
    for case in bench.cases("few rows", FEW):
        for entry in _columns(bench, case, 5000):
            result = bench.measure(f"few {case} {entry.name}", {"runs": runs}, few_rows, entry, case, runs)
            if result:
                found[entry.name][case] = Cell(*result)
    about = (
        f"100 columns and very few rows, {runs} samples. Share of the relevant columns among the best 2 k, k "
        "being their number."
    )
    return Board("Very few rows", "share found", about, kinds, filled(found))


def few_rows(entry: Entry, case: str, runs: int) -> list[float]:
    """Return the share of the relevant columns among the best 2 k, their number, and the seconds."""
    relevant, trials = FEW[case], []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        X, y = _xor(rng) if case.startswith("XOR") else _corral(rng)
        order = rng.permutation(X.shape[1])
        started = time.perf_counter()
        kept = order[entry.select(X[:, order], y, 2 * relevant)]
        share = float(np.sum(kept < relevant)) / relevant
        trials.append([share, float(len(kept)), time.perf_counter() - started])
    return np.mean(trials, axis=0).tolist()


def _xor(rng: np.random.Generator) -> tuple[Any, Any]:
    X = rng.integers(0, 2, (50, 100))
    return X.astype(np.float64), X[:, 0] ^ X[:, 1]


def _corral(rng: np.random.Generator) -> tuple[Any, Any]:
    """Draw CorrAL-100: (a and b) or (c and d), a column that is the class in 3 of 4 rows, and noise."""
    X = rng.integers(0, 2, (32, 100))
    X[:16, :4] = [[i >> j & 1 for j in range(4)] for i in range(16)]  # every combination twice
    X[16:, :4] = X[:16, :4]
    y = (X[:, 0] & X[:, 1]) | (X[:, 2] & X[:, 3])
    X[:, 4] = np.where(rng.random(32) < 0.75, y, 1 - y)
    return X.astype(np.float64), y
