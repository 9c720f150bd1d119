"""Slow twin of ``streamsieve.columns.online_fdr``: every level is a sum over all discoveries so far.

With g the weights, tau_1, tau_2, ... the tests that found something, and P(i) the number of ticks among the
first i tests, the level of test t is a factor times

    w0 g(1 + P(t - 1)) + (pay - w0) g(1 + P(t - 1) - P(tau_1)) + pay (g(1 + P(t - 1) - P(tau_2)) + ...),

    LORD++           every test ticks;                factor 1,   w0 = alpha / 10, pay = alpha
    D-LORD           tests with p <= 1/2 tick;        factor 1,   at most 1/2, alpha / 2 in place of alpha
    SAFFRON          tests with p > 1/2 tick;         factor 1/2, at most 1/2, w0 = alpha / 2
    ADDIS            tests with 1/4 < p <= 1/2 tick;  factor 1/4, at most 1/4, w0 = alpha / 2
    alpha-investing  tests that find nothing tick;    v / (1 + v) for the sum v, w0 = alpha / 2

and, without a clock, with f the number of discoveries so far and g(i) = i^-1.1 / zeta(1.1),

    LOND             alpha g(t) (f + 1)
    reshaped LOND    alpha g(t) (f + 1) / (1 + 1/2 + ... + 1/t)
    alpha-spending   alpha g(t).

A discrete p-value is valid, but need not be uniformly conservative, as D-LORD and ADDIS assume.  Its test is
never discarded (tau = 1), which makes it one of

    LORD++ in D-LORD    it ticks;               factor 2 (of alpha / 2), at most 1
    SAFFRON in ADDIS    it ticks if p > 1/2;    factor 1/2,              at most 1/2.

With a lag L the outcomes of the last L tests must not matter: they count as ticks, and a discovery at tau
pays from test tau + L + 1 on.  A p-value that is 1/2 or 1/4 but for rounding is taken for it.

A column that cannot be tested (constant, collinear, too few rows) is no test.

Source: Ramdas et al. 2017 (LORD++), 2018 (SAFFRON), Tian and Ramdas 2019 (ADDIS, D-LORD), Javanmard and
Montanari 2015 (LOND and its reshaped form), Aharoni and Rosset 2014 (alpha-investing), Foster and Stine 2008
(alpha-spending), Zrnic, Ramdas, Jordan 2021 (lag).
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import zeta

from tests.reference import alpha_investing, confirmed, fisher_z

HALF, QUARTER = 0.5 * (1 + 1e-9), 0.25 * (1 + 1e-9)


def lord_weight(i):
    """Return the weight that LORD's authors recommend."""
    return 0.07720838 * math.log(max(i, 2)) / (i * math.exp(math.sqrt(math.log(i))))


def power_weight(i):
    """Return the weight that SAFFRON's authors recommend."""
    return 0.4374901658 * i**-1.6


def slow_weight(i):
    """Return the weight for procedures without a clock: a power of nearly -1, scaled to sum to 1."""
    return i**-1.1 / zeta(1.1)


def levels(p_values, rule, alpha=0.05, lag=0, discrete=None):
    discrete = [False] * len(p_values) if discrete is None else discrete
    found, out = [], []
    for t, p in enumerate(p_values, start=1):
        level = RULES[rule](p_values[: t - 1], discrete[:t], found, t, alpha, lag)
        out.append((level, p <= level))
        if p <= level:
            found.append(t)
    return out


