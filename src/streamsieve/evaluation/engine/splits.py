"""Assignment of rows to folds: at random, by groups, or by time, with tests on later rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

from streamsieve._frames import is_series
from streamsieve.evaluation.engine.problem import Problem, fold_numbers
from streamsieve.evaluation.engine.settings import digest_of
from streamsieve.exceptions import InputError, ParameterError
from streamsieve.protocols import BoolArray, IntArray


@dataclass(frozen=True, eq=False)
class RowSplit:
    """How rows are assigned to folds.

    Attributes
    ----------
    kind : "random", "groups" or "time"
    codes : the group of each row, or its rank in time; empty for a random split
    """

    kind: str
    codes: IntArray

    @classmethod
    def of(cls, groups: Any, time: Any, n: int, folds: int) -> RowSplit:
        """Check ``groups`` and ``time``; without either, the split is random."""
        if groups is not None and time is not None:
            raise ParameterError("groups and time exclude each other: give groups for several time series")
        if groups is None and time is None:
            return cls("random", np.zeros(0, np.int64))
        name, values = ("groups", groups) if time is None else ("time", time)
        given = _values(name, values, n)
        codes = np.unique(given, return_inverse=True)[1]
        codes = codes if time is None else rankdata(codes, "min") - 1  # rows of one time stay together
        least = folds if time is None else folds + 1
        if len(np.unique(codes)) < least:
            raise ParameterError(
                f"{name} has {len(np.unique(codes))} different values, and folds={folds} needs {least} at "
                "least: choose fewer folds"
            )
        return cls(name, codes.astype(np.int64))

    def settings(self) -> dict[str, str]:
        """Return the settings of the split as JSON; empty for a random split."""
        return {} if self.kind == "random" else {"split": self.kind, "split_digest": digest_of(self.codes)}

    def folds_of(self, problem: Problem, folds: int, seed: int, *, stratified: bool) -> IntArray:
        """Return the fold of every row; -1 for the earliest rows, which are never tested."""
        if self.kind == "random":
            return fold_numbers(problem, folds, seed, stratified=stratified)
        if self.kind == "time":
            return self.codes * (folds + 1) // len(self.codes) - 1
        kind = GroupKFold if problem.regression or not stratified else StratifiedGroupKFold
        splitter = kind(folds, shuffle=True, random_state=seed)
        fold = np.empty(len(self.codes), np.int64)
        for number, (_, tested) in enumerate(splitter.split(problem.y, problem.y, self.codes)):
            fold[tested] = number
        return fold

    def trained(self, fold_of: IntArray, fold: int) -> BoolArray:
        """Return the training rows for a fold: all others, or all earlier ones."""
        return np.asarray(fold_of < fold if self.kind == "time" else fold_of != fold)


def _values(name: str, given: Any, n: int) -> npt.NDArray[Any]:
    values = np.asarray(given.to_numpy() if is_series(given) and hasattr(given, "to_numpy") else given)
    if values.shape != (n,):
        raise InputError(f"{name} has shape {values.shape}, but X has {n} rows: give one value per row")
    if values.dtype.kind == "O":
        values = values.astype(str)
    missing = np.isnat(values) if values.dtype.kind in "mM" else values != values  # noqa: PLR0124 - NaN
    if np.any(missing):
        raise InputError(f"{name} has {int(np.sum(missing)):,} missing values: fill them in or drop the rows")
    return values
