"""The runs behind the tables: all methods on every data set of the paper that is at hand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve.columns.groups.diverse import pairwise_redundancy, redundancy_features
from studies._columns.splits import ColumnData, Labels
from studies._columns.trials import Trial, averaged, judged
from studies._data import MissingDataError
from studies._desk import Desk
from studies._parts import Part
from studies.dofs._guesses import GUESSES, guessed
from studies.dofs._readings import (
    AS_PRINTED,
    EVERY,
    GROUP,
    KERNELS,
    LEVEL,
    MAIN,
    MODES,
    PENALTY,
    READINGS,
    as_many,
    dofs,
    top,
)

FOLDS, DRAWS = 5, 3
#: Other readings of the paper are cross-validated on sets of at most so many columns: they take their time.
WIDEST = 2000
#: From so many columns all pairs are tested for redundancy; columns are alike from this rank correlation on.
PAIRED, THRESHOLD = 60, 0.9
#: Data sets by the name of their file.
FILES = {
    "ionosphere": "ionosphere",
    "spambase": "spambase",
    "spectf": "spectf",
    "wdbc": "wdbc",
    "colon": "colon_raw",
    "leukemia": "leukemia_golub_raw",
    "prostate": "prostate_spls6033",
}
#: Baselines with as many columns as a mode of DOFS.
TOP, RANDOM = "TopK, as many", "random columns, as many"


class _FewRows(ColumnData):
    """Some hundred rows of a data set, spread over all, for a quick look."""

    @cached_property
    def matrices(self) -> tuple[Any, Labels]:
        X, y = super().matrices
        step = -(-len(y) // 200)
        return X[::step], y[::step]


def compute(desk: Desk) -> list[str]:
    """Compute all parts; return the data sets that are there."""
    folds, draws = (2, 2) if desk.quick else (FOLDS, DRAWS)
    paper = {"level": LEVEL, "penalty": PENALTY, "group": GROUP}
    settings = {"form": 1, "folds": folds, "draws": draws, "quick": desk.quick, **paper}
    parts: dict[str, list[Part]] = {}
    for name, file in FILES.items():
        data = _FewRows(file, 60) if desk.quick else ColumnData(file)
        parts[name] = [
            (f"{name}: all rows", settings, on_all_rows, data, folds, draws),
            (f"{name}: folds", settings, in_folds, data, folds),
            (f"{name}: pairs", settings, redundant_pairs, data),
        ]
    desk.ahead(*chain.from_iterable(parts.values()))
    done = []
    for name, own in parts.items():
        try:
            for part in own:
                desk.part(*part)
        except MissingDataError as error:
            desk.skip(name, str(error))
        else:
            done.append(name)
    return done


def in_folds(data: ColumnData, folds: int) -> dict[str, Trial]:
    """Return how well classifiers do on columns that were chosen without the test rows.

    The draws of DOFS are other ones in every fold.  A baseline goes by its name and the mode's.
    """
    trials: dict[str, list[Trial]] = {}
    for seed, split in enumerate(data.folds(folds, seed=0)):
        for name, choose in (EVERY if split.X.shape[1] <= WIDEST else MAIN).items():
            chosen = choose(split.X, split.y, seed)
            trial = judged(split, chosen)
            if name in AS_PRINTED.values():
                trial |= guessed(split, chosen)
            trials.setdefault(name, []).append(trial)
            if name in MODES:
                k, p = len(chosen), split.X.shape[1]
                best = top(k).fit(split.X, split.y).selected_
                trials.setdefault(f"{TOP}: {name}", []).append(judged(split, best))
                trials.setdefault(f"{RANDOM}: {name}", []).append(judged(split, as_many(k, p, seed)))
    return {name: _means(found) for name, found in trials.items()}


def _means(trials: Sequence[Trial]) -> Trial:
    """Return means only: there are many methods, and nobody asks for the spread over folds."""
    wanted = ("size", "nearest", "tree", *GUESSES)
    return {key: float(np.mean([trial[key] for trial in trials])) for key in wanted if key in trials[0]}


def on_all_rows(data: ColumnData, folds: int, draws: int) -> dict[str, Any]:
    """Return sizes over several draws, what each stage of DOFS took away, and how relevant columns are.

    "afterwards" are accuracies over folds if the columns were chosen once before, on all rows.
    """
    X, y = data.matrices
    X = np.asfortranarray(X)
    relevance = relevances(X, y)
    sizes, stages, kept, afterwards = {}, {}, {}, {}
    splits = list(data.folds(folds, seed=0))
    for name in EVERY:
        chosen, counts = _chosen(name, X, y, draws)
        sizes[name] = averaged([{"size": float(len(some))} for some in chosen])
        kept[name] = float(np.mean([relevance[some].mean() if len(some) else 0.0 for some in chosen]))
        if counts:
            stages[name] = counts | {"left": len(chosen[0])}
        if name in MAIN:
            afterwards[name] = _means([judged(split, chosen[0]) for split in splits])
    return {
        "sizes": sizes,
        "stages": stages,
        "relevance": kept | {"all": float(relevance.mean())},
        "afterwards": afterwards,
        "drawn": {
            kernel: len(dofs(0, stages="draw", **parameters).fit(X, y).selected_)
            for kernel, parameters in KERNELS.items()
        },
        "features": X.shape[1],
        "rows": len(y),
        "majority": float(np.bincount(y - y.min()).max() / len(y)),
    }


def _chosen(name: str, X: Any, y: Labels, draws: int) -> tuple[list[npt.NDArray[np.int64]], dict[str, int]]:
    parameters = (MODES | READINGS).get(name)
    if parameters is None:
        return [EVERY[name](X, y, 0)], {}
    selectors = [dofs(seed, **parameters).fit(X, y) for seed in range(draws)]
    return [selector.selected_ for selector in selectors], selectors[0].ledger_.counts()


def redundant_pairs(data: ColumnData) -> dict[str, int]:
    """Count pairs of columns that tests call redundant: of all, and of those with like ranks or not."""
    X, _ = data.matrices
    varied = np.flatnonzero(X.max(axis=0) > X.min(axis=0))
    some = np.sort(np.random.default_rng(0).permutation(varied)[:PAIRED])
    values = np.ascontiguousarray(X[:, some].T)
    standard = (values - values.mean(axis=1, keepdims=True)) / values.std(axis=1, keepdims=True)
    pair = np.triu_indices(len(some), 1)

    def by(redundancy: str, columns: npt.NDArray[np.float64]) -> Any:
        every = np.arange(len(columns))
        table = redundancy_features(redundancy, columns)
        return pairwise_redundancy(redundancy, table, every, every)[0][pair]

    alike = by("spearman", values) >= THRESHOLD
    as_they_are, centred = (by("wilcoxon_literal", columns) > LEVEL for columns in (values, standard))
    return {
        "pairs": len(alike),
        "alike": int(alike.sum()),
        "Wilcoxon": int(as_they_are.sum()),
        "Wilcoxon, alike": int((as_they_are & alike).sum()),
        "Wilcoxon, standardised": int(centred.sum()),
    }


def relevances(X: Any, y: Labels) -> npt.NDArray[np.float64]:
    """Return the size of the correlation of each column with two classes; 0 for a constant column."""
    target = (y == y.max()) - np.mean(y == y.max())
    centred = X - X.mean(axis=0)
    norm = np.sqrt((centred**2).sum(axis=0) * (target @ target))
    found: npt.NDArray[np.float64] = np.abs(target @ centred) / np.where(norm > 0, norm, np.inf)
    return found
