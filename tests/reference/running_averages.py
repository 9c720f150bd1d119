"""Slow twin of ``streamsieve.rows.running_averages``: the models on the whole data, straight from the text.

All columns and the target are standardized (weighted mean 0, population variance 1); Z are the columns, t is
the target, and averages over rows are weighted.  R = mean of z z', c = mean of z t.

    olsth       the k largest coefficients of min mean (t - Zb)^2 / 2 + ridge |b|^2 / 2
    ofsa        b = 0; for e = 1..N: b -= (Rb + ridge b - c) / (largest eigenvalue of R), on what is left;
                keep the k + (p - k) max(0, (N - 2e) / (2 e mu + N)) largest, rounded down
    olasso      min mean (t - Zb)^2 / 2 + lambda |b|_1, at the first of the lambdas max|c| r, max|c| r^2, ...,
                max|c| r^39 = max|c| / 1000 that has k coefficients (oelnet: with a ridge; oadalasso: with
                lambda divided by each coefficient of olsth; omcp: with the minimax concave penalty).  If none
                has, the columns most correlated with the rest follow, each with less than the least size
    omp         k times: the column most correlated with what least squares on those before leaves of t
    mrmr        k times: largest |c_j| - mean |R_js| over those before
    t_test      the textbook's t of least squares with a constant on the raw columns

Source: Sun, Wang, Zhu, Barbu, arXiv:1803.11521.
"""

import numpy as np
import scipy.stats

RATIO = 1e-3 ** (1 / 39)


def standardize(X, y, weight=None):
    """Return Z, t and weights that sum to 1."""
    w = np.ones(len(y)) if weight is None else np.asarray(weight, float)
    w = w / w.sum()
    Z, t = X - w @ X, y - w @ y
    return Z / np.sqrt(w @ Z**2), t / np.sqrt(w @ t**2), w


def olsth(Z, t, w, ridge=1e-3):
    """Least squares on the rows, with one more row for every column's ridge."""
    p = Z.shape[1]
    rows = np.vstack([Z * np.sqrt(w)[:, None], np.sqrt(ridge) * np.eye(p)])
    return np.linalg.lstsq(rows, np.concatenate([t * np.sqrt(w), np.zeros(p)]), rcond=None)[0]


def ofsa(Z, t, w, k, steps=300, mu=10.0, ridge=1e-3):
    p = Z.shape[1]
    rate = 1 / np.linalg.svd(Z * np.sqrt(w)[:, None], compute_uv=False)[0] ** 2
    beta, left = np.zeros(p), list(range(p))
    for e in range(1, steps + 1):
        gradient = Z.T @ (w * (Z @ beta - t)) + ridge * beta
        beta[left] -= rate * gradient[left]
        many = int(k + (p - k) * max(0.0, (steps - 2 * e) / (2 * e * mu + steps)))
        left = sorted(sorted(left, key=lambda j: (-abs(beta[j]), j))[:many])
        gone = sorted(set(range(p)) - set(left))
        beta[gone] = 0.0
    return beta


def penalized(Z, t, w, k, factors=None, ridge=0.0, gamma=np.inf):
    """Return coefficients and lambda.

    A concave penalty has several minima: as in the library, coordinates are taken in order of |c|, all of
    them once, then those that are not 0 until they rest.
    """
    p = Z.shape[1]
    factors = np.ones(p) if factors is None else factors
    c = Z.T @ (w * t)
    order = sorted(range(p), key=lambda j: (-abs(c[j]), j))
    beta, level = np.zeros(p), max(abs(c) / factors)
    for _ in range(39):
        level *= RATIO
        _descend(Z, t, w, beta, order, level * factors, ridge, gamma)
        if np.count_nonzero(beta) >= k:
            break
    return beta, level


def _descend(Z, t, w, beta, order, levels, ridge, gamma, tolerance=1e-13):
    while True:
        if _sweep(Z, t, w, beta, order, levels, ridge, gamma) <= tolerance:
            return
        some = [j for j in order if beta[j]]
        for _ in range(5000):
            if _sweep(Z, t, w, beta, some, levels, ridge, gamma) <= tolerance:
                break


def _sweep(Z, t, w, beta, columns, levels, ridge, gamma):
    moved = 0.0
    for j in columns:
        z = Z[:, j] @ (w * (t - Z @ beta)) + beta[j]
        level = levels[j]
        if abs(z) <= level:
            new = 0.0
        elif abs(z) <= gamma * level:
            new = np.sign(z) * (abs(z) - level) / (1 + ridge - 1 / gamma)
        else:
            new = z / (1 + ridge)
        moved, beta[j] = max(moved, abs(new - beta[j])), new
    return moved


def omp(Z, t, w, k):
    """Return columns in order of entry, and their correlations with the rest then."""
    chosen, sizes, rest = [], [], t
    root = np.sqrt(w)
    for _ in range(k):
        found = np.abs(Z.T @ (w * rest))
        found[chosen] = -1
        chosen.append(int(np.argmax(found)))
        sizes.append(found[chosen[-1]])
        some = Z[:, chosen]
        rest = t - some @ np.linalg.lstsq(some * root[:, None], t * root, rcond=None)[0]
    return chosen, sizes


def mrmr(Z, t, w, k):
    """Return columns in order of entry."""
    chosen = []
    for _ in range(k):
        merit = {}
        for j in range(Z.shape[1]):
            if j not in chosen:
                redundancy = [abs(Z[:, j] @ (w * Z[:, s])) for s in chosen]
                merit[j] = abs(Z[:, j] @ (w * t)) - (np.mean(redundancy) if chosen else 0.0)
        chosen.append(max(merit, key=lambda j: (merit[j], -j)))
    return chosen


def t_tests(X, y):
    """Return |t| and two-sided p-values of least squares with a constant."""
    n, p = X.shape
    A = np.c_[np.ones(n), X]
    beta = np.linalg.lstsq(A, y, rcond=None)[0]
    freedom = n - p - 1
    variance = np.sum((y - A @ beta) ** 2) / freedom
    t = beta / np.sqrt(variance * np.diag(np.linalg.inv(A.T @ A)))
    return np.abs(t[1:]), 2 * scipy.stats.t.sf(np.abs(t[1:]), freedom)


def coefficients(model, X, y, k, weight=None, ridge=1e-3, gamma=3.0, steps=300, mu=10.0):
    """Return the standardized coefficients of a model that has some."""
    Z, t, w = standardize(X, y, weight)
    if model == "ols_threshold":
        return olsth(Z, t, w, ridge)
    if model == "fsa":
        return ofsa(Z, t, w, k, steps, mu, ridge)
    how = {
        "lasso": {},
        "mcp": {"gamma": gamma},
        "elastic_net": {"ridge": ridge},
        "adaptive_lasso": {"factors": 1 / np.abs(olsth(Z, t, w, ridge))},
    }[model]
    beta, level = penalized(Z, t, w, k, **how)
    outside, rest = beta == 0, np.abs(Z.T @ (w * (t - Z @ beta))) / how.get("factors", 1.0)
    if np.count_nonzero(beta) < k:
        beta[outside] = (rest / level * np.abs(beta[~outside]).min())[outside]
    return beta
