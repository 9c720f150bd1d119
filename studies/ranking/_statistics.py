"""Ranks, and tests of pairs of methods over data sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata, spearmanr

#: Accuracies nearer than this are equal; they are means of shares.
EQUAL = 1e-9


def mean_ranks(accuracy: Any) -> Any:
    """Return the mean rank of each method over the sets, 1 for the best; equals share their ranks.

    Parameters
    ----------
    accuracy : one row a method, one column a set
    """
    return np.mean([rankdata(-np.round(by_method, 9)) for by_method in np.transpose(accuracy)], axis=0)


def won_and_lost(gains: Any) -> tuple[int, int]:
    """Return on how many sets a method is better, and worse."""
    gains = np.asarray(gains)
    return int(np.sum(gains > EQUAL)), int(np.sum(gains < -EQUAL))


def signed_rank(gains: Any) -> float:
    """Return the exact two-sided p-value of Wilcoxon's signed-rank test; sets without a difference drop out.

    Exact also where differences are tied, which the tables of the test are not: all signs are gone through.
    """
    gains = np.round(np.asarray(gains, np.float64), 9)
    gains = gains[gains != 0]
    if len(gains) == 0:
        return 1.0
    ranks = rankdata(np.abs(gains))
    signs = np.arange(2 ** len(gains))[:, None] >> np.arange(len(gains)) & 1
    middle = ranks.sum() / 2
    distance = np.abs(signs @ ranks - middle)
    return float(np.mean(distance >= abs(ranks[gains > 0].sum() - middle) - EQUAL))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values that hold for all of the comparisons together (Holm 1979)."""
    p = np.asarray(p_values, np.float64)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(stepped, 1.0)
    return corrected.tolist()


def tested(gains: Mapping[str, Any]) -> tuple[dict[str, float], dict[str, float]]:
    """Return by method the p-values of its gains over the sets, alone and for all methods together."""
    p = {method: signed_rank(over_sets) for method, over_sets in gains.items()}
    return p, dict(zip(p, holm([*p.values()]), strict=True))


def agreement(a: Any, b: Any) -> float:
    """Return the rank correlation (Spearman), 0 if one of them does not vary."""
    return float(spearmanr(a, b).statistic) if np.ptp(a) and np.ptp(b) else 0.0
