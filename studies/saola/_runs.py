"""The runs behind the tables: every method on every data set of the paper that is at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import streamsieve as ss
from studies._columns.classifiers import majority, plain_tree
from studies._columns.methods import ALWAYS, FDR, METHODS, saola
from studies._columns.splits import ColumnData, Split
from studies._columns.toolbox import forced_alpha_investing, saola_max_without_evictions
from studies._columns.trials import averaged, best_time, compared, judged
from studies._data import MissingDataError
from studies._desk import Desk

LEVEL = 0.01
RANDOM_SPLITS = 40
FORCED, NO_EVICTIONS = "Alpha-investing, column 1 forced", "SAOLA-max, no evictions"
#: Methods of the paper's tables, and what reproduces them.
PAPERS = {"SAOLA": "SAOLA", "Fast-OSFS": "Fast-OSFS, paper's rule", "Alpha-investing": FORCED}
OURS = ("Fast-OSFS", "Alpha-investing", *ALWAYS)
REST = (
    "SAOLA-max",
    "OSFS",
    "Group-SAOLA, groups of 10",
    "Alpha-investing, likelihood ratio",
    "Information-investing",
    "Streamwise RIC",
)


@dataclass(frozen=True)
class Case:
    """A data set of the paper.

    Attributes
    ----------
    file : its file
    codes : whether the paper's authors took its columns for codes
    rows : how they were split: "published", or "random" for a random third, or "folds" if the test part is
        not at hand
    other : the label of the other class in the toolbox's alpha-investing
    """

    file: str
    codes: bool = False
    rows: str = "published"
    other: float = -1.0

    def splits(self, data: ColumnData, *, quick: bool) -> Iterator[Split]:
        """Yield training and test rows."""
        if self.rows == "published":
            yield data.published()
        elif self.rows == "random":
            for seed in range(2 if quick else RANDOM_SPLITS):
                yield data.random(1 / 3, seed)
        else:
            yield from data.folds(2 if quick else 10, seed=0)


CASES = {
    "dexter": Case("dexter"),
    "madelon": Case("madelon"),
    "leukemia": Case("leukemia_golub_raw", rows="random"),
    "hiva": Case("hiva_train", codes=True, rows="folds", other=0.0),
    "dorothea": Case("dorothea", codes=True),
}
#: For table XIV, none of whose sets is at hand: the sets of Fisher's z, and a text collection.
LEVELS = {name: case for name, case in CASES.items() if not case.codes} | {
    "rcv1 slice": Case("rcv1_vw_slice")
}


def compute(desk: Desk) -> tuple[list[str], list[str]]:
    """Compute all parts; return the data sets that are there, and those for two levels."""
    return _each(desk, "methods", CASES, _methods), _each(desk, "levels", LEVELS, _levels)


def _each(desk: Desk, what: str, cases: dict[str, Case], function: Callable[..., Any]) -> list[str]:
    settings = {"form": 3, "level": LEVEL, "fdr": FDR, "splits": RANDOM_SPLITS, "quick": desk.quick}
    done = []
    for name, case in cases.items():
        data = ColumnData(case.file, 200 if desk.quick else None)
        try:
            desk.part(f"{name}: {what}", settings, function, data, case, desk.quick)
        except MissingDataError as error:
            desk.skip(f"{name}, {what}", str(error))
        else:
            done.append(name)
    return done


def _methods(data: ColumnData, case: Case, quick: bool) -> dict[str, Any]:  # noqa: FBT001
    splits = list(case.splits(data, quick=quick))
    whole = [_whole(data)] if case.rows == "folds" else splits
    names = [name for name in dict.fromkeys([*PAPERS.values(), *OURS, *REST]) if name in METHODS]
    methods = {name: METHODS[name] for name in names}
    found = compared(splits, methods, codes=case.codes, alpha=LEVEL, timed=case.rows != "folds")
    chosen = [forced_alpha_investing(split.X, split.y, case.other) for split in splits]
    found[FORCED] = averaged([judged(*pair) for pair in zip(splits, chosen, strict=True)])
    if case.codes:
        chosen = [saola_max_without_evictions(split.X, split.y) for split in splits]
        found[NO_EVICTIONS] = averaged([judged(*pair) for pair in zip(splits, chosen, strict=True)])
    if case.codes:
        other_way = forced_alpha_investing(whole[0].X, whole[0].y, -1.0 - case.other)
        found[FORCED]["other coding"] = float(len(other_way))
    if case.rows == "folds":
        _count_whole(found, whole[0], case, names)
    return {
        "methods": found,
        "features": splits[0].X.shape[1],
        "train": len(whole[0].y),
        "test": len(splits[0].test_y),
        "plain tree": plain_tree(
            splits[0], saola(case.codes, LEVEL, 0).fit(splits[0].X, splits[0].y).selected_
        ),
        "majority": averaged([{"share": majority(split)} for split in splits])["share"],
    }


def _whole(data: ColumnData) -> Split:
    """Return all rows for selecting, where the test part is not at hand."""
    X, y = data.matrices
    return Split(X, y, X[:0], y[:0])


def _count_whole(found: dict[str, Any], whole: Split, case: Case, names: list[str]) -> None:
    """Replace sizes and times by those on all training rows, as the paper has them."""
    k = len(saola(case.codes, LEVEL, 0).fit(whole.X, whole.y).selected_)
    for name in names:
        selector = METHODS[name](case.codes, LEVEL, k).fit(whole.X, whole.y)
        size = float(len(selector.selected_))
        found[name] |= {"size": size, "seconds": best_time(selector, whole)}
    found[FORCED]["size"] = float(len(forced_alpha_investing(whole.X, whole.y, case.other)))
    found[NO_EVICTIONS]["size"] = float(len(saola_max_without_evictions(whole.X, whole.y)))


def _levels(data: ColumnData, case: Case, quick: bool) -> dict[str, Any]:  # noqa: FBT001
    """Return the trials of SAOLA, its gated form and TopK at two levels."""
    found: dict[str, list[dict[str, float]]] = {}
    for split in case.splits(data, quick=quick):
        for level in (0.01, 0.05):
            plain = ss.SAOLA(level, p_value="z", measure="fisher_z").fit(split.X, split.y).selected_
            gated = (
                ss.SAOLA(level, fdr="addis", p_value="z", measure="fisher_z").fit(split.X, split.y).selected_
            )
            top = ss.TopK(max(1, len(plain)), p_value="z", measure="fisher_z").fit(split.X, split.y).selected_
            for name, chosen in (("SAOLA", plain), ("SAOLA + ADDIS", gated), ("TopK", top)):
                found.setdefault(f"{name} {level}", []).append(judged(split, chosen))
    return {name: averaged(trials) for name, trials in found.items()} | {"test": len(split.test_y)}
