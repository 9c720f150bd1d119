"""Products of columns with the vectors of a linear model."""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray


def products(X: Any, low: int, v: FloatArray) -> FloatArray:
    """Return the products of v with columns low, low + 1, ... of a block, dense or CSC."""
    if not hasattr(X, "indptr"):
        return X[:, low:].T @ v  # type: ignore[no-any-return]
    out = np.empty(X.shape[1] - low)
    products_csc(X.indptr, X.indices, X.data, low, v, out)
    return out


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def products_csc(
    indptr: npt.NDArray[np.int32], indices: npt.NDArray[np.int32], data: FloatArray, low: int,
    v: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """Product of v with every column from ``low`` on."""
    for j in range(len(out)):
        s = 0.0
        for t in range(indptr[low + j], indptr[low + j + 1]):
            s += data[t] * v[indices[t]]
        out[j] = s


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def project_one(x: FloatArray, basis: FloatArray, q: int, r: FloatArray) -> tuple[float, float, float]:
    """One column: centred sum of squares, part of it inside the basis, and product with a residual.

    The rows of ``basis`` are orthonormal and, like r, sum to 0, so a shift by the first value changes
    only the centring, which the sum of squares undoes.
    """
    n = x.shape[0]
    x0 = x[0]
    s = 0.0
    ss = 0.0
    c = 0.0
    for i in range(n):
        d = x[i] - x0
        s += d
        ss += d * d
        c += d * r[i]
    inside = 0.0
    for k in range(q):
        e = basis[k]
        a = 0.0
        for i in range(n):
            a += (x[i] - x0) * e[i]
        inside += a * a
    return ss - s * s / n, inside, c
