"""Accuracy, size and time of selections as columns arrive."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._parameters import check_choice, check_number
from streamsieve.base import ColumnSelector
from streamsieve.evaluation.candidates import selectors as candidates
from streamsieve.evaluation.candidates.learners import as_learners, check_scores, fresh, predicted, taken
from streamsieve.evaluation.engine.jobs import JobLog, Key, Progress, RunConfig
from streamsieve.evaluation.engine.problem import Problem, check_folds, fold_numbers, held_out
from streamsieve.evaluation.engine.scaling import Scaler
from streamsieve.evaluation.engine.settings import seed_of, settings_of
from streamsieve.evaluation.measures.accuracy import measured, metric_for
from streamsieve.evaluation.reports.report import Report, selection_columns
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import BoolArray, IntArray, Matrix

TABLE = {
    "selector": "text", "learner": "text", "order": "int", "fold": "int", "columns": "int",
    "n_selected": "int", "score": "float", "seconds": "float", "learn_seconds": "float",
}  # fmt: skip
Split = float | int | tuple[Any, Any]


def streaming_protocol(
    X: Any,
    y: Any,
    selectors: Any,
    learners: Any,
    *,
    checkpoints: int | Sequence[int] = 10,
    orders: int | None = 5,
    split: Split = 0.3,
    metric: str = "auto",
    scale: bool = True,
    task: str = "auto",
    names: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    random_state: int = 0,
    folder: str | os.PathLike[str] | None = None,
    resume: bool = False,
    n_jobs: int | None = 1,
    progress: Progress | None = None,
    errors: str = "raise",
) -> Report:
    """Evaluate selectors over columns that arrive in random orders, with learners at every checkpoint.

    Parameters
    ----------
    X, y : as for :func:`screening_protocol`
    selectors : name, selector, None, or several of them as a list or by name
        Column selectors are offered the columns in order of arrival.  All others, the baselines, are refitted
        at every checkpoint to the columns that have arrived; "none" keeps them all.
    learners : name, estimator, or several of them as a list or by name
    checkpoints : int or list of int, default=10
        Numbers of columns after which to evaluate, or the number of checkpoints; the last is after all
        columns.
    orders : int or None, default=5
        Number of random orders of the columns.  If None, the given order, once.
    split : float, int or pair of arrays, default=0.3
        The proportion of rows to test on, drawn for every order; or a number of folds; or the rows to train
        and to test on.
    metric : str, default="auto"
        For classes "auc", "average_precision", "accuracy", "balanced_accuracy", "f1" (of the second class in
        sorted order, or the mean over more than two) or "log_loss"; for numbers "r2", "mae" or "rmse".
        "auto" is accuracy for classes, and r2 for numbers.
    scale : bool, default=True
        Whether features are standardized to mean 0 and standard deviation 1 of the training rows.  Selectors
        that
        choose tests by the types of columns (``types``) get unscaled features.
    task, names, types, random_state, folder, resume, n_jobs, progress, errors : as for
        :func:`screening_protocol`

    Returns
    -------
    Report
        The table has the columns ``selector``, ``learner``, ``order``, ``fold``, ``columns`` (that had come),
        ``n_selected`` (kept by then), ``score``, ``seconds`` (of the selector for all columns by then; of a
        baseline for this fit) and ``learn_seconds``.  Its table "selections" holds what was kept.

    Notes
    -----
    A selector that has stopped by its ``stop`` rules is offered no more columns, and takes no more time.

    Examples
    --------
    >>> from streamsieve import datasets
    >>> from streamsieve.evaluation import streaming_protocol
    >>> data = datasets.load("breast_cancer")
    >>> report = streaming_protocol(
    ...     data.X, data.y, ["saola", "none"], "nearest", orders=2, checkpoints=[10, 30]
    ... )
    >>> print(report.table.where(selector="saola").mean("n_selected", by="columns"))
    columns  mean  std     n
    10       2     1.414   2
    30       2.5   0.7071  2
    """
    running = RunConfig(folder, resume, n_jobs, progress, errors)
    problem = Problem.of(X, y, task, names, types)
    check_choice("scale", scale, (False, True))
    check_number("random_state", random_state, low=0, high=2**32 - 1, integer=True)
    if orders is not None:
        check_number("orders", orders, low=1, integer=True)
    metric = metric_for(metric, regression=problem.regression, otherwise="accuracy")
    chosen_selectors = candidates.as_selectors(selectors, problem.task)
    chosen_learners = as_learners(learners, regression=problem.regression)
    check_scores(chosen_learners, metric)
    plan = Plan(
        _looks(checkpoints, problem.X.shape[1]), orders, _checked(split, problem), metric, bool(scale),
        int(random_state),
    )  # fmt: skip
    methods = {"selectors": chosen_selectors, "learners": chosen_learners}
    settings = settings_of("streaming", problem.identity(), methods, **vars(plan))
    job = _Streaming(problem, chosen_selectors, chosen_learners, plan)
    kinds = {"table": TABLE, "selections": selection_columns("order", "fold", "columns")}
    return Report.of_jobs(plan.cells(chosen_selectors), job, settings, running, kinds)


@dataclass(frozen=True)
class Plan:
    """Settings of the computation, apart from data and methods."""

    checkpoints: list[int]
    orders: int | None
    split: Split
    metric: str
    scale: bool
    random_state: int

    def cells(self, selectors: dict[str, Any]) -> list[Key]:
        """Return the keys: an order, a fold and a selector are a cell."""
        folds = int(self.split) if isinstance(self.split, int) else 1
        return [
            {"order": order, "fold": fold, "selector": name}
            for order in range(self.orders or 1)
            for fold in range(folds)
            for name in selectors
        ]

    def in_units(self, train: Matrix, test: Matrix) -> tuple[Matrix, Matrix]:
        """Return training and test rows, in units of the training rows if that is asked for."""
        if not self.scale:
            return train, test
        scaler = Scaler(train)
        return scaler(train), scaler(test)

    def order(self, number: int, n_columns: int) -> IntArray:
        """Return the columns in the order of their arrival."""
        if self.orders is None:
            return np.arange(n_columns)
        return np.random.default_rng(seed_of(self.random_state, "order", number)).permutation(n_columns)

    def parts(self, problem: Problem, order: int, fold: int) -> tuple[IntArray, IntArray]:
        """Return the rows to train and to test on."""
        if isinstance(self.split, tuple):
            return self.split
        seed = seed_of(self.random_state, "rows", order)
        tested: BoolArray
        if isinstance(self.split, int):
            tested = fold_numbers(problem, self.split, seed) == fold
        else:
            tested = held_out(problem, self.split, seed)
        return np.flatnonzero(~tested), np.flatnonzero(tested)


@dataclass(frozen=True)
class _Streaming:
    """Computes a cell: one selector, offered the columns in one order, over one part of the rows."""

    problem: Problem
    selectors: dict[str, Any]
    learners: dict[str, Any]
    plan: Plan

    def __call__(self, key: Key, notes: JobLog) -> dict[str, Any]:
        plan, problem = self.plan, self.problem
        name, order, fold = str(key["selector"]), int(key["order"]), int(key["fold"])
        train_rows, test_rows = plan.parts(problem, order, fold)
        columns = plan.order(order, problem.X.shape[1])
        raw, seen = problem.X[train_rows], problem.for_learners
        train, test = plan.in_units(raw, problem.X[test_rows])
        selector, y = self.selectors[name], problem.y[train_rows]
        offered = raw if candidates.wants_raw(selector) else train
        if seen.X is not problem.X:
            train, test = plan.in_units(seen.X[train_rows], seen.X[test_rows])
        seed = seed_of(plan.random_state, "selector", name, order, fold)
        looks = _kept(selector, problem, offered, y, columns, plan.checkpoints, seed)
        rows: list[list[Any]] = []
        selections: list[list[Any]] = []
        for look, (kept, seconds) in zip(plan.checkpoints, looks, strict=True):
            if selector is not None:
                features = " ".join(map(str, kept.tolist()))
                selections.append([name, 0, False, order, fold, look, len(kept), features])
            for learner, estimator in self.learners.items():
                score = spent = float("nan")
                with notes.part(f"learner {learner}, after {look} columns"):
                    A, B = taken(train, seen.columns(kept)), taken(test, seen.columns(kept))
                    seed = seed_of(plan.random_state, "learner", learner, order, fold)
                    copy = fresh(estimator, seed, len(kept))
                    started = time.perf_counter()
                    found = predicted(copy, A, y, B, plan.metric, max(2, len(problem.classes)))
                    spent = time.perf_counter() - started
                    score = measured(plan.metric, problem.y[test_rows], found)
                rows.append([name, learner, order, fold, look, len(kept), score, seconds, spent])
        return {"table": rows, "selections": selections}


def _kept(
    selector: Any, problem: Problem, X: Matrix, y: npt.NDArray[Any], columns: IntArray,
    looks: Sequence[int], seed: int,
) -> Iterator[tuple[IntArray, float]]:  # fmt: skip
    """Yield what is kept at every look, as columns of X, and the seconds it took."""
    if selector is None:
        for look in looks:
            yield columns[:look], 0.0
        return
    ordered = candidates.in_layout(selector, X)[:, columns]  # as they arrive
    if not isinstance(selector, ColumnSelector):
        yield from _refitted(selector, problem, ordered, y, columns, looks, seed)
        return
    sieve = candidates.seeded(candidates.with_types(selector, problem, columns), seed)
    done, seconds = 0, 0.0
    for look in looks:
        block = ordered[:, done:look]
        if not sp.issparse(block):
            block = np.asfortranarray(block)
        started = time.perf_counter()
        if done == 0:
            sieve.begin(y)
        if sieve.stopped_ is None:
            sieve.offer(block)
        kept = candidates.chosen(sieve)
        seconds += time.perf_counter() - started
        done = look
        yield columns[kept], seconds


def _refitted(
    selector: Any, problem: Problem, ordered: Matrix, y: npt.NDArray[Any], columns: IntArray,
    looks: Sequence[int], seed: int,
) -> Iterator[tuple[IntArray, float]]:  # fmt: skip
    """Fit a baseline to the columns that have come, again at every look."""
    for look in looks:
        copy = candidates.seeded(candidates.with_types(selector, problem, columns[:look]), seed)
        parameter = candidates.size_parameter(copy)
        wanted = None if parameter is None else copy.get_params(deep=False)[parameter]
        if parameter is not None and isinstance(wanted, int) and wanted > look:
            copy.set_params(**{parameter: look})  # no more than there are yet
        started = time.perf_counter()
        copy.fit(ordered[:, :look], y)
        kept = candidates.chosen(copy)
        yield columns[kept], time.perf_counter() - started


def _looks(checkpoints: Any, n_columns: int) -> list[int]:
    """Return the numbers of columns to look after; the last is all of them."""
    if isinstance(checkpoints, (int, np.integer)):
        check_number("checkpoints", checkpoints, low=1, integer=True)
        looks = {max(1, round(n_columns * i / int(checkpoints))) for i in range(1, int(checkpoints) + 1)}
    else:
        if isinstance(checkpoints, str) or not isinstance(checkpoints, Iterable):
            raise ParameterError(
                f"checkpoints are numbers of columns, or how many looks; got {checkpoints!r}"
            )
        for look in checkpoints:
            check_number("checkpoints", look, low=1, integer=True)
        looks = {min(int(look), n_columns) for look in checkpoints}
    return sorted(looks | {n_columns})


def _checked(split: Any, problem: Problem) -> Split:
    """Return a split that leaves rows of every class on both sides."""
    n = len(problem.y)
    if isinstance(split, tuple) and len(split) == 2:
        train, test = (_rows(part, n) for part in split)
        if np.intersect1d(train, test).size:
            raise ParameterError("split tests on rows that it trains on: give different rows")
        return train, test
    if isinstance(split, (int, np.integer)) and not isinstance(split, bool):
        check_folds(problem, split)
        return int(split)
    if isinstance(split, float) and 0 < split < 1:
        check_folds(problem, 2)
        return split
    raise ParameterError(
        "split must be a share of rows between 0 and 1, a number of folds, or a pair (train, test) of rows; "
        f"got {split!r}"
    )


def _rows(part: Any, n: int) -> IntArray:
    rows = np.asarray(part)
    if rows.dtype == bool and rows.shape == (n,):
        rows = np.flatnonzero(rows)
    if rows.ndim != 1 or not len(rows) or rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= n:
        raise ParameterError(f"split names rows by their numbers, 0 to {n - 1}, at least one; got {part!r}")
    return rows.astype(np.int64)
