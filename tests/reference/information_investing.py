"""Slow twin of ``streamsieve.columns.information_investing``: one least-squares fit a column.

Wealth w, model = intercept.  For column i = 1, 2, ... the bid is e = w / (2 i), and adding it would save

    bits = n / 2 log2(RSS / RSS_x) + log2(e) - (bits of a coefficient).

If bits > payout, it joins and w += payout; else w -= e.  A residual sum of squares below 1e-10 of the
target's counts as that much, and a column that cannot be tested (see the twin of alpha-investing) lowers
nothing.

Source: Zhou, Foster, Stine, Ungar (2006), with choices of ours where the paper leaves details.
"""

import math

import numpy as np

from tests.reference.alpha_investing import Line, judge, residual, squared, unit


def information_investing(X, y, *, wealth=0.5, payout=0.5, coefficient_bits=2.0):
    """Return the selected columns and every decision, in order; y holds numbers, two classes as 0 and 1."""
    y = np.asarray(y, np.float64)
    n = len(y)
    model = np.ones((n, 1))
    tss = squared(residual(model, y))
    price = math.log2(n) / 2 if coefficient_bits is None else coefficient_bits
    selected, lines = [], []
    for j in range(X.shape[1]):
        x = unit(X[:, j])
        bid = wealth / (2 * (j + 1))
        reason = judge(model, x, y, tss, "t")[0]
        bits = math.log2(bid) - price
        if reason is None:
            bits += likelihood_gain(model, np.column_stack([model, x]), y, tss) / math.log(4)
        if bits > payout:
            wealth += payout
            model = np.column_stack([model, x])
            selected.append(j)
            lines.append(Line(j, "kept", "relevant", (), bits, math.nan, bid, wealth))
        else:
            wealth -= bid
            lines.append(Line(j, "rejected", reason or "irrelevant", (), bits, math.nan, bid, wealth))
    return selected, lines


def likelihood_gain(smaller, larger, y, tss):
    """Return twice the gain in log-likelihood from a smaller linear model to a larger one."""
    before, after = (max(squared(residual(model, y)), 1e-10 * tss) for model in (smaller, larger))
    return len(y) * math.log(before / after)
