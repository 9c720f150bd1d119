"""Gradient steps of a probit model whose weights are normal variables, over dense rows and CSR rows.

Feature j has a weight of mean m_j and standard deviation s_j.  A row x with y = -1 or +1 is classified
rightly with probability Phi(z), z = y m.x / r, r = sqrt(1 + sum x^2 s^2).  A step goes up the gradient of the
mean of log Phi(z) over some rows: with q = phi(z) / Phi(z),

    d/dm_j = q y x_j / r        d/ds_j = -q y (m.x) x_j^2 s_j / r^3.

Both are a number of the row times a power of x_j, so a step goes twice over the rows: rows get their numbers
(``_judge``), then features their sums (``_gather``), block by block, so that dense rows are in L1 the second
time.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray

#: Means and deviations are held within this: rows far from any scale would carry them out of all numbers.
FURTHEST = 1e30


@nb.njit(nogil=True, cache=True)
def ratio(z: float) -> float:
    """Return phi(z) / Phi(z), also where both are 0 in floating point."""
    if z > -8.0:
        return math.sqrt(2.0 / math.pi) * math.exp(-0.5 * z * z) / math.erfc(-z * math.sqrt(0.5))
    # Laplace's continued fraction, -z + 1 / (-z + 2 / (-z + ...)); from 8 on, 24 terms give all digits
    tail = -z
    for k in range(24, 0, -1):
        tail = -z + k / tail
    return tail


@nb.njit(nogil=True, cache=True)
def _moved(old: float, change: float, least: float) -> float:
    """Add a change and stay within bounds; one that is no number, of values beyond any scale, is left out."""
    new = old + change
    new = old if new != new else new  # noqa: PLR0124 - NaN is not itself
    new = least if new < least else new
    return FURTHEST if new > FURTHEST else new


# "reassoc" and "contract" let sums vectorize and keep the meaning of NaN and inf
@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _judge(
    X: FloatArray, signs: FloatArray, mean: FloatArray, spread: FloatArray,
    pull: FloatArray, squeeze: FloatArray, low: int, high: int,
) -> None:  # fmt: skip
    """Give rows low..high the numbers by which they pull at the means and squeeze the deviations."""
    p = X.shape[1]
    for i in range(low, high):
        x = X[i]
        dot, noise = 0.0, 1.0
        for j in range(p):
            t = x[j] * spread[j]
            dot += x[j] * mean[j]
            noise += t * t
        r = math.sqrt(noise)
        q = ratio(signs[i] * dot / r) * signs[i] / r
        pull[i] = q
        squeeze[i] = -q * dot / noise


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _gather(
    X: FloatArray, pull: FloatArray, squeeze: FloatArray, sums: FloatArray, first: int, last: int
) -> None:
    """Add what rows first..last say of every feature, in tiles of 256 that stay in L1, by four rows."""
    p = X.shape[1]
    for tile in range(0, p, 256):
        k = min(256, p - tile)
        by_mean, by_spread = sums[0, tile : tile + k], sums[1, tile : tile + k]
        i = first
        while i + 4 <= last:
            x0, x1 = X[i, tile : tile + k], X[i + 1, tile : tile + k]
            x2, x3 = X[i + 2, tile : tile + k], X[i + 3, tile : tile + k]
            a0, a1, a2, a3 = pull[i], pull[i + 1], pull[i + 2], pull[i + 3]
            b0, b1, b2, b3 = squeeze[i], squeeze[i + 1], squeeze[i + 2], squeeze[i + 3]
            for t in range(k):
                v0, v1, v2, v3 = x0[t], x1[t], x2[t], x3[t]
                by_mean[t] += (a0 * v0 + a1 * v1) + (a2 * v2 + a3 * v3)
                by_spread[t] += (b0 * v0 * v0 + b1 * v1 * v1) + (b2 * v2 * v2 + b3 * v3 * v3)
            i += 4
        while i < last:
            x, a, b = X[i, tile : tile + k], pull[i], squeeze[i]
            for t in range(k):
                by_mean[t] += a * x[t]
                by_spread[t] += b * x[t] * x[t]
            i += 1


@nb.njit(nogil=True, cache=True)
def _move(
    rate_mean: float, rate_spread: float, mean: FloatArray, spread: FloatArray, sums: FloatArray, p: int
) -> None:
    """Let p features take their steps, and set their sums to 0."""
    for j in range(p):
        mean[j] = _moved(mean[j], rate_mean * sums[0, j], -FURTHEST)
        spread[j] = _moved(spread[j], rate_spread * sums[1, j] * spread[j], 0.0)
        sums[0, j] = 0.0
        sums[1, j] = 0.0


@nb.njit(nogil=True, cache=True)
def learn_dense(
    X: FloatArray, signs: FloatArray, size: int, epochs: int, rate_mean: float, rate_spread: float,
    mean: FloatArray, spread: FloatArray, sums: FloatArray,
) -> None:  # fmt: skip
    """Make a step for every ``size`` rows, ``epochs`` times each; ``sums`` is zeros before and after."""
    p = X.shape[1]
    block = max(4, 8192 // p // 4 * 4)  # rows that are still in L1 when they are read again
    pull, squeeze = np.empty(size), np.empty(size)
    for first in range(0, len(signs) - size + 1, size):
        x, y = X[first : first + size], signs[first : first + size]
        for _ in range(epochs):
            for low in range(0, size, block):
                high = min(low + block, size)
                _judge(x, y, mean, spread, pull, squeeze, low, high)
                _gather(x, pull, squeeze, sums, low, high)
            _move(rate_mean / size, rate_spread / size, mean, spread, sums, p)


@nb.njit(nogil=True, cache=True)
def learn_sparse(
    data: FloatArray, indices: npt.NDArray[np.int32], indptr: IntArray, signs: FloatArray,
    size: int, epochs: int, rate_mean: float, rate_spread: float,
    mean: FloatArray, spread: FloatArray, sums: FloatArray,
) -> None:  # fmt: skip
    """Do the same for CSR rows."""
    for first in range(0, len(signs) - size + 1, size):
        low, high = indptr[first], indptr[first + size]
        for _ in range(epochs):
            for i in range(first, first + size):
                dot, noise = 0.0, 1.0
                for e in range(indptr[i], indptr[i + 1]):
                    t = data[e] * spread[indices[e]]
                    dot += data[e] * mean[indices[e]]
                    noise += t * t
                r = math.sqrt(noise)
                pull = ratio(signs[i] * dot / r) * signs[i] / r
                squeeze = -pull * dot / noise
                for e in range(indptr[i], indptr[i + 1]):
                    sums[0, indices[e]] += pull * data[e]
                    sums[1, indices[e]] += squeeze * data[e] * data[e]
            for e in range(low, high):
                j = indices[e]  # a feature of several rows moves the first time, and then by nothing
                mean[j] = _moved(mean[j], rate_mean / size * sums[0, j], -FURTHEST)
                spread[j] = _moved(spread[j], rate_spread / size * sums[1, j] * spread[j], 0.0)
                sums[0, j] = 0.0
                sums[1, j] = 0.0
