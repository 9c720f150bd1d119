"""Prequential (test-then-train) evaluation over a stream of rows."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import check_choice, check_number
from streamsieve.base import RowSelector
from streamsieve.evaluation.candidates.selected_stream import SelectedStream
from streamsieve.evaluation.candidates.selectors import as_selectors
from streamsieve.evaluation.candidates.stream_learners import as_stream_learners, started
from streamsieve.evaluation.engine.jobs import JobLog, Key, Progress, RunConfig
from streamsieve.evaluation.engine.settings import seed_of, settings_of
from streamsieve.evaluation.engine.sources import cut, identity_of, target_of
from streamsieve.evaluation.measures.fading import FadingClasses, FadingNumbers
from streamsieve.evaluation.measures.memory import array_bytes
from streamsieve.evaluation.reports.report import Report, selection_columns
from streamsieve.exceptions import CapabilityError, SourceError, TargetError
from streamsieve.protocols import Matrix, RowSource, Task

FOLLOWS = ("zero", "frozen")
MEASURES = {
    False: ("fading_accuracy", "accuracy", "kappa", "kappa_temporal"),
    True: ("fading_r2", "mae", "fading_mae"),
}
TABLE = {
    "selector": "text", "learner": "text", "rows": "int", "score": "float", "n_selected": "int",
    "n_changed": "int", "select_seconds": "float", "learn_seconds": "float", "selector_bytes": "int",
    "learner_bytes": "int",
}  # fmt: skip
DRIFT = {"selector": "text", "row": "int", "feature": "int", "before": "float", "after": "float"}


def prequential(
    source: RowSource,
    selectors: Any,
    learners: Any,
    *,
    batch_size: int = 100,
    every: int = 1000,
    half_life: float = 1000.0,
    follow: str = "zero",
    scale: bool = True,
    classes: Sequence[Any] | None = None,
    task: str = "auto",
    random_state: int = 0,
    folder: str | os.PathLike[str] | None = None,
    resume: bool = False,
    n_jobs: int | None = 1,
    progress: Progress | None = None,
    errors: str = "raise",
) -> Report:
    """Prequential (test-then-train) evaluation of selectors and learners over a stream of rows.

    The learner predicts a batch from the features selected so far; then the selector learns the batch, and
    then the learner does, with the updated selection.

    Parameters
    ----------
    source : source of rows
        The result of :func:`streamsieve.open`, a ``DriftingStream`` and so on.  It is read once per selector.
    selectors : name, selector over rows, None, or several of them as a list or by name
        "none" or None gives all features to the learner.
    learners : name, estimator with ``partial_fit``, learner of river, or several as a list or by name
        "sgd", "nb", "fsa".  Baselines that use no features are "majority" (for numbers "mean"), the most
        frequent class so far, and "no_change", the class of the last known row.
    batch_size : int, default=100
        Number of rows that are predicted, and then learned, together. 1 is row by row, as in river; larger
        batches are faster, but the learner adapts later.
    every : int, default=1000
        Number of rows between evaluation points, the last of which is the last row.  Batches are cut there.
    half_life : float, default=1000
        Number of rows after which the weight of a prediction is halved in faded measures.
    follow : {"zero", "frozen"}, default="zero"
        How a learner of fixed width handles a changing selection: features that are not selected are set to
        0, or the selection after the first batch is used throughout.
    scale : bool, default=True
        Whether features are divided by their standard deviation over earlier rows for the learner (dense ones
        are also centered).  Selectors get unscaled rows.
    classes : list or None, default=None
        All possible labels.  If None, they are read from the source, which takes an extra pass unless it is
        in memory.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of target.
    random_state, folder, resume, n_jobs, progress, errors : as for :func:`screening_protocol`

    Returns
    -------
    Report
        One row per evaluation point, selector and learner: ``rows``, ``score`` (faded accuracy, or r2),
        ``n_selected``,
        ``n_changed`` (features that entered since the last evaluation point), ``select_seconds`` and
        ``learn_seconds`` so
        far, ``selector_bytes`` and ``learner_bytes`` (of the arrays they hold); then ``fading_accuracy``,
        ``accuracy`` (of all rows), ``kappa`` and ``kappa_temporal`` (faded; relative to repeating the class
        of the previous row), or ``fading_r2``, ``mae`` and ``fading_mae``.  Its table "selections" holds the
        selection at each evaluation point, "drift" the changes of relevance that selectors detected.

    Notes
    -----
    The first batch is learned without a test, because there is no model yet.

    With ``follow="zero"``, a feature is 0 in all rows before it is selected.  Linear learners are not
    affected, but naive Bayes ("nb") estimates a variance near 0, and predicts badly when the feature enters.

    Examples
    --------
    >>> import streamsieve as ss
    >>> from streamsieve.evaluation import prequential
    >>> stream = ss.DriftingStream(n_rows=3_000, n_features=20, n_relevant=3, shift_every=500)
    >>> report = prequential(stream, {"follows": ss.Screen("f", k=3, half_life=500)}, ["sgd", "majority"])
    >>> report.table["rows"].tolist()
    [1000, 1000, 2000, 2000, 3000, 3000]
    >>> bool(report.table["score"][4] > report.table["score"][5])
    True
    """
    running = RunConfig(folder, resume, n_jobs, progress, errors)
    if not callable(getattr(source, "rows", None)) or not hasattr(source, "n_rows"):
        raise SourceError(
            f"prequential needs a source of rows, got {type(source).__name__}: use streamsieve.open(data, "
            "target=...)"
        )
    for name, value in (("batch_size", batch_size), ("every", every)):
        check_number(name, value, low=1, integer=True)
    check_number("half_life", half_life, low=0, open_low=True)
    check_choice("follow", follow, FOLLOWS)
    check_choice("scale", scale, (False, True))
    check_number("random_state", random_state, low=0, high=2**32 - 1, integer=True)
    kind, labels = target_of(source, classes, task, int(batch_size))
    chosen_selectors = as_selectors(selectors, kind)
    for name, selector in chosen_selectors.items():
        _check_selector(name, selector)
    regression = kind is Task.REGRESSION
    chosen_learners = as_stream_learners(learners, regression=regression)
    plan = Plan(int(batch_size), int(every), float(half_life), follow, bool(scale), int(random_state), labels)
    classes = None if regression else [str(label) for label in labels]
    settings = settings_of(
        "prequential",
        identity_of(source, running),
        {"selectors": chosen_selectors, "learners": chosen_learners},
        metric=MEASURES[regression][0],
        **(vars(plan) | {"classes": classes}),
    )
    table = TABLE | dict.fromkeys(MEASURES[regression], "float")
    kinds = {"table": table, "selections": selection_columns("rows"), "drift": DRIFT}
    cells: list[Key] = [{"selector": name} for name in chosen_selectors]
    job = _Following(source, chosen_selectors, chosen_learners, plan)
    return Report.of_jobs(cells, job, settings, running, kinds)


@dataclass(frozen=True)
class Plan:
    """Settings of the computation, apart from data and methods."""

    batch_size: int
    every: int
    half_life: float
    follow: str
    scale: bool
    random_state: int
    classes: tuple[Any, ...]

    @property
    def regression(self) -> bool:
        """Whether the target is numeric."""
        return not self.classes

    def codes(self, y: Any) -> npt.NDArray[Any]:
        """Return the target of a batch as codes or numbers."""
        if y is None:
            raise SourceError("the source has no target: open it with target=...")
        y = np.asarray(y)
        if self.regression:
            return np.asarray(y, np.float64)
        labels = np.array(self.classes)
        codes = np.searchsorted(labels, y)
        unknown = labels[np.minimum(codes, len(labels) - 1)] != y
        if np.any(unknown):
            raise TargetError(
                f"label {y[unknown][0].item()!r} turned up, which is not among "
                f"classes={list(self.classes)}: name all labels in classes"
            )
        return np.asarray(codes, np.int64)

    def measure(self) -> FadingClasses | FadingNumbers:
        """Return a fresh measure."""
        if self.regression:
            return FadingNumbers(self.half_life)
        return FadingClasses(len(self.classes), self.half_life)


@dataclass
class _Follower:
    """One learner on its way."""

    learner: Any
    measure: FadingClasses | FadingNumbers
    seconds: float = 0.0


@dataclass(frozen=True)
class _Following:
    """Computes a cell: one selector over the whole stream, with all learners behind it."""

    source: Any
    selectors: dict[str, Any]
    learners: dict[str, Any]
    plan: Plan

    def __call__(self, key: Key, notes: JobLog) -> dict[str, Any]:
        plan, name = self.plan, str(key["selector"])
        seed = seed_of(plan.random_state, "selector", name)
        view = SelectedStream(self.selectors[name], plan.follow, seed, scale=plan.scale)
        followers = {}
        for learner, each in self.learners.items():
            seed = seed_of(plan.random_state, "learner", learner)
            followers[learner] = _Follower(started(each, len(plan.classes), seed), plan.measure())
        seen = 0
        found: dict[str, list[Any]] = {"table": [], "selections": []}
        for batch in cut(self.source.rows(plan.batch_size), plan.every):
            y = plan.codes(batch.y)
            if seen:
                _test(followers, view.seen(batch.X), y, notes)
            view.learn(batch)
            _train(followers, view.seen(batch.X), y, notes, first=seen == 0)
            seen += len(y)
            if seen % plan.every == 0:
                self._look(name, seen, view, followers, found)
        if seen % plan.every:
            self._look(name, seen, view, followers, found)
        if not seen:
            raise SourceError("the source has no rows: there is nothing to follow")
        return found | {"drift": [[name, *noticed] for noticed in view.drift()]}

    def _look(
        self, name: str, seen: int, view: SelectedStream, followers: dict[str, _Follower],
        found: dict[str, list[Any]],
    ) -> None:  # fmt: skip
        kept, entered = view.look()
        if view.selector is not None:
            features = " ".join(map(str, kept.tolist()))
            found["selections"].append([name, 0, False, seen, len(kept), features])
        held = array_bytes(view.selector)
        for learner, follower in followers.items():
            measures = follower.measure.measures()
            own = [measures[measure] for measure in MEASURES[self.plan.regression]]
            seconds = [view.seconds, follower.seconds]
            sizes = [held, array_bytes(follower.learner)]
            found["table"].append([name, learner, seen, own[0], len(kept), entered, *seconds, *sizes, *own])


def _test(followers: dict[str, _Follower], X: Matrix, y: npt.NDArray[Any], notes: JobLog) -> None:
    for name in [*followers]:
        follower = followers[name]
        with _watched(followers, name, notes, "predicting"):
            begun = time.perf_counter()
            predictions = follower.learner.predict(X)
            follower.seconds += time.perf_counter() - begun
            follower.measure.update(y, predictions)


def _train(
    followers: dict[str, _Follower], X: Matrix, y: npt.NDArray[Any], notes: JobLog, *, first: bool
) -> None:
    for name in [*followers]:
        follower = followers[name]
        with _watched(followers, name, notes, "learning"):
            begun = time.perf_counter()
            follower.learner.learn(X, y)
            follower.seconds += time.perf_counter() - begun
            if first:
                follower.measure.follow(y)


@contextmanager
def _watched(followers: dict[str, _Follower], name: str, notes: JobLog, what: str) -> Iterator[None]:
    """Context manager: a learner that fails is recorded and dropped; the others continue."""
    failed = len(notes.failures)
    with notes.part(f"learner {name}, {what}"):
        yield
    if len(notes.failures) > failed:
        del followers[name]


def _check_selector(name: str, selector: Any) -> None:
    if selector is None or isinstance(selector, RowSelector):
        return
    if not hasattr(selector, "partial_fit") or not hasattr(selector, "get_support"):
        raise CapabilityError(
            f"selector {name!r} ({type(selector).__name__}) does not learn from rows that stream in: use a "
            "selector over rows, such as Screen('f', k=10, half_life=1000)"
        )
