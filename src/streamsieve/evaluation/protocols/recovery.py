"""Recovery of known relevant features along a stream, and online against offline scores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from streamsieve._parameters import check_number
from streamsieve._validation import clean_sparse
from streamsieve.base import ColumnSelector, RowSelector
from streamsieve.evaluation.candidates.selectors import as_selectors, chosen, seeded
from streamsieve.evaluation.engine.jobs import JobLog, Key, Progress, RunConfig
from streamsieve.evaluation.engine.settings import seed_of, settings_of
from streamsieve.evaluation.engine.sources import cut, identity_of, target_of
from streamsieve.evaluation.measures.agreement import rank_disagreement, recovered, score_difference
from streamsieve.evaluation.reports.report import Report, selection_columns
from streamsieve.exceptions import CapabilityError, ParameterError, SourceError
from streamsieve.protocols import IntArray, RowBatch
from streamsieve.rows import Screen

#: The relevant columns, or a function that returns them for a row.
Truth = Sequence[int] | IntArray | Callable[[int], Any]
FOUND = {
    "selector": "text", "seen": "int", "n_selected": "int", "n_relevant": "int", "found": "int",
    "detection": "float", "precision": "float", "recall": "float", "f1": "float",
}  # fmt: skip
AGREEMENT = {"selector": "text", "rows": "int", "score_difference": "float", "rank_disagreement": "float"}
#: Rows and columns that are read at a time.
READ = 4096


def recovery(
    source: Any,
    selectors: Any,
    truth: Truth | None = None,
    *,
    every: int = 1000,
    k: int | None = None,
    task: str = "auto",
    random_state: int = 0,
    folder: str | os.PathLike[str] | None = None,
    resume: bool = False,
    n_jobs: int | None = 1,
    progress: Progress | None = None,
    errors: str = "raise",
) -> Report:
    """Measure how many of the known relevant features are found along a stream of rows or columns.

    Parameters
    ----------
    source : source of rows, for selectors over rows; source of columns, for selectors over columns
        It is read once per selector.
    selectors : name, selector, or several of them as a list or by name
    truth : columns, function, or None, default=None
        The relevant columns; or a function from a row number to the columns relevant for that row, called
        with the last row seen.  If None, those given by the source (``DriftingStream.relevant``).
    every : int, default=1000
        Number of rows, or columns, between evaluation points, the last of which is at the end.
    k : int or None, default=None
        Number of best selected features for the detection rate.  If None, all.
    task, random_state, folder, resume, n_jobs, progress, errors : as for :func:`screening_protocol`

    Returns
    -------
    Report
        One row per evaluation point and selector: ``seen`` (rows or columns), ``n_selected``, ``n_relevant``
        (among the columns that have arrived), ``found`` (selected relevant ones), ``detection`` (proportion
        of the relevant ones among the first k selected, equation 3.23 of Wang 2021), ``precision``,
        ``recall``, ``f1``.

    Examples
    --------
    >>> import streamsieve as ss
    >>> from streamsieve.evaluation import recovery
    >>> stream = ss.DriftingStream(n_rows=4_000, n_features=30, n_relevant=3, shift_every=1_000)
    >>> screens = {"forgets": ss.Screen("t", k=3, half_life=400), "remembers": ss.Screen("t", k=3)}
    >>> report = recovery(stream, screens)
    >>> print(report.table.where(seen=4_000).mean("recall", by="selector"))
    selector   mean    std  n
    forgets    1       nan  1
    remembers  0.6667  nan  1
    """
    running = RunConfig(folder, resume, n_jobs, progress, errors)
    check_number("every", every, low=1, integer=True)
    check_number("random_state", random_state, low=0, high=2**32 - 1, integer=True)
    if k is not None:
        check_number("k", k, low=1, integer=True)
    _check_source(source)
    relevant = _relevant(source, truth)
    kind, _ = target_of(source, None, task, READ)
    named = as_selectors(selectors, kind)
    for name, selector in named.items():
        _check_axis(name, selector, source)
    plan: dict[str, Any] = {"every": int(every), "k": k, "random_state": int(random_state)}
    identity = identity_of(source, running)
    settings = settings_of("recovery", identity, {"selectors": named}, truth=relevant, **plan)
    cells: list[Key] = [{"selector": name} for name in named]
    job = _Finding(source, named, relevant, **plan)
    kinds = {"table": FOUND, "selections": selection_columns("seen")}
    return Report.of_jobs(cells, job, settings, running, kinds)


def online_offline(
    source: Any,
    online: Any,
    offline: Mapping[str, Any] | None = None,
    *,
    every: int | None = None,
    best: float = 0.1,
    task: str = "auto",
    folder: str | os.PathLike[str] | None = None,
    resume: bool = False,
    n_jobs: int | None = 1,
    progress: Progress | None = None,
    errors: str = "raise",
) -> Report:
    """Compare the scores of streaming screens with those of offline screens over the same rows.

    Parameters
    ----------
    source : source of rows
        Its rows are kept in memory, for the offline screens.
    online : name, selector with ``scores_``, or several of them as a list or by name
    offline : selectors by the same names, or None, default=None
        None: the same screen with ``exact=True``.
    every : int or None, default=None
        Number of rows between evaluation points.  If None, once, at the end.
    best : float, default=0.1
        Proportion of the features, by offline score, whose ranks are compared.
    task, folder, resume, n_jobs, progress, errors : as for :func:`screening_protocol`

    Returns
    -------
    Report
        One row per evaluation point and selector: ``rows``, ``score_difference`` (equation 3.19 of Wang 2021)
        and
        ``rank_disagreement``; see :mod:`streamsieve.evaluation.measures.agreement`.

    Examples
    --------
    >>> import streamsieve as ss
    >>> from streamsieve.evaluation import online_offline
    >>> stream = ss.DriftingStream(n_rows=2_000, n_features=10, n_relevant=3)
    >>> screens = {"exact": ss.Screen("fisher"), "rough": ss.Screen("gini", max_rank_error=0.2)}
    >>> report = online_offline(stream, screens)
    >>> [bool(difference < 1e-9) for difference in report.table["score_difference"]]
    [True, False]
    """
    running = RunConfig(folder, resume, n_jobs, progress, errors)
    if every is not None:
        check_number("every", every, low=1, integer=True)
    check_number("best", best, low=0, high=1, open_low=True)
    _check_source(source)
    kind, _ = target_of(source, None, task, READ)
    named = as_selectors(online, kind)
    for name, selector in named.items():
        _check_axis(name, selector, source)
        if isinstance(selector, ColumnSelector):
            raise CapabilityError(
                f"selector {name!r} is one over columns: give selectors over rows, with scores_"
            )
    if offline is not None and not isinstance(offline, Mapping):
        raise ParameterError(f"offline is selectors by name, the names of online; got {offline!r}")
    given = None if offline is None else as_selectors(dict(offline), kind)
    twins = {name: _twin(name, selector, given) for name, selector in named.items()}
    methods = {"selectors": named, "offline": twins}
    settings = settings_of("online_offline", identity_of(source, running), methods, every=every, best=best)
    cells: list[Key] = [{"selector": name} for name in named]
    job = _Comparing(source, named, twins, every, float(best))
    return Report.of_jobs(cells, job, settings, running, {"table": AGREEMENT})


@dataclass(frozen=True)
class _Finding:
    """Computes a cell: one selector over the whole stream."""

    source: Any
    selectors: dict[str, Any]
    truth: Any
    every: int
    k: int | None
    random_state: int

    def __call__(self, key: Key, notes: JobLog) -> dict[str, Any]:  # noqa: ARG002 - a cell has no parts here
        name = str(key["selector"])
        selector = seeded(self.selectors[name], seed_of(self.random_state, "selector", name))
        rows: list[list[Any]] = []
        selections: list[list[Any]] = []
        by_columns = isinstance(selector, ColumnSelector)
        for seen in (_offered if by_columns else _learned)(self.source, selector, self.every):
            kept = chosen(selector)
            truth = _columns(self.truth(seen - 1)) if callable(self.truth) else self.truth
            width = getattr(selector, "n_features_in_", None)
            if not by_columns and width is not None and len(truth) and truth[-1] >= width:
                raise ParameterError(f"truth names column {truth[-1]}, but there are {width} features")
            if by_columns:
                truth = truth[truth < seen]
            whole, first = recovered(kept, truth), recovered(kept, truth, self.k)
            rates = [first.recall, whole.precision, whole.recall, whole.f1]
            rows.append([name, seen, len(kept), len(truth), whole.found, *rates])
            selections.append([name, 0, False, seen, len(kept), " ".join(map(str, kept.tolist()))])
        if not rows:
            raise SourceError("the source is empty: there is nothing to find")
        return {"table": rows, "selections": selections}


def _learned(source: Any, selector: Any, every: int) -> Iterator[int]:
    """Let a selector learn rows; yield how many it has seen, at every look."""
    seen = 0
    for batch in cut(source.rows(READ), every):
        selector.learn(batch)
        seen += batch.X.shape[0]
        if seen % every == 0:
            yield seen
    if seen % every:
        yield seen


def _offered(source: Any, selector: ColumnSelector, every: int) -> Iterator[int]:
    """Offer columns to a selector; yield how many it has seen, at every look."""
    selector.begin(source.y)
    seen = 0
    for block in source.columns(every):
        if selector.stopped_ is None:
            selector.offer(block)
        seen += block.X.shape[1]
        yield seen


def _relevant(source: Any, truth: Any) -> Any:
    """Return the columns that matter, or the function that knows them."""
    if truth is None:
        truth = getattr(source, "relevant", None)
        if truth is None:
            raise ParameterError(
                f"{type(source).__name__} does not say which features matter: give truth, their columns"
            )
    return truth if callable(truth) else _columns(truth)


def _columns(truth: Any) -> IntArray:
    """Return columns that matter, given as such or as a mask, in order."""
    columns = np.asarray(truth)
    if columns.dtype == bool and columns.ndim == 1:
        columns = np.flatnonzero(columns)
    if columns.ndim != 1 or (columns.size and columns.dtype.kind not in "iu") or np.any(columns < 0):
        raise ParameterError(f"truth must be columns, whole numbers from 0, or a function; got {truth!r}")
    return np.unique(columns.astype(np.int64))


def _check_source(source: Any) -> None:
    if not callable(getattr(source, "rows", None)) and not callable(getattr(source, "columns", None)):
        raise SourceError(
            f"expected a source, got {type(source).__name__}: use streamsieve.open(data, target=...)"
        )


def _check_axis(name: str, selector: Any, source: Any) -> None:
    axis = {ColumnSelector: "columns", RowSelector: "rows"}
    wanted = next((what for kind, what in axis.items() if isinstance(selector, kind)), None)
    if wanted is None:
        what = "all features" if selector is None else type(selector).__name__
        raise CapabilityError(
            f"selector {name!r} ({what}) does not follow a stream: use a selector over rows or over columns"
        )
    by_columns = wanted == "columns"
    if not callable(getattr(source, wanted, None)) or (by_columns and not hasattr(source, "y")):
        raise SourceError(
            f"selector {name!r} needs a source of {wanted}, but a {type(source).__name__} has none: use "
            "streamsieve.open(data, target=...)"
        )


@dataclass(frozen=True)
class _Comparing:
    """Computes a cell: one online selector and its offline twin."""

    source: Any
    online: dict[str, Any]
    offline: dict[str, Any]
    every: int | None
    best: float

    def __call__(self, key: Key, notes: JobLog) -> dict[str, Any]:  # noqa: ARG002 - a cell has no parts here
        name = str(key["selector"])
        selector = clone(self.online[name])
        batches: list[RowBatch] = []
        rows: list[list[Any]] = []
        seen = 0
        every = self.every
        for batch in self.source.rows(READ) if every is None else cut(self.source.rows(READ), every):
            selector.learn(batch)
            batches.append(batch)
            seen += batch.X.shape[0]
            if every is not None and seen % every == 0:
                rows.append(self._compared(name, selector, batches, seen))
        if not seen:
            raise SourceError("the source has no rows: there is nothing to compare")
        if every is None or seen % every:
            rows.append(self._compared(name, selector, batches, seen))
        return {"table": rows}

    def _compared(self, name: str, selector: Any, batches: Sequence[RowBatch], seen: int) -> list[Any]:
        twin = clone(self.offline[name])
        y = np.concatenate([np.asarray(batch.y) for batch in batches])
        parts = [batch.X for batch in batches]
        if sp.issparse(parts[0]):
            X = sp.vstack([clean_sparse(X, "csr") for X in parts], format="csr")
        else:
            X = np.concatenate(parts)
        twin.fit(X, y)
        online, offline = np.asarray(selector.scores_), np.asarray(twin.scores_)
        disagreement = rank_disagreement(online, offline, best=self.best)
        return [name, seen, score_difference(online, offline), disagreement]


def _twin(name: str, selector: Any, given: Mapping[str, Any] | None) -> Any:
    """Return the offline twin of an online selector."""
    if given is not None:
        if name not in given:
            raise ParameterError(f"offline has no selector named {name!r}; there is {', '.join(given)}")
        return given[name]
    if not isinstance(selector, Screen):
        raise ParameterError(f"{name!r} is not a Screen, so its offline twin is not known: give offline")
    return clone(selector).set_params(exact=True, half_life=None, window=None, on_drift=None)
