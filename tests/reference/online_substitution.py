"""Slow twin of ``streamsieve.columns.online_substitution``: one column at a time, straight from the text.

Columns have mean 0 and variance 1, and so has a numeric target; the loss is the mean over rows.  With the
residual r at the present coefficients, column j gets the coefficient eta times the mean of x_j r (four times
that for the logistic loss, whose curvature is at most a quarter).  Once in m arrivals all coefficients in the
model take such a step, one after the other, before the newcomer is placed; for the logistic loss the
intercept, which has its own step of four times the mean residual, goes along with each.  When a round moved
nothing by more than 1e-9, there is no other until a column has entered.

The newcomer enters if there is room, or if its coefficient is larger than the smallest, whose column leaves
(of equals, up to 1e-9 of their size, the last to arrive).  A coefficient of 1e-9 is 0 and does not enter.
Constant columns do not count.

The paper steps all coefficients by eta / m at every arrival: see the class for why this is done here.  One
survey omits the minus before the gradient.

Source: Yang, Fujimaki, Kusumura and Liu (2016).
"""

import math

import numpy as np

from tests.reference.lines import Line

LEAST = TIE = 1e-9


class Model:
    """Columns, their coefficients, and what the loss makes of them."""

    def __init__(self, y, loss, step):
        self.loss, self.step = loss, step
        self.target, self.level, self.curvature = y, 0.0, 0.25
        if loss == "squared":
            self.target, self.curvature = (y - y.mean()) / y.std(), 1.0
        else:
            self.level = math.log(y.mean() / (1 - y.mean()))
        self.columns, self.theta = {}, {}

    def residual(self):
        """Return minus the derivative of the loss by the linear predictor."""
        eta = np.full(len(self.target), self.level)
        for k, x in self.columns.items():
            eta += self.theta[k] * x
        return self.target - (eta if self.loss == "squared" else 1 / (1 + np.exp(-eta)))

    def along(self, x):
        """Return the step that lowers the loss along a column."""
        return self.step * np.mean(x * self.residual()) / self.curvature

    def round(self):
        """Let all coefficients take a step; return the longest."""
        longest = 0.0
        for k, x in self.columns.items():
            by, lift = self.along(x), self.along(1.0) if self.loss == "logistic" else 0.0
            self.theta[k] += by
            self.level += lift
            longest = max(longest, abs(by), abs(lift))
        return longest

    def replace(self, leaver, j, x, new):
        """Put a column in the place of another, whose turn it inherits, or behind all of them."""
        if leaver is not None:
            self.columns = {(j if k == leaver else k): v for k, v in self.columns.items()}
            del self.theta[leaver]
        self.columns[j], self.theta[j] = x, new


def online_substitution(X, y, *, loss, k, refresh, step_size=1.0, sweeps=1):
    """Return the selected columns and every decision, in order; two classes are 0 and 1."""
    model = Model(np.asarray(y, np.float64), loss, step_size)
    waited, settled = 0, False
    lines = []
    for sweep, j in ((sweep, j) for sweep in range(sweeps) for j in range(X.shape[1])):
        x = X[:, j] - X[0, j]
        if j in model.columns:
            continue
        if not x.any():
            lines += [Line(j, "rejected", "constant", (), 0.0)] if sweep == 0 else []
            continue
        x = x - x.mean()
        x = x / x.std()
        new = model.along(x)
        waited += 1
        if waited == refresh:
            waited = 0
            settled = settled or not model.columns or model.round() <= LEAST
        reason, leaver = verdict(model, new, k)
        if reason != "relevant":
            lines += [Line(j, "rejected", reason, (), new)] if sweep == 0 else []
            continue
        if leaver is not None:
            lines.append(Line(leaver, "evicted", "outscored", (j,), model.theta[leaver]))
        model.replace(leaver, j, x, new)
        settled = False
        lines.append(Line(j, "kept", "relevant", (), new))
    return sorted(model.columns), lines


def verdict(model, new, k):
    """Return what becomes of a newcomer, and who leaves for it."""
    if abs(new) <= LEAST:
        return "irrelevant", None
    if len(model.columns) < k:
        return "relevant", None
    least = min(map(abs, model.theta.values())) * (1 + TIE)
    leaver = max(i for i, theta in model.theta.items() if abs(theta) <= least)
    return ("relevant", leaver) if abs(new) > least else ("outscored", None)
