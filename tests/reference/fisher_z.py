"""Slow twin of ``streamsieve.independence.fisher_z``: critical values and p-values by scipy.stats.

    t = r sqrt((n - k - 2) / (1 - r^2)) has Student's distribution, r a (partial) correlation given k columns,
    z = atanh(r) sqrt(n - k - 3) is standard normal in the limit (the papers' way),
    dependent iff |z| >= Phi^-1(1 - alpha / 2),          p = 2 (1 - Phi(|z|)); for t likewise.

Without degrees of freedom nothing is significant.  For C > 2 classes the correlation ratio takes the place
of r, and the F test of one-way analysis of variance that of z:

    eta^2 = sum of squares between classes / total,      F = (eta^2 / (C - 1)) / ((1 - eta^2) / (n - C)).

Given k columns, x and the contrasts between classes are what least squares on the columns leaves of them, and
n is n - k (analysis of covariance).

Source: Fisher (1915).
"""

import numpy as np
import scipy.stats


def shifted(x):
    """Return a column minus its first value: same correlations, and no digits lost to an offset."""
    return np.asarray(x, np.float64) - x[0]


def correlation(x, y):
    x, y = shifted(x), shifted(y)
    if not x.any() or not y.any():
        return 0.0
    x, y = x - x.mean(), y - y.mean()
    return float(x @ y / np.sqrt((x @ x) * (y @ y)))


def critical(alpha, n, conditioned=0, way="t"):
    """Return the smallest significant |r|."""
    freedom = n - conditioned - (3 if way == "z" else 2)
    if freedom <= 0:
        return np.inf
    if way == "z":
        return float(np.tanh(scipy.stats.norm.isf(alpha / 2) / np.sqrt(freedom)))
    t = scipy.stats.t.isf(alpha / 2, freedom)
    return float(t / np.sqrt(freedom + t * t))


def p_value(r, n, conditioned=0, way="t"):
    freedom = n - conditioned - (3 if way == "z" else 2)
    if freedom <= 0:
        return 1.0
    if abs(r) >= 1:
        return 0.0
    if way == "z":
        return float(2 * scipy.stats.norm.sf(abs(np.arctanh(r)) * np.sqrt(freedom)))
    return float(2 * scipy.stats.t.sf(abs(r) * np.sqrt(freedom / ((1 - abs(r)) * (1 + abs(r)))), freedom))


def correlation_ratio(x, labels):
    """Return eta: the root of the share of a column's variance that lies between classes."""
    x, labels = shifted(x), np.asarray(labels)
    total = np.sum((x - x.mean()) ** 2)
    if not x.any():
        return 0.0
    between = 0.0
    for label in np.unique(labels):
        own = x[labels == label]
        between += len(own) * (own.mean() - x.mean()) ** 2
    return float(np.sqrt(between / total))


def ratio_critical(alpha, n, classes):
    """Return the smallest significant correlation ratio."""
    within = n - classes
    if within <= 0:
        return np.inf
    odds = scipy.stats.f.isf(alpha, classes - 1, within) * (classes - 1) / within
    return float(np.sqrt(odds / (1 + odds)))


def ratio_p_value(eta, n, classes):
    within = n - classes
    if eta >= 1:
        return 0.0
    return float(scipy.stats.f.sf(eta**2 / (1 - eta**2) * within / (classes - 1), classes - 1, within))


def unit(X):
    """Return columns without their means, of length 1."""
    X = X - X[0]
    for _ in range(2):  # the second time takes out what rounding left
        X = X - X.mean(axis=0)
    return X / np.linalg.norm(X, axis=0)


def left_over(X, given):
    """Return what least squares on an intercept and the given columns leaves of unit columns."""
    Q = np.linalg.qr(unit(given))[0]
    X = unit(X)
    for _ in range(2):
        X = X - Q @ (Q.T @ X)
    return X


def partial(x, target, given):
    """Return the partial correlation (ratio) of a column with the contrasts of a target, given columns.

    That is the root of the share of what is left of x that the contrasts, as far as the given columns do
    not determine them, explain.  For one contrast it is |r|, and 0 if the given columns determine it.
    """
    x = left_over(x[:, None], given)[:, 0]
    contrasts = left_over(np.linalg.qr(unit(target))[0], given)
    directions, sizes, _ = np.linalg.svd(contrasts, full_matrices=False)
    explained = directions[:, sizes**2 > 1e-10].T @ x
    return float(min(np.sqrt(explained @ explained / (x @ x)), 1.0))
