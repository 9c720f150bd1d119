"""The runs behind the tables: OSFS and its rivals on every data set of the paper that is at hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamsieve as ss
from studies._columns.methods import ALWAYS, BY_G2, FDR, G2, Maker
from studies._columns.splits import ColumnData, Split
from studies._columns.toolbox import forced_alpha_investing
from studies._columns.trials import averaged, best_time, compared, judged
from studies._data import MissingDataError
from studies._desk import Desk

LEVEL = 0.05
FOLDS = 10
FORCED = "Alpha-investing, column 1 forced"

PAPERS = {name: make for name, make in BY_G2.items() if "paper" in name}
BY_Z: dict[str, Maker] = {
    "OSFS, z": lambda _codes, alpha, _k: ss.OSFS(alpha, p_value="z", test="fisher_z"),
    "Fast-OSFS, z": lambda _codes, alpha, _k: ss.FastOSFS(alpha, p_value="z", test="fisher_z"),
}
OURS = {name: make for name, make in BY_G2.items() if name not in PAPERS} | BY_Z
TIMED = ("OSFS, paper's rule", "Fast-OSFS, paper's rule", "OSFS", "Fast-OSFS", "Alpha-investing", *ALWAYS)


@dataclass(frozen=True)
class Case:
    """A data set of the paper: its file, whether its columns are codes, and whether it has a split."""

    file: str
    codes: bool = False
    published: bool = False


CASES = {
    "dexter": Case("dexter", published=True),
    "dorothea": Case("dorothea", codes=True, published=True),
    "arcene": Case("arcene", published=True),
    "madelon": Case("madelon", published=True),
    "colon": Case("colon_raw"),
    "prostate": Case("prostate_spls6033"),
    "leukemia": Case("leukemia_golub_raw"),
}


def compute(desk: Desk) -> list[str]:
    """Compute all parts; return the data sets that are there."""
    settings = {"form": 1, "level": LEVEL, "folds": FOLDS, "g2": G2, "fdr": FDR, "quick": desk.quick}
    done = []
    for name, case in CASES.items():
        data = ColumnData(case.file, 200 if desk.quick else None)
        try:
            desk.part(f"{name}: accuracy", settings, _accuracy, data, case, 2 if desk.quick else FOLDS)
            desk.part(f"{name}: times", settings, _times, data, case)
        except MissingDataError as error:
            desk.skip(name, str(error))
        else:
            done.append(name)
    return done


def _accuracy(data: ColumnData, case: Case, folds: int) -> dict[str, Any]:
    splits = [data.published()] if case.published else list(data.folds(folds, seed=0))
    found = compared(splits, PAPERS | OURS, codes=case.codes, alpha=LEVEL)
    forced = [judged(split, forced_alpha_investing(split.X, split.y)) for split in splits]
    return {
        "methods": found | {FORCED: averaged(forced)},
        "features": splits[0].X.shape[1],
        "rows": len(splits[0].y) if case.published else len(data.matrices[1]),
        "tested": sum(len(split.test_y) for split in splits),
    }


def _times(data: ColumnData, case: Case) -> dict[str, dict[str, float]]:
    """Return seconds by method and level, on the training rows, or on all if there is no split."""
    X, y = data.matrices
    split = data.published() if case.published else Split(X, y, X[:0], y[:0])
    found: dict[str, dict[str, float]] = {}
    for level in (0.01, 0.05):
        k = len(ss.SAOLA(level, p_value="z", measure="fisher_z").fit(split.X, split.y).selected_)
        for name in TIMED:
            selector = (PAPERS | OURS)[name](case.codes, level, k).fit(split.X, split.y)
            found.setdefault(name, {})[str(level)] = best_time(selector, split)
    return found
