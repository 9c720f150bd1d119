"""Training and test rows: as the papers split them, or at random with a fixed seed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from studies._data import MissingDataError, RealData

Labels = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int64]


class Split(NamedTuple):
    """Columns over training rows, to select from, and the same over test rows."""

    X: Any
    y: Labels
    test_X: Any  # noqa: N815
    test_y: Labels


class ColumnData(RealData):
    """A data set by name, with the split that was published with it.

    Parameters
    ----------
    name : of its file, without .npz
    columns : at most so many, for a quick look; None for all
    """

    def __init__(self, name: str, columns: int | None = None) -> None:
        super().__init__(name, None, columns)

    def published(self) -> Split:
        """Return the published training and test rows."""
        X, y = self.matrices
        path = Path(os.environ.get("STREAMSIEVE_DATA", "")) / f"{self.name}.npz"
        with np.load(path, allow_pickle=False) as file:
            if "train_idx" not in file:
                raise MissingDataError(f"{path} holds no published split")
            train, test = file["train_idx"].astype(np.int64), file["test_idx"].astype(np.int64)
        return _split(X, y, train, test)

    def random(self, share: float, seed: int) -> Split:
        """Return a random split that leaves the given share of each class for testing."""
        X, y = self.matrices
        rng = np.random.default_rng(seed)
        test = np.concatenate(
            [
                rng.permutation(rows := np.flatnonzero(y == c))[: max(1, round(share * len(rows)))]
                for c in np.unique(y)
            ]
        )
        return _split(X, y, np.setdiff1d(np.arange(len(y)), test), np.sort(test))

    def few(self, each: int, seed: int) -> Split:
        """Return a random split with so many test rows of each class."""
        X, y = self.matrices
        rng = np.random.default_rng(seed)
        test = np.concatenate([rng.choice(np.flatnonzero(y == c), each, replace=False) for c in np.unique(y)])
        return _split(X, y, np.setdiff1d(np.arange(len(y)), test), np.sort(test))

    def folds(self, n: int, seed: int) -> Iterator[Split]:
        """Yield the splits of a cross-validation; every fold has its share of each class."""
        X, y = self.matrices
        rng = np.random.default_rng(seed)
        fold = np.empty(len(y), np.int64)
        for c in np.unique(y):
            rows = np.flatnonzero(y == c)
            fold[rng.permutation(rows)] = np.arange(len(rows)) % n
        for i in range(n):
            yield _split(X, y, np.flatnonzero(fold != i), np.flatnonzero(fold == i))


def _split(X: Any, y: Labels, train: Rows, test: Rows) -> Split:
    by_columns = sp.csc_array if sp.issparse(X) else np.asfortranarray
    return Split(by_columns(X[train]), y[train], by_columns(X[test]), y[test])
