"""Rules that select features by one number per feature: k best, by p-value, above the mean."""

from __future__ import annotations

import numpy as np

from streamsieve._caller import warn
from streamsieve.criteria.criterion import LARGEST
from streamsieve.protocols import BoolArray, FloatArray

#: Relative tolerance, as a fraction of the largest score: rounding must not decide which side of a threshold
#: a score is on.
TIE = 1e-9


def warn_if_beyond(k: int | None, n_features: int) -> None:
    """Warn if k exceeds the number of features; like scikit-learn, do not fail a grid search over k."""
    if k is not None and k > n_features:
        warn(f"k={k} is greater than n_features={n_features}. All the features will be returned.")


def best(scores: FloatArray, k: int) -> BoolArray:
    """Mask of the k largest scores; ties go to the first features."""
    if k >= len(scores):
        return np.ones(len(scores), bool)
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    mask = np.asarray(scores > threshold)
    ties = np.flatnonzero(scores == threshold)
    mask[ties[: k - int(mask.sum())]] = True
    return mask


def significant(p_values: FloatArray, alpha: float, correction: str) -> BoolArray:
    """Mask of the p-values that are at most alpha after the correction for multiple testing."""
    m = len(p_values)
    if correction == "none" or m == 0:
        return np.asarray(p_values <= alpha)
    if correction == "bonferroni":
        return np.asarray(p_values <= alpha / m)
    ordered = np.sort(p_values)
    below = np.flatnonzero(ordered <= alpha * np.arange(1, m + 1) / m)
    return np.asarray(p_values <= (ordered[below[-1]] if len(below) else -1.0))


def above_mean(scores: FloatArray, threshold: float, worst: float, k: int | None = None) -> BoolArray:
    """Mask of the scores above mean + threshold x standard deviation, at most the k best of them.

    Mean and standard deviation are taken over the informative features.  A feature with the lowest possible
    score is uninformative: it is left out of both and never selected.  A perfect score, which is infinite, is
    always selected.
    """
    mask = np.asarray(scores >= LARGEST)
    measured = np.flatnonzero((scores > worst) & ~mask)
    if len(measured):
        unit = scores[measured] / np.abs(scores[measured]).max()  # the squares of large scores overflow
        mask[measured] = unit > float(unit.mean()) + threshold * float(unit.std()) + TIE
    if k is None or int(mask.sum()) <= k:
        return mask
    return best(np.where(mask, scores, -np.inf), k)
