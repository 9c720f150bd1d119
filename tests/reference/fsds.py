"""Slow twin of ``streamsieve.rows.fsds``: the sheet, block by block, with plain decompositions.

Frequent Directions: a sketch B of size rows.  With a block of rows X (features in columns here, rows of the
sheet's matrices are columns there): C = [B, X'], its singular values s and left vectors U, delta = s_size^2
(0 if there are fewer), s <- sqrt(max(s^2 - delta, 0)), B = U diag(s).  The weight of a feature is the
largest of |U_k diag(s_k / (s_k^2 + alpha))| over the first k columns, alpha = 8 s_k.

Centering: C gets the block about its own mean, and one column sqrt(n1 n2 / (n1 + n2)) (mean1 - mean2) for the
rows before (n1) and of the block (n2), so that C C' is the scatter of all rows about their common mean.

Guards: only directions of positive length (beyond rounding) count; if there is none, all weights are 0.

Source: Huang, Yoo, Kasiviswanathan 2015.
"""

import numpy as np


def sketch(X, size, block, center=True):
    """Return B, features x directions, after all rows."""
    B = np.zeros((X.shape[1], 0))
    before = X[:0]
    for low in range(0, len(X), block):
        rows = X[low : low + block]
        if center:
            C = np.column_stack([B, (rows - rows.mean(axis=0)).T])
            if len(before):
                n1, n2 = len(before), len(rows)
                shift = before.mean(axis=0) - rows.mean(axis=0)
                C = np.column_stack([C, np.sqrt(n1 * n2 / (n1 + n2)) * shift])
        else:
            C = np.column_stack([B, rows.T])
        U, s, _ = np.linalg.svd(C, full_matrices=False)
        delta = s[size - 1] ** 2 if len(s) >= size else 0.0
        s = np.sqrt(np.maximum(s**2 - delta, 0.0))[:size]
        B = U[:, :size] * s
        before = X[: low + block]
    return B


def weights(B, rank, penalty=8.0):
    U, s, _ = np.linalg.svd(B, full_matrices=False)
    k = min(rank, int(np.sum(s > 1e-10 * s[0])) if len(s) and s[0] > 0 else 0)
    if k == 0:
        return np.zeros(len(B))
    alpha = penalty * s[k - 1]
    return np.max(np.abs(U[:, :k] * (s[:k] / (s[:k] ** 2 + alpha))), axis=1)
