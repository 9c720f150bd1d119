"""Which rows are tested when."""

from __future__ import annotations

from typing import Any

import numpy as np

from streamsieve.evaluation.engine.problem import Problem
from streamsieve.exceptions import ParameterError, TargetError
from streamsieve.protocols import BoolArray, IntArray


def fold_numbers(problem: Problem, folds: int, seed: int, *, stratified: bool = True) -> IntArray:
    """Return the fold of every row: sizes differ by one row at most, and so does each class in each fold.

    Rows are dealt like cards: class after class, each class shuffled, one to every fold in turn.

    Parameters
    ----------
    problem : the rows
    folds : how many
    seed : of the shuffling
    stratified : whether classes are dealt one by one; else all rows together
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(problem.y))
    if stratified and not problem.regression:
        order = order[np.argsort(problem.y[order], kind="stable")]
    fold = np.empty(len(order), np.int64)
    fold[order] = np.arange(len(order)) % folds
    return fold


def held_out(problem: Problem, share: float, seed: int) -> BoolArray:
    """Return a mask of the rows to test on: a share of each class, and at least one row on both sides."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(problem.y))
    groups = [order] if problem.regression else [order[problem.y[order] == c] for c in np.unique(problem.y)]
    mask = np.zeros(len(order), bool)
    for rows in groups:
        mask[rows[: min(len(rows) - 1, max(1, round(share * len(rows))))]] = True
    return mask


def check_folds(problem: Problem, folds: Any) -> None:
    """Refuse folds that lack rows of a class."""
    n = len(problem.y)
    if isinstance(folds, bool) or not isinstance(folds, (int, np.integer)) or not 2 <= folds <= n:
        raise ParameterError(f"folds must be a whole number from 2 to the number of rows, {n}; got {folds!r}")
    if problem.regression:
        if folds > n // 2:
            raise ParameterError(
                f"with folds={folds}, some folds would have one of the {n} rows to test, and R2 of a single "
                f"row is not defined: choose folds <= {max(2, n // 2)}"
            )
        return
    counts = np.bincount(problem.y)
    rarest = int(np.argmin(counts))
    if counts[rarest] < folds:
        n = int(counts[rarest])
        way_out = f"choose folds <= {n}, or leave that class out" if n > 1 else "leave that class out"
        raise TargetError(
            f"class {problem.classes[rarest]!r} has {n} row{'s' * (n != 1)}, fewer than folds={folds}, so "
            f"some fold would have none of it to test: {way_out}"
        )
