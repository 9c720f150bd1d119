"""Part 4: real sets.  The selector inside the fold, the same k for all, "none" and L1 always present."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from benchmarks.streaming_fs.bench import Bench
from benchmarks.streaming_fs.boards import Board, Cell, filled
from benchmarks.streaming_fs.entries import ENTRIES
from studies.defaults.runs import LEARNERS, measured
from studies.defaults.sets import NAMES, Sample, sample

#: Number of columns for entries that need one.
K = 20
QUICK = ("breast_cancer", "ionosphere", "wine")


class Entered(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An entry as a selector, by its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def fit(self, X: Any, y: Any) -> Self:
        """Let the entry select."""
        entry = ENTRIES[self.name]
        self.selected_ = np.asarray(entry.select(X, y, None if entry.decides else K), np.int64)
        return self


def run(bench: Bench) -> list[Board]:
    """Run all entries; a board per learner."""
    rows, folds = (150, 3) if bench.quick else (1000, 5)
    cells: dict[str, dict[str, dict[str, Cell]]] = {each: {name: {} for name in ENTRIES} for each in LEARNERS}
    for name in bench.cases("real sets", QUICK if bench.quick else NAMES):
        data = bench.loaded(f"set {name}", sample, name, rows)
        for entry in bench.able(name, int(np.prod(data.X.shape))) if data is not None else ():
            settings = {"rows": data.X.shape[0], "folds": folds, "k": K}
            found = bench.measure(f"set {name} {entry.name}", settings, one, entry.name, data, folds)
            for learner in LEARNERS if found else ():
                cell = Cell(float(np.mean(found[learner])), found["size"], found["seconds"])
                cells[learner][entry.name][name] = cell
    about = (
        f"Balanced accuracy over {folds} folds; the selector sees training rows only. At most {rows:,} rows. "
        f"Entries that need a number of columns get {K}."
    )
    kinds = {name: entry.kind for name, entry in ENTRIES.items()}
    return [
        Board(f"Real sets, {learner}", "balanced accuracy", about, kinds, filled(by))
        for learner, by in cells.items()
    ]


def one(name: str, data: Sample, folds: int) -> dict[str, Any]:
    """Return the scores of an entry on a set by learner, the columns kept, and the seconds."""
    return measured(None if name == "none" else Entered(name), data, folds)
