"""Slow twin of ``streamsieve.learners.rjmcmc``: every R^2 by least squares; and the posterior by enumeration.

Model: y = a + X_S b + e, g-prior on b.  log BF(S : none) = (n-1-q)/2 log(1+g) - (n-1)/2 log(1 + g (1 - R^2)),
prior odds pi / (1 - pi) a column.  A set whose columns are constant or dependent has no likelihood.  E[b | S]
is least squares times g / (1 + g).

Chain: with q columns of p in the model, a birth with probability 1/2 (1 if q = 0, 0 if q is the most), else a
death; the column is drawn evenly; accepted with min{1, BF ratio * prior ratio * [d_{q+1} / (q+1)] / [b_q /
(p-q)]}, and the inverse for a death.  Columns not in the model are drawn from the back part of a list that
begins with those in it.

Source: Green 1995; Siu's review.  The Jacobian is 1, because coefficients are integrated
out.
"""

from itertools import combinations

import numpy as np


def r_squared(X, y, chosen):
    """Share explained by least squares with an intercept; None where the columns are dependent."""
    if not len(chosen):
        return 0.0
    Z = X[:, list(chosen)] - X[:, list(chosen)].mean(axis=0)
    lengths = np.sqrt((Z**2).sum(axis=0))
    if np.any((X[:, list(chosen)] == X[0, list(chosen)]).all(axis=0)):
        return None
    Z /= lengths
    if np.linalg.eigvalsh(Z.T @ Z)[0] < 1e-10:
        return None
    t = y - y.mean()
    rest = t - Z @ np.linalg.lstsq(Z, t, rcond=None)[0]
    return 1 - float(rest @ rest) / float(t @ t)


def log_weight(X, y, chosen, g, pi):
    n, q = len(y), len(chosen)
    r2 = r_squared(X, y, chosen)
    if r2 is None:
        return -np.inf
    evidence = (n - 1 - q) / 2 * np.log1p(g) - (n - 1) / 2 * np.log1p(g * max(1 - r2, 0.0))
    return evidence + q * np.log(pi / (1 - pi))


def default_g(n, p):
    return max(n, p**2)


def enumerate_models(X, y, pi=0.5, g=None):
    """Return the posterior probability of every set of columns, and the mean coefficients."""
    n, p = X.shape
    g = default_g(n, p) if g is None else g
    sets = [s for q in range(min(p, n - 2) + 1) for s in combinations(range(p), q)]
    logs = np.array([log_weight(X, y, s, g, pi) for s in sets])
    shares = np.exp(logs - logs.max())
    shares /= shares.sum()
    mean = np.zeros(p)
    for s, share in zip(sets, shares, strict=True):
        if len(s) and share > 0:
            Z = X[:, list(s)] - X[:, list(s)].mean(axis=0)
            mean[list(s)] += share * g / (1 + g) * np.linalg.lstsq(Z, y - y.mean(), rcond=None)[0]
    return dict(zip(sets, shares, strict=True)), mean


def inclusion(posterior, p):
    return np.array([sum(share for s, share in posterior.items() if j in s) for j in range(p)])


def walk(X, y, order, q, draws, pi=0.5, g=None):
    """Make the moves that rows of draws decide; return the models after each of them, the list and q."""
    n, p = X.shape
    g = default_g(n, p) if g is None else g
    most = min(p, n - 2)
    order, models = list(order), []
    for u_kind, u_column, u_accept in draws:

        def probability(size):
            return 1.0 if size == 0 else 0.0 if size == most else 0.5

        now = log_weight(X, y, order[:q], g, pi)
        if u_kind < probability(q):
            place = q + int(u_column * (p - q))
            new = log_weight(X, y, [*order[:q], order[place]], g, pi)
            proposals = np.log((1 - probability(q + 1)) / (q + 1)) - np.log(probability(q) / (p - q))
            if np.log(u_accept) < new - now + proposals:
                order[place], order[q] = order[q], order[place]
                q += 1
        else:
            place = int(u_column * q)
            new = log_weight(X, y, [*order[:place], *order[place + 1 : q]], g, pi)
            proposals = np.log(probability(q - 1) / (p - q + 1)) - np.log((1 - probability(q)) / q)
            if np.log(u_accept) < new - now + proposals:
                q -= 1
                order[place], order[q] = order[q], order[place]
        models.append(tuple(sorted(order[:q])))
    return models, order, q
