"""Repeated cross-validation of selectors and learners over numbers of features."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import check_choice, check_number
from streamsieve.base import ColumnSelector
from streamsieve.evaluation.candidates.learners import as_learners, check_scores, fresh, predicted, taken
from streamsieve.evaluation.candidates.selectors import (
    as_selectors,
    choices,
    in_layout,
    wants_raw,
    with_types,
)
from streamsieve.evaluation.engine.jobs import JobLog, Key, Progress, RunConfig
from streamsieve.evaluation.engine.problem import Problem, check_folds
from streamsieve.evaluation.engine.scaling import Scaler
from streamsieve.evaluation.engine.settings import seed_of, settings_of
from streamsieve.evaluation.engine.sizes import checked_sizes
from streamsieve.evaluation.engine.splits import RowSplit
from streamsieve.evaluation.measures.accuracy import measured, metric_for
from streamsieve.evaluation.reports.report import Report, selection_columns
from streamsieve.protocols import BoolArray, IntArray, Matrix

AUC = ("mean_fold", "pooled")
TABLE = {
    "selector": "text", "learner": "text", "size": "int", "run": "int", "fold": "int", "n_selected": "float",
    "score": "float", "select_seconds": "float", "learn_seconds": "float",
}  # fmt: skip


def screening_protocol(
    X: Any,
    y: Any,
    selectors: Any,
    learners: Any,
    *,
    sizes: Sequence[int] | None = None,
    n_sizes: int = 30,
    tau: float | None = None,
    runs: int = 7,
    folds: int = 7,
    metric: str = "auto",
    auc: str | None = None,
    literal: bool = False,
    scale: bool = True,
    groups: Any = None,
    time: Any = None,
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
    """Compare selectors and learners over numbers of features by repeated cross-validation.

    There is no leakage from test rows: features are scaled and selected on the training rows of each fold
    only.

    Parameters
    ----------
    X : array, sparse matrix or dataframe of finite numbers, one row per instance
    y : array of one label or number per row
    selectors : name, selector, None, or several of them as a list or by name
        "saola", "relief", "mutual_info" and so on (``selector_names()``), "none" for all features, "random",
        or any selector of StreamSieve or scikit-learn.  One that ranks features is fitted once per fold; one
        with a number of features is fitted for every size; one that decides itself is fitted once.
    learners : name, estimator, or several of them as a list or by name
        "knn", "tree", "logistic", "nb", "svm", "forest", "boosting", "fsa" and so on (``learner_names()``),
        or any estimator.
    sizes : list of int or None, default=None
        Numbers of features.  If None, the grid of :func:`size_grid` with ``n_sizes`` and ``tau``.
    n_sizes : int, default=30, and tau : float or None, default=None
        Length of the grid, and how fast it grows.
    runs, folds : int, default=7
        Repetitions of the cross-validation, and folds in each.
    metric : str, default="auto"
        For classes "auc", "average_precision", "accuracy", "balanced_accuracy", "f1" (of the second class in
        sorted order, or the mean over more than two) or "log_loss"; for numbers "r2", "mae" or "rmse".
        "auto" is "auc" for classes (of several the mean, each against the rest), and r2 for numbers.
    auc : {None, "mean_fold", "pooled"}, default=None
        For any metric: whether to score every fold separately, or to pool the predictions of all folds of a
        run.  Pooled AUC compares scores of different models with each other.  If None, "pooled" if
        ``literal``, else "mean_fold".
    literal : bool, default=False
        Whether to reproduce the thesis: features are scaled over all rows, including test rows, folds are not
        stratified, and predictions are pooled.
    scale : bool, default=True
        Whether features are standardized to mean 0 and standard deviation 1 (sparse ones are only divided).
        A selector that requires non-negative values, or that chooses tests by the types of columns
        (``types``), gets unscaled features; learners get its selection scaled.
    groups : array of one label per row, default=None
        Group labels of dependent rows, such as visits of a patient: a group is never split between training
        and test rows.
    time : array of one number, date or text per row, default=None
        Time of each row: each fold is tested after training on all earlier rows.  There is then one run,
        ``runs`` is ignored, and the earliest rows are never tested.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of target.
    names : list of str, default=None
        Names of the features.  If None, those of a dataframe.
    types : dict, default=None
        Declared types of columns by name, as ``{"zip": "nominal"}``, for selectors with a parameter ``types``
        that is None.  Learners see an indicator for each level of a nominal column.
    random_state : int or None, default=0
        Seed of the folds and learners, the same for all selectors.
    folder : path, default=None
        Folder for intermediate results and the final report.
    resume : bool, default=False
        Whether to reuse the results in the folder, which must have been computed with the same settings.
        Failed parts are computed again.
    n_jobs : int or None, default=1
        Number of processes; -1 for all processors.  It does not affect the results.
    progress : function of two numbers, default=None
        Called with the number of finished parts and the total number.
    errors : {"raise", "report"}, default="raise"
        Whether to raise failures at the end, or to return them in the report; see :class:`ProtocolError`.

    Returns
    -------
    Report
        The table has the columns ``selector``, ``learner``, ``size`` (requested; 0 if the selector decides
        itself), ``run``, ``fold`` (-1 where folds are pooled), ``n_selected`` (their mean where pooled),
        ``score``, ``select_seconds`` (for all sizes of a ranking) and ``learn_seconds``.  Its table
        "selections" holds the selected features: :meth:`Report.selections`.

    Notes
    -----
    The best size is chosen by the scores that are then reported, in the thesis and in ``peaks``, so the peak
    over a large grid is optimistic.  This hardly affects differences between screens, which have the same
    grid, but favors screens over "none", which has one size.

    Learners and selectors get classes as codes 0, 1, ... in the order of the labels.

    If a selector keeps nothing, ``n_selected`` is 0, and learners predict the majority or the mean.

    References
    ----------
    Wang, Online and Offline Feature Screening and Applications, FSU thesis, 2021, sections 2.6 and 2.9.

    Examples
    --------
    >>> from streamsieve import datasets
    >>> from streamsieve.evaluation import screening_protocol
    >>> data = datasets.load("breast_cancer")
    >>> report = screening_protocol(
    ...     data.X, data.y, ["none", "fisher"], ["nb"], sizes=[2, 5], runs=2, folds=3, names=data.names
    ... )
    >>> means = report.mean()
    >>> for selector, size, mean in zip(means["selector"], means["size"], means["mean"]):
    ...     print(f"{selector:6} {size} {mean:.2f}")
    none   0 0.98
    fisher 2 0.98
    fisher 5 0.98
    >>> len(report.selections("fisher", 2))
    6
    """
    running = RunConfig(folder, resume, n_jobs, progress, errors)
    problem = Problem.of(X, y, task, names, types)
    split = RowSplit.of(groups, time, len(problem.y), folds)
    runs = 1 if split.kind == "time" else runs  # there is one order of time
    check_number("runs", runs, low=1, integer=True)
    check_folds(problem, folds)
    check_choice("literal", literal, (False, True))
    check_choice("scale", scale, (False, True))
    check_number("random_state", random_state, low=0, high=2**32 - 1, integer=True)
    metric = metric_for(metric, regression=problem.regression, otherwise="auc")
    auc = AUC[literal] if auc is None else check_choice("auc", auc, AUC)
    chosen_selectors = as_selectors(selectors, problem.task)
    chosen_learners = as_learners(learners, regression=problem.regression)
    check_scores(chosen_learners, metric)
    plan = Plan(
        checked_sizes(sizes, problem.X.shape[1], n_sizes, tau), int(runs), int(folds), metric, auc,
        bool(literal), bool(scale), int(random_state),
    )  # fmt: skip
    methods = {"selectors": chosen_selectors, "learners": chosen_learners}
    settings = settings_of("screening", problem.identity(), methods, **vars(plan), **split.settings())
    job = _Screening(problem, chosen_selectors, chosen_learners, plan, split)
    kinds = {"table": TABLE, "selections": selection_columns("run", "fold")}
    try:
        return Report.of_jobs(plan.cells(chosen_selectors), job, settings, running, kinds)
    finally:
        _fold_of.cache_clear()


@dataclass(frozen=True)
class Plan:
    """Settings of the computation, apart from data and methods."""

    sizes: list[int]
    runs: int
    folds: int
    metric: str
    auc: str
    literal: bool
    scale: bool
    random_state: int

    @property
    def pooled(self) -> bool:
        """Whether the folds of a run have one score together."""
        return self.auc == "pooled"

    def cells(self, selectors: dict[str, Any]) -> list[Key]:
        """Return the keys: a fold is a cell, unless the folds of a run have one score together."""
        parts: list[dict[str, int | str]] = [{"run": run} for run in range(self.runs)]
        if not self.pooled:
            parts = [{**part, "fold": fold} for part in parts for fold in range(self.folds)]
        return [{**part, "selector": name} for part in parts for name in selectors]


@dataclass(frozen=True, eq=False)
class _Screening:
    """Computes a cell: one selector, with all learners and sizes; copies in other processes are equal."""

    problem: Problem
    selectors: dict[str, Any]
    learners: dict[str, Any]
    plan: Plan
    split: RowSplit
    token: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Screening) and self.token == other.token

    def __hash__(self) -> int:
        return hash(self.token)

    def __call__(self, key: Key, notes: JobLog) -> dict[str, Any]:
        plan, run, name = self.plan, int(key["run"]), str(key["selector"])
        rows: list[_Row] = []
        selections: list[list[Any]] = []
        for fold in range(plan.folds) if plan.pooled else [int(key["fold"])]:
            rows += self._fold(name, run, fold, notes, selections)
        if plan.pooled:
            rows = self._pooled(rows, self.fold_numbers(run))
        return {"table": [row.entry(name, run) for row in rows], "selections": selections}

    def fold_numbers(self, run: int) -> IntArray:
        """Return the fold of every row in a run."""
        plan = self.plan
        seed = seed_of(plan.random_state, "folds", run)
        return self.split.folds_of(self.problem, plan.folds, seed, stratified=not plan.literal)

    def _fold(self, name: str, run: int, fold: int, notes: JobLog, selections: list[list[Any]]) -> list[_Row]:
        plan, at = self.plan, _fold_of(self, run, fold)
        selector = with_types(self.selectors[name], self.problem)
        seed = seed_of(plan.random_state, "selector", name, run, fold)
        rows: list[_Row] = []
        for choice in choices(selector, at.rows_for(selector), at.y, plan.sizes, seed):
            if selector is not None:
                features = " ".join(map(str, choice.order.tolist()))
                n = len(choice.order)
                selections.append([name, choice.size, choice.nested, run, fold, n, features])
            known: dict[tuple[str, int], _Row] = {}
            for size in [s for s in plan.sizes if s <= choice.size] if choice.nested else [choice.size]:
                order = choice.order[:size] if choice.nested else choice.order
                columns = None if selector is None else order
                parts = cache(partial(at.taken, columns))  # when first needed, and once for all learners
                for learner in self.learners:
                    key = (learner, len(order))
                    if key not in known:  # a ranking may have come to its end before the largest size
                        known[key] = self._learned(learner, parts, at.y, run, fold, size, notes)
                    rows.append(known[key].at(size, len(order), choice.seconds, at.y_test))
        return rows

    def _learned(
        self, name: str, parts: Callable[[], tuple[Matrix, Matrix]], y: npt.NDArray[Any], run: int, fold: int,
        size: int, notes: JobLog,
    ) -> _Row:  # fmt: skip
        """Fit a learner and let it predict; a failure is noted, and its predictions are absent."""
        found = None
        seconds = float("nan")
        with notes.part(f"learner {name}, size {size}, fold {fold}"):
            train, test = parts()
            seed = seed_of(self.plan.random_state, "learner", name, run, fold)
            learner = fresh(self.learners[name], seed, train.shape[1])
            n_classes = max(2, len(self.problem.classes))
            started = time.perf_counter()
            found = predicted(learner, train, y, test, self.plan.metric, n_classes)
            seconds = time.perf_counter() - started
        return _Row(name, fold, self.plan.metric, found, seconds)

    def _pooled(self, rows: list[_Row], fold_of: IntArray) -> list[_Row]:
        """Join the predictions of all folds; where a fold failed, there is no score."""
        by_key: dict[tuple[str, int], list[_Row]] = {}
        for row in rows:
            by_key.setdefault((row.learner, row.size), []).append(row)
        y = np.concatenate([self.problem.y[fold_of == fold] for fold in range(self.plan.folds)])
        return [_joined(parts, y, self.plan.folds) for parts in by_key.values()]


class _Fold:
    """Rows of a fold in units of their standard deviation, prepared once for all selectors."""

    def __init__(self, problem: Problem, plan: Plan, trained: BoolArray, tested: BoolArray) -> None:
        self.y, self.y_test = problem.y[trained], problem.y[tested]
        self._raw, self._seen = problem.X[trained], problem.for_learners

        def in_units(X: Matrix, train: Matrix) -> tuple[Matrix, Matrix]:
            test = X[tested]
            if not plan.scale:
                return train, test
            scaler = Scaler(X if plan.literal else train)
            return scaler(train), scaler(test)

        #: Training and test rows for learners.
        self._parts = in_units(problem.X, self._raw)
        self._train = self._parts[0]
        if self._seen.X is not problem.X:
            self._parts = in_units(self._seen.X, self._seen.X[trained])
        #: Rows laid out by columns, as they are (True) and scaled.
        self._by_columns: dict[bool, Matrix] = {}

    def rows_for(self, selector: Any) -> Matrix:
        """Return the training rows as a selector wants them."""
        raw = wants_raw(selector)
        rows = self._raw if raw else self._train
        if not isinstance(selector, ColumnSelector):
            return rows
        if raw not in self._by_columns:
            self._by_columns[raw] = in_layout(selector, rows)
        return self._by_columns[raw]

    def taken(self, columns: IntArray | None) -> tuple[Matrix, Matrix]:
        """Return some columns of the training and of the test rows."""
        some = self._seen.columns(columns)
        return taken(self._parts[0], some), taken(self._parts[1], some)


@lru_cache(maxsize=1)
def _fold_of(work: _Screening, run: int, fold: int) -> _Fold:
    """Return a fold; the cells of all its selectors come one after the other."""
    fold_of = work.fold_numbers(run)
    return _Fold(work.problem, work.plan, work.split.trained(fold_of, fold), fold_of == fold)


class _Row(NamedTuple):
    """A row of the table, with the predictions behind its score."""

    learner: str
    fold: int
    metric: str
    predictions: npt.NDArray[Any] | None
    seconds: float
    size: int = 0
    n_selected: float = float("nan")
    select_seconds: float = float("nan")
    y: npt.NDArray[Any] = np.zeros(0)

    def at(self, size: int, n_selected: float, seconds: float, y: npt.NDArray[Any]) -> _Row:
        """Return the row for one of the sizes that end in the same selection."""
        return self._replace(size=size, n_selected=float(n_selected), select_seconds=seconds, y=y)

    def entry(self, selector: str, run: int) -> list[Any]:
        """Return the row as it is stored."""
        score = float("nan") if self.predictions is None else measured(self.metric, self.y, self.predictions)
        where = [selector, self.learner, self.size, run, self.fold]
        return [*where, self.n_selected, score, self.select_seconds, self.seconds]


def _joined(parts: list[_Row], y: npt.NDArray[Any], folds: int) -> _Row:
    first = parts[0]
    predictions = [part.predictions for part in parts if part.predictions is not None]
    whole = np.concatenate(predictions) if len(predictions) == folds else None
    row = _Row(first.learner, -1, first.metric, whole, sum(part.seconds for part in parts))
    kept = float(np.mean([part.n_selected for part in parts]))
    return row.at(first.size, kept, sum(part.select_seconds for part in parts), y)
