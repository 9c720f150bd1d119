"""Slow twin of ``streamsieve.columns.alpha_investing``: one least-squares fit a column.

Wealth w, tests i = 0, model = intercept.  For each new x: i += 1, level a = w / (2 i), and p is the p-value
of x's coefficient in the model with x added.  If p < a, x joins and w += payout - a, else w -= a.

    "t":                 t = b / se(b), n - q - 2 degrees of freedom with q columns in the model before x
    "likelihood_ratio":  p = exp(-(RSS - RSS_x) / (2 RSS / n)); the intercept counts as the first test

p = 1 and a reason of its own, in this order: x is constant; the model fits y exactly (RSS <= 1e-10 TSS);
no degrees of freedom; x is collinear (at most 1e-10 of its variance is outside the model).

Source: Zhou, Foster, Stine, Ungar (2006); ALGORITHMS.md 6.5.
"""

from typing import NamedTuple

import numpy as np
import scipy.stats

EXACT = COLLINEAR = 1e-10


class Line(NamedTuple):
    """What happened to a feature, at which level, and the wealth after it."""

    feature: int
    event: str
    reason: str
    by: tuple[int, ...]
    statistic: float
    p_value: float
    level: float
    wealth: float


def alpha_investing(X, y, *, wealth=0.5, payout=0.5, p_value="t"):
    """Return the selected columns and every decision, in order; y holds numbers, two classes as 0 and 1."""
    y = np.asarray(y, np.float64)
    n = len(y)
    model = np.ones((n, 1))
    tss = squared(residual(model, y))
    tests = 1 if p_value == "likelihood_ratio" else 0
    selected, lines = [], []
    for j in range(X.shape[1]):
        x = unit(X[:, j])
        tests += 1
        level = wealth / (2 * tests)
        wealth -= level
        reason, statistic, p = judge(model, x, y, tss, p_value)
        if reason is None and p < level:
            wealth += payout
            model = np.column_stack([model, x])
            selected.append(j)
            lines.append(Line(j, "kept", "relevant", (), statistic, p, level, wealth))
        else:
            lines.append(Line(j, "rejected", reason or "irrelevant", (), statistic, p, level, wealth))
    return selected, lines


def judge(model, x, y, tss, p_value):
    """Return why x cannot be tested (or None), and its statistic and p-value."""
    n, width = model.shape
    rss = squared(residual(model, y))
    freedom = n - width - 1
    if not x.any():
        return "constant", 0.0, 1.0
    if rss <= EXACT * tss:
        return "model fits exactly", 0.0, 1.0
    if freedom <= 0:
        return "unreliable test", 0.0, 1.0
    outside = residual(model, x)
    if squared(outside) <= COLLINEAR * squared(residual(np.ones((n, 1)), x)):
        return "collinear", 0.0, 1.0
    larger = np.column_stack([model, x])
    coefficient = np.linalg.lstsq(larger, y, rcond=None)[0][-1]
    rss_x = squared(residual(larger, y))
    if p_value == "likelihood_ratio":
        z = coefficient * np.sqrt(squared(outside) * n / rss)
        return None, float(z), float(np.exp(-(z**2) / 2))
    # of a model that fits exactly nothing but rounding is left, and its share is no number to rely on
    error = np.sqrt(max(rss_x, 1e-15 * rss) / freedom / squared(outside))
    t = coefficient / error
    return None, float(t), float(2 * scipy.stats.t.sf(abs(t), freedom))


def unit(x):
    """Return a column minus its first value, of moderate size: with the intercept, the same model."""
    x = np.asarray(x, np.float64) - x[0]
    return x / np.max(np.abs(x)) if x.any() else x


def residual(model, target):
    """Return what least squares leaves of a target."""
    left = target - model @ np.linalg.lstsq(model, target, rcond=None)[0]
    # once more: what rounding left inside the model
    return left - model @ np.linalg.lstsq(model, left, rcond=None)[0]


def squared(v):
    """Return the squared length."""
    return float(v @ v)
