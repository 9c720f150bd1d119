"""Rows and target of a comparison, checked once, and the rows that are tested in each fold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve._frames import names_of
from streamsieve._parameters import did_you_mean
from streamsieve._validation import check_length, matrix, task_of
from streamsieve._values import refuse_non_finite
from streamsieve.base.open_features import NullEstimator
from streamsieve.column_types import TypesParameter
from streamsieve.evaluation.engine.indicators import Indicators
from streamsieve.evaluation.engine.settings import fingerprint
from streamsieve.exceptions import ParameterError, SchemaError, TargetError
from streamsieve.protocols import BoolArray, IntArray, Matrix, Task


@dataclass(frozen=True)
class Problem:
    """Rows and target of a learning problem."""

    X: Matrix
    y: npt.NDArray[Any]  #: int64 codes of the classes, or float64 numbers
    task: Task
    classes: tuple[Any, ...]  #: labels of the codes; empty for a numeric target
    names: list[str] | None
    types: Mapping[str, str] = field(default_factory=dict)  #: declared types of columns

    @classmethod
    def of(
        cls, X: Any, y: Any, task: str = "auto", names: Sequence[str] | None = None,
        types: Mapping[str, str] | None = None,
    ) -> Problem:  # fmt: skip
        """Check rows and target, of any container."""
        given = names_of(X) if names is None else _different(names)
        X = matrix(NullEstimator(), X, reset=True, sparse="csr")
        if given is not None and len(given) != X.shape[1]:
            raise SchemaError(
                f"names has {len(given)} entries for {X.shape[1]} columns: give one name per column"
            )
        refuse_non_finite(X, given)
        check_length(y, X.shape[0])
        declared = _declared(types, given or [f"x{j}" for j in range(X.shape[1])])
        y, kind = task_of(y, task)
        if kind is Task.REGRESSION:
            return cls(X, y, kind, (), given, declared)
        labels, codes = np.unique(y, return_inverse=True)
        return cls(X, codes.astype(np.int64), kind, tuple(labels.tolist()), given, declared)

    @property
    def regression(self) -> bool:
        """Whether the target is numeric."""
        return self.task is Task.REGRESSION

    @property
    def column_names(self) -> list[str]:
        """The names of the columns, x0, x1, ... if they have none."""
        return self.names or [f"x{j}" for j in range(self.X.shape[1])]

    @cached_property
    def for_learners(self) -> Indicators:
        """The columns as learners see them: nominal ones as an indicator for each level."""
        nominal = [j for j, name in enumerate(self.column_names) if self.types.get(name) == "nominal"]
        return Indicators.of(self.X, nominal)

    def identity(self) -> dict[str, Any]:
        """Return what makes this data this data, as JSON."""
        target = {"task": str(self.task), "classes": [str(label) for label in self.classes]}
        types = {"types": dict(self.types)} if self.types else {}
        return fingerprint(self.X, self.y, self.names) | target | types


def _declared(types: Mapping[str, str] | None, names: Sequence[str]) -> Mapping[str, str]:
    """Return declared types of columns that exist."""
    TypesParameter().check_value("types", types or {})
    for name in types or {}:
        if name not in names:
            raise SchemaError(f"types[{name!r}]: there is no such column{did_you_mean(name, names)}")
    return dict(types or {})


def _different(names: Sequence[str]) -> list[str]:
    """Return names as text, all different."""
    if isinstance(names, str):
        raise ParameterError(f"names is a list of one name per column; got the text {names!r}")
    given = [str(name) for name in names]
    twice = next((name for name, count in Counter(given).items() if count > 1), None)
    if twice is not None:
        raise SchemaError(f"names has {twice!r} more than once: a ledger could not tell them apart")
    return given


def fold_numbers(problem: Problem, folds: int, seed: int, *, stratified: bool = True) -> IntArray:
    """Return the fold of every row: sizes differ by at most one row, stratified also within each class.

    Rows are assigned to folds in turn: class after class, each class shuffled.
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
