"""Slow twin of ``streamsieve.independence.rank_basis``: Legendre polynomials of ranks, and least squares.

A column becomes u = 2 (rank - 1/2) / n - 1 with mid-ranks, and its basis P1(u), P2(u), P3(u).  A column is
tested against a target given others by how much its basis adds to 1 and the bases of the others: the F test
of nested models, or for C classes Wilks' lambda of the C - 1 indicators with Rao's F.  A number as a target
is replaced by its normal scores.

Source: FACTORY.md F9, F5.
"""

import numpy as np
import scipy.stats
from numpy.polynomial.legendre import legvander


def basis(x):
    """Return P1, P2, P3 of the mid-ranks, one column each."""
    u = 2 * (scipy.stats.rankdata(x) - 0.5) / len(x) - 1
    return legvander(u, 3)[:, 1:]


def responses(y, task):
    """Return the target as columns: normal scores, or indicators of all classes but the last."""
    if task == "regression":
        return scipy.stats.norm.ppf((scipy.stats.rankdata(y) - 0.5) / len(y))[:, None]
    return np.column_stack([np.asarray(y == c, float) for c in np.unique(y)[:-1]])


def residuals(design, Y):
    return Y - design @ np.linalg.lstsq(design, Y, rcond=1e-10)[0]


def rank(design):
    return int(np.linalg.matrix_rank(design, tol=1e-9 * np.sqrt(len(design))))


def joint_f(x, y, task, given=()):
    """Return (largest squared canonical correlation, p-value, columns added, columns of the target left)."""
    Y, one = responses(y, task), np.ones((len(y), 1))
    small = np.hstack([one, *map(basis, given)])
    large = np.hstack([small, basis(x)])
    # what the others leave of the target, as orthonormal columns; they may have explained some of it
    U, size, _ = np.linalg.svd(residuals(small, np.linalg.qr(Y - Y.mean(axis=0))[0]), full_matrices=False)
    before = U[:, size > 1e-5]
    after = residuals(large, before)
    a, b, N = rank(large) - rank(small), before.shape[1], len(y) - rank(small)
    if a == 0 or b == 0:
        return 0.0, 1.0, 0, b
    squared = np.linalg.eigvalsh(before.T @ before - after.T @ after)
    squared[squared > 1 - 1e-12] = 1  # but for rounding
    left, largest = np.prod(1 - squared), squared.max()
    s = 1.0 if a**2 + b**2 <= 5 else np.sqrt((a**2 * b**2 - 4) / (a**2 + b**2 - 5))
    d1, d2 = a * b, (N - (a + b + 1) / 2) * s - a * b / 2 + 1
    if d2 < 1:
        return float(largest), 1.0, a, b
    if left == 0:
        return float(largest), 0.0, a, b
    F = (left ** (-1 / s) - 1) * d2 / d1
    return float(largest), float(scipy.stats.f.sf(F, d1, d2)), a, b


def strength(squared, n, a, b):
    """Return the adjusted multiple (or largest canonical) correlation."""
    left = n - a - b
    return np.sqrt(max(0.0, 1 - (1 - squared) * (n - 1) / left)) if left > 0 else 0.0


def dependence(x, z):
    """Return the larger of two adjusted multiple correlations: ranks of the one on the basis of the other."""
    found = []
    for one, other in ((x, z), (z, x)):
        design = np.hstack([np.ones((len(x), 1)), basis(one)])
        r = scipy.stats.rankdata(other)[:, None]
        r = r - r.mean()
        left = float(np.sum(residuals(design, r) ** 2) / np.sum(r**2))
        found.append(strength(1 - left, len(x), rank(design) - 1, 1))
    return max(found)
