"""Annealing on correlations: gradient steps, and the smallest coefficients go on the way."""

from __future__ import annotations

import numba as nb
import numpy as np

from streamsieve.protocols import FloatArray


@nb.njit(nogil=True, cache=True)
def _kth_largest(a: FloatArray, n: int, k: int) -> float:
    """Return the k-th largest of the first n, which change places (Hoare's FIND)."""
    left, right = 0, n - 1
    while left < right:
        pivot = a[k - 1]
        i, j = left, right
        while i <= j:
            while a[i] > pivot:
                i += 1
            while a[j] < pivot:
                j -= 1
            if i <= j:
                a[i], a[j] = a[j], a[i]
                i += 1
                j -= 1
        if j < k - 1:
            left = i
        if k - 1 < i:
            right = j
    least: float = a[k - 1]
    return least


@nb.njit(nogil=True, cache=True)
def _drop(beta: FloatArray, alive: FloatArray, left: int, many: int, scratch: FloatArray) -> None:
    """Of the ``left`` coefficients alive, leave the ``many`` largest; among equals the first ones."""
    t = 0
    for j in range(len(beta)):
        if alive[j] > 0.0:
            scratch[t] = abs(beta[j])
            t += 1
    least = _kth_largest(scratch, left, many)
    ties = many
    for j in range(len(beta)):
        if alive[j] > 0.0 and abs(beta[j]) > least:
            ties -= 1
    for j in range(len(beta)):
        if alive[j] > 0.0:
            size = abs(beta[j])
            if size == least and ties > 0:
                ties -= 1
            elif size <= least:
                alive[j] = 0.0
                beta[j] = 0.0


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def anneal(
    R: FloatArray, c: FloatArray, k: int, steps: int, mu: float, ridge: float, rate: float
) -> FloatArray:
    """Return coefficients, at most k of which are not 0, after ``steps`` gradient steps.

    After step e there are k + (p - k) max(0, (N - 2e) / (2e mu + N)) left, k >= 1.
    """
    p = len(c)
    m = left = p  # columns carried along, and alive among them
    corr, target = R, c.copy()
    beta, alive, gradient, scratch = np.zeros(p), np.ones(p), np.empty(p), np.empty(p)
    columns = np.arange(p)  # where the columns carried along stand among all
    for e in range(1, steps + 1):
        for j in range(m):
            if alive[j] > 0.0:
                row = corr[j]
                total = 0.0
                for other in range(m):
                    total += row[other] * beta[other]
                gradient[j] = total + ridge * beta[j] - target[j]
        for j in range(m):
            if alive[j] > 0.0:
                beta[j] -= rate * gradient[j]
        many = int(k + (p - k) * max(0.0, (steps - 2.0 * e) / (2.0 * e * mu + steps)))
        if many >= left:
            continue
        _drop(beta[:m], alive[:m], left, many, scratch)
        left = many
        if left <= m // 2:  # pack the columns left: the work is quadratic in their number
            t = 0
            for j in range(m):
                if alive[j] > 0.0:
                    columns[t], target[t], beta[t] = columns[j], target[j], beta[j]
                    t += 1
            m = left
            corr = np.empty((m, m))
            for a in range(m):
                alive[a] = 1.0
                row = R[columns[a]]
                for b in range(m):
                    corr[a, b] = row[columns[b]]
    out = np.zeros(p)
    for j in range(m):
        out[columns[j]] = beta[j]
    return out
