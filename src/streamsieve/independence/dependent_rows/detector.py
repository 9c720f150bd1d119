"""Does the order of the rows look like a time series?"""

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
#: Autocorrelation below which p-values are hardly too small: with 0.2 in column and target, n_eff = 0.92 n.
HARMLESS = 0.2
#: Runs of a target that is merely sorted, per class: some files put together, each sorted by class.
SORTED_RUNS = 4


def autocorrelated(y: npt.NDArray[Any], task: Task) -> float | None:
    """Return the lag-1 autocorrelation of a target in the order of rows, if it is significant and not small.

    For numbers it is that of their ranks, for labels the agreement of neighboring rows beyond that expected
    by chance (kappa), which is the autocorrelation for two classes.  None for a target that is sorted, or in
    few blocks of equal labels: that is no time series.
    """
    n = len(y)
    if task is Task.REGRESSION:
        steps = np.diff(y.astype(np.float64))
        steps = steps[steps != 0] > 0
        n_runs, few = 1 + np.count_nonzero(steps[1:] != steps[:-1]), 2 * SORTED_RUNS
        ranks = rankdata(y)
        ranks -= ranks.mean()
        rho, variance = float(ranks[1:] @ ranks[:-1] / (ranks @ ranks)), 1 / n
    else:
        share = np.unique(y, return_counts=True)[1] / n
        agreeing = np.count_nonzero(y[1:] == y[:-1])
        n_runs, few = n - agreeing, SORTED_RUNS * len(share)
        expected, cubes = float((share**2).sum()), float((share**3).sum())
        rho = (agreeing / (n - 1) - expected) / (1 - expected)
        # given how often each label occurs
        variance = (expected + expected**2 - 2 * cubes) / (n * (1 - expected) ** 2)
    threshold = max(-ndtri(FALSE_ALARM) * math.sqrt(variance), HARMLESS)
    return rho if n_runs > few and rho > threshold else None
