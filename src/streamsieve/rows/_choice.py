"""Which features are chosen, given a number for each."""

from __future__ import annotations

import numpy as np

from streamsieve.criteria._formula import LARGEST
from streamsieve.protocols import BoolArray, FloatArray

#: Scores nearer to a threshold than this share of the largest one are at it: sums are rounded.
TIE = 1e-9


def best(scores: FloatArray, k: int) -> BoolArray:
    """Mask of the k largest; among equals the first ones."""
    if k >= len(scores):
        return np.ones(len(scores), bool)
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    mask = np.asarray(scores > threshold)
    ties = np.flatnonzero(scores == threshold)
    mask[ties[: k - int(mask.sum())]] = True
    return mask


def significant(p_values: FloatArray, alpha: float, correction: str) -> BoolArray:
    """Mask of the p-values at most alpha, after the correction."""
    m = len(p_values)
    if correction == "none" or m == 0:
        return np.asarray(p_values <= alpha)
    if correction == "bonferroni":
        return np.asarray(p_values <= alpha / m)
    ordered = np.sort(p_values)
    below = np.flatnonzero(ordered <= alpha * np.arange(1, m + 1) / m)
    return np.asarray(p_values <= (ordered[below[-1]] if len(below) else -1.0))


def outstanding(scores: FloatArray, threshold: float, worst: float, k: int | None = None) -> BoolArray:
    """Mask of the scores above their mean by more than so many standard deviations; the k best of them.

    Mean and deviation are those of the scores that measure something.  The worst one, of a feature that says
    nothing at all, does not, and is never above; a perfect one, which has no finite size, is always.
    """
    mask = np.asarray(scores >= LARGEST)
    measured = np.flatnonzero((scores > worst) & ~mask)
    if len(measured):
        unit = scores[measured] / np.abs(scores[measured]).max()  # the squares of large scores overflow
        mask[measured] = unit > float(unit.mean()) + threshold * float(unit.std()) + TIE
    if k is None or int(mask.sum()) <= k:
        return mask
    return best(np.where(mask, scores, -np.inf), k)
