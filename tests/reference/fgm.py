"""Slow twin of ``streamsieve.offline.fgm``: the mixture of groups by a general solver of its dual.

1. alpha = 1 / n.
2. c_j = (sum_i alpha_i y_i x_ij)^2; the new group has the B largest c_j (features standardized).
3. If the root of its sum is at most (1 + tol) times the bound, or the group is there already: stop.
4. Add it and solve: maximize sum alpha - sum alpha^2 / (2 C) - max over groups of |sum alpha_i y_i z_i|^2 / 2
   over alpha >= 0; the bound is the largest |sum alpha_i y_i z_i| of a group.  C is that of the class over n.

Source: Tan, Wang and Tsang (2010), Algorithm 1.
"""

import numpy as np
from scipy.optimize import minimize


def standardized(X):
    """Return columns of mean 0 and variance 1; constant ones are 0."""
    X = np.asarray(X, np.float64)
    X = X - X.mean(axis=0)
    deviation = X.std(axis=0)
    return X / np.where(deviation > 1e-12, deviation, np.inf)


def fgm(X, y, group_size=10, C=1.0, tol=0.05, rounds=30):
    """Return the groups, in order."""
    Z = standardized(X)
    sign = np.where(y == np.unique(y)[1], 1.0, -1.0)
    rows = Z * sign[:, None]
    varies = [j for j in range(Z.shape[1]) if np.any(Z[:, j])]
    alpha, bound, groups = np.full(len(sign), 1 / len(sign)), 0.0, []
    while len(groups) < rounds:
        c = (alpha @ rows) ** 2
        order = sorted(varies, key=lambda j: (-round(c[j] / max(c.max(), 1e-300), 9), j))
        new = order[:group_size]
        size = np.sqrt(c[new].sum())
        if size == 0 or size <= (1 + tol) * bound or set(new) in [set(g) for g in groups]:
            break
        groups.append(new)
        alpha = solve(rows, groups, C / len(rows))
        bound = max(np.linalg.norm(alpha @ rows[:, g]) for g in groups)
    return groups


def solve(rows, groups, C):
    """Return the alpha of largest dual value."""
    n = len(rows)
    pulls = [rows[:, g] @ rows[:, g].T for g in groups]

    def minus_value(v):
        alpha, theta = v[:n], v[n]
        return -(alpha.sum() - alpha @ alpha / (2 * C) - theta)

    def gradient(v):
        return np.append(v[:n] / C - 1, 1.0)

    constraints = [
        {
            "type": "ineq",
            "fun": lambda v, K=K: v[n] - v[:n] @ K @ v[:n] / 2,
            "jac": lambda v, K=K: np.append(-K @ v[:n], 1.0),
        }
        for K in pulls
    ]
    start = np.append(np.full(n, 1e-2), 1.0)
    bounds = [(0, None)] * n + [(0, None)]
    found = minimize(
        minus_value, start, jac=gradient, bounds=bounds, constraints=constraints, method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-14},
    )  # fmt: skip
    return found.x[:n]
