"""Slow twin of ``streamsieve.columns.grafting``: every fit from the text, one coefficient at a time.

The model minimizes mean loss + sum over columns of level |w| + ridge w^2 / 2, with a free intercept.  Columns
are centered and have variance 1, and so has a numeric target; level and ridge are the l1, divided by the
column's deviation (squared for the ridge) if columns are to count as they are, and the level by the target's.

A column joins if the gradient of the mean loss along it, at a coefficient of 0, exceeds its level by more
than the share ``tol``.  Then the model is fitted over its columns and the newcomer, and columns whose
coefficient is 0 leave.  With more than two classes a column has a coefficient for each class, joins if any of
the gradients exceeds the level, and leaves if all coefficients are 0.

Source: Perkins and Theiler (2003); Perkins, Lacker and Theiler (2003).
"""

import math
from typing import NamedTuple

import numpy as np

from tests.reference.lines import Line

ROUNDING = 1e-10
EXACT = 1e-10


class Column(NamedTuple):
    """A column at mean 0 and variance 1, and what a coefficient costs."""

    values: np.ndarray
    level: float
    ridge: float


def grafting(X, y, *, loss, l1, l1_ratio=1.0, standardize=True, tol=1e-6, sweeps=1):
    """Return the selected columns and every decision, in order; classes are 0, 1, ..."""
    y = np.asarray(y, np.float64)
    unit = 1.0
    if loss == "squared":
        unit = y.std()
        target = (y - y.mean())[:, None] / unit
    elif loss == "logistic":
        target = y[:, None]
    else:
        target = (y[:, None] == np.unique(y)).astype(float)
    offered = {}
    model, W, b = {}, {}, np.zeros(target.shape[1])
    W, b = fit(loss, target, model, W, b)
    lines = []
    for sweep in range(sweeps):
        for j in range(X.shape[1]):
            if j in model:
                continue
            x = X[:, j] - X[0, j]
            if not x.any():
                if sweep == 0:
                    lines.append(Line(j, "rejected", "constant", (), 0.0))
                continue
            x = x - x.mean()
            weight = 1.0 if standardize else 1 / x.std()
            offered[j] = Column(x / x.std(), l1 * l1_ratio * weight / unit, l1 * (1 - l1_ratio) * weight**2)
            gradients = gradient(offered[j], residual(loss, target, model, W, b))
            statistic = gradients[np.argmax(np.abs(gradients))]
            if abs(statistic) <= offered[j].level * (1 + tol) + ROUNDING:
                if sweep == 0:
                    lines.append(Line(j, "rejected", "irrelevant", (), statistic))
                continue
            model[j] = offered[j]
            W[j] = np.zeros(target.shape[1])
            W, b = fit(loss, target, model, W, b)
            rest = residual(loss, target, model, W, b)
            for k in sorted(k for k in model if not W[k].any()):
                left = gradient(model[k], rest)
                lines.append(Line(k, "evicted", "redundant", (j,), left[np.argmax(np.abs(left))]))
                del model[k], W[k]
            lines.append(Line(j, "kept", "relevant", (), statistic))
    return sorted(model), lines


def predictor(target, model, W, b):
    return sum((np.outer(model[k].values, W[k]) for k in model), np.zeros(target.shape)) + b


def probabilities(loss, eta):
    if loss == "logistic":
        return np.exp(-np.logaddexp(0, -eta))
    return np.exp(eta - np.logaddexp.reduce(eta, axis=1, keepdims=True))


def residual(loss, target, model, W, b):
    """Return minus the derivative of the loss by the linear predictor."""
    eta = predictor(target, model, W, b)
    return target - (eta if loss == "squared" else probabilities(loss, eta))


def gradient(column, rest):
    """Return minus the gradient of the mean loss along a column, one number a class."""
    return column.values @ rest / len(rest)


def objective(loss, target, model, W, b):
    eta = predictor(target, model, W, b)
    if loss == "squared":
        each = (target - eta) ** 2 / 2
    elif loss == "logistic":
        each = np.logaddexp(0, eta) - target * eta
    else:
        each = np.logaddexp.reduce(eta, axis=1) - (target * eta).sum(axis=1)
    price = sum(np.sum(model[k].level * np.abs(W[k]) + model[k].ridge * W[k] ** 2 / 2) for k in model)
    return each.sum() / len(target) + price


def fit(loss, target, model, W, b):
    """Newton's method: the minimum of the quadratic through the present point, again and again."""
    n, classes = target.shape
    keys = list(model)
    A = np.column_stack([np.ones(n), *(model[k].values for k in keys)])
    level = np.repeat([0.0, *(model[k].level for k in keys)], classes)
    ridge = np.repeat([0.0, *(model[k].ridge for k in keys)], classes)
    v = np.concatenate([b, *(W[k] for k in keys)])

    def unpack(v):
        parts = v.reshape(-1, classes)
        return dict(zip(keys, parts[1:], strict=True)), parts[0]

    for _ in range(200):
        W, b = unpack(v)
        rest = residual(loss, target, model, W, b)
        slope = (A.T @ rest / n).ravel() - ridge * v
        wrong = np.where(v != 0, np.abs(slope - level * np.sign(v)), np.abs(slope) - level)
        if wrong.max() <= EXACT:
            break
        H = curvature(loss, A, predictor(target, model, W, b)) + np.diag(ridge)
        move = descend(H, slope + H @ v, level, v) - v
        before, length = objective(loss, target, model, W, b), 1.0
        while objective(loss, target, model, *unpack(v + length * move)) > before + 1e-14 and length > 1e-9:
            length /= 2
        v = v + length * move if length < 1 else v + move
        v = np.where((np.abs(v) < 1e-15) & (level > 0), 0.0, v)
    return unpack(v)


def curvature(loss, A, eta):
    """Return the second derivatives of the mean loss by all coefficients, classes side by side."""
    n, classes = eta.shape
    if loss == "squared":
        weights = np.ones((n, 1, 1))
    else:
        p = probabilities(loss, eta)
        outer = p[:, :, None] * p[:, None, :]
        weights = (p * np.eye(classes)[:, None, :]).transpose(1, 0, 2) - outer if classes > 1 else (
            p * (1 - p)
        )[:, :, None]  # fmt: skip
    size = A.shape[1] * classes
    return np.einsum("ij,ik,icd->jckd", A, A, weights).reshape(size, size) / n


def descend(H, c, level, v):
    """Return the minimum of v'Hv/2 - c'v + sum of level |v|, one coefficient at a time."""
    H, c, level, v = H.tolist(), c.tolist(), level.tolist(), v.tolist()
    size = range(len(v))
    rest = [c[i] - sum(H[i][j] * v[j] for j in size) for i in size]
    for _ in range(200_000):
        moved = 0.0
        for i in size:
            if H[i][i] <= 1e-14:
                continue
            z = rest[i] + H[i][i] * v[i]
            new = math.copysign(max(abs(z) - level[i], 0.0), z) / H[i][i]
            change = new - v[i]
            if change != 0.0:
                v[i] = new
                row = H[i]
                rest = [r - change * h for r, h in zip(rest, row, strict=True)]
                moved = max(moved, abs(change) * H[i][i])
        if moved < 1e-12:
            break
    return np.array(v)
