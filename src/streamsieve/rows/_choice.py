"""Which features are chosen, given a number for each."""

from __future__ import annotations

import numpy as np

from streamsieve.protocols import BoolArray, FloatArray


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
