"""Slow twin of ``streamsieve.offline.spec``: the graph as a matrix, and all its eigenvectors.

W: exp(-gamma |x - y|^2), or 1 / n_c for two rows of class c and 0 otherwise.  D: row sums.
L = D^-1/2 (D - W) D^-1/2, eigenvalues lambda_1 <= lambda_2 <= ..., eigenvectors xi; f = D^1/2 x / |D^1/2 x|.

    phi1 = f'L f,   phi2 = phi1 / (1 - (f'xi_1)^2),   phi3 = sum_{i=2..k} (2 - lambda_i) (f'xi_i)^2.

Larger is better here, so phi1 and phi2 are negated.  A constant feature has the worst: -2, -2 and 0.

Errata: scikit-feature sorts all three the wrong way round.  Siu's review prints the unnormalized ratio, which
is phi1.

Source: Zhao and Liu (2007).
"""

import numpy as np


def similarity(X, gamma=None):
    """Return the Gaussian kernel of all pairs of rows."""
    X = np.asarray(X, np.float64)
    apart = np.array([[np.sum((a - b) ** 2) for b in X] for a in X])
    if gamma is None:
        gamma = 1 / apart.mean() if apart.any() else 1.0
    return np.exp(-gamma * apart)


def labelled(y):
    """Return 1 / n_c for rows of one class."""
    y = np.asarray(y)
    return np.array([[1 / np.sum(y == a) if a == b else 0.0 for b in y] for a in y])


def spec(X, W, variant, k=None):
    degree = W.sum(axis=1)
    L = np.diag(degree) - W
    L = L / np.sqrt(np.outer(degree, degree))
    first = np.sqrt(degree) / np.sqrt(degree.sum())  # xi_1, with eigenvalue 0
    # the others are the eigenvectors of what is left, where the first one has the eigenvalue 3
    values, vectors = np.linalg.eigh(L + 3 * np.outer(first, first))
    scores = []
    for x in np.asarray(X, np.float64).T:
        if np.all(x == x[0]):
            scores.append(0.0 if variant == 3 else -2.0)
            continue
        f = np.sqrt(degree) * x
        f = f / np.linalg.norm(f)
        phi1 = f @ L @ f
        if variant == 1:
            scores.append(-phi1)
        elif variant == 2:
            scores.append(-phi1 / (1 - (f @ first) ** 2))
        else:
            chosen = range(len(values) - 1 if k is None else k - 1)
            scores.append(sum((2 - values[i]) * (f @ vectors[:, i]) ** 2 for i in chosen))
    return np.array(scores)
