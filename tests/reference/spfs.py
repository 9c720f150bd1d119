"""Slow twin of ``streamsieve.offline.spfs``: least squares and roots, feature by feature.

1. K: 1 / n_c for two rows of class c, or y y', or exp(-gamma |x - y|^2); centered on both sides.
2. K = G S G' over its leading eigenvalues, Y = G S^1/2.
3. Standardize the features.  R = Y.  The first is the one of largest |x_j'R|.
4. "omp": R = Y minus its regression on those inside; the next has the largest |x_j'R|.
   "lars": with F the fit so far and B the regression on those inside, go from F towards B until a feature
   outside has |x_j'R| as large as those inside, R = Y - F; it enters.

A feature of which those inside leave less than 1e-10 of its variance is passed over.  Equal up to 1e-10:
the first feature.

Source: Zhao, Wang, Liu and Ye (2013); Simila and Tikka (2005).
"""

import numpy as np

TIE = 1e-10


def responses(y, task):
    """Return Y of the label kernel, or of the product of centered numbers."""
    y = np.asarray(y)
    if task == "regression":
        return leading(np.outer(y - y.mean(), y - y.mean()) / np.sum((y - y.mean()) ** 2), 1)
    K = np.array([[1 / np.sum(y == a) if a == b else 0.0 for b in y] for a in y])
    return leading(K, len(np.unique(y)) - 1)


def leading(K, rank):
    """Return the leading eigenvectors of a centered kernel, times the roots of the eigenvalues."""
    center = np.eye(len(K)) - 1 / len(K)
    values, vectors = np.linalg.eigh(center @ K @ center)
    return vectors[:, -rank:] * np.sqrt(values[-rank:].clip(0))


def spfs(X, Y, wanted, step="lars"):
    """Return the features in the order they entered, and the share of Y that they explain together."""
    X = np.asarray(X, np.float64)
    X = X - X.mean(axis=0)
    varies = [j for j in range(X.shape[1]) if np.ptp(X[:, j]) > 0]
    X[:, varies] /= np.linalg.norm(X[:, varies], axis=0)
    size = np.linalg.norm(Y)
    fit, inside, explained = np.zeros_like(Y), [], []
    while len(inside) < wanted:
        outside = [j for j in varies if np.sum(left(X[:, [j]], X[:, inside]) ** 2) > TIE]
        if not outside:
            break
        R = Y - fit
        if step == "omp" or not inside:
            pull = [np.linalg.norm(X[:, j] @ R) for j in outside]
            best = max(pull)
            if best <= TIE * size:
                break
            at = next(j for j, p in zip(outside, pull, strict=True) if p >= best - TIE * size)
        else:
            B = Y - left(Y, X[:, inside])
            most = np.mean([np.linalg.norm(X[:, j] @ R) for j in inside])
            ways = [way(X[:, j] @ R, X[:, j] @ (B - fit), most) for j in outside]
            if min(ways) >= 1 - TIE:
                break
            at = next(j for j, g in zip(outside, ways, strict=True) if g <= min(ways) + TIE)
            fit = fit + ways[outside.index(at)] * (B - fit)
        inside.append(at)
        B = Y - left(Y, X[:, inside])
        if step == "omp":
            fit = B
        explained.append((np.linalg.norm(B) / size) ** 2)
    return inside, explained


def left(Y, X):
    """Return what a regression on the columns of X leaves of Y."""
    return Y - X @ np.linalg.lstsq(X, Y)[0] if X.shape[1] else Y


def way(pull, towards, most):
    """Return the smallest g in 0..1 with |pull - g towards| = (1 - g) most."""
    if pull @ pull > most**2 * (1 - TIE):
        return 0.0
    roots = np.roots([towards @ towards - most**2, -2 * (pull @ towards - most**2), pull @ pull - most**2])
    real = [g.real for g in roots if abs(g.imag) < 1e-9 and 0 <= g.real <= 1]
    return min(real, default=1.0)
