"""Sums of products of all pairs of features; the upper triangle counts, ``products[j, l]`` with j <= l."""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def center(
    X: npt.NDArray[np.floating], weight: FloatArray, place: IntArray, value: FloatArray,
    rows: FloatArray, mean: FloatArray, cross: FloatArray,
) -> None:  # fmt: skip
    """Fill ``mean``, and ``rows`` with sqrt(w) (x - mean); add value (x - mean) to ``cross[place]``.

    Relative to the first row, so that a large offset costs no digits, and a constant column is 0 exactly.
    """
    n, p = X.shape
    first, shift = np.empty(p), np.zeros(p)
    for j in range(p):
        first[j] = X[0, j]
    mass = 0.0
    for i in range(n):
        w = weight[i]
        mass += w
        x = X[i]
        for j in range(p):
            shift[j] += w * (x[j] - first[j])
    for j in range(p):
        shift[j] /= mass
        mean[j] = first[j] + shift[j]
    for i in range(n):
        x = X[i]
        v = value[i]
        root = np.sqrt(weight[i])
        mine = cross[place[i]]
        out = rows[i]
        for j in range(p):
            d = (x[j] - first[j]) - shift[j]
            mine[j] += v * d
            out[j] = root * d


@nb.njit(nogil=True, cache=True)
def scatter(
    indptr: IntArray, indices: npt.NDArray[np.int32], values: FloatArray, weight: FloatArray,
    place: IntArray, value: FloatArray, cross: FloatArray, products: FloatArray,
) -> None:  # fmt: skip
    """Add CSR rows: w x to ``cross[0]``, value x to ``cross[place]``, w x x' to ``products``.

    Indices increase within a row, so that every pair falls into the upper triangle.
    """
    n, many = len(indptr) - 1, len(indices)
    owner, entries = np.zeros(many, np.int32), np.arange(many)
    if n > 1:
        start = np.zeros(products.shape[0] + 1, np.int64)
        for i in range(n):
            for a in range(indptr[i], indptr[i + 1]):
                owner[a] = i
                start[indices[a] + 1] += 1
        for j in range(products.shape[0]):
            start[j + 1] += start[j]
        for a in range(many):
            entries[start[indices[a]]] = a
            start[indices[a]] += 1
    # column after column: all that is written for one of them stays in cache
    for t in range(many):
        a = entries[t]
        i = owner[a]
        j = indices[a]
        x = values[a]
        wx = weight[i] * x
        cross[0, j] += wx
        cross[place[i], j] += value[i] * x
        row = products[j]
        for b in range(a, indptr[i + 1]):
            row[indices[b]] += wx * values[b]


@nb.njit(nogil=True, cache=True)
def move(products: FloatArray, columns: IntArray, by: FloatArray, sums: FloatArray, mass: float) -> None:
    """Let products be about an origin that lies further by ``by``, which is 0 but at ``columns``.

    ``sums`` are those of x about the old origin: (x - e)(x - e)' = xx' - ex' - xe' + ee'.
    """
    p = len(by)
    for j in columns:
        e = by[j]
        for other in range(p):
            if by[other] == 0.0 or other >= j:  # a pair of moved columns is met twice
                low = min(j, other)
                high = max(j, other)
                f = by[other]
                products[low, high] -= e * sums[other] + sums[j] * f - mass * e * f


@nb.njit(nogil=True, cache=True)
def covariance(products: FloatArray, mean: FloatArray, mass: float, out: FloatArray) -> None:
    """Fill both triangles of ``out`` with products / mass - mean mean', tile by tile to stay in cache."""
    p = len(mean)
    for j0 in range(0, p, 32):
        for l0 in range(j0, p, 32):
            for j in range(j0, min(p, j0 + 32)):
                for other in range(max(j, l0), min(p, l0 + 32)):
                    v = products[j, other] / mass - mean[j] * mean[other]
                    out[j, other] = v
                    out[other, j] = v
