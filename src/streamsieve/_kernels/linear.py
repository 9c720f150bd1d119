"""Products of columns with the vectors of a linear model.

Not by BLAS: its threads take milliseconds to agree on what one core does in a fraction of one.
"""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def products_rows(X: FloatArray, v: FloatArray, out: FloatArray) -> None:
    """Product of v with every column of a block stored row by row, four rows at a time."""
    n, m = X.shape
    i = 0
    while i + 4 <= n:
        r0, r1, r2, r3 = X[i], X[i + 1], X[i + 2], X[i + 3]
        v0, v1, v2, v3 = v[i], v[i + 1], v[i + 2], v[i + 3]
        for j in range(m):
            out[j] += (r0[j] * v0 + r1[j] * v1) + (r2[j] * v2 + r3[j] * v3)
        i += 4
    while i < n:
        row = X[i]
        for j in range(m):
            out[j] += row[j] * v[i]
        i += 1


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def products_columns(XT: FloatArray, v: FloatArray, out: FloatArray) -> None:
    """Product of v with every column of a block stored column by column (XT: one column a row)."""
    for j in range(len(out)):
        column = XT[j]
        s = 0.0
        for i in range(len(v)):
            s += column[i] * v[i]
        out[j] = s


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
    """One column: centered sum of squares, part of it inside the basis, and product with a residual.

    The rows of ``basis`` are orthonormal and, like r, sum to 0, so a shift by the first value changes
    only the centering, which the sum of squares undoes.
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
