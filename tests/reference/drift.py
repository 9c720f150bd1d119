"""Slow twin of ``streamsieve.sources.drift``: one row after the other, from the formula.

    x_i = nu z_i 1 + eps_i,     y_i = 1[ sum of x_ij over j in support(i) + e_i > 0 ],     nu = 1/2
    support(i) = {s, ..., s + k - 1} modulo p,     s = floor(i / l)

z, eps and e are standard normal.  Source: Wang (2021), equations 3.20-3.22.
"""

import numpy as np


def support(i, p, k, l):  # noqa: E741 - the paper's letter
    """Return the relevant features at row i, in the order in which they will leave."""
    return [(i // l + j) % p for j in range(k)]


def rows(z, eps, e, first, k, l):  # noqa: E741
    """Return features and labels of the rows from number ``first`` on, given their normal draws."""
    X, y = [], []
    for t in range(len(z)):
        x = [0.5 * z[t] + noise for noise in eps[t]]
        total = sum(x[j] for j in support(first + t, len(x), k, l)) + e[t]
        X.append(x)
        y.append(1 if total > 0 else 0)
    return np.array(X), np.array(y)
