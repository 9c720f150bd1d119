"""Metrics of predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve._advice import as_argument
from streamsieve._parameters import check_choice
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import FloatArray, IntArray

#: Metrics of class predictions, of scores that rank rows, of probabilities, and of numbers.
BY_LABELS = ("accuracy", "balanced_accuracy", "f1")
BY_SCORES = ("auc", "average_precision")
BY_PROBABILITIES = ("log_loss",)
BY_NUMBERS = ("r2", "mae", "rmse")
METRICS = ("auto", *BY_SCORES, *BY_LABELS, *BY_PROBABILITIES, *BY_NUMBERS)
LOWER_IS_BETTER = ("log_loss", "mae", "rmse")
#: The smallest probability that counts: a learner that is certain and wrong has a finite log loss.
LEAST_PROBABILITY = float(np.finfo(np.float64).eps)


def metric_for(metric: str, *, regression: bool, otherwise: str) -> str:
    """Return a metric that fits the target; "auto" is r2, or ``otherwise`` for classes."""
    check_choice("metric", metric, METRICS)
    if metric == "auto":
        return "r2" if regression else otherwise
    if (metric in BY_NUMBERS) is not regression:
        able = [name for name in METRICS[1:] if (name in BY_NUMBERS) is regression]
        kind = "numeric" if regression else "made of classes"
        raise ParameterError(
            f"{as_argument('metric', metric)} is not defined if the target is {kind}: use {', '.join(able)}"
        )
    return metric


def measured(metric: str, y: npt.NDArray[Any], predicted: npt.NDArray[Any]) -> float:
    """Return the value of a metric."""
    return _MEASURES[metric](y, predicted)


def auc(y: IntArray, scores: FloatArray) -> float:
    """Return the area under the ROC curve; of several classes the mean, each against the rest.

    Scores are one per row for two classes, or one per row and class.  Ties count one half.  Classes that y
    does not have are left out; NaN if it has fewer than two.
    """
    return _each_against_the_rest(_area, y, scores)


def _each_against_the_rest(
    area: Callable[[npt.NDArray[np.bool_], FloatArray], float], y: IntArray, scores: FloatArray
) -> float:
    if scores.ndim == 1:
        return area(y == 1, scores)
    areas = [area(y == c, scores[:, c]) for c in range(scores.shape[1])]
    known = [each for each in areas if not np.isnan(each)]
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
    """Return the proportion of correct predictions."""
    return float(np.mean(y == predicted))


def r2(y: FloatArray, predicted: FloatArray) -> float:
    """Return the coefficient of determination; NaN if y is constant."""
    total = float(np.sum((y - y.mean()) ** 2))
    return 1.0 - float(np.sum((y - predicted) ** 2)) / total if total > 0 else float("nan")


def balanced_accuracy(y: IntArray, predicted: npt.NDArray[Any]) -> float:
    """Return the mean recall over the classes that occur in y."""
    return float(np.mean([np.mean(predicted[y == c] == c) for c in np.unique(y)]))


def f1(y: IntArray, predicted: npt.NDArray[Any]) -> float:
    """Return F1 of class 1 of two, or the mean over more classes; 0 where a class is never predicted."""
    classes = np.union1d(y, predicted)
    return float(np.mean([_f1(y == c, predicted == c) for c in (classes if classes.max() > 1 else [1])]))


def _f1(true: npt.NDArray[np.bool_], said: npt.NDArray[np.bool_]) -> float:
    both = int(true.sum()) + int(said.sum())
    return 2 * int((true & said).sum()) / both if both else 0.0


def average_precision(y: IntArray, scores: FloatArray) -> float:
    """Return the area under the precision-recall curve, as a step function; of several classes the mean."""
    return _each_against_the_rest(_precision, y, scores)


def _precision(positive: npt.NDArray[np.bool_], scores: FloatArray) -> float:
    if not positive.any() or np.isnan(scores).any():
        return float("nan")
    order = np.argsort(-scores, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))  # equal scores come together
    found = np.cumsum(positive[order])[ends]
    gained = np.diff(found, prepend=0) / found[-1]
    return float(np.sum(gained * found / (ends + 1)))


def log_loss(y: IntArray, probabilities: FloatArray) -> float:
    """Return the mean negative log of the probability that was given to the class of each row."""
    given = probabilities[np.arange(len(y)), y]
    return float(-np.mean(np.log(np.clip(given, LEAST_PROBABILITY, 1.0))))


def mae(y: FloatArray, predicted: FloatArray) -> float:
    """Return the mean absolute error."""
    return float(np.mean(np.abs(y - predicted)))


def rmse(y: FloatArray, predicted: FloatArray) -> float:
    """Return the root of the mean squared error."""
    return float(np.sqrt(np.mean((y - predicted) ** 2)))


_MEASURES: dict[str, Callable[[Any, Any], float]] = {
    "auc": auc,
    "average_precision": average_precision,
    "accuracy": accuracy,
    "balanced_accuracy": balanced_accuracy,
    "f1": f1,
    "log_loss": log_loss,
    "r2": r2,
    "mae": mae,
    "rmse": rmse,
}
