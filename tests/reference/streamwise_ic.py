"""Slow twin of ``streamsieve.columns.streamwise_ic``: one least-squares fit a column, one for each leaver.

A column joins if n log(RSS / RSS_x) > price: 2 (AIC), log n (BIC), 2 log p (RIC), p the larger of the
declared number of candidates and the columns seen, and the price at least 2.  Then, as long as an older
column has a loss n log(RSS_without / RSS) below the price, the one with the least loss leaves (the oldest of
equals).

A residual sum of squares below 1e-10 of the target's counts as that much, and a column that cannot be tested
(see the twin of alpha-investing) gains nothing.

Source: Zhou, Foster, Stine, Ungar (2006); Foster and George (1994).
"""

import math

import numpy as np

from tests.reference.alpha_investing import judge, residual, squared, unit
from tests.reference.information_investing import likelihood_gain
from tests.reference.lines import Line

TIE = 1e-9


def streamwise_ic(X, y, *, information_criterion="ric", n_candidates=None, remove=True):
    """Return the selected columns and every decision, in order; y holds numbers, two classes as 0 and 1."""
    y = np.asarray(y, np.float64)
    n = len(y)
    tss = squared(residual(np.ones((n, 1)), y))
    columns = {}
    lines = []
    for j in range(X.shape[1]):
        x = unit(X[:, j])
        model = with_intercept(columns, n)
        price = {"aic": 2.0, "bic": math.log(n), "ric": max(2.0, 2 * math.log(max(j + 1, n_candidates or 1)))}
        reason, gain = judge(model, x, y, tss, "t")[0], 0.0
        if reason is None:
            gain = likelihood_gain(model, np.column_stack([model, x]), y, tss)
        if gain <= price[information_criterion]:
            lines.append(Line(j, "rejected", reason or "irrelevant", (), gain, math.nan))
            continue
        columns[j] = x
        while remove:
            losses = {i: loss(columns, i, y, tss) for i in columns if i != j}
            if not losses or min(losses.values()) >= price[information_criterion]:
                break
            least = min(losses.values())
            leaver = next(i for i, lost in losses.items() if lost <= least + TIE * (1 + least))
            lines.append(Line(leaver, "evicted", "redundant", (j,), losses[leaver], math.nan))
            del columns[leaver]
        lines.append(Line(j, "kept", "relevant", (), gain, math.nan))
    return list(columns), lines


def with_intercept(columns, n):
    return np.column_stack([np.ones(n), *columns.values()])


def loss(columns, i, y, tss):
    """Return twice the loss in log-likelihood without column i."""
    fewer = {k: x for k, x in columns.items() if k != i}
    return likelihood_gain(with_intercept(fewer, len(y)), with_intercept(columns, len(y)), y, tss)
