"""Slow twin of ``streamsieve.columns.alpha_investing``: one fit a column.

Wealth w, tests i = 0, model = intercept.  For each new x: i += 1, level a = w / (2 i), and p is the p-value
of x's coefficient in the model with x added.  If p < a, x joins and w += payout - a, else w -= a.

Linear model:

    "t":                 t = b / se(b), n - q - 2 degrees of freedom with q columns in the model before x
    "likelihood_ratio":  p = exp(-(RSS - RSS_x) / (2 RSS / n)); the intercept counts as the first test

p = 1 and a reason of its own, in this order: x is constant; the model fits y exactly (RSS <= 1e-10 TSS);
no degrees of freedom; x is collinear (at most 1e-10 of its variance is outside the model).

Logistic model, with probabilities p_i, weights w_i = p_i (1 - p_i), and u what weighted least squares on the
model's columns leaves of x: the score test has z = sum u_i (y_i - p_i) / sqrt(sum w_i u_i^2), standard normal
("t"), or p = exp(-z^2 / 2).  The model minimizes the negative log-likelihood plus 5e-7 times the variance of
its log-odds. It fits exactly if all log-odds lie on the side of their class, by more than 0.01; x is
collinear if sum w_i u_i^2 is at most 1e-10 of its centered sum of squares.

Source: Zhou, Foster, Stine, Ungar (2006).
"""

from typing import NamedTuple

import numpy as np
import scipy.stats
from scipy.special import expit

EXACT = COLLINEAR = 1e-10
RIDGE, MARGIN = 1e-6, 0.01


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


def alpha_investing(X, y, *, wealth=0.5, payout=0.5, test_statistic="t", model="linear"):
    """Return the selected columns and every decision, in order; y holds numbers, two classes as 0 and 1."""
    y = np.asarray(y, np.float64)
    n = len(y)
    columns = np.ones((n, 1))
    tss = squared(residual(columns, y))
    odds = log_odds(columns, y) if model == "logistic" else None
    tests = 1 if test_statistic == "likelihood_ratio" else 0
    selected, lines = [], []
    for j in range(X.shape[1]):
        x = unit(X[:, j])
        tests += 1
        level = wealth / (2 * tests)
        wealth -= level
        if model == "linear":
            reason, statistic, p = judge(columns, x, y, tss, test_statistic)
        else:
            reason, statistic, p = judge_logistic(columns, x, y, odds, test_statistic)
        if reason is None and p < level:
            wealth += payout
            columns = np.column_stack([columns, x])
            odds = log_odds(columns, y) if model == "logistic" else odds
            selected.append(j)
            lines.append(Line(j, "kept", "relevant", (), statistic, p, level, wealth))
        else:
            lines.append(Line(j, "rejected", reason or "irrelevant", (), statistic, p, level, wealth))
    return selected, lines


def judge(model, x, y, tss, test_statistic):
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
    if test_statistic == "likelihood_ratio":
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
    left = target - model @ np.linalg.lstsq(model, target, rcond=None)[0]
    # once more: what rounding left inside the model
    return left - model @ np.linalg.lstsq(model, left, rcond=None)[0]


def squared(v):
    return float(v @ v)


def judge_logistic(model, x, y, odds, test_statistic):
    """Return why x cannot be tested (or None), and its statistic and p-value."""
    if not x.any():
        return "constant", 0.0, 1.0
    if np.all(np.where(y == 1, odds, -odds) > MARGIN):
        return "model fits exactly", 0.0, 1.0
    right, wrong = expit(odds), expit(-odds)
    weight = right * wrong
    root = np.sqrt(weight)
    # weighted least squares, every column of the model at a size of its own
    columns = root[:, None] * model
    columns = columns / np.linalg.norm(columns, axis=0)
    outside = residual(columns, root * x)
    variance = squared(outside)
    if variance <= COLLINEAR * squared(x - x.mean()):
        return "collinear", 0.0, 1.0
    score = np.where(y == 1, wrong, -right) / root
    z = float(outside @ score) / np.sqrt(variance)
    p = np.exp(-(z**2) / 2) if test_statistic == "likelihood_ratio" else 2 * scipy.stats.norm.sf(abs(z))
    return None, float(z), float(p)


def log_odds(model, y):
    """Return the log-odds of the fitted model, by Newton's method with steps halved until they go down."""
    n, width = model.shape
    centered = model - model.mean(axis=0)
    penalty = RIDGE * centered.T @ centered / n

    def loss(b):
        return np.logaddexp(0, np.where(y == 1, -1, 1) * (model @ b)).sum() + b @ penalty @ b / 2

    b = np.zeros(width)
    for _ in range(200):
        probability = expit(model @ b)
        slope = model.T @ (y - probability) - penalty @ b
        curvature = model.T @ ((probability * (1 - probability))[:, None] * model) + penalty
        step = np.linalg.lstsq(curvature, slope, rcond=1e-14)[0]
        while loss(b + step) > loss(b) and np.abs(step).max() > 1e-9:
            step = step / 2
        b = b + step
        if np.abs(model @ step).max() < 1e-12:
            break
    return model @ b
