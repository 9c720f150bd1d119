"""Detection of autocorrelation of the target in the order of rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri
from scipy.stats import rankdata

from streamsieve.protocols import Task

#: Probability of a warning if the rows are independent.
FALSE_ALARM = 1e-4
#: Autocorrelation below which p-values are little too small: with 0.35 in column and target, n_eff = 0.78 n.
HARMLESS = 0.35
#: Minimum number of rows.
FEWEST_ROWS = 10
#: Runs of more than this share of the rows are blocks of a sorted file, and cut to one row.
BLOCK = 0.1
#: Labels with at most this number of runs per class are sorted, or concatenated from sorted files.
SORTED_RUNS = 4


def autocorrelated(y: npt.NDArray[Any], task: Task) -> float | None:
    """Return the lag-1 autocorrelation of a target in the order of rows, if it is significant and not small.

    For numbers it is that of their ranks, for labels the agreement of neighboring rows beyond that expected
    by chance (kappa), which is the autocorrelation for two classes.  Long runs of equal labels, or of
    rising or falling numbers, are left out: a file that is sorted, or put together of a few that are, is no
    time series.
    """
    if task is not Task.REGRESSION:
        ends, classes = y[1:] != y[:-1], len(np.unique(y))
        runs = int(np.count_nonzero(ends))
        # an upper bound of kappa: it is largest for equally frequent classes, and falls as blocks are cut
        harmless = classes * runs >= (1 - HARMLESS) * (classes - 1) * (len(y) - 1)
        if harmless or runs < SORTED_RUNS * classes:
            return None
        return _agreement(_without_blocks(y, ends))
    steps = np.sign(np.diff(y.astype(np.float64)))
    turns = np.r_[False, (steps[1:] * steps[:-1]) < 0] if len(steps) else np.zeros(0, bool)
    ranks = rankdata(_without_blocks(y, turns))
    ranks -= ranks.mean()
    size = float(ranks @ ranks)
    if len(ranks) < FEWEST_ROWS or size == 0:
        return None
    return _notable(float(ranks[1:] @ ranks[:-1]) / size, 1 / len(ranks))


def _without_blocks(y: npt.NDArray[Any], ends: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
    """Return y with its longest runs cut to their first row; ``ends[i]``: a run ends before row i + 1."""
    starts = np.flatnonzero(np.concatenate([[True], ends]))
    lengths = np.diff(starts, append=len(y))
    block = np.repeat(lengths > BLOCK * len(y), lengths)
    block[starts] = False
    kept: npt.NDArray[Any] = y[~block]
    return kept


def _agreement(y: npt.NDArray[Any]) -> float | None:
    n, share = len(y), np.unique(y, return_counts=True)[1] / len(y)
    expected, cubes = float((share**2).sum()), float((share**3).sum())
    if n < FEWEST_ROWS or expected == 1:
        return None
    kappa = (np.count_nonzero(y[1:] == y[:-1]) / (n - 1) - expected) / (1 - expected)
    # the variance under independence, given how often each label occurs
    return _notable(float(kappa), (expected + expected**2 - 2 * cubes) / (n * (1 - expected) ** 2))


def _notable(rho: float, variance: float) -> float | None:
    return rho if rho > max(-ndtri(FALSE_ALARM) * math.sqrt(variance), HARMLESS) else None
