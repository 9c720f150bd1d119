"""The degenerate Gaussian test, from its definition: regressions of indicators, Wilks' lambda, Rao's F.

Nominal columns are the indicators of all levels but one, others themselves, the target its class indicators
or itself.  E are the residual products given Z and x, T those given Z alone, of the target; lambda is the
ratio of their determinants.  Residuals of the wider regression are computed, not products of correlations.

Source: Andrews, Ramsey, Cooper (2019); Rao (1951).
"""

import math

import numpy as np
from scipy.stats import f


def indicators(x, nominal):
    """Return a column as the numbers that stand for it."""
    x = np.asarray(x, float)
    return (x[:, None] == np.unique(x)[None, :-1]).astype(float) if nominal else x[:, None]


def residual(Y, Z):
    """Return what a regression on Z and a constant leaves of Y."""
    Z = np.column_stack([np.ones(len(Y)), *Z])
    return Y - Z @ np.linalg.lstsq(Z, Y, rcond=None)[0]


def rank(n, parts):
    """Return the rank of some columns over n rows and a constant."""
    return np.linalg.matrix_rank(np.column_stack([np.ones(n), *parts]))


def degenerate_gaussian(x, y, Z, *, nominal_x, nominal_y, nominal_z):
    """Return sqrt(1 - lambda) and the p-value of x and y given the columns of Z."""
    Z = [indicators(z, nominal) for z, nominal in zip(Z, nominal_z, strict=True)]
    X, Y = indicators(x, nominal_x), indicators(y, nominal_y)
    total, error = residual(Y, Z), residual(Y, [*Z, X])
    wilks = np.linalg.det(error.T @ error) / np.linalg.det(total.T @ total)
    k = rank(len(y), Z) - 1
    p, q = (rank(len(y), [*Z, part]) - k - 1 for part in (X, Y))  # a level may follow from those of Z
    s = math.sqrt((p * p * q * q - 4) / (p * p + q * q - 5)) if p * p + q * q > 5 else 1.0
    m = len(y) - 1 - k - (p + q + 1) / 2
    low, high = p * q, m * s - p * q / 2 + 1
    root = wilks ** (1 / s)
    return math.sqrt(max(1 - wilks, 0)), f.sf((1 - root) / root * high / low, low, high)
