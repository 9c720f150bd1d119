"""Slow twin of ``streamsieve.independence.dependent_rows``: one column at a time, by least squares and loops.

Rows in time order.  Of a column x and a target y, what least squares on an intercept and k given columns
leaves: residuals with autocorrelations rho(j) = sum_i e_i e_(i+j) / sum_i e_i^2, and

    n / n_eff = 1 + 2 sum_(j=1..lag) (1 - j / n) rho_x(j) rho_y(j),         3 <= n_eff <= n,
    t = r sqrt(nu / (1 - r^2)),                                             nu = n_eff - 2 - k.

For C > 2 classes y is C - 1 orthonormal contrasts, rho_x(j) rho_y(j) is a matrix, n / n_eff its largest
eigenvalue, and the test F with C - 1 and n_eff - C - k degrees of freedom.

Groups of rows within which y varies.  The slope b = sum x y / S of the residuals, with S = sum x^2, has the
cluster-robust variance

    V = sum_g (u_g^2 / (1 - s_g / S - h_g)) / S^2,    u_g = sum_(i in g) x_i (y_i - b x_i),
    s_g = sum_(i in g) x_i^2,                         nu = S^2 / sum_g s_g^2 - 1 - k,

where h_g is the leverage of the group's rows in a regression on the intercept and the given columns.  For
several contrasts u_g is a vector and b' V^-1 b (nu - c + 1) / (nu c) is F with c and nu - c + 1.

Sources: Bartlett (1935), Bayley and Hammersley (1946), Dutilleul (1993); Bell and McCaffrey (2002).
"""

import numpy as np
import scipy.stats


def contrasts(y, labels):
    """Return the target as columns: one, or orthonormal ones for more than two classes."""
    y = np.asarray(y)
    if not labels:
        return y[:, None].astype(float)
    indicators = np.array([y == c for c in np.unique(y)[:-1]]).T.astype(float)
    return np.linalg.qr(indicators - indicators.mean(axis=0))[0]


def residuals(columns, given):
    design = np.column_stack([np.ones(len(columns)), given])
    return columns - design @ np.linalg.lstsq(design, columns, rcond=None)[0]


def effective_rows(x, targets, lag):
    """Return the effective number of rows of residuals x and orthonormal columns."""
    n, total = len(x), np.eye(targets.shape[1])
    for j in range(1, lag + 1):
        rho = sum(x[i] * x[i + j] for i in range(n - j)) / (x @ x)
        cross = sum(np.outer(targets[i], targets[i + j]) for i in range(n - j))
        total = total + 2 * (1 - j / n) * rho * (cross + cross.T) / 2
    return float(np.clip(n / max(np.linalg.eigvalsh(total)[-1], 1e-300), 3, n)) if n > 3 else float(n)


def serial(x, y, given, lag, *, labels=False):
    """Return (|r|, p-value) over rows in time order; p is NaN without degrees of freedom."""
    given = np.asarray(given, float).reshape(len(x), -1)
    x, k = residuals(np.asarray(x, float), given), given.shape[1]
    targets = np.linalg.qr(residuals(contrasts(y, labels), given))[0]
    c, n_eff = targets.shape[1], effective_rows(x, targets, lag)
    share = float(((x @ targets) ** 2).sum() / (x @ x))
    nu = n_eff - 1 - c - k
    if nu <= 0:
        return np.sqrt(share), np.nan
    return np.sqrt(share), scipy.stats.f.sf(share / c / ((1 - share) / nu), c, nu)


def clustered(x, y, given, groups, *, labels=False):
    """Return (|r|, p-value) over groups of rows; p is NaN if they do not suffice."""
    given = np.asarray(given, float).reshape(len(x), -1)
    k, n = given.shape[1], len(x)
    design = np.column_stack([np.ones(n), given])
    leverage = (np.linalg.qr(design)[0] ** 2).sum(axis=1)
    x = residuals(np.asarray(x, float), given)
    Y = residuals(contrasts(y, labels), given)
    if labels:
        Y = np.linalg.qr(Y)[0]
    S, b = x @ x, x @ Y / (x @ x)
    e, c = Y - np.outer(x, b), Y.shape[1]
    V, squares = np.zeros((c, c)), 0.0
    for g in np.unique(groups):
        rows = groups == g
        s = x[rows] @ x[rows]
        room = 1 - s / S - leverage[rows].sum()
        if room <= 0:
            return np.nan, np.nan
        u = x[rows] @ e[rows]
        V, squares = V + np.outer(u, u) / room / S**2, squares + s**2
    nu = S**2 / squares - 1 - k
    r = np.sqrt((b**2).sum() * S / (Y**2).sum() * c)
    if nu - c + 1 <= 0:
        return r, np.nan
    F = b @ np.linalg.solve(V, b) * (nu - c + 1) / (nu * c)
    return r, scipy.stats.f.sf(F, c, nu - c + 1)


def group_means(X, groups):
    return np.array([X[groups == g].mean(axis=0) for g in np.unique(groups)])
