"""Slow twin of ``streamsieve.offline.lars``: the steps of the paper, with inverses.

1. Center y, standardize X, mu = 0.
2. c = X'(y - mu), C = max |c|, A = {j: |c_j| = C}, s = sign(c_A).
3. G = X_A'X_A * ss', a = (1'G^-1 1)^-1/2, w = a G^-1 1, u = X_A (s * w), v = X'u.
4. gamma = smallest positive of (C - c_j) / (a - v_j) and (C + c_j) / (a + v_j) over j outside; C / a if none.
   (For a feature that has just left, one of the two is 0 but for rounding; by the other it may come again.)
5. mu += gamma u; a lasso stops earlier where a coefficient crosses zero, and drops that feature.

Source: Efron et al. (2004), section 2.
"""

import numpy as np

SMALL = 1e-10


def lars(X, y, wanted, method="lar"):
    """Return the first ``wanted`` features in the order they entered, and their coefficients."""
    X = np.asarray(X, np.float64)
    X = X - X.mean(axis=0)
    X = X / np.linalg.norm(X, axis=0)
    y = np.asarray(y, np.float64) - np.mean(y)
    y = y / np.linalg.norm(y)
    inside, beta, mu, dropped = [], np.zeros(X.shape[1]), np.zeros(len(y)), None
    while True:
        c = X.T @ (y - mu)
        C = max(abs(c))
        if C < SMALL:
            return inside, beta
        if dropped is None:
            outside = [j for j in range(X.shape[1]) if j not in inside]
            inside.append(max(outside, key=lambda j: abs(c[j])))
        s = np.sign(c[inside])
        G = X[:, inside].T @ X[:, inside] * np.outer(s, s)
        ones = np.linalg.inv(G).sum(axis=1)
        a = ones.sum() ** -0.5
        d = s * a * ones
        v = X.T @ (X[:, inside] @ d)
        gamma = C / a
        for j in range(X.shape[1]):
            if j not in inside:
                for step in ((C - c[j]) / (a - v[j]), (C + c[j]) / (a + v[j])):
                    if SMALL < step < gamma:
                        gamma = step
        dropped = None
        if method == "lasso":
            for k, j in enumerate(inside):
                zero = -beta[j] / d[k]
                if SMALL < zero < gamma:
                    gamma, dropped = zero, j
        beta[inside] += gamma * d
        mu = X @ beta
        if dropped is not None:
            beta[dropped] = 0.0
            inside.remove(dropped)
        if len(inside) >= wanted:
            return inside, beta
