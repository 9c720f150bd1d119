"""The data sets: which, prepared how, with how many features and runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve import datasets
from streamsieve.evaluation import size_grid

FOLDS = 7
#: More features than any set has, so that no size of the grid is cut.
MANY = 10**9


@dataclass(frozen=True)
class Case:
    """A data set and what is done with it.

    Attributes
    ----------
    name : of its file
    tau, steps : numbers of features are ``floor((4 i)^tau)`` for these i of 1 to 30
    runs : how often its rows are dealt to folds
    literal_runs : the same for the thesis's way; 0 where there is nothing of the thesis to compare with
    printed : its name in the thesis, or None
    numeric : whether its target is a number
    """

    name: str
    tau: float
    steps: tuple[int, ...]
    runs: int
    literal_runs: int = 0
    printed: str | None = None
    numeric: bool = False

    def sizes(self, n_features: int) -> list[int]:
        """Return the numbers of features, none above what there is."""
        grid = size_grid(MANY, max(self.steps), self.tau)
        return sorted({min(grid[i - 1], n_features) for i in self.steps})


#: The factors are those of table 2.1; gene expressions have that of the thesis's.
CASES = {
    case.name: case
    for case in (
        Case("dexter", 1.78, (1, 3, 8), 2, 3, "Dexter"),
        Case("gisette_valid", 1.73, (1, 3, 8), 2, 3, "Gisette"),
        Case("madelon", 1.25, (1, 3, 6, 12), 2, 3, "Madelon"),
        Case("colon_raw", 1.78, (1, 3, 8), 2),
        Case("leukemia_golub_raw", 1.78, (1, 3, 8), 2),
        Case("prostate_spls6033", 1.78, (1, 3, 8), 2),
        Case("ujiindoorloc_latitude", 1.25, (18, 30), 1, 3, "Indoorloc", numeric=True),
    )
}


@dataclass(frozen=True)
class Limits:
    """How much of a data set is taken, and how much is done: all of it, or a tiny part."""

    rows: int | None = None
    columns: int | None = None
    runs: int | None = None
    folds: int = FOLDS
    workers: int = 1


def read(case: Case, limits: Limits) -> tuple[npt.NDArray[np.float64], npt.NDArray[Any]]:
    """Return rows and target: dense, without columns that are the same in all rows.

    Of equal rows with equal numbers as their target there is one, as in the thesis.
    """
    data = datasets.load(case.name, source="local")
    X: Any = data.X.toarray() if sp.issparse(data.X) else data.X
    y = data.y
    if limits.rows is not None:
        some = np.linspace(0, len(y) - 1, min(limits.rows, len(y))).astype(np.int64)
        X, y = X[some], y[some]
    if case.numeric:
        _, first = np.unique(np.column_stack([X, y]), axis=0, return_index=True)
        X, y = X[np.sort(first)], y[np.sort(first)]
    X = X[:, np.ptp(X, axis=0) > 0][:, : limits.columns]
    return np.ascontiguousarray(X, np.float64), y
