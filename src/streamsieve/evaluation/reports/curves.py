"""Views of a screening report: curves, peaks, and the scores that tests compare."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from streamsieve.evaluation.reports.report import Report
from streamsieve.evaluation.reports.table import Table
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import FloatArray, IntArray


class Curve(NamedTuple):
    """Performance against the number of features, for one selector and learner.

    ``sizes`` are those asked for, or what was kept on average where the selector decides itself.
    """

    sizes: FloatArray
    mean: FloatArray
    std: FloatArray


class Combinations(NamedTuple):
    """Selectors and learners at their best size, best first.

    Attributes
    ----------
    names : pairs of selector and learner
    sizes : the size asked for at which the mean is highest
    scores : (combination, run): the score of every run, the mean over its folds
    fold_scores : (combination, run, fold): the scores of all folds, or of one where they are pooled
    """

    names: list[tuple[str, str]]
    sizes: IntArray
    scores: FloatArray
    fold_scores: FloatArray


def curves(report: Report, learner: str | None = None) -> dict[tuple[str, str], Curve]:
    """Return performance against the number of features by selector and learner, of one learner or all."""
    _check(report)
    if learner is not None and learner not in report.table.unique("learner"):
        known = ", ".join(map(repr, report.table.unique("learner")))
        raise ParameterError(f"the report has no learner {learner!r}; there is {known}")
    table = report.table if learner is None else report.table.where(learner=learner)
    found = {}
    for pair, rows in table.groups(["selector", "learner"]).items():
        part = table.take(rows)
        means, kept = part.mean("score", by="size"), part.mean("n_selected", by="size")
        sizes = np.where(means["size"] > 0, means["size"], kept["mean"]).astype(np.float64)
        found[pair] = Curve(sizes, means["mean"], means["std"])
    return found


def peaks(report: Report) -> Table:
    """Return every selector and learner at the size where its mean score is best, best first.

    The columns are ``selector``, ``learner``, ``size``, ``mean``, ``std`` and ``n``; ties go to the smallest.
    """
    _check(report)
    means = report.mean(("selector", "learner", "size"))
    higher = report.higher_is_better
    best = []
    for rows in means.groups(["selector", "learner"]).values():
        values = means["mean"][rows]
        if not np.all(np.isnan(values)):
            best.append(int(rows[int(np.nanargmax(values if higher else -values))]))
    return means.take(np.array(best, np.int64)).sorted("mean", descending=higher)


def combinations(report: Report) -> Combinations:
    """Return the scores for paired tests: every run of every selector and learner at its best size.

    Examples
    --------
    >>> from streamsieve import datasets
    >>> from streamsieve.evaluation import combinations, screening_protocol
    >>> data = datasets.load("iris")
    >>> report = screening_protocol(data.X, data.y, ["f", "random"], ["nb"], sizes=[1, 2], runs=3, folds=4)
    >>> best = combinations(report)
    >>> best.names[0], best.scores.shape, best.fold_scores.shape
    (('f', 'nb'), (2, 3), (2, 3, 4))
    """
    table = report.table
    tops = peaks(report)
    runs = sorted(set(table["run"].tolist()))
    folds = sorted(set(table["fold"].tolist()))
    scores = np.full((tops.n_rows, len(runs), len(folds)), np.nan)
    names: list[tuple[str, str]] = []
    sizes: list[int] = []
    at = table.groups(["selector", "learner", "size"])
    for i, (selector, learner, size, *_) in enumerate(tops.rows()):
        rows = at[selector, learner, size]
        run, fold = (
            np.searchsorted(known, table[name][rows]) for known, name in ((runs, "run"), (folds, "fold"))
        )
        scores[i, run, fold] = table["score"][rows]
        names.append((selector, learner))
        sizes.append(size)
    return Combinations(names, np.array(sizes, np.int64), scores.mean(axis=2), scores)


def _check(report: Report) -> None:
    if report.protocol != "screening":
        raise ParameterError(f"this wants a report of screening_protocol; got one of {report.protocol}")
