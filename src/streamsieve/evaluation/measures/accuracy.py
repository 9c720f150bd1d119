"""How good predictions are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import check_choice
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import FloatArray, IntArray

METRICS = ("auto", "auc", "accuracy", "r2")


def metric_for(metric: str, *, regression: bool, otherwise: str) -> str:
    """Return a metric that fits the target; "auto" is r2, or ``otherwise`` for classes."""
    check_choice("metric", metric, METRICS)
    if metric == "auto":
        return "r2" if regression else otherwise
    if (metric == "r2") is not regression:
        fits = "'r2'" if regression else "'auc' or 'accuracy'"
        kind = "numeric" if regression else "made of classes"
        raise ParameterError(f"metric={metric!r} has no meaning where the target is {kind}: use {fits}")
    return metric


def measured(metric: str, y: npt.NDArray[Any], predicted: npt.NDArray[Any]) -> float:
    """Return the value of a metric."""
    if metric == "auc":
        return auc(y, predicted)
    return accuracy(y, predicted) if metric == "accuracy" else r2(y, predicted)


def auc(y: IntArray, scores: FloatArray) -> float:
    """Return the area under the ROC curve; of several classes the mean, each against the rest.

    Scores are one per row for two classes, or one per row and class.  Ties count one half.  Classes that y
    does not have are left out; NaN if it has fewer than two.
    """
    if scores.ndim == 1:
        return _area(y == 1, scores)
    areas = [_area(y == c, scores[:, c]) for c in range(scores.shape[1])]
    known = [area for area in areas if not np.isnan(area)]
    return float(np.mean(known)) if known else float("nan")


def _area(positive: npt.NDArray[np.bool_], scores: FloatArray) -> float:
    n, ones = len(positive), int(np.count_nonzero(positive))
    if ones in (0, n):
        return float("nan")
    order = np.argsort(scores)
    rising = scores[order]
    if np.isnan(rising[-1]):  # NaN comes last
        return float("nan")
    if np.all(rising[1:] > rising[:-1]):
        ranks = np.flatnonzero(positive[order]) + 1.0
    else:
        _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
        ranks = (np.cumsum(counts) - (counts - 1) / 2)[place[positive]]  # equal scores share their mean
    return (float(ranks.sum()) - ones * (ones + 1) / 2) / (ones * (n - ones))


def accuracy(y: npt.NDArray[Any], predicted: npt.NDArray[Any]) -> float:
    """Return the share of rows whose class is right."""
    return float(np.mean(y == predicted))


def r2(y: FloatArray, predicted: FloatArray) -> float:
    """Return the share of the variance of y that is explained; NaN if there is none."""
    total = float(np.sum((y - y.mean()) ** 2))
    return 1.0 - float(np.sum((y - predicted) ** 2)) / total if total > 0 else float("nan")
