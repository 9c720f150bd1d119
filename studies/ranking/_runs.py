"""The runs behind the tables: every selector on every set, fold and order of the columns."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from studies._columns.splits import ColumnData, Labels, Split
from studies._data import MissingDataError
from studies._desk import Desk
from studies._parts import cores
from studies.ranking._judge import CLASSIFIERS, TREES, Judge
from studies.ranking._methods import ALL, FDR, GROUP, RANKED

MOST_ROWS = 1500
FOLDS = 5
#: Seeds of the orders of the columns; None is the order of the file.
ORDERS = (None, 0, 1, 2)

#: The sets of the earlier ranking that are at hand, by the name of their file.
FILES = {
    "colon": "colon_raw",
    "Golub": "leukemia_golub_raw",
    "prostate": "prostate_spls6033",
    "gisette": "gisette_valid",
    "madelon": "madelon",
    "spambase": "spambase",
    "wdbc": "wdbc",
    "ionosphere": "ionosphere",
}
#: Sets at hand that the earlier ranking did not have.
MORE = {
    "arcene": "arcene",
    "lymphoma": "lymphoma_disc",
    "emailing list": "emailing_list",
    "usenet1": "usenet1",
    "spectf": "spectf",
}
#: Sets of the earlier ranking that are not.
NOT_AT_HAND = ("DLBCL", "Gravier", "West", "CNS", "SRBCT", "Su", "PCMAC", "MARTI1", "REGED1")


@dataclass(frozen=True)
class Size:
    """How much is done: folds, orders of the columns, trees of a forest, processes."""

    folds: int = FOLDS
    orders: tuple[int | None, ...] = ORDERS
    trees: int = TREES
    rows: int = MOST_ROWS
    columns: int | None = None
    workers: int = 1


class RankedData(ColumnData):
    """A data set with at most so many rows, of each class its share, drawn at random with a fixed seed.

    Of more than two classes the largest one stands against the rest.
    """

    def __init__(self, name: str, size: Size) -> None:
        super().__init__(name, size.columns)
        self._most = size.rows

    @cached_property
    def matrices(self) -> tuple[Any, Labels]:
        """Rows and labels."""
        X, y = super().matrices
        y = _two_classes(y)
        if len(y) <= self._most:
            return X, y
        rng = np.random.default_rng(0)
        share = self._most / len(y)
        rows = np.sort(
            np.concatenate(
                [
                    rng.choice(own := np.flatnonzero(y == c), round(share * len(own)), replace=False)
                    for c in np.unique(y)
                ]
            )
        )
        return X[rows], y[rows]


def _two_classes(y: Labels) -> Labels:
    counts = np.bincount(y)
    return y if len(counts) <= 2 else (y == counts.argmax()).astype(np.int64)


def compute(desk: Desk) -> list[str]:
    """Compute all parts; return the data sets that are there."""
    quick = Size(folds=2, orders=ORDERS[:3], trees=2, rows=80, columns=60)
    size = quick if desk.quick else Size(workers=cores())
    settings = {
        "form": 2, "folds": size.folds, "orders": size.orders, "trees": size.trees, "rows": size.rows,
        "fdr": FDR, "group": GROUP, "methods": list(RANKED), "quick": desk.quick,
    }  # fmt: skip
    done = []
    for name, file in (FILES | MORE).items():
        try:
            desk.part(name, settings, on_data, RankedData(file, size), size)
        except MissingDataError as error:
            desk.skip(name, str(error))
        else:
            done.append(name)
    return done


def on_data(data: RankedData, size: Size) -> dict[str, Any]:
    """Return what each method does on one data set: means over the folds, by order of the columns."""
    splits = list(data.folds(size.folds, seed=0))
    names = [*RANKED, ALL]
    with threadpool_limits(1):  # there is a process for each core, and small models lose by a second thread
        cells = Parallel(n_jobs=size.workers)(
            delayed(on_fold)(name, split, size) for name in names for split in splits
        )
    by_method = {name: cells[i * len(splits) : (i + 1) * len(splits)] for i, name in enumerate(names)}
    X, y = data.matrices
    return {
        "rows": len(y),
        "columns": X.shape[1],
        "methods": {name: _over_folds(folds) for name, folds in by_method.items()},
    }


class Picked(NamedTuple):
    """What a method selected: columns as the file counts them, where they came in the stream, seconds."""

    columns: Labels
    #: Mean share of the stream that had passed; None if nothing was selected.
    place: float | None
    seconds: float


def on_fold(name: str, split: Split, size: Size) -> dict[str, Any]:
    """Return what one method does on one fold: figures by order, and how the random orders differ."""
    judge = Judge(split, size.trees)
    by_order = [selected(name, split, seed) for seed in size.orders]
    judged = [judge(picked.columns) for picked in by_order]
    random = by_order[1:]
    return {
        **{key: [accuracies[key] for accuracies in judged] for key in CLASSIFIERS},
        "size": [float(len(picked.columns)) for picked in by_order],
        "seconds": [picked.seconds for picked in by_order],
        "alike": float(np.mean([alike(a.columns, b.columns) for a, b in combinations(random, 2)])),
        "places": [picked.place for picked in random if picked.place is not None],
    }


def selected(name: str, split: Split, seed: int | None) -> Picked:
    """Return what a method selects if columns come in the order of a seed, or of the file."""
    p = split.X.shape[1]
    if name == ALL:
        return Picked(np.arange(p), 0.5, 0.0)
    order = np.arange(p) if seed is None else np.random.default_rng(seed).permutation(p)
    X = split.X.T[order].T  # column by column in memory, as it was
    started = time.perf_counter()
    kept = RANKED[name]().fit(X, split.y).selected_
    seconds = time.perf_counter() - started
    return Picked(np.sort(order[kept]), float((kept.mean() + 0.5) / p) if len(kept) else None, seconds)


def alike(a: Labels, b: Labels) -> float:
    """Return the share of columns in both among those in either (Jaccard)."""
    either = len(np.union1d(a, b))
    return len(np.intersect1d(a, b)) / either if either else 1.0


def _over_folds(folds: Sequence[dict[str, Any]]) -> dict[str, Any]:
    means = {key: np.mean([fold[key] for fold in folds], axis=0).tolist() for key in (*CLASSIFIERS, "size")}
    places = [place for fold in folds for place in fold["places"]]
    return {
        **means,
        "place": float(np.mean(places)) if places else None,
        "alike": float(np.mean([fold["alike"] for fold in folds])),
        # the fastest of all folds and orders has nothing to compile and the least company
        "seconds": min(seconds for fold in folds for seconds in fold["seconds"]),
    }
