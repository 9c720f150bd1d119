"""Blocks of columns in the form that kernels take."""

import numpy as np
import scipy.sparse as sp


def arrays(S):
    """Return pointers, indices and values of a CSR or CSC matrix."""
    return S.indptr.astype(np.int64), S.indices.astype(np.int32), S.data


def pieces(X, sparse):
    """Return pointers, rows (none if dense) and values of columns, and whether they are sparse."""
    n, m = X.shape
    if sparse:
        return *arrays(sp.csc_array(X)), True
    return np.arange(m + 1) * n, np.zeros(0, np.int32), X.T.ravel(), False


def unit(X):
    """Return columns centered and of unit length."""
    X = X - X.mean(axis=0)
    return X / np.linalg.norm(X, axis=0)


def orthogonal(n, m, seed=1):
    """Return m orthonormal columns of mean 0."""
    Z = np.random.default_rng(seed).normal(size=(n, m))
    return np.linalg.qr(Z - Z.mean(axis=0))[0]