def discrete_columns(X, y):
    """Return which columns have few distinct values, as y: at most 32, and at most half as many as rows."""
    few = max(2, min(32, len(y) // 2))
    return [len(set(y.tolist())) <= few and len(set(x[~np.isnan(x)].tolist())) <= few for x in X.T]


def _general(p, discrete, found, t, lag, ticks, weight, w0, pay):
    """Return w0 g(..) + (pay - w0) g(..) + pay (g(..) + ...)."""
    resolved = max(0, t - 1 - lag)

    def clock(i):
        return sum(ticks(v, s + 1 in found, discrete[s]) for s, v in enumerate(p[:i]))

    total = w0 * weight(1 + clock(resolved) + (t - 1 - resolved))
    usable = [tau for tau in found if tau + lag <= t - 1]
    for j, tau in enumerate(usable):
        end = tau + lag
        age = 1 + max(0, clock(resolved) - clock(min(end, resolved))) + min(t - 1 - resolved, t - 1 - end)
        total += (pay - w0 if j == 0 else pay) * weight(age)
    return total


def _lord(p, discrete, found, t, alpha, lag):
    return min(1, _general(p, discrete, found, t, lag, lambda v, r, d: True, lord_weight, alpha / 10, alpha))


def _dlord(p, discrete, found, t, alpha, lag):
    def ticks(v, r, d):
        return d or v <= HALF

    pay = alpha / 2
    total = _general(p, discrete, found, t, lag, ticks, lord_weight, pay / 10, pay)
    return min(1, 2 * total) if discrete[t - 1] else min(0.5, total)


def _saffron(p, discrete, found, t, alpha, lag):
    def ticks(v, r, d):
        return v > HALF

    return min(0.5, 0.5 * _general(p, discrete, found, t, lag, ticks, power_weight, alpha / 2, alpha))


def _addis(p, discrete, found, t, alpha, lag):
    def ticks(v, r, d):
        return v > HALF if d else QUARTER < v <= HALF

    total = _general(p, discrete, found, t, lag, ticks, power_weight, alpha / 2, alpha)
    return min(0.5, 0.5 * total) if discrete[t - 1] else min(0.25, 0.25 * total)


def _alpha_investing(p, discrete, found, t, alpha, lag):
    v = _general(p, discrete, found, t, lag, lambda v, r, d: not r, power_weight, alpha / 2, alpha)
    return v / (1 + v)


def _lond(p, discrete, found, t, alpha, lag):
    return alpha * slow_weight(t) * (1 + sum(tau + lag <= t - 1 for tau in found))


def _lond_any(p, discrete, found, t, alpha, lag):
    return _lond(p, discrete, found, t, alpha, lag) / sum(1 / i for i in range(1, t + 1))


def _alpha_spending(p, discrete, found, t, alpha, lag):
    return alpha * slow_weight(t)


RULES = {
    "lord": _lord, "dlord": _dlord, "saffron": _saffron, "addis": _addis,
    "alpha_investing": _alpha_investing, "lond": _lond, "lond_any": _lond_any,
    "alpha_spending": _alpha_spending,
}  # fmt: skip


class Line(NamedTuple):
    """What happened to a feature, and at which level."""

    feature: int
    event: str
    reason: str
    by: tuple[int, ...]
    statistic: float
    p_value: float
    level: float


def online_fdr(X, y, task, *, fdr="addis", alpha=0.05, lag=0, scope="marginal"):
    """Return the selected columns and every decision, in order."""
    y = np.asarray(y)
    model = np.ones((len(y), 1))
    p_values, discrete, found, selected, lines = [], [], [], [], []
    coarse = [scope == "marginal" and few for few in discrete_columns(X, y)]
    for j in range(X.shape[1]):
        x = alpha_investing.unit(X[:, j])
        if scope == "marginal":
            reason, statistic, p = marginal(x, y, task)
        else:
            reason, statistic, p = conditional(model, x, y, max(alpha, 0.05))
        if reason is not None:
            lines.append(Line(j, "rejected", reason, (), statistic, p, math.nan))
            continue
        t = len(p_values) + 1
        discrete.append(coarse[j])
        level = RULES[fdr](p_values, discrete, found, t, alpha, lag)
        p_values.append(p)
        if p <= level:
            found.append(t)
            selected.append(j)
            model = np.column_stack([model, x])
            lines.append(Line(j, "kept", "relevant", (), statistic, p, level))
        else:
            lines.append(Line(j, "rejected", "irrelevant", (), statistic, p, level))
    return selected, lines


def marginal(x, y, task):
    """Return why a column cannot be tested (or None), its correlation (ratio) with y, and the p-value."""
    if not x.any():
        return "constant", 0.0, 1.0
    if task == "multiclass":
        eta, classes = fisher_z.correlation_ratio(x, y), len(set(y.tolist()))
        if len(y) <= classes:
            return "unreliable test", eta, 1.0
        return None, eta, fisher_z.ratio_p_value(eta, len(y), classes)
    r = fisher_z.correlation(x, y.astype(float))
    return (None if len(y) > 2 else "unreliable test"), r, fisher_z.p_value(r, len(y))


def conditional(model, x, y, looked_at=0.0):
    """Return why a column cannot be tested (or None), the t of its coefficient in the model, and its p.

    Up to the level ``looked_at``, p-values are confirmed by the residuals of column and target.
    """
    y = y.astype(float)
    tss = alpha_investing.squared(alpha_investing.residual(np.ones((len(y), 1)), y))
    reason, t, p = alpha_investing.judge(model, x, y, tss, "t")
    if reason is None and p <= looked_at:
        left = [alpha_investing.residual(model, each) for each in (x, y)]
        left = [np.round(each / np.sqrt(each @ each), 12) for each in left]
        p = confirmed.of_residuals(*left, p, model.shape[1] - 1)
    return reason, t, p
