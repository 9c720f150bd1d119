"""Slow twin of ``streamsieve.independence.rank_basis``: Legendre polynomials of ranks, and least squares.

A column becomes u = 2 (rank - 1/2) / n - 1 with mid-ranks, and its basis P1(u), P2(u), P3(u).  A column is
tested against a target given others by how much its basis adds to 1 and the bases of the others: the F test
of nested models, or for C classes Wilks' lambda of the C - 1 indicators with Rao's F.  A number as a target
is replaced by its normal scores.  Marginal p-values that the next terms of an
expansion call in doubt are those of random arrangements of the target.

Source: Rao (1951) for F; Mardia (1971) for the moments over arrangements.
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


def doubt(x, y, task, p):
    """Return the relative change of a p-value by third and fourth moments.

    The expansion of the distribution of squared loads over all arrangements of the target, averaged over all
    directions; third and fourth moments as Mardia's measures (1970), by products between rows.
    """
    n, sides = len(y), []
    for columns in (basis(x), responses(y, task)):
        U, size, _ = np.linalg.svd(columns - columns.mean(axis=0), full_matrices=False)
        U = U[:, size > 1e-8 * size[0]]
        g = n * U @ U.T
        own = np.diag(g)
        k = U.shape[1]
        sides.append(
            (k, np.mean(g**3), np.mean(own[:, None] * g * own[None, :]), np.mean(own**2) - k * (k + 2))
        )
    (a, s1, t1, k1), (b, s2, t2, k2) = sides
    d, w = a * b, scipy.stats.chi2.isf(max(p, 1e-300), a * b)
    third = w**3 * (6 * s1 * s2 + 9 * t1 * t2) / (72 * n * d * (d + 2) * (d + 4))
    return third + w**2 * 3 * max(k1 * k2, 0) / (24 * n * d * (d + 2))


def way(x, y, task, p):
    """Return how a p-value is confirmed: "f" (not at all), "fisher", or "draws"."""
    values, n = len(np.unique(y)), len(y)
    if p > 0.25 or len(np.unique(x)) < 2:
        return "f"
    if values == 2 and len(np.unique(x)) == 2:
        return "fisher"
    few = n < 50 and values <= max(2, min(32, n // 2))
    return "draws" if few or doubt(x, y, task, p) > 0.1 else "f"


def arranged(x, y, task, draws, rng):
    """Return the share of random arrangements of the target with a Wilks' lambda as small, and draws."""

    def left(columns):
        return np.linalg.det(np.eye(len(first)) - first @ columns @ (first @ columns).T)

    U, size, _ = np.linalg.svd(basis(x) - basis(x).mean(axis=0), full_matrices=False)
    first = U[:, size > 1e-8 * size[0]].T
    Y = responses(y, task)
    target = np.linalg.qr(Y - Y.mean(axis=0))[0]
    observed = left(target)
    return np.mean([left(target[rng.permutation(len(y))]) <= observed + 1e-9 for _ in range(draws)])


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
